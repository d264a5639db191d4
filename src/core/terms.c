/* The terms of a job: its time limit and the signal before it, the notice of a mandatory shrink,
 * the lifetime of its sizes; and when its site takes processors back. */
#include "core/terms.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/handlers.h"
#include "core/job.h"
#include "core/node.h"
#include "core/side.h"
#include "core/tally.h"
#include "core/tell.h"

/* ---- processors that a site lends for a time ---- */

static bool is_lent(const struct pleat_claim *claim)
{
    return claim->state == PLEAT_CLAIM_HELD && claim->until_us > 0;
}

static bool is_taken(const struct pleat_claim *claim)
{
    return claim->lent & PLEAT_LENT_TAKEN;
}

/* Claims of a component are given back in the order opposite to that in which it got them. It
 * cannot do without the first ones, up to this number of processors. PLEAT_SIZE_MAX: without none.
 */
static int32_t needed(const struct pleat_core *core, const struct pleat_component *component)
{
    if (core->parameters[PLEAT_PARAM_SHRINK_OFF_US] == 0 || component->kind != PLEAT_MALLEABLE)
        return PLEAT_SIZE_MAX;
    return pleat_accept_smallest(&core->view, component);
}

/* When a component begins to shrink off a claim. Of a claim that was short from the beginning it
 * has at least half the time; one that is taken from it is left at once. */
static int64_t leaves_at(const struct pleat_core *core, const struct pleat_component *component,
                         const struct pleat_claim *claim)
{
    if (is_taken(claim))
        return claim->asked_us;
    int64_t lead_us = core->parameters[PLEAT_PARAM_SHRINK_OFF_US] + notice_of(core, component) +
                      core->parameters[PLEAT_PARAM_GRACE_US];
    int64_t half_us = (claim->until_us - claim->asked_us) / 2;
    return claim->until_us - (lead_us < half_us ? lead_us : half_us);
}

/* What a component's site lends it, and when that is over. */
struct lent {
    int64_t until_us; /* the first of the claims that it cannot do without; PLEAT_NEVER: none */
    int64_t next_us;  /* when it has to leave another claim, later than now; PLEAT_NEVER: none */
    int32_t stays;    /* processors that it has before the first claim that it has to leave now */
    enum pleat_reason ends_why, leaves_why; /* of until_us, and of leaving that claim */
};

static enum pleat_reason why_of(const struct pleat_claim *claim)
{
    return is_taken(claim) ? PLEAT_REASON_TAKEN : PLEAT_REASON_SITE_TIME;
}

/* A component that has tried in vain to leave the node from which it is led, for
 * the claims before this one, cannot do without that node: it is told in time that it ends. */
static bool could_not_move(const struct pleat_core *core, const struct pleat_component *component,
                           const struct pleat_claim *claim, int32_t before)
{
    return claim->lent & PLEAT_LENT_TRIED && is_taken(claim) &&
           core_leaves_lead(core, component, before);
}

static struct lent lent_to(const struct pleat_core *core, const struct pleat_component *component)
{
    struct lent lent = {PLEAT_NEVER, PLEAT_NEVER, component->processors, PLEAT_REASON_SITE_TIME,
                        PLEAT_REASON_SITE_TIME};
    if (component->site == PLEAT_NONE || core->sites.items[component->site].instant)
        return lent;
    int32_t before = 0, least = needed(core, component);
    bool leaves = false, tried = false;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next) {
        const struct pleat_claim *claim = &core->claims.items[c];
        bool optional = claim->purpose == PLEAT_FOR_RUN && before >= least &&
                        !could_not_move(core, component, claim, before);
        if (is_lent(claim) && !optional && claim->until_us < lent.until_us) {
            lent.until_us = claim->until_us;
            lent.ends_why = why_of(claim);
        }
        /* nobody leaves one when the component ends no later */
        bool in_vain = is_taken(claim) && claim->until_us >= lent.until_us;
        if (is_lent(claim) && optional && !leaves && !in_vain) {
            int64_t at_us = leaves_at(core, component, claim);
            leaves = at_us <= now_of(core);
            if (leaves) {
                lent.stays = before;
                lent.leaves_why = why_of(claim);
            } else if (at_us < lent.next_us) {
                lent.next_us = at_us;
            }
        }
        tried = tried || claim->lent & PLEAT_LENT_TRIED;
        before += claim->purpose == PLEAT_FOR_RUN ? claim->count : 0;
    }
    if (leaves && tried && component->quiet_until_us > now_of(core)) {
        lent.stays = component->processors;
        if (component->quiet_until_us < lent.next_us)
            lent.next_us = component->quiet_until_us;
    }
    return lent;
}

int32_t size_without_lent(const struct pleat_core *core, const struct pleat_component *component,
                          enum pleat_reason *why)
{
    const struct lent lent = lent_to(core, component);
    int32_t stays = lent.stays;
    *why = lent.leaves_why;
    if (stays == component->processors || pleat_view_folds(component))
        return stays;
    const struct pleat_sizes sizes = pleat_view_sizes(&core->view, component);
    return pleat_sizes_floor(&sizes, stays);
}

/* ---- until when a component runs ---- */

int64_t run_until(const struct pleat_core *core, const struct pleat_component *component)
{
    int64_t until_us = lent_to(core, component).until_us;
    if (component->limit_us > 0 && component->start_us + component->limit_us < until_us)
        until_us = component->start_us + component->limit_us;
    return until_us;
}

int64_t pleat_core_run_until(const struct pleat_core *core, uint32_t component)
{
    return run_until(core, &core->components.items[component]);
}

/* When the component is due to get the signal before its run has to be over. PLEAT_NEVER: it has
 * none, or was told already. */
static int64_t signal_due(const struct pleat_core *core, const struct pleat_component *component)
{
    const struct pleat_terms *terms = pleat_view_terms(&core->view, component);
    int64_t until_us = terms->signal_number == 0 || component->signalled
                           ? PLEAT_NEVER
                           : run_until(core, component);
    if (until_us == PLEAT_NEVER)
        return until_us;
    return until_us - component->start_us > terms->signal_lead_us ? until_us - terms->signal_lead_us
                                                                  : component->start_us;
}

void running_arm(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    int64_t at_us = run_until(core, comp);
    if (is_young(core, comp) && pleat_view_young_until(&core->view, comp) < at_us)
        at_us = pleat_view_young_until(&core->view, comp);
    if (signal_due(core, comp) < at_us)
        at_us = signal_due(core, comp);
    int64_t leaves_us = lent_to(core, comp).next_us;
    if (leaves_us < at_us)
        at_us = leaves_us;
    if (at_us < PLEAT_NEVER)
        arm(core, &comp->deadline, DEADLINE_COMPONENT, component, at_us);
    else
        disarm(core, &comp->deadline);
}

/* May the component leave the node from which it is led? It is started again elsewhere, with its
 * state, if it can do with the processors that are not taken from it. */
static bool can_move(const struct pleat_core *core, const struct pleat_component *component)
{
    int32_t kept = 0;
    if (core->parameters[PLEAT_PARAM_MOVE_US] == 0 || component->kind != PLEAT_MALLEABLE ||
        !(component->flags & PLEAT_COMPONENT_RELAUNCHES) ||
        !(component->flags & PLEAT_COMPONENT_SPREADS) ||
        (component->flags & PLEAT_COMPONENT_ONCE) || component->lead != PLEAT_NONE ||
        component->buffer != PLEAT_NONE || pleat_view_folds(component))
        return false;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next) {
        if (core->claims.items[c].first_piece == PLEAT_NONE)
            return false; /* its site does not say where its processors are */
        kept += is_taken(&core->claims.items[c]) ? 0 : core->claims.items[c].count;
    }
    return kept >= needed(core, component);
}

void taken_last(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    uint32_t last = comp->last_claim;
    bool moved = false, also_first = can_move(core, comp);
    for (uint32_t next, c = comp->first_claim; c != PLEAT_NONE && c != last; c = next) {
        const struct pleat_claim *claim = claim_at(core, c);
        next = claim->next;
        if (is_taken(claim) && (claim->previous != PLEAT_NONE || also_first)) {
            claim_unlink(core, c);
            claim_link(core, c);
            moved = true;
        }
    }
    if (moved) /* it can do without other ones now */
        running_arm(core, component);
}

bool is_taken_from(const struct pleat_core *core, const struct pleat_component *component)
{
    uint32_t growth =
        component->resize == PLEAT_NONE ? PLEAT_NONE : core->resizes.items[component->resize].claim;
    bool taken = growth != PLEAT_NONE && is_taken(&core->claims.items[growth]);
    for (uint32_t c = component->first_claim; !taken && c != PLEAT_NONE;
         c = core->claims.items[c].next)
        taken = is_taken(&core->claims.items[c]);
    return taken;
}

void left_in_vain(struct pleat_core *core, uint32_t component)
{
    uint32_t last = component_at(core, component)->last_claim;
    if (last == PLEAT_NONE)
        return;
    claim_at(core, last)->lent |= PLEAT_LENT_TRIED;
    running_arm(core, component);
}

bool is_young(const struct pleat_core *core, const struct pleat_component *component)
{
    return is_to_be_young(core, component) &&
           pleat_view_young_until(&core->view, component) > now_of(core);
}

void young_refresh(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->state != PLEAT_RUNNING && comp->state != PLEAT_RESIZING)
        return;
    if (comp->state == PLEAT_RUNNING) { /* resize_end decides at the end of a resize */
        tally_out(core, component);
        comp->young = is_young(core, comp);
        tally_in(core, component);
        core->wants_pass = true;
    }
    running_arm(core, component);
}

int64_t notice_of(const struct pleat_core *core, const struct pleat_component *component)
{
    int64_t most_us = core->parameters[PLEAT_PARAM_NOTICE_MAX_US];
    int64_t notice_us = pleat_view_terms(&core->view, component)->notice_us;
    if (notice_us < 0)
        return core->parameters[PLEAT_PARAM_SHRINK_US];
    return notice_us < most_us ? notice_us : most_us;
}

bool limit_is_over(const struct pleat_core *core, const struct pleat_component *component)
{
    return component->limit_us > 0 && now_of(core) >= component->start_us + component->limit_us;
}

enum pleat_reason site_time_over(const struct pleat_core *core,
                                 const struct pleat_component *component)
{
    const struct lent lent = lent_to(core, component);
    return now_of(core) >= lent.until_us ? lent.ends_why : PLEAT_REASON_NONE;
}

void terms_follow(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    if (now_of(core) >= signal_due(core, comp)) {
        comp->signalled = PLEAT_SIGNALLED_TOLD;
        outstanding_signal(core, component);
    }
    young_refresh(core, component);
}

/* A record of terms for each component of a job. */
static int make_terms(struct pleat_core *core, uint32_t component)
{
    for (uint32_t c = job_first(core, component); c != PLEAT_NONE; c = sibling_of(core, c))
        if (!side_make(core, SIDE_TERMS, c))
            return PLEAT_E_NOMEM;
    return 0;
}

int on_terms(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    int64_t notice_us = event->u.terms.notice_us, lifetime_us = event->u.terms.lifetime_us;
    int64_t limit_us = event->u.terms.limit_us;
    if (pleat_component_state_is_final(component->state) || component->state == PLEAT_FINISHING)
        return pleat_error_set(err, PLEAT_E_STATE, "the job is over (%s)",
                               pleat_component_state_name(component->state));
    if (notice_us < -1 || notice_us > PLEAT_NEVER / 4 || lifetime_us < -1 ||
        lifetime_us > PLEAT_NEVER / 4 || limit_us < 0 || limit_us > PLEAT_NEVER / 4)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a notice, a minimum lifetime or a time limit is below 0 or too "
                               "large");
    bool usual = notice_us < 0 && lifetime_us < 0; /* the values of the constant record */
    if (!usual && make_terms(core, event->component))
        return PLEAT_E_NOMEM;
    core->view.lifetimes |= lifetime_us > 0;
    for (uint32_t c = job_first(core, event->component); c != PLEAT_NONE; c = sibling_of(core, c)) {
        component = component_at(core, c);
        struct pleat_terms *terms = side_find(core, SIDE_TERMS, c);
        if (terms) {
            terms->notice_us = notice_us;
            terms->lifetime_us = lifetime_us;
        }
        component->limit_us = limit_us;
        young_refresh(core, c);
    }
    return 0;
}

int on_limit_signal(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    int32_t number = event->u.signal.number;
    int64_t lead_us = event->u.signal.lead_us;
    if (pleat_component_state_is_final(component->state) || component->state == PLEAT_FINISHING)
        return pleat_error_set(err, PLEAT_E_STATE, "the job is over (%s)",
                               pleat_component_state_name(component->state));
    if (number < 0 || number > UINT8_MAX || lead_us < 0 || lead_us > PLEAT_NEVER / 4)
        return pleat_error_set(err, PLEAT_E_INVALID, "no signal has the number %d, or %lld us",
                               number, (long long)lead_us);
    if (make_terms(core, event->component))
        return PLEAT_E_NOMEM;
    for (uint32_t c = job_first(core, event->component); c != PLEAT_NONE; c = sibling_of(core, c)) {
        struct pleat_terms *terms = side_find(core, SIDE_TERMS, c);
        terms->signal_number = (uint8_t)number;
        terms->signal_lead_us = lead_us;
        terms->signal_script = event->u.signal.script_only != 0;
        young_refresh(core, c);
    }
    return 0;
}

int on_signalled(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    if (component->run != event->u.exit.run || component->signalled != PLEAT_SIGNALLED_TOLD)
        return PLEAT_CORE_STALE;
    component->signalled = PLEAT_SIGNALLED_YES;
    return 0;
}
