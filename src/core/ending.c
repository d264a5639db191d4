/* How components come to their end: killed, given up, settled once all processors are back. Of a
 * job of several components the others are ended, too. */
#include "core/ending.h"
#include "core/buffer.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/ended.h"
#include "core/errors.h"
#include "core/files.h"
#include "core/handlers.h"
#include "core/hold.h"
#include "core/job.h"
#include "core/job_end.h"
#include "core/outpost.h"
#include "core/resize.h"
#include "core/state.h"
#include "core/tally.h"
#include "core/tell.h"
#include "core/transition.h"

/* ---- what is left to a component that lost some of its processors ---- */

static bool requeues(const struct pleat_core *core, const struct pleat_component *component);

static bool is_left(const struct pleat_core *core, const struct pleat_claim *claim)
{
    return claim->state == PLEAT_CLAIM_HELD && claim->purpose == PLEAT_FOR_RUN &&
           !(claim->lent & (PLEAT_LENT_TAKEN | PLEAT_LENT_LOST)) &&
           (claim->until_us == 0 || claim->until_us > now_of(core));
}

/* Does the component, whose processes are gone, keep what is left to it while it waits again? So
 * that need not go through its site's queue. */
static bool keeps_left(const struct pleat_core *core, const struct pleat_component *component)
{
    bool lost = component->reason == PLEAT_REASON_LOST || component->reason == PLEAT_REASON_TAKEN ||
                component->reason == PLEAT_REASON_SITE_TIME;
    int32_t left = 0;
    if (!lost || core->parameters[PLEAT_PARAM_KEEP_LEFT_US] == 0 ||
        component->kind != PLEAT_MALLEABLE || is_several(core, component) ||
        pleat_view_folds(component) || component->buffer != PLEAT_NONE ||
        !requeues(core, component) || component->site == PLEAT_NONE ||
        core->sites.items[component->site].drained || core->sites.items[component->site].barred)
        return false;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next)
        left += is_left(core, &core->claims.items[c]) ? core->claims.items[c].count : 0;
    int32_t least = pleat_accept_start(&core->view, component);
    return least > 0 && left >= least;
}

static void release_lost(struct pleat_core *core, uint32_t component)
{
    for (uint32_t next, c = component_at(core, component)->first_claim; c != PLEAT_NONE; c = next) {
        next = claim_at(core, c)->next;
        if (is_left(core, claim_at(core, c)))
            continue;
        claim_unlink(core, c);
        claim_release(core, c);
    }
}

/* How many claims the component keeps, if its processes are gone. */
static uint32_t kept_claims(const struct pleat_core *core, const struct pleat_component *component)
{
    uint32_t kept = 0;
    if (component->state != PLEAT_FINISHING || !component->exited)
        return 0;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next)
        kept++;
    return kept;
}

/* What it has kept is earmarked for it, for a while. */
static void earmark_left(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next) {
        claim_at(core, c)->purpose = PLEAT_FOR_EARMARK;
        comp->earmarked += claim_at(core, c)->count;
        comp->site = claim_at(core, c)->site;
        claim_note(core, c);
    }
    if (comp->earmarked > 0)
        arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
            now_of(core) + core->parameters[PLEAT_PARAM_KEEP_LEFT_US]);
}

/* ---- the end ---- */

void component_give_back(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    comp->exited = 1;
    comp->starting = 0;
    if (is_several(core, comp))
        comp->end_us = now_of(core);
    disarm(core, &comp->deadline);
    if (keeps_left(core, comp))
        release_lost(core, component);
    else
        component_release_all(core, component);
    component_settle(core, component);
}

static bool requeues(const struct pleat_core *core, const struct pleat_component *component)
{
    if (is_several(core, component))
        return job_requeues(core, component->lead);
    if (component->reason == PLEAT_REASON_PREEMPTED || component->reason == PLEAT_REASON_REQUEUED)
        return true;
    if (start_is_paused(core, component))
        return true;
    if (component->reason == PLEAT_REASON_TOO_FEW) /* nothing is done twice */
        return component->attempt + 1 < core->parameters[PLEAT_PARAM_ATTEMPTS];
    return is_nobodys_fault(component) && may_start_again(component) &&
           component->attempt + 1 < core->parameters[PLEAT_PARAM_ATTEMPTS];
}

/* component_settle() for a component whose run was not a success. */
static PLEAT_COLD void settle_undone(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->reason == PLEAT_REASON_CANCELLED) {
        component_end(core, component, PLEAT_CANCELLED);
    } else if (!requeues(core, comp)) {
        component_end(core, component, PLEAT_FAILED);
    } else { /* preempted, requeued by its user, or failed by no fault of the user's */
        bool preempted = comp->reason == PLEAT_REASON_PREEMPTED;
        bool wished = comp->reason == PLEAT_REASON_REQUEUED;
        bool too_few = comp->reason == PLEAT_REASON_TOO_FEW;
        bool paused = start_is_paused(core, comp);
        comp->attempt = (uint16_t)(comp->attempt + !(preempted || wished || paused));
        comp->preempted = (uint8_t)(comp->preempted + preempted);
        component_reset(core, component);
        earmark_left(core, component);
        if (paused)
            component_pause(core, component);
        else if (wished)
            hold_or_append(core, component);
        else if (preempted || too_few) /* it lost its processors, not its turn */
            queue_replace(core, component);
        else
            queue_prepend(core, component);
    }
}

void component_settle(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    uint32_t kept = kept_claims(core, comp);
    if (comp->claims > kept)
        return;
    if (kept > 0 && !keeps_left(core, comp)) { /* it was cancelled, or lost more, meanwhile */
        component_release_all(core, component);
        component_settle(core, component); /* a site without delays has them back already */
        return;
    }
    if (is_several(core, comp) &&
        !pleat_component_state_is_final((enum pleat_component_state)comp->state)) {
        job_settle(core, comp->lead);
        return;
    }
    if (comp->state != PLEAT_FINISHING || !comp->exited) {
        if (pleat_component_state_is_final((enum pleat_component_state)comp->state))
            ended_forget(core, component);
        return;
    }
    comp->processors = comp->processes = comp->target = comp->mpl = 0;
    if (comp->buffer != PLEAT_NONE) /* its next run may be at one of these sites */
        outposts_drop(core, comp->buffer);
    core->wants_pass = true;
    if (is_done(comp))
        component_end(core, component, PLEAT_DONE);
    else
        settle_undone(core, component);
}

static void kill_one(struct pleat_core *core, uint32_t component, enum pleat_reason reason)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->state == PLEAT_FINISHING) {
        /* once its processes are gone only a return to the queue can still be prevented */
        if (reason == PLEAT_REASON_CANCELLED && (!comp->exited || requeues(core, comp)))
            comp->reason = PLEAT_REASON_CANCELLED;
        return;
    }
    bool was_running = comp->state == PLEAT_RUNNING || comp->state == PLEAT_RESIZING;
    if (comp->resize != PLEAT_NONE)
        resize_end(core, comp->resize,
                   reason == PLEAT_REASON_STUCK          ? PLEAT_OUTCOME_STUCK
                   : reason == PLEAT_REASON_NOT_HONOURED ? PLEAT_OUTCOME_NOT_HONOURED
                   : reason == PLEAT_REASON_LOST         ? PLEAT_OUTCOME_LOST
                                                         : PLEAT_OUTCOME_JOB_ENDED);
    comp->reason = (uint8_t)reason;
    if (was_running)
        stop_running(core, component);
    component_stop_waiting(core, component);
    staging_drop(core, component);
    set_state(core, component, PLEAT_FINISHING);
    if (!was_running && (!comp->starting || comp->untold)) { /* no process runs yet */
        component_give_back(core, component);
        return;
    }
    run_effect(core, component);
    arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
        now_of(core) + core->parameters[PLEAT_PARAM_KILL_US]);
}

void job_end_others(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    enum pleat_reason reason =
        comp->reason == PLEAT_REASON_CANCELLED ? PLEAT_REASON_CANCELLED : PLEAT_REASON_SIBLING;
    if (comp->lead == PLEAT_NONE || is_done(comp))
        return;
    job_unstand(core, comp->lead);
    for (uint32_t next, c = comp->lead; c != PLEAT_NONE; c = next) {
        next = sibling_of(core, c);
        if (c == component || pleat_component_state_is_final(
                                  (enum pleat_component_state)component_at(core, c)->state))
            continue;
        if (component_at(core, c)->state == PLEAT_QUEUED)
            earmarks_drop(core, c);
        else
            kill_one(core, c, reason);
    }
    job_settle(core, comp->lead);
}

/* After kill_one of one of several components. */
static void job_killed(struct pleat_core *core, uint32_t component, enum pleat_reason reason)
{
    uint32_t lead = component_at(core, component)->lead;
    if (reason != PLEAT_REASON_CANCELLED) {
        if (component_at(core, component)->state == PLEAT_FINISHING)
            job_end_others(core, component);
        return;
    }
    job_unstand(core, lead);
    for (uint32_t c = lead; c != PLEAT_NONE; c = sibling_of(core, c)) {
        if (component_at(core, c)->state == PLEAT_QUEUED)
            earmarks_drop(core, c);
        else if (!pleat_component_state_is_final(
                     (enum pleat_component_state)component_at(core, c)->state))
            kill_one(core, c, PLEAT_REASON_CANCELLED);
    }
    job_settle(core, lead);
}

void component_kill(struct pleat_core *core, uint32_t component, enum pleat_reason reason)
{
    kill_one(core, component, reason);
    if (is_several(core, component_at(core, component)))
        job_killed(core, component, reason);
}

void component_give_up(struct pleat_core *core, uint32_t component, enum pleat_reason reason)
{
    struct pleat_component *comp = component_at(core, component);
    bool cancelled = reason == PLEAT_REASON_CANCELLED || reason == PLEAT_REASON_DEPENDENCY;
    enum pleat_component_state state = cancelled ? PLEAT_CANCELLED : PLEAT_FAILED;
    core->wants_pass = true;
    if (is_several(core, comp) && job_is_waiting(core, comp->lead)) {
        job_cancel_waiting(core, comp->lead, reason, state);
        return;
    }
    if (is_several(core, comp) || comp->state != PLEAT_QUEUED) {
        /* a component that is placed is ended, and the whole job with it */
        while (component_at(core, component)->state == PLEAT_QUEUED)
            component = job_next(core, component);
        component_kill(core, component, reason);
        return;
    }
    earmarks_drop(core, component);
    if (comp->aside == PLEAT_ASIDE_RESERVATION)
        reserved_remove(core, component);
    else if (comp->aside == PLEAT_ASIDE_NOT)
        queue_remove(core, component);
    comp->aside = PLEAT_ASIDE_NOT;
    disarm(core, &comp->deadline); /* the deadline of a pause */
    staging_drop(core, component);
    comp->reason = (uint8_t)reason;
    component_end(core, component, state);
}

int on_cancel(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t component = event->component;
    struct pleat_component *comp = component_at(core, component);
    if (pleat_component_state_is_final(comp->state))
        return pleat_error_set(err, PLEAT_E_STATE, "it has ended already (%s)",
                               pleat_component_state_name(comp->state));
    if (comp->state != PLEAT_QUEUED) {
        component_kill(core, component, PLEAT_REASON_CANCELLED);
        return 0;
    }
    component_give_up(core, component, PLEAT_REASON_CANCELLED);
    return 0;
}
