/* bare.h - what the simulator is measured against: the same schedules by bare loops that know
 * nothing else. Rigid jobs on one machine, their run times known. */
#ifndef PLEAT_BENCH_SIM_BARE_H
#define PLEAT_BENCH_SIM_BARE_H

#include "model/workload.h"

/* Start of each job, microseconds; all jobs must fit the machine. Negative: out of memory.
 * FCFS: a loop over the jobs and a heap of ends. */
int bare_fcfs(const struct pleat_workload *workload, int32_t machine, int64_t *starts);
/* EASY, naively: what runs in an array sorted by end, what waits in a list that is looked through
 * at every instant while anything is free. */
int bare_easy(const struct pleat_workload *workload, int32_t machine, int64_t *starts);

/* Reads the numbers of each line (whole ones), adds up run times, and does nothing else. Returns
 * the number of lines with jobs. */
size_t bare_read(const char *text, size_t length, int64_t *sum);

#endif
