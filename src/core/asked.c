/* What an application asks for, and that a pass refuses it. */
#include "core/asks.h"
#include "core/ending.h"
#include "core/handlers.h"
#include "core/resize.h"

int on_asked(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t component = event->component, number = event->u.asked.number;
    const struct pleat_component *comp = component_at(core, component);
    if ((comp->state != PLEAT_RUNNING && comp->state != PLEAT_RESIZING) ||
        event->u.asked.run != comp->run || comp->kind != PLEAT_MALLEABLE ||
        pleat_view_folds(comp) || comp->buffer != PLEAT_NONE ||
        number <= pleat_view_ask(&core->view, comp)->number || event->u.asked.processors < 0 ||
        event->u.asked.processors > PLEAT_SIZE_MAX)
        return PLEAT_CORE_STALE; /* the run is over, its size cannot change, or this ask is known */
    if (!ask_take(core, component, number, event->u.asked.processors,
                  event->flags & PLEAT_MANDATORY, event->flags & PLEAT_UNBEGUN,
                  event->u.asked.limit_us))
        return PLEAT_E_NOMEM;
    resize_as_asked(core, component);
    return 0;
}

int on_refuse(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    const struct pleat_component *comp = component_at(core, event->component);
    const struct pleat_ask *ask = pleat_view_ask(&core->view, comp);
    bool later = event->u.refuse.reason == PLEAT_ASK_LATER;
    if (ask->state != PLEAT_ASK_PENDING || comp->state != PLEAT_RUNNING ||
        (later && !pleat_view_may_wait_again(&core->view, comp)))
        return pleat_error_set(err, PLEAT_E_STATE, "job %llu asks for nothing that can be refused",
                               (unsigned long long)comp->job);
    /* An application that has not begun loses nothing by waiting without processors. So it goes
     * back to the queue: no two jobs wait for what the other one holds, and what is done for queued
     * jobs is done for this one, too */
    if (event->u.refuse.reason == PLEAT_ASK_LATER)
        component_kill(core, event->component, PLEAT_REASON_TOO_FEW);
    else
        ask_refuse(core, event->component, (enum pleat_ask_reason)event->u.refuse.reason);
    return 0;
}
