/* ended.h - components that have ended for good, or are reset to wait again */
#ifndef PLEAT_CORE_ENDED_H
#define PLEAT_CORE_ENDED_H

#include "core/state.h"

/* Gives the only component of a job its final state. It is in no list, and has no processors. */
void component_end(struct pleat_core *core, uint32_t component, enum pleat_component_state state);
/* Gives one of several components its final state. */
void component_end_part(struct pleat_core *core, uint32_t component,
                        enum pleat_component_state state);
/* FINISHING to QUEUED: the component is as if it had not run. It is in no list. */
void component_reset(struct pleat_core *core, uint32_t component);
/* All claims of the component go back, also those for its buffer. */
void component_release_all(struct pleat_core *core, uint32_t component);
/* Forgets all components of the component's job, if that was asked for. All must have ended and
 * given back their processors: a claim has an owner until it is free. */
void ended_forget(struct pleat_core *core, uint32_t component);

/* Did the program of the component, which has ended, exit with 0? */
static inline bool is_done(const struct pleat_component *component)
{
    return component->reason == PLEAT_REASON_EXIT && component->code == 0 && component->signal == 0;
}

/* Did the component fail by no fault of its user's? */
static inline bool is_nobodys_fault(const struct pleat_component *component)
{
    return component->reason == PLEAT_REASON_LOST || component->reason == PLEAT_REASON_SITE_TIME ||
           component->reason == PLEAT_REASON_TAKEN ||
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
