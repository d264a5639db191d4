/* Relaunching, where a resize cannot go on. All processes of the job are ended, whatever they are
 * doing. The job is started again, in the same run, from its last saved state; without one, from
 * the beginning. */
#include "core/relaunch.h"
#include "core/ending.h"
#include "core/handlers.h"
#include "core/move.h"
#include "core/node.h"
#include "core/resize.h"
#include "core/side.h"
#include "core/state.h"
#include "core/tally.h"
#include "core/tell.h"

static bool can_relaunch(const struct pleat_core *core, const struct pleat_component *component,
                         int32_t processors)
{
    return (component->flags & PLEAT_COMPONENT_RELAUNCHES) &&
           !(component->flags & PLEAT_COMPONENT_ONCE) && component->kind == PLEAT_MALLEABLE &&
           processors > 0 && !core_leaves_lead(core, component, processors) &&
           component->relaunches < core->parameters[PLEAT_PARAM_RELAUNCHES];
}

static void relaunch(struct pleat_core *core, uint32_t index, int32_t processors,
                     enum pleat_reason cause)
{
    component_at(core, resize_at(core, index)->component)->relaunches++;
    if (resize_at(core, index)->to != processors)
        resize_retarget(core, index, processors);
    resize_at(core, index)->cause = (uint8_t)cause;
    resize_step(core, index, PLEAT_RESIZE_RELAUNCHING, core->parameters[PLEAT_PARAM_RELAUNCH_US]);
    resize_effect(core, index, PLEAT_DO_RELAUNCH, PLEAT_OUTCOME_NONE);
}

void relaunch_or_kill(struct pleat_core *core, uint32_t index, int32_t processors,
                      enum pleat_reason cause)
{
    uint32_t component = resize_at(core, index)->component;
    if (can_relaunch(core, component_at(core, component), processors))
        relaunch(core, index, processors, cause);
    else
        component_kill(core, component, cause);
}

/* The size at which a job whose processes died goes on: a growth is given up, a shrink is done. */
static int32_t size_after(const struct pleat_resize *resize)
{
    if (resize->step == PLEAT_RESIZE_RELAUNCHING || resize->to < resize->from)
        return resize->to;
    return resize->from;
}

bool relaunch_broken(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    if ((comp->state != PLEAT_RUNNING && comp->state != PLEAT_RESIZING) ||
        move_is_under_way(core, comp))
        return false;
    uint32_t index = comp->resize;
    bool told = index != PLEAT_NONE && resize_at(core, index)->step >= PLEAT_RESIZE_GRANTED;
    int32_t processors = told ? size_after(resize_at(core, index)) : comp->processors;
    if (!can_relaunch(core, comp, processors))
        return false;
    if (index != PLEAT_NONE && !told)
        resize_end(core, index, PLEAT_OUTCOME_APP_FAILED);
    index = comp->resize; /* resize_end may have begun a shrink into the limits */
    if (index == PLEAT_NONE)
        index = resize_open(core, component, comp->processors, 0, false, false, PLEAT_NONE);
    if (index != PLEAT_NONE)
        relaunch(core, index, size_after(resize_at(core, index)), PLEAT_REASON_BROKEN);
    return true;
}

int on_relaunched(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t index = resize_of(core, event);
    if (index == PLEAT_NONE)
        return PLEAT_CORE_STALE;
    struct pleat_resize *resize = resize_at(core, index);
    struct pleat_component *component = component_at(core, resize->component);
    if (resize->step != PLEAT_RESIZE_RELAUNCHING) {
        resize_warn(core, index);
        return 0;
    }
    if (event->u.change.processors != resize->to) { /* nobody knows what runs where */
        component_kill(core, resize->component, PLEAT_REASON_NOT_HONOURED);
        return 0;
    }
    struct pleat_declaration *said = side_find(core, SIDE_DECLARATION, resize->component);
    if (said) /* the new processes are in no section */
        said->not_now = 0;
    if (!(event->flags & PLEAT_FROM_STATE)) {
        int64_t run_us = pleat_view_expected_run(component, component->processors);
        resize_note(core, index, PLEAT_NOTE_WARNING, PLEAT_OUTCOME_RELAUNCHED);
        running_expect(core, resize->component,
                       run_us < PLEAT_NEVER - now_of(core) ? now_of(core) + run_us : PLEAT_NEVER);
    }
    if (resize->to > resize->from) {
        resize_grown(core, index, resize->to, PLEAT_OUTCOME_RELAUNCHED);
    } else if (resize->to < resize->from) {
        if (component->processors != resize->to) /* a shrink may have been applied already */
            component_sized(core, resize->component, resize->to);
        resize_vacated(core, index, PLEAT_OUTCOME_RELAUNCHED);
    } else {
        resize_end(core, index, PLEAT_OUTCOME_RELAUNCHED);
    }
    return 0;
}
