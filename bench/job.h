/* job.h - what the benchmarks that start MPI programs (tests/system/app_job.h) share: being
 * interrupted, the end of a job, and giving up. There is one job at a time. */
#ifndef PLEAT_BENCH_JOB_H
#define PLEAT_BENCH_JOB_H

#include "app_job.h"

/* Before the first job: from now on SIGINT, SIGTERM and SIGHUP end this program when the job is
 * cleaned up. `name`, of the benchmark, begins what it says; it is kept, and so is `job`. */
void bench_job_begin(const char *name, struct app_job *job);
/* Waits until the job has ended, which must be well, with "RESULT ok" in its output: no number may
 * come from one that went wrong. Nothing is left of it. Does not return after an interruption. */
void bench_job_end(void);
/* Says what is wrong, and exits with 1. For when there is no job. */
_Noreturn void bench_give_up(const char *what);

#endif
