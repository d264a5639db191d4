/* played_slurm.h - a pleat-slurm without a process, and without a cluster: one node, whose
 * processors are given in the order in which they are asked for. */
#ifndef PLEAT_TESTS_CONFORMANCE_PLAYED_SLURM_H
#define PLEAT_TESTS_CONFORMANCE_PLAYED_SLURM_H

#include "host.h"

enum { PLAYED_SLURM_JOBS = 1024 };

struct played_slurm {
    struct played_programs programs;
    struct pleat_helper *helper; /* that was told something last */
    int32_t processors, free;
    int count, queries;
    struct played_slurm_job {
        char name[140];
        int32_t processors;
        bool runs, over;
    } jobs[PLAYED_SLURM_JOBS]; /* job number i + 1 */
};

void played_slurm_init(struct played_slurm *slurm, int32_t processors);
/* Somebody else ends a job. */
void played_slurm_cancel(struct played_slurm *slurm, int number);

#endif
