/* fold_partition.h - the partition of a folded run, and where in it each process stands. */
#ifndef PLEAT_AGENT_FOLD_PARTITION_H
#define PLEAT_AGENT_FOLD_PARTITION_H

#include "agent/folded.h"

/* Whether a folded run can have these CPUs. PLEAT_E_INVALID: there are none. PLEAT_E_TOOBIG. */
int pleat_folded_check_cpus(const struct pleat_cpu_list *cpus,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Makes these CPUs the first partition, and maps the processes to them. PLEAT_E_NOMEM. */
int pleat_folded_partition(struct pleat_folded *folded, const struct pleat_cpu_list *cpus,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Changes the partition to the planned CPUs of the run's binding, and moves the processes there. An
 * error changes nothing. */
int pleat_folded_move(struct pleat_folded *folded, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Sets the queue from which processes take their turns. For a local queue the places of processes
 * are decided anew. */
void pleat_folded_queue(struct pleat_folded *folded, enum pleat_fold_queue queue,
                        enum pleat_folded_queue_by by);
/* Pins the thread of a member that calls MPI to its processor, or to the whole partition where the
 * kernel chooses. */
void pleat_folded_pin(struct pleat_folded *folded, uint32_t index);

/* Useful time of all processes of the run so far. */
uint64_t pleat_folded_useful_ns(const struct pleat_folded *folded);

#endif
