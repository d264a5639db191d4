/* step.h - starts a program in an allocation, by the batch system's own starter (srun, qrsh).
 *
 * The starter gets a session of its own and outlives this process, so that what it started does,
 * too; it ends with the allocation. The program's input and variables are those of the starter,
 * never words of a command line, which everybody could read. Its output is dropped.
 */
#ifndef PLEAT_ADAPTER_STEP_H
#define PLEAT_ADAPTER_STEP_H

#include "adapter/call.h"

/* params: {"job", "node", "argv", "environment", "input", "secret"}; the members are checked. The
 * request is answered when the starter was started, or could not be; its end is told as
 * `run_ended`. A code: it is not answered, and was not started. */
int pleat_adapter_step_start(struct pleat_adapter_calls *calls, int64_t id, const json_t *params,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* The allocation is over: the starters of programs in it end, if need be by a signal. The programs
 * themselves are ended by the batch system. */
void pleat_adapter_steps_over(uint32_t job);

#endif
