/* task.h - one of several processes of a job that have several processors each. */
#ifndef PLEAT_PMI_TASK_H
#define PLEAT_PMI_TASK_H

#include <stdint.h>

/* Binds this process to its processors: it is number `task`, from 0, and each has `each` of those
 * that PLEAT_CPUS_ENV lists. Where that is not what this process may use (the job has changed its
 * size since), they are shared out of what it may use. Does nothing where the job is not bound. 0
 * or errno. */
int pleat_pmi_bind_task(uint32_t task, uint32_t each);

#endif
