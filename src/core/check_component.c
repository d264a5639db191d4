/* The part of pleat_core_check about one component: its claims, its size, its deadlines. */
#include "core/check_component.h"
#include "core/terms.h"

#define FAIL(...) return pleat_error_set(err, PLEAT_E_CORRUPT, __VA_ARGS__)

/* Compares the list of a component's claims with these. *listed: how many processors they are. */
static int check_own_claims(const struct pleat_core *core, uint32_t index, int32_t *listed,
                            struct pleat_error *err)
{
    const struct pleat_component *component = &core->components.items[index];
    enum pleat_purpose expected =
        component->state == PLEAT_QUEUED ? PLEAT_FOR_EARMARK : PLEAT_FOR_RUN;
    uint32_t previous = PLEAT_NONE;
    *listed = 0;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next) {
        const struct pleat_claim *claim = &core->claims.items[c];
        if (claim->component != index || claim->state != PLEAT_CLAIM_HELD ||
            claim->previous != previous || claim->purpose != expected)
            FAIL("component %u: claim %u is not one of its held ones", index, c);
        *listed += claim->count;
        previous = c;
    }
    if (component->last_claim != previous)
        FAIL("component %u: its list of claims has a loose end", index);
    return 0;
}

static int check_folded(const struct pleat_core *core, uint32_t index, struct pleat_error *err)
{
    const struct pleat_component *component = &core->components.items[index];
    int32_t processes = component->processes, processors = component->processors;
    int32_t most = pleat_view_partition_most(&core->view, component);
    if (component->mpl < 1 || processors > processes ||
        pleat_mpl(processes, processors) > component->mpl)
        FAIL("component %u has %d processes on %d processors, at most %u on one", index, processes,
             processors, component->mpl);
    /* a maximum that came while it was started may be less than one for each of its nodes */
    const struct pleat_folding *folding = pleat_view_folding(&core->view, component);
    const int32_t smallest = pleat_accept_smallest(&core->view, component);
    const bool could_shrink = pleat_accept_largest(&core->view, component) >= smallest ||
                              (folding->nearest && processors > smallest);
    if (processors < pleat_view_partition_least(&core->view, component, processes) ||
        (processors > most && component->resize == PLEAT_NONE && could_shrink))
        FAIL("component %u is on %d processors, outside of %d to %d", index, processors,
             folding->partition_least, most);
    return 0;
}

/* Compares the size of a running component with its claims, which are of `listed` processors, its
 * resize and its limits. */
static int check_size(const struct pleat_core *core, uint32_t index, int32_t listed,
                      struct pleat_error *err)
{
    const struct pleat_component *component = &core->components.items[index];
    const struct pleat_resize *resize =
        component->resize != PLEAT_NONE ? &core->resizes.items[component->resize] : NULL;
    int32_t size = component->processors;
    bool leaving = resize && (resize->step == PLEAT_RESIZE_APPLIED ||
                              resize->step == PLEAT_RESIZE_RELAUNCHING);
    int32_t expected = leaving ? resize->from : size;
    if (listed != expected)
        FAIL("component %u runs on %d processors and holds %d", index, size, listed);
    if (component->target != (resize ? resize->to : size))
        FAIL("component %u: target %d", index, component->target);
    if (pleat_view_folds(component))
        return check_folded(core, index, err);
    if (size < component->minimum && !component->below)
        FAIL("component %u runs on %d processors, below its minimum %d", index, size,
             component->minimum);
    /* a maximum that was lowered during a resize is enforced when the resize is over */
    if (size > component->maximum && !resize && !(component->flags & PLEAT_COMPONENT_PREPARES) &&
        pleat_accept_largest(&core->view, component) >=
            pleat_accept_smallest(&core->view, component))
        FAIL("component %u runs on %d processors, above its maximum %d, and is not being shrunk",
             index, size, component->maximum);
    return 0;
}

/* Of a running component: is its size young, and has it a deadline for what comes next? */
static int check_due(const struct pleat_core *core, uint32_t index, struct pleat_error *err)
{
    const struct pleat_component *component = &core->components.items[index];
    bool due = run_until(core, component) < PLEAT_NEVER ||
               (component->state == PLEAT_RUNNING && component->young);
    if (due && component->deadline == PLEAT_HEAP_NONE)
        FAIL("component %u has no deadline for its time limit, or for the lifetime of its size",
             index);
    if (component->young && (!core->view.lifetimes || component->kind != PLEAT_MALLEABLE))
        FAIL("component %u is young, and nobody is", index);
    if (component->state == PLEAT_RUNNING && component->kind == PLEAT_MALLEABLE &&
        !component->young && pleat_view_young_until(&core->view, component) > core->view.now_us)
        FAIL("component %u is not young, and its size is", index);
    return 0;
}

int core_check_component(const struct pleat_core *core, uint32_t index, struct pleat_error *err)
{
    const struct pleat_component *component = &core->components.items[index];
    bool running = component->state == PLEAT_RUNNING || component->state == PLEAT_RESIZING;
    int32_t listed;
    int rc = check_own_claims(core, index, &listed, err);
    if (rc)
        return rc;
    if ((component->state == PLEAT_RESIZING) != (component->resize != PLEAT_NONE))
        FAIL("component %u is %s, its resize is %d", index,
             pleat_component_state_name(component->state), (int)component->resize);
    if (component->state == PLEAT_QUEUED && listed != component->earmarked)
        FAIL("component %u has %d earmarked, counts %d", index, listed, component->earmarked);
    if (running)
        rc = check_size(core, index, listed, err);
    if (running && !rc)
        rc = check_due(core, index, err);
    if (rc)
        return rc;
    const struct pleat_ask *ask = pleat_view_ask(&core->view, component);
    if (ask->deadline != PLEAT_HEAP_NONE && (!running || ask->state != PLEAT_ASK_PENDING))
        FAIL("component %u waits for nothing, and has a deadline for what it asked for", index);
    if (pleat_view_folds(component) && component->state == PLEAT_QUEUED &&
        (component->mpl || component->processes))
        FAIL("component %u waits, and has %d processes", index, component->processes);
    if (pleat_component_state_is_final(component->state) &&
        (listed || component->earmarked || component->coming))
        FAIL("component %u is %s and holds processors", index,
             pleat_component_state_name(component->state));
    return 0;
}
