/* The start of a component: decided, claimed, told to the runner, running; or failed on the way. */
#include "core/start.h"
#include "core/buffer.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/depend.h"
#include "core/effects.h"
#include "core/ending.h"
#include "core/errors.h"
#include "core/files.h"
#include "core/handlers.h"
#include "core/job.h"
#include "core/resize.h"
#include "core/state.h"
#include "core/tally.h"
#include "core/tell.h"
#include "core/terms.h"
#include "core/transition.h"

/* Hands a queued component's earmarks over to its run, and returns how many processors these are.
 * Earmarks beyond `size` go back. */
static int32_t use_earmarks(struct pleat_core *core, uint32_t component, int32_t size)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->earmarked > size)
        component_release_tail(core, component, comp->earmarked - size);
    int32_t used = comp->earmarked < size ? comp->earmarked : size;
    comp->earmarked = 0;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next) {
        claim_at(core, c)->purpose = PLEAT_FOR_RUN;
        claim_note(core, c);
    }
    return used;
}

/* May the component start with the processors, processes and MPL that the decision gives it? */
static bool start_is_accepted(const struct pleat_core *core,
                              const struct pleat_component *component,
                              const struct pleat_event *event)
{
    int32_t size = event->u.start.processors, processes = event->u.start.processes;
    if (size < 1)
        return false;
    if (is_several(core, component) && core->components.items[component->lead].total > 0)
        return size <= pleat_view_missing(&core->view, component->lead);
    if (!pleat_view_folds(component))
        return pleat_accept_start_floor(&core->view, component, size) == size;
    struct pleat_sizes sizes = pleat_view_sizes(&core->view, component);
    int64_t mpl = event->u.start.mpl;
    return size <= processes && mpl >= 1 && mpl <= pleat_view_mpl(&core->view, component) &&
           size <= pleat_view_partition_most(component) &&
           size >= pleat_view_partition_least(component, processes) &&
           pleat_mpl(processes, size) <= mpl && processes >= component->minimum &&
           processes <= component->maximum && pleat_sizes_floor(&sizes, processes) == processes;
}

/* Is the component in the queue, or in the tow of one that is? */
static bool may_start(const struct pleat_core *core, const struct pleat_component *component)
{
    if (!is_several(core, component) || component->state != PLEAT_QUEUED)
        return component->state == PLEAT_QUEUED && !component->aside;
    return component->aside != PLEAT_ASIDE_RESERVATION && job_waits(core, component->lead);
}

/* Claims the `missing` processors of a start. */
static inline void claim(struct pleat_core *core, uint32_t component, int32_t missing)
{
    struct pleat_component *comp = component_at(core, component);
    uint32_t asked = claim_request(core, component, comp->site, missing, PLEAT_FOR_RUN);
    if (asked != PLEAT_NONE && claim_at(core, asked)->state == PLEAT_CLAIM_HELD) {
        claim_link(core, asked);
        component_claimed(core, component);
        return;
    }
    comp->start_claim = asked;
    arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
        now_of(core) + core->parameters[PLEAT_PARAM_CLAIM_US]);
}

void component_claim(struct pleat_core *core, uint32_t component, int32_t missing)
{
    claim(core, component, missing);
}

/* One of several components, or one whose files have to be brought: its processors are claimed
 * later. */
static void place_apart(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    bool stood = !comp->aside;
    comp->aside = PLEAT_ASIDE_NOT;
    if (comp->lead != PLEAT_NONE) {
        if (component_at(core, comp->lead)->total > 0)
            comp->minimum = comp->maximum = comp->target;
        if (stood) /* the next component stands where this one stood */
            job_stand(core, comp->lead, JOB_AT, comp->position);
        else
            job_stand_again(core, comp->lead);
    }
    component_placed(core, component);
}

int on_start(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t component = event->component, place = event->u.start.site;
    struct pleat_component *comp = component_at(core, component);
    int32_t size = event->u.start.processors;
    if (!may_start(core, comp) || place >= core->sites.count)
        return pleat_error_set(err, PLEAT_E_STATE, "job %llu cannot start: it is %s",
                               (unsigned long long)comp->job, pleat_state_name(comp->state));
    const struct pleat_site *site = site_at(core, place);
    int32_t earmarked = comp->site == place ? comp->earmarked : 0;
    if (!start_is_accepted(core, comp, event) ||
        (size > earmarked &&
         size - earmarked > site->capacity - site->background - site->claimed) ||
        !pleat_view_allows(&core->view, comp, place))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "job %llu cannot start on %d processors of site %u: not free, or "
                               "not within its limits",
                               (unsigned long long)comp->job, size, place);
    if (comp->site != place && comp->site != PLEAT_NONE)
        earmarks_drop(core, component);
    coming_drop(core, component);
    disarm(core, &comp->deadline);
    if (!comp->aside)
        queue_remove(core, component);
    comp->promised_us = PLEAT_NEVER;
    comp->promised_site = PLEAT_NONE;
    set_state(core, component, PLEAT_PLACED);
    comp->site = place;
    comp->target = size;
    if (pleat_view_folds(comp)) {
        comp->processes = event->u.start.processes;
        comp->mpl = (uint8_t)event->u.start.mpl;
    }
    int32_t missing = size - use_earmarks(core, component, size);
    if (is_several(core, comp) || (core->view.stages && comp->first_input != PLEAT_NONE)) {
        place_apart(core, component);
        return 0;
    }
    set_state(core, component, PLEAT_CLAIMING);
    if (missing == 0)
        component_claimed(core, component);
    else
        claim(core, component, missing);
    return 0;
}

static void begin_running(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    comp->starting = 0;
    start_works(core, component);
    comp->start_us = now_of(core);
    comp->since_us = comp->start_us;
    comp->relaunches = 0;
    comp->signalled = PLEAT_SIGNALLED_NOT;
    comp->young = is_to_be_young(core, comp);
    running_arm(core, component);
    comp->processors = comp->target;
    if (!pleat_view_folds(comp))
        comp->processes = comp->target;
    int64_t run_us = pleat_view_expected_run(comp, comp->processors);
    comp->expected_end_us =
        run_us < PLEAT_NEVER - comp->start_us ? comp->start_us + run_us : PLEAT_NEVER;
    set_state(core, component, PLEAT_RUNNING);
    if (comp->first_dependent != PLEAT_NONE)
        dependents_started(core, component);
    running_add(core, component);
    if (comp->buffer != PLEAT_NONE)
        buffer_enter(core, component);
    struct pleat_effect *note = emit_note(core, PLEAT_NOTE_SIZE, component, comp->run);
    if (note) {
        note->u.run.processors = comp->processors;
        note->u.run.processes = comp->processes;
    }
    resize_to_limits(core, component);
    /* a pass is not needed if nobody can be resized and the site has no delays: the pass that
     * started the component knew that it would run */
    if (!site_at(core, comp->site)->instant || !core->settles || core->malleable > 0 ||
        core->view.several)
        core->wants_pass = true;
}

void start_await(struct pleat_core *core, uint32_t component)
{
    start_or_reach(core, component);
    arm(core, &component_at(core, component)->deadline, DEADLINE_COMPONENT, component,
        now_of(core) + core->parameters[PLEAT_PARAM_START_US]);
}

static inline void start(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    comp->run = core->next_id++;
    comp->starting = 1;
    comp->exited = 0;
    if (!site_at(core, comp->site)->instant) {
        start_await(core, component);
        return;
    }
    run_effect(core, component);
    begin_running(core, component);
}

void component_start(struct pleat_core *core, uint32_t component)
{
    start(core, component);
}

void component_claimed(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    int32_t got = 0;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next)
        got += claim_at(core, c)->count;
    if (got < comp->target) {
        int32_t size = pleat_view_folds(comp)
                           ? (got < pleat_accept_smallest(&core->view, comp) ? 0 : got)
                           : pleat_accept_start_floor(&core->view, comp, got);
        if (size == 0) {
            component_claim_failed(core, component, PLEAT_REASON_CLAIM_REFUSED);
            return;
        }
        component_release_tail(core, component, got - size);
        comp->target = size;
    }
    if (is_several(core, comp) || (core->view.stages && comp->staging))
        component_at_barrier(core, component);
    else
        start(core, component);
}

void component_claim_failed(struct pleat_core *core, uint32_t component, enum pleat_reason reason)
{
    struct pleat_component *comp = component_at(core, component);
    disarm(core, &comp->deadline);
    component_stop_waiting(core, component);
    if (comp->start_claim != PLEAT_NONE) {
        claim_release(core, comp->start_claim);
        comp->start_claim = PLEAT_NONE;
    }
    int64_t limit = core->parameters[PLEAT_PARAM_MAX_TRIES];
    comp->tries++;
    core->wants_pass = true;
    if (reason == PLEAT_REASON_CLAIM_CANNOT || (limit > 0 && comp->tries > limit)) {
        component_kill(core, component,
                       reason == PLEAT_REASON_CLAIM_CANNOT ? reason : PLEAT_REASON_TRIES);
        return;
    }
    comp->retries++;
    /* processors that the component has already stay earmarked for it */
    comp->target = 0;
    comp->mpl = 0;
    if (pleat_view_folds(comp))
        comp->processes = 0;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next) {
        claim_at(core, c)->purpose = PLEAT_FOR_EARMARK;
        comp->earmarked += claim_at(core, c)->count;
        claim_note(core, c);
    }
    if (comp->earmarked > 0)
        arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
            now_of(core) + core->parameters[PLEAT_PARAM_EARMARK_US]);
    else
        comp->site = PLEAT_NONE;
    set_state(core, component, PLEAT_QUEUED);
    component_wait(core, component);
}

int on_started(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    if (component->state != PLEAT_CLAIMING || !component->starting ||
        event->u.exit.run != component->run)
        return PLEAT_CORE_STALE;
    begin_running(core, event->component);
    return 0;
}
