/* running.h - from having all that is needed to running */
#ifndef PLEAT_CORE_RUNNING_H
#define PLEAT_CORE_RUNNING_H

#include "core/state.h"

/* The component has all processors and files that it needs: it is started. */
void component_start(struct pleat_core *core, uint32_t component);
/* Emits START, which was not answered yet, (again) for the agent that is there now. */
void start_await(struct pleat_core *core, uint32_t component);

#endif
