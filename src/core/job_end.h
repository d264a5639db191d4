/* job_end.h - how jobs of several components end */
#ifndef PLEAT_CORE_JOB_END_H
#define PLEAT_CORE_JOB_END_H

#include "core/state.h"

/* Would the failures of the job's components, so far, send the job back to the queue? `lead`, here
 * and below: the first component of the job. */
PLEAT_COLD bool job_requeues(const struct pleat_core *core, uint32_t lead);
/* After a component has come to its end: when it was the last one, the job ends or waits again. */
PLEAT_COLD void job_settle(struct pleat_core *core, uint32_t lead);
/* Ends a job of which no component was placed. */
PLEAT_COLD void job_cancel_waiting(struct pleat_core *core, uint32_t lead, enum pleat_reason reason,
                                   enum pleat_component_state state);

#endif
