/* An application gives back processors by itself: at its own initiative (Lammers 2005, 5.3.2), or
 * because a component of it has done its work (5.4). */
#include "core/claims.h"
#include "core/handlers.h"
#include "core/resize.h"
#include "core/shares.h"
#include "core/side.h"
#include "core/state.h"
#include "core/tally.h"

/* May a component give back processors now? It may while it runs, and while a growth is offered or
 * accepted, whose sizes then fall by as many. It may not once it was told of another size. */
static bool may_give_back(struct pleat_core *core, const struct pleat_component *component)
{
    if (component->state == PLEAT_RUNNING)
        return true;
    if (component->state != PLEAT_RESIZING)
        return false;
    const struct pleat_resize *resize = resize_at(core, component->resize);
    return resize->step < PLEAT_RESIZE_GRANTED && resize->to > resize->from;
}

int on_returned(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t component = event->component, number = event->u.returned.number;
    struct pleat_component *comp = component_at(core, component);
    int32_t count = event->u.returned.count, left = comp->processors - count;
    int32_t smallest = pleat_accept_smallest(&core->view, comp);
    if (!may_give_back(core, comp) || comp->buffer != PLEAT_NONE || /* evolving: STOP_PROCESS */
        event->u.returned.run != comp->run || comp->kind != PLEAT_MALLEABLE || count < 1 ||
        left < 0 ||
        (left < smallest && (!(comp->flags & PLEAT_COMPONENT_EMPTY) ||
                             pleat_view_folds(comp)))) /* and it cannot be empty */
        return PLEAT_CORE_STALE;
    if (number > 0) {
        struct pleat_ask *ask = side_make(core, SIDE_ASK, component);
        if (!ask)
            return PLEAT_E_NOMEM;
        if (number <= ask->returned)
            return PLEAT_CORE_STALE; /* known already: the agent repeats it */
        ask->returned = number;
    }
    shares_leave(core, component, count);
    component_release_tail(core, component, count);
    tally_out(core, component);
    comp->target -= count;
    comp->below = left < smallest;
    if (comp->resize != PLEAT_NONE) {
        resize_at(core, comp->resize)->from -= count;
        resize_at(core, comp->resize)->to -= count;
    }
    tally_in(core, component);
    component_sized(core, component, left);
    resize_as_asked(core, component);
    core->wants_pass = true;
    return 0;
}
