/* ending.h - how components come to their end */
#ifndef PLEAT_CORE_ENDING_H
#define PLEAT_CORE_ENDING_H

#include "core/state.h"

void component_kill(struct pleat_core *core, uint32_t component, enum pleat_reason reason);
/* Ends a job of which a component waits: cancelled if that is the reason, else failed. */
void component_give_up(struct pleat_core *core, uint32_t component, enum pleat_reason reason);
/* The processes of the component are gone: its processors go back. Its state is FINISHING. */
void component_give_back(struct pleat_core *core, uint32_t component);
/* After the component's last claim went: the final state, or the queue again. */
void component_settle(struct pleat_core *core, uint32_t component);
/* The component is FINISHING: if it failed, the others of its job are ended, too. */
void job_end_others(struct pleat_core *core, uint32_t component);

#endif
