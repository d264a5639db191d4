/* ending.h - how components end */
#ifndef PLEAT_CORE_ENDING_H
#define PLEAT_CORE_ENDING_H

#include "core/state.h"

void component_kill(struct pleat_core *core, uint32_t component, enum pleat_reason reason);
/* The same, but the other components of the job go on. */
void component_kill_one(struct pleat_core *core, uint32_t component, enum pleat_reason reason);
/* Ends a job of which a component waits: cancelled if that is the reason, else failed. */
void component_give_up(struct pleat_core *core, uint32_t component, enum pleat_reason reason);
/* The processes of the component are gone: its processors go back. Its state is FINISHING. */
void component_give_back(struct pleat_core *core, uint32_t component);
void component_release_all(struct pleat_core *core, uint32_t component);
/* FINISHING to QUEUED: the component is as if it had not run. It is in no list. */
void component_reset(struct pleat_core *core, uint32_t component);
/* Gives one of several components its final state. */
void component_end_part(struct pleat_core *core, uint32_t component, enum pleat_state state);
/* After the component's last claim went: the final state, or the queue again. */
void component_settle(struct pleat_core *core, uint32_t component);

/* Did the component fail by no fault of its user's? */
static inline bool is_nobodys_fault(const struct pleat_component *component)
{
    return component->reason == PLEAT_REASON_LOST ||
           component->reason == PLEAT_REASON_START_SYSTEM ||
           component->reason == PLEAT_REASON_START_UNKNOWN;
}

/* May the component, which was given a run before, be started again? Not if it is to be started
 * once at most and that start may have happened. */
static inline bool may_start_again(const struct pleat_component *component)
{
    return !(component->flags & PLEAT_COMPONENT_ONCE) || component->untold;
}

#endif
