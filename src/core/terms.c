/* The terms of a job: its time limit and the signal before it, the lifetime of its sizes; and what
 * follows from the time for which its site lends processors. */
#include "core/terms.h"
#include "core/deadlines.h"
#include "core/handlers.h"
#include "core/job.h"
#include "core/lent.h"
#include "core/process_leave.h"
#include "core/side.h"
#include "core/tally.h"
#include "core/tell.h"

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
    int64_t process_us = processes_leave_next(core, component);
    if (process_us < at_us)
        at_us = process_us;
    if (at_us < PLEAT_NEVER)
        arm(core, &comp->deadline, DEADLINE_COMPONENT, component, at_us);
    else
        disarm(core, &comp->deadline);
}

void taken_last(struct pleat_core *core, uint32_t component)
{
    if (lent_last(core, component)) /* it can do without other ones now */
        running_arm(core, component);
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
