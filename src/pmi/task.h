/* task.h - prepares a process of a job before it executes its program: binds it to several
 * processors, or gives it the terminal.
 */
#ifndef PLEAT_PMI_TASK_H
#define PLEAT_PMI_TASK_H

#include <stdint.h>

/* Binds this process, number `task` from 0, to `each` of the CPUs that PLEAT_CPUS_ENV lists. If
 * these are not the CPUs that it may use (the job's size has changed since), the CPUs that it may
 * use are divided instead. Does nothing if the job is not bound. 0 or an errno. */
int pleat_pmi_bind_task(uint32_t task, uint32_t each);

/* Makes the terminal `name` (an absolute path, or a variable of the environment that has it, as
 * PLEAT_TERMINAL_ENV) the controlling one of this process, and its standard input, output
 * and error; no other session may have it. The process leads a session of its own afterwards. 0 or
 * an errno. */
int pleat_pmi_take_terminal(const char *name);

#endif
