/* Leaving the node from which a component is led: between the end of its processes there and their
 * start on another node. */
#include "core/move.h"
#include "core/errors.h"
#include "core/handlers.h"
#include "core/node.h"
#include "core/resize.h"
#include "core/side.h"
#include "core/tell.h"
#include "core/terms.h"

bool move_is_under_way(const struct pleat_core *core, const struct pleat_component *component)
{
    return component->state == PLEAT_RESIZING &&
           core->resizes.items[component->resize].step == PLEAT_RESIZE_MOVING;
}

bool pleat_core_is_moving(const struct pleat_core *core, uint32_t component)
{
    return move_is_under_way(core, &core->components.items[component]);
}

static bool leaves_lead(const struct pleat_core *core, const struct pleat_resize *resize)
{
    return resize->to < resize->from && core->parameters[PLEAT_PARAM_MOVE_US] > 0 &&
           core_leaves_lead(core, &core->components.items[resize->component], resize->to);
}

bool pleat_core_moves(const struct pleat_core *core, uint32_t component)
{
    uint32_t index = core->components.items[component].resize;
    return index != PLEAT_NONE && leaves_lead(core, &core->resizes.items[index]);
}

int on_moved(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t index = resize_of(core, event);
    if (index == PLEAT_NONE)
        return PLEAT_CORE_STALE;
    const struct pleat_resize *resize = resize_at(core, index);
    struct pleat_component *component = component_at(core, event->component);
    bool told = resize->step == PLEAT_RESIZE_GRANTED || resize->step == PLEAT_RESIZE_WITHDRAWING;
    if (!told || !leaves_lead(core, resize)) {
        resize_warn(core, index);
        return 0;
    }
    struct pleat_declaration *said = side_find(core, SIDE_DECLARATION, event->component);
    if (said) /* the new processes are in no section */
        said->not_now = 0;
    component->lead_node = core_first_node(core, component);
    component->starting = 1;
    resize_moves(core, index);
    running_arm(core, event->component); /* it can do without other claims than before */
    start_or_reach(core, event->component);
    return 0;
}

void move_started(struct pleat_core *core, uint32_t component)
{
    component_at(core, component)->starting = 0;
    start_works(core, component);
    resize_end(core, component_at(core, component)->resize, PLEAT_OUTCOME_SHRUNK);
}
