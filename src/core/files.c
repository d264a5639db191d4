/* Files that are brought to the site where a component is placed, and incremental claiming (Lammers
 * 2005, 3.4). Processors are claimed when all files of the job are expected to be there, not
 * before. Until then other jobs may take them, and the component has to be placed again. With every
 * such retry it claims PLEAT_PARAM_CLAIM_EARLIER_US earlier; after enough retries it claims at
 * once. */
#include "core/files.h"
#include "core/deadlines.h"
#include "core/effects.h"
#include "core/ending.h"
#include "core/handlers.h"
#include "core/job.h"
#include "core/policies.h"
#include "core/start.h"
#include "core/state.h"
#include "core/transition.h"

int on_input(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    struct pleat_input input = {.bytes = event->u.input.bytes,
                                .file = event->u.input.file,
                                .site = event->u.input.site,
                                .next = component->first_input};
    if (component->state != PLEAT_QUEUED || component->attempt > 0)
        return pleat_error_set(err, PLEAT_E_STATE, "files are named when a job is submitted");
    if (input.bytes < 0 || input.bytes > PLEAT_NEVER / 4 || input.site >= core->sites.count)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a file is at a site that exists, and not smaller than 0 bytes");
    uint32_t index = core->free_input;
    if (index != PLEAT_NONE) {
        core->free_input = core->inputs.items[index].next;
        core->inputs.items[index] = input;
    } else {
        index = (uint32_t)core->inputs.count;
        if (pleat_array_push(&core->inputs, input))
            return PLEAT_E_NOMEM;
    }
    component->first_input = index;
    core->view.stages = true;
    core_sync_view(core);
    core->wants_pass = true;
    return 0;
}

void inputs_free(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    while (comp->first_input != PLEAT_NONE) {
        uint32_t index = comp->first_input;
        comp->first_input = core->inputs.items[index].next;
        core->inputs.items[index] = (struct pleat_input){.next = core->free_input};
        core->free_input = index;
    }
}

int on_link(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_link link = {event->u.link.bytes_per_s, event->u.link.from, event->u.link.to};
    if (link.from >= core->sites.count || link.to >= core->sites.count || link.from == link.to ||
        link.bytes_per_s < 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a link leads from one site to another, with at least 0 bytes a "
                               "second");
    struct pleat_link_array *links = &core->links;
    size_t at = links->count;
    while (at > 0 &&
           (links->items[at - 1].from > link.from ||
            (links->items[at - 1].from == link.from && links->items[at - 1].to >= link.to)))
        at--;
    if (at == links->count || links->items[at].from != link.from ||
        links->items[at].to != link.to) {
        if (pleat_array_reserve(links, 1))
            return PLEAT_E_NOMEM;
        for (size_t i = links->count++; i > at; i--)
            links->items[i] = links->items[i - 1];
    }
    links->items[at] = link;
    core_sync_view(core);
    core->wants_pass = true;
    return 0;
}

void stage_effect(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_effect *effect = emit(core, PLEAT_DO_STAGE, component, comp->staging_number);
    if (!effect)
        return;
    effect->u.stage.site = comp->files_site;
    effect->u.stage.expected_us = comp->files_us;
}

void staging_drop(struct pleat_component *component)
{
    if (!component->staging)
        return;
    component->staging = 0;
    component->files_site = PLEAT_NONE;
    component->files_us = 0;
}

/* The component's files are brought to its site, unless they are there. */
static void stage(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->first_input == PLEAT_NONE)
        return;
    if (comp->files_site != comp->site) {
        int64_t us = pleat_view_transfer(&core->view, comp, comp->site);
        comp->files_site = comp->site;
        comp->files_us = us > 0 ? now_of(core) + us : 0;
        comp->staging = us > 0;
        if (us > 0) {
            comp->staging_number = core->next_id++;
            stage_effect(core, component);
        }
    }
    if (comp->staging)
        set_state(core, component, PLEAT_STAGING_IN);
}

static bool is_placed(const struct pleat_component *component)
{
    return component->state == PLEAT_PLACED || component->state == PLEAT_STAGING_IN;
}

/* Claims the processors that the component does not have yet. */
static void claim_now(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    const struct pleat_site *site = site_at(core, comp->site);
    int32_t missing = comp->target;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next)
        missing -= claim_at(core, c)->count;
    disarm(core, &comp->deadline);
    set_state(core, component, PLEAT_CLAIMING);
    if (missing <= 0)
        component_claimed(core, component);
    else if (missing > site->capacity - site->background - site->claimed)
        component_claim_failed(core, component, PLEAT_REASON_CLAIM_REFUSED);
    else
        component_claim(core, component, missing);
}

/* When all files of the job's placed components are expected to be there. */
static int64_t files_there(struct pleat_core *core, uint32_t first)
{
    int64_t us = 0;
    for (uint32_t c = first; c != PLEAT_NONE; c = component_at(core, c)->sibling)
        if (component_at(core, c)->staging && is_placed(component_at(core, c)) &&
            component_at(core, c)->files_us > us)
            us = component_at(core, c)->files_us;
    return us;
}

/* Claims the processors of all placed components of the job, or sets the time for that. */
static void claim_in_time(struct pleat_core *core, uint32_t first)
{
    int64_t there_us = files_there(core, first);
    double earlier_us = (double)core->parameters[PLEAT_PARAM_CLAIM_EARLIER_US];
    for (uint32_t c = first; c != PLEAT_NONE; c = component_at(core, c)->sibling) {
        struct pleat_component *component = component_at(core, c);
        if (!is_placed(component))
            continue;
        double less_us = earlier_us * component->retries,
               wait_us = (double)(there_us - now_of(core));
        int64_t at_us = wait_us > less_us ? there_us - (int64_t)less_us : now_of(core);
        if (at_us <= now_of(core)) {
            claim_now(core, c);
        } else {
            arm(core, &component->deadline, DEADLINE_COMPONENT, c, at_us);
            core->wants_pass = true; /* other jobs may take its processors until then */
        }
    }
}

void component_placed(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    uint32_t first = comp->lead == PLEAT_NONE ? component : comp->lead;
    if (comp->lead != PLEAT_NONE && job_waits(core, first)) {
        arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
            now_of(core) + core->parameters[PLEAT_PARAM_BARRIER_US]);
        return;
    }
    for (uint32_t c = first; c != PLEAT_NONE; c = component_at(core, c)->sibling)
        if (component_at(core, c)->state == PLEAT_PLACED)
            stage(core, c);
    claim_in_time(core, first);
}

void on_placed_deadline(struct pleat_core *core, uint32_t component)
{
    claim_now(core, component);
}

int on_staged(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    if (!component->staging || event->u.staged.number != component->staging_number)
        return PLEAT_CORE_STALE;
    component->staging = 0;
    component->files_us = 0;
    if (component->state == PLEAT_CLAIMING && component->claimed_us != PLEAT_NEVER)
        job_pass_barrier(core, event->component);
    else if (component->state == PLEAT_STAGING_IN &&
             (component->lead == PLEAT_NONE || !job_waits(core, component->lead)))
        claim_in_time(core, component->lead == PLEAT_NONE ? event->component : component->lead);
    return 0;
}

int on_stage_failed(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    if (!component->staging || event->u.staged.number != component->staging_number)
        return PLEAT_CORE_STALE;
    staging_drop(component);
    core->wants_pass = true;
    if (event->u.staged.reason == PLEAT_REASON_START_USER) {
        component_give_up(core, event->component, PLEAT_REASON_START_USER);
    } else if (component->state != PLEAT_QUEUED) {
        component_claim_failed(core, event->component, PLEAT_REASON_CLAIM_FAILED);
    }
    return 0;
}
