/* start.h - from being placed to running */
#ifndef PLEAT_CORE_START_H
#define PLEAT_CORE_START_H

#include "core/state.h"

/* Emits START, which was not answered yet, (again) for the agent that is there now. */
void start_await(struct pleat_core *core, uint32_t component);
/* The processors claimed for the component's start have come: all, or as many as there were. */
void component_claimed(struct pleat_core *core, uint32_t component);
/* The start of the component cannot go on: it goes to the front of the queue, or fails. */
void component_claim_failed(struct pleat_core *core, uint32_t component, enum pleat_reason reason);
/* Claims the `missing` processors of the component at its site. */
void component_claim(struct pleat_core *core, uint32_t component, int32_t missing);
/* The component has all processors and files that it needs: it is started. */
void component_start(struct pleat_core *core, uint32_t component);

#endif
