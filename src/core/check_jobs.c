/* The part of pleat_core_check about jobs of several components, files and errors of sites. */
#include "core/check_jobs.h"
#include "core/barrier.h"
#include "core/check_holds.h"
#include "core/job.h"
#include "core/node.h"
#include "core/state.h"
#include "core/transition.h"

#define FAIL(...) return pleat_error_set(err, PLEAT_E_CORRUPT, __VA_ARGS__)

/* A component that is placed or claims has a deadline. It has none while its agent is away and has
 * not said whether it started the component. */
static int check_waiting(const struct pleat_core *core, uint32_t index, struct pleat_error *err)
{
    const struct pleat_component *component = &core->components.items[index];
    bool placed = component->state == PLEAT_PLACED || component->state == PLEAT_STAGING_IN ||
                  component->state == PLEAT_CLAIMING;
    bool stands = component->starting && !component->untold && core_is_away(core, index);
    if (placed && component->deadline == PLEAT_HEAP_NONE && !stands)
        FAIL("component %u is %s and has no deadline: it could wait for ever", index,
             pleat_component_state_name((enum pleat_component_state)component->state));
    if (waits_at_barrier(core, component) &&
        (component->state != PLEAT_CLAIMING || component->starting))
        FAIL("component %u is %s and waits at the barrier", index,
             pleat_component_state_name((enum pleat_component_state)component->state));
    if (component->staging &&
        pleat_view_coallocation(&core->view, component)->files_site >= core->sites.count)
        FAIL("component %u has files brought to no site", index);
    if (component->staging && component->state != PLEAT_QUEUED && !placed)
        FAIL("component %u is %s and has files brought", index,
             pleat_component_state_name((enum pleat_component_state)component->state));
    if (component->starting && component->staging)
        FAIL("component %u was started before its files were there", index);
    if (component->below && component->processors >= pleat_accept_smallest(&core->view, component))
        FAIL("component %u counts as below its minimum on %d processors", index,
             component->processors);
    return 0;
}

/* Counts over the components of a job. */
struct whole {
    unsigned count, standing, begun, placed, over;
};

static void count(struct whole *whole, const struct pleat_component *component)
{
    bool running = component->state == PLEAT_RUNNING || component->state == PLEAT_RESIZING;
    whole->count++;
    whole->standing += component->state == PLEAT_QUEUED && component->aside == PLEAT_ASIDE_NOT;
    whole->begun += running || component->starting ? 1 : 0;
    whole->placed += component->state >= PLEAT_PLACED && component->state <= PLEAT_CLAIMING &&
                     !component->starting;
    whole->over +=
        pleat_component_state_is_final((enum pleat_component_state)component->state) ? 1 : 0;
}

static int check_sizes(const struct pleat_core *core, uint32_t lead, struct pleat_error *err)
{
    const struct pleat_component *all = core->components.items;
    int32_t missing = pleat_view_missing(&core->view, lead);
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c)) {
        int32_t expected = all[c].aside == PLEAT_ASIDE_NOT ? missing : 0;
        if (all[c].state == PLEAT_QUEUED &&
            (all[c].minimum != expected || all[c].maximum != expected))
            FAIL("component %u, part of a flexible job, waits for %d processors, not %d", c,
                 all[c].minimum, expected);
    }
    return 0;
}

static int check_job(const struct pleat_core *core, uint32_t lead, struct pleat_error *err)
{
    const struct pleat_component *all = core->components.items;
    struct whole whole = {0};
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c)) {
        if (all[c].lead != lead || all[c].job != all[lead].job || all[c].ordinal != whole.count ||
            is_unused(&all[c]))
            FAIL("component %u is out of order in its job", c);
        count(&whole, &all[c]);
    }
    if (whole.standing != job_waits(core, lead))
        FAIL("%u components of job %llu stand in the queue", whole.standing,
             (unsigned long long)all[lead].job);
    if (whole.over && whole.over != whole.count)
        FAIL("job %llu is over, and not all of it", (unsigned long long)all[lead].job);
    if (whole.begun && (whole.placed || whole.standing))
        FAIL("job %llu began before all of its components had their processors",
             (unsigned long long)all[lead].job);
    return pleat_view_total(&core->view, lead) > 0 ? check_sizes(core, lead, err) : 0;
}

static int check_sites(const struct pleat_core *core, struct pleat_error *err)
{
    int64_t limit = core->parameters[PLEAT_PARAM_SITE_ERRORS];
    for (uint32_t s = 0; s < core->sites.count; s++) {
        const struct pleat_site *site = &core->sites.items[s];
        if (limit > 0 && site->errors > limit && !site->barred)
            FAIL("site %u has %u errors and is considered", s, site->errors);
        if (!site->barred && site->again != PLEAT_HEAP_NONE)
            FAIL("site %u waits to be considered again, and is", s);
    }
    limit = core->parameters[PLEAT_PARAM_NODE_ERRORS];
    for (size_t n = 0; n < core->nodes.count; n++) {
        const struct pleat_node *node = &core->nodes.items[n];
        if (limit > 0 && node->errors > limit && !node->barred)
            FAIL("node %u of site %u has %u errors and is considered", node->node, node->site,
                 node->errors);
    }
    return 0;
}

static int check_inputs(const struct pleat_core *core, struct pleat_error *err)
{
    size_t listed = 0;
    for (uint32_t c = 0; c < core->components.count; c++)
        for (uint32_t i =
                 pleat_view_coallocation(&core->view, &core->components.items[c])->first_input;
             i != PLEAT_NONE; i = core->inputs.items[i].next) {
            if (is_unused(&core->components.items[c]))
                FAIL("component %u is forgotten, and its files are not", c);
            listed++;
        }
    for (uint32_t i = core->free_input; i != PLEAT_NONE; i = core->inputs.items[i].next)
        listed++;
    if (listed != core->inputs.count)
        FAIL("%zu records of files are listed, there are %zu", listed, core->inputs.count);
    for (size_t i = 1; i < core->links.count; i++) {
        const struct pleat_link *before = &core->links.items[i - 1], *link = before + 1;
        if (before->from > link->from || (before->from == link->from && before->to >= link->to))
            FAIL("link %zu is out of order", i);
    }
    for (size_t i = 1; i < core->nodes.count; i++) {
        const struct pleat_node *before = &core->nodes.items[i - 1], *node = before + 1;
        if (before->site > node->site || (before->site == node->site && before->node >= node->node))
            FAIL("node %zu is out of order", i);
    }
    return 0;
}

int core_check_jobs(const struct pleat_core *core, struct pleat_error *err)
{
    int rc = check_sites(core, err);
    if (!rc)
        rc = core_check_groups(core, err);
    if (!rc)
        rc = check_inputs(core, err);
    for (uint32_t c = 0; !rc && c < core->components.count; c++) {
        const struct pleat_component *component = &core->components.items[c];
        if (is_unused(component))
            continue;
        rc = check_waiting(core, c, err);
        if (!rc)
            rc = core_check_holds(core, c, err);
        if (!rc && component->lead != PLEAT_NONE && component->state == PLEAT_QUEUED &&
            !component->aside && !job_waits(core, component->lead))
            rc = pleat_error_set(err, PLEAT_E_CORRUPT, "component %u stands in the queue", c);
        if (!rc && component->lead == c)
            rc = check_job(core, c, err);
        else if (!rc && component->state == PLEAT_QUEUED && component->lead == PLEAT_NONE &&
                 component->aside == PLEAT_ASIDE_TOWED)
            rc = pleat_error_set(err, PLEAT_E_CORRUPT, "component %u is in nobody's tow", c);
    }
    return rc;
}
