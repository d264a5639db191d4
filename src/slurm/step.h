/* step.h - starts a program in an allocation, by srun.
 *
 * srun gets a session of its own and outlives this process, so that what it started does, too; it
 * ends with the allocation. The program's variables are srun's environment, never words of a
 * command line, which everybody could read. Its input and output are /dev/null.
 */
#ifndef PLEAT_SLURM_STEP_H
#define PLEAT_SLURM_STEP_H

#include "slurm/lines.h"

/* params: {"job", "node", "argv", "environment"}; the members are checked. The request is answered
 * when srun was started; its end is told as `run_ended`. A code, if it was not. */
int pleat_slurm_step_start(struct pleat_slurm_lines *lines, uv_loop_t *loop, int64_t id,
                           const json_t *params, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
