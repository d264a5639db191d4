/* transition.h - states of components */
#ifndef PLEAT_CORE_TRANSITION_H
#define PLEAT_CORE_TRANSITION_H

#include <assert.h>

#include "core/state.h"

void note_state(struct pleat_core *core, uint32_t component, enum pleat_component_state from);

/* Only along the one table of transitions. */
static inline void set_state(struct pleat_core *core, uint32_t component,
                             enum pleat_component_state to)
{
    struct pleat_component *comp = component_at(core, component);
    enum pleat_component_state from = (enum pleat_component_state)comp->state;
    assert(pleat_transition_allowed(from, to));
    comp->state = (uint8_t)to;
    if (core->notes & pleat_note_bit(PLEAT_NOTE_STATE))
        note_state(core, component, from);
}

/* Does the component run, also in a resize? */
static inline bool is_running(const struct pleat_component *component)
{
    return component->state == PLEAT_RUNNING || component->state == PLEAT_RESIZING;
}

/* Is the record nobody's: not submitted yet, or forgotten? */
static inline bool is_unused(const struct pleat_component *component)
{
    return component->state == PLEAT_NEW || pleat_component_is_forgotten(component);
}

#endif
