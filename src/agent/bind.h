/* bind.h - binds the processes of a run to the CPUs of its slots.
 *
 * The main process is bound before its program is executed, and its descendants inherit that. At a
 * change every thread of every process of the run is bound anew ("told"). That is repeated until no
 * thread is found that has to be told, since processes fork meanwhile. A thread that bound itself
 * (or was bound by its MPI, or by the manager of a folded run) keeps those of its CPUs that the run
 * still has. A thread that has none of these left gets all CPUs of the run.
 *
 * Where cpusets can be made (cpuset.h) the run has one, and no process of the run can leave it.
 * Without a cpuset a process can bind itself to other CPUs. Folded runs have no cpuset: their
 * manager pins every process, and kernels before 6.2 undo that whenever a cpuset changes.
 *
 * A change has the steps below. A step does nothing where its result is there already.
 *   plan     the change is asked for
 *   open     processes may use the old CPUs and the new ones
 *   accept   from now on the new CPUs are the run's
 *   cancel   or the change is not made: only the old CPUs may be used
 *   close    only the run's CPUs may be used
 * Single threads are pinned between open and accept: open gives a thread that has all of the old
 * CPUs all CPUs of both.
 */
#ifndef PLEAT_AGENT_BIND_H
#define PLEAT_AGENT_BIND_H

#include <jansson.h>
#include <stdbool.h>

#include "base/cpus.h"

struct pleat_agent;
struct pleat_run;

/* Zeroed: the run is not bound. */
struct pleat_binding {
    /* the run's CPUs, in the order of ranks; none: the run is not bound */
    struct pleat_cpu_list cpus;
    /* likewise those of a planned change; none: no change is planned */
    struct pleat_cpu_list wanted;
    struct pleat_cpu_set told;  /* CPUs of threads that did not bind themselves */
    struct pleat_cpu_set first; /* CPUs of these threads when the main process was executed */
    bool unsettled;             /* there may be new processes that have other CPUs than `told` */
    bool has_cpuset;            /* the run has a cpuset, named as pleat_bind_group_name says */
};

#define PLEAT_GROUP_NAME_SIZE 256

/* The name of the run's groups (cgroup.h). name: PLEAT_GROUP_NAME_SIZE bytes. */
void pleat_bind_group_name(const struct pleat_run *run, char *name);

/* Before the main process of a run is started: the run will be bound to the CPUs of `slots`
 * ([{"first","count"},..], docs/protocol.md; NULL: it will not be bound). PLEAT_E_INVALID: this
 * node has no such slots. */
int pleat_bind_begin(struct pleat_run *run, const json_t *slots,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* The run's CPUs; coming: those of the planned change, where there is one. */
const struct pleat_cpu_list *pleat_bind_cpus(const struct pleat_run *run, bool coming);
/* The CPUs to which a main process is bound when it is executed now; coming: one that takes over at
 * the planned change. False: it is not bound. */
bool pleat_bind_mask(const struct pleat_run *run, bool coming, struct pleat_cpu_set *mask);
/* The main process that was executed as one that takes over has done so. */
void pleat_bind_hand_over(struct pleat_run *run);
/* Makes the run's cpuset, where the run is to have one and it can be made. *procs is the file into
 * which the main process writes "0" to join the cpuset, or -1 where there is none. The caller
 * closes it. */
void pleat_bind_group(struct pleat_run *run, int *procs);
/* Removes the cpuset of a run of which nothing is left. Accepts a run without one. */
void pleat_bind_over(struct pleat_run *run);
void pleat_bind_finish(struct pleat_run *run);

/* Removes the groups that a killed agent of this instance and node left, if no process is in them.
 */
void pleat_bind_remove_old(const struct pleat_agent *agent);

/* ---- a change ---- */

/* Replaces the plan of a change by `slots`; NULL: no change is planned. PLEAT_E_INVALID, as above.
 */
int pleat_bind_plan(struct pleat_run *run, const json_t *slots,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_bind_open(struct pleat_run *run);
/* From now on the run has the first `count` of the planned CPUs; SIZE_MAX: all of them. */
void pleat_bind_accept(struct pleat_run *run, size_t count);
void pleat_bind_cancel(struct pleat_run *run);
/* For a run of which nothing is left and that is started again: accepts all planned CPUs, for the
 * new main process. */
void pleat_bind_renew(struct pleat_run *run);
/* Returns how many threads could not be told, and so may still use other CPUs (this is logged). */
size_t pleat_bind_close(struct pleat_run *run);

/* Binds each process that is in the mailbox to its own CPUs, where each process has several. At a
 * start the launcher did that. Processes that join later have to be bound here, and all of them
 * after a change. */
void pleat_bind_tasks(struct pleat_run *run);

/* ---- single threads, for folded runs ---- */

/* Binds one thread of exactly this process. PLEAT_E_NOTFOUND: the thread or the process is gone. */
int pleat_bind_thread(const struct pleat_agent *agent, pid_t pid, uint64_t start, pid_t tid,
                      uint32_t cpu, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
