/* depend.h - jobs that wait for other jobs */
#ifndef PLEAT_CORE_DEPEND_H
#define PLEAT_CORE_DEPEND_H

#include "core/state.h"

/* The component waits for no job any more. */
PLEAT_COLD void needs_drop(struct pleat_core *core, uint32_t component);
/* The first component of a job has started; the job has ended, well or not. */
PLEAT_COLD void dependents_started(struct pleat_core *core, uint32_t component);
PLEAT_COLD void dependents_ended(struct pleat_core *core, uint32_t component, bool well);
/* The next component whose wait for other jobs is over since something was decided about those; it
 * waits for no job any more. *met: it may start; else it never can, and is to be cancelled.
 * PLEAT_NONE: there is none. */
PLEAT_COLD uint32_t dependents_next(struct pleat_core *core, bool *met);

#endif
