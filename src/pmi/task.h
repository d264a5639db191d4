/* task.h - what a process of a job becomes before it is its program: bound to several processors,
 * the one that has the terminal. */
#ifndef PLEAT_PMI_TASK_H
#define PLEAT_PMI_TASK_H

#include <stdint.h>

/* Binds this process, number `task` from 0, to `each` of the CPUs that PLEAT_CPUS_ENV lists. If
 * these are not the CPUs that it may use (the job's size has changed since), the CPUs that it may
 * use are divided instead. Does nothing if the job is not bound. 0 or an errno. */
int pleat_pmi_bind_task(uint32_t task, uint32_t each);

/* Makes a terminal that no other session has the controlling one of this process, and its standard
 * input, output and error. It gets a session of its own, unless it leads one. 0 or errno. */
int pleat_pmi_take_terminal(const char *path);

#endif
