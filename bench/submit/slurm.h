/* slurm.h - a Slurm cluster of one node on this machine, for comparison, where Slurm is installed.
 *
 * All of it is in one directory: its configuration, its state, and a munged of its own, so nothing
 * of a Slurm that is configured here is used or changed, and no privilege is needed.
 */
#ifndef PLEAT_BENCH_SLURM_H
#define PLEAT_BENCH_SLURM_H

#include <stdbool.h>
#include <stddef.h>

/* The first of slurmctld, slurmd, munged, sbatch, squeue, sinfo, scancel that is not there; NULL:
 * all are. */
const char *bench_slurm_missing(void);
/* Starts the cluster below `directory` (absolute), waits until its node takes jobs, and gives that
 * node to a job that goes on. SLURM_CONF is set. False, with the reason in `why`. */
bool bench_slurm_start(const char *directory, char *why, size_t size);
/* The script that jobs run. */
const char *bench_slurm_script(void);
/* Ends all jobs, the daemons that were started, and whatever they left. May be called at any time,
 * also twice. */
void bench_slurm_stop(void);

#endif
