/* played_slurm.h - a pleat-slurm, or another adapter, without a process, and without a cluster:
 * some hosts, whose processors are given in the order in which they are asked for. */
#ifndef PLEAT_TESTS_CONFORMANCE_PLAYED_SLURM_H
#define PLEAT_TESTS_CONFORMANCE_PLAYED_SLURM_H

#include "host.h"

enum { PLAYED_SLURM_JOBS = 1024, PLAYED_SLURM_HOSTS = 4, PLAYED_SLURM_KILL_WAIT_S = 30 };

struct played_slurm {
    struct played_programs programs;
    const char *role;            /* the role in its hello */
    struct pleat_helper *helper; /* the helper that was told something last */
    int32_t processors, free;    /* of all hosts */
    int32_t free_on[PLAYED_SLURM_HOSTS];
    int32_t others_on[PLAYED_SLURM_HOSTS]; /* for the test to set: told, and never given back */
    int hosts, count, queries;
    bool lingers; /* for the test to set: what is over is listed as ending, on its nodes */
    int page;     /* for the test to set: an answer has no more hosts; 0: it has all */
    struct played_slurm_job {
        char name[140], near[16];
        int32_t processors;
        int32_t on[PLAYED_SLURM_HOSTS], was_on[PLAYED_SLURM_HOSTS];
        bool one_host, runs, over;
    } jobs[PLAYED_SLURM_JOBS]; /* job number i + 1 */
};

/* hosts: all with as many of the processors. */
void played_slurm_init(struct played_slurm *slurm, int32_t processors, int hosts);
/* Another user ends a job. */
void played_slurm_cancel(struct played_slurm *slurm, int number);
/* The same in two parts: the processors are gone; the end is told. */
void played_slurm_end(struct played_slurm *slurm, int number);
void played_slurm_tell_end(struct played_slurm *slurm, int number);
/* Another user begins to: its processes are still there. */
void played_slurm_begin_end(struct played_slurm *slurm, int number, const char *why);
/* The program that was started in the job on a host has ended. */
void played_slurm_end_step(struct played_slurm *slurm, int number, int host);

#endif
