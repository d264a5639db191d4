/* depend.h - jobs that wait for other jobs */
#ifndef PLEAT_CORE_DEPEND_H
#define PLEAT_CORE_DEPEND_H

#include "core/state.h"

/* The component waits for no job any more. */
void needs_drop(struct pleat_core *core, uint32_t component);
/* The first component of a job has started; the job has ended, well or not. */
void dependents_started(struct pleat_core *core, uint32_t component);
void dependents_ended(struct pleat_core *core, uint32_t component, bool well);
/* Follows what was decided about jobs that others wait for: those are released or cancelled. */
void dependents_settle(struct pleat_core *core);

#endif
