/* What an application, its runner or a deadline says of a resize under way: answered, applied,
 * vacated, failed, withdrawn, too late. What does not come to a good end is taken back or, where it
 * was mandatory, ends or relaunches the job. */
#include "core/resize_events.h"
#include "core/ending.h"
#include "core/errors.h"
#include "core/handlers.h"
#include "core/relaunch.h"
#include "core/resize.h"
#include "core/state.h"
#include "core/tally.h"
#include "core/tell.h"

/* A shrink that a user wants caps the size as far as the application accepts it. */
static void cap_at(struct pleat_core *core, uint32_t component, int32_t size)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->cap <= size) /* it was capped when its user asked (without PLEAT_CAP_AS_ACCEPTED) */
        return;
    tally_out(core, component);
    comp->cap = size;
    tally_in(core, component);
}

int on_answer(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t index = resize_of(core, event);
    if (index == PLEAT_NONE)
        return PLEAT_CORE_STALE;
    struct pleat_resize *resize = resize_at(core, index);
    const struct pleat_component *component = component_at(core, resize->component);
    if (resize->step == PLEAT_RESIZE_RELAUNCHING)
        return PLEAT_CORE_STALE;
    if (resize->step != PLEAT_RESIZE_OFFERED) { /* answered twice: the first answer stands */
        resize_warn(core, index);
        return 0;
    }
    int32_t size = event->u.change.processors;
    bool growing = resize->to > resize->from;
    bool bad = growing ? size > resize->to || size < 0
                       : size < pleat_accept_smallest(&core->view, component);
    bool refused = growing ? size <= resize->from : size >= resize->from;
    if (!growing && resize->mandatory && (bad || size > resize->to)) {
        /* a mandatory shrink cannot be refused: it goes on as it was told */
        resize_warn(core, index);
        size = resize->to;
    } else if (bad) {
        resize_warn(core, index);
        resize_end(core, index, PLEAT_OUTCOME_BAD_ANSWER);
        return 0;
    } else if (refused) {
        resize_end(core, index, PLEAT_OUTCOME_REFUSED);
        return 0;
    }
    if (!growing && resize->by_user && !resize->mandatory)
        cap_at(core, resize->component, size);
    if (size != resize->to)
        core->wants_pass = true; /* what the application leaves can be offered to another */
    resize_accept_size(core, index, size);
    resize_accepted(core, index);
    return 0;
}

int on_applied(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t index = resize_of(core, event);
    if (index == PLEAT_NONE)
        return PLEAT_CORE_STALE;
    struct pleat_resize *resize = resize_at(core, index);
    uint32_t component = resize->component;
    int32_t size = event->u.change.processors;
    if (resize->step == PLEAT_RESIZE_RELAUNCHING)
        return PLEAT_CORE_STALE; /* said by processes that are being ended */
    if (resize->step != PLEAT_RESIZE_GRANTED && resize->step != PLEAT_RESIZE_WITHDRAWING) {
        resize_warn(core, index);
        return 0;
    }
    if (resize->to > resize->from) {
        if (size > resize->to) /* the job runs on processors that are not its own */
            relaunch_or_kill(core, index, resize->to, PLEAT_REASON_NOT_HONOURED);
        else if (size < resize->from)
            relaunch_or_kill(core, index, resize->from, PLEAT_REASON_NOT_HONOURED);
        else if (size == resize->from)
            resize_end(core, index, PLEAT_OUTCOME_APP_FAILED);
        else
            resize_grown(core, index, size, PLEAT_OUTCOME_GROWN);
        return 0;
    }
    if (size > resize->to ||
        (size < resize->to &&
         size < pleat_accept_smallest(&core->view, component_at(core, component)))) {
        /* another size than the application was told: the deadline goes on */
        resize_warn(core, index);
        return 0;
    }
    if (size != resize->to)
        resize_accept_size(core, index, size);
    component_sized(core, component, size);
    if (site_at(core, component_at(core, component)->site)->instant) {
        resize_vacated(core, index, PLEAT_OUTCOME_SHRUNK);
        return 0;
    }
    resize_step(core, index, PLEAT_RESIZE_APPLIED, core->parameters[PLEAT_PARAM_VACATE_US]);
    return 0;
}

int on_vacated(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t index = resize_of(core, event);
    if (index == PLEAT_NONE)
        return PLEAT_CORE_STALE;
    struct pleat_resize *resize = resize_at(core, index);
    if (resize->step == PLEAT_RESIZE_RELAUNCHING)
        return PLEAT_CORE_STALE;
    if (resize->step != PLEAT_RESIZE_APPLIED) {
        resize_warn(core, index);
        return 0;
    }
    resize_vacated(core, index, PLEAT_OUTCOME_SHRUNK);
    return 0;
}

/* Is a mandatory resize still one? It is while its user wants it, or its waiter still waits. */
static bool still_mandatory(const struct pleat_resize *resize)
{
    return resize->mandatory && (resize->by_user || resize->waiter != PLEAT_NONE);
}

int on_resize_failed(struct pleat_core *core, const struct pleat_event *event,
                     struct pleat_error *err)
{
    (void)err;
    uint32_t index = resize_of(core, event);
    if (index == PLEAT_NONE)
        return PLEAT_CORE_STALE;
    struct pleat_resize *resize = resize_at(core, index);
    if (resize->step == PLEAT_RESIZE_RELAUNCHING && event->flags & PLEAT_NO_RELAUNCH) {
        component_kill(core, resize->component, PLEAT_REASON_START_USER);
        return 0;
    }
    if (resize->step == PLEAT_RESIZE_RELAUNCHING)
        return PLEAT_CORE_STALE; /* said by the old processes */
    if (resize->step != PLEAT_RESIZE_GRANTED && resize->step != PLEAT_RESIZE_WITHDRAWING) {
        resize_warn(core, index);
        return 0;
    }
    if (still_mandatory(resize))
        relaunch_or_kill(core, index, resize->to, PLEAT_REASON_NOT_HONOURED);
    else
        resize_end(core, index, PLEAT_OUTCOME_APP_FAILED);
    return 0;
}

int on_withdrawn(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t index = resize_of(core, event);
    if (index == PLEAT_NONE || resize_at(core, index)->step != PLEAT_RESIZE_WITHDRAWING)
        return PLEAT_CORE_STALE;
    const struct pleat_resize *resize = resize_at(core, index);
    bool taken =
        resize->claim != PLEAT_NONE && claim_at(core, resize->claim)->lent & PLEAT_LENT_TAKEN;
    resize_end(core, index,
               resize->put_off ? PLEAT_OUTCOME_NOT_NOW
               : taken         ? PLEAT_OUTCOME_CLAIM_FAILED
                               : PLEAT_OUTCOME_TIMED_OUT);
    return 0;
}

static void withdraw(struct pleat_core *core, uint32_t index)
{
    resize_step(core, index, PLEAT_RESIZE_WITHDRAWING, core->parameters[PLEAT_PARAM_STUCK_US]);
    resize_effect(core, index, PLEAT_DO_WITHDRAW, PLEAT_OUTCOME_NONE);
}

void resize_without_claim(struct pleat_core *core, uint32_t index)
{
    if (resize_at(core, index)->step == PLEAT_RESIZE_GRANTED)
        withdraw(core, index);
}

void resize_put_off(struct pleat_core *core, uint32_t index)
{
    struct pleat_resize *resize = resize_at(core, index);
    if (resize->step != PLEAT_RESIZE_GRANTED || !resize_may_wait(core, resize))
        return;
    resize->put_off = 1;
    withdraw(core, index);
}

void on_resize_deadline(struct pleat_core *core, uint32_t index)
{
    struct pleat_resize *resize = resize_at(core, index);
    switch (resize->step) {
    case PLEAT_RESIZE_OFFERED:
        if (still_mandatory(resize))
            resize_grant(core, index);
        else
            resize_end(core, index, PLEAT_OUTCOME_TIMED_OUT);
        break;
    case PLEAT_RESIZE_ACCEPTED:
        if (resize->claim == PLEAT_NONE || !claim_at(core, resize->claim)->waits)
            site_error(core, component_at(core, resize->component)->site);
        site_at(core, component_at(core, resize->component)->site)->quiet_until_us =
            now_of(core) + core->parameters[PLEAT_PARAM_BACKOFF_US];
        resize_end(core, index, PLEAT_OUTCOME_TIMED_OUT);
        break;
    case PLEAT_RESIZE_GRANTED:
        if (!still_mandatory(resize)) {
            withdraw(core, index);
        } else if (!resize->warned) {
            resize->warned = 1;
            resize_note(core, index, PLEAT_NOTE_WARNING, PLEAT_OUTCOME_NOT_HONOURED);
            resize_arm(core, index, core->parameters[PLEAT_PARAM_GRACE_US]);
        } else {
            relaunch_or_kill(core, index, resize->to, PLEAT_REASON_NOT_HONOURED);
        }
        break;
    case PLEAT_RESIZE_RELAUNCHING:
        component_kill(core, resize->component, (enum pleat_reason)resize->cause);
        break;
    case PLEAT_RESIZE_MOVING: /* with its processors, which it keeps while it waits again */
        component_kill(core, resize->component, PLEAT_REASON_LOST);
        break;
    default: /* WITHDRAWING: nobody answers; APPLIED: processes that should be gone are not */
        relaunch_or_kill(core, index, resize->to < resize->from ? resize->to : resize->from,
                         PLEAT_REASON_STUCK);
        break;
    }
}
