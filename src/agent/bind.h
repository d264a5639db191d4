/* bind.h - binds the processes of a run to the CPUs of its slots.
 *
 * The main process is bound before its program is executed, and what it starts inherits that. At a
 * change every thread of every process of the run is told, again and again until nothing new turns
 * up, since they fork meanwhile. A thread that bound itself (or was bound by its MPI, or by the
 * manager of a folded run) keeps what it has of the run's CPUs; one that has none of them left gets
 * all of them. Where there are cpusets (cpuset.h) the run has one, which nobody in it can leave;
 * where not, a process that wants to can. Folded runs have none: their manager pins every process,
 * and kernels before 6.2 would undo that whenever a cpuset changes.
 *
 * A change has these steps; each does nothing where what it leads to is so already:
 *   plan     it is asked for
 *   open     processes may use the old CPUs and the new ones
 *   accept   the new ones are the run's from now on
 *   cancel   or it is not done: only the old ones may be used
 *   close    only what the run has may be used
 * Who pins single threads does so between open and accept: opening takes threads that have all of
 * the old CPUs to all of both.
 */
#ifndef PLEAT_AGENT_BIND_H
#define PLEAT_AGENT_BIND_H

#include <jansson.h>

#include "base/cpus.h"

struct pleat_agent;
struct pleat_run;

/* A zeroed one: not bound. */
struct pleat_binding {
    struct pleat_cpu_list cpus;   /* the run's, in the order of ranks; none: not bound */
    struct pleat_cpu_list wanted; /* likewise, of a change; none: there is no change */
    struct pleat_cpu_set told;    /* what threads that did not bind themselves have now */
    struct pleat_cpu_set first;   /* what they had when the main process was executed */
    bool unsettled;               /* there may be new processes that have something else */
    bool has_cpuset;              /* of the name that agent and run give it */
};

#define PLEAT_GROUP_NAME_SIZE 256

/* What the run's groups (cgroup.h) are called. */
void pleat_bind_group_name(const struct pleat_run *run, char *name);

/* Before the run's main process is started: that it will be bound to the CPUs of `slots`
 * ([{"first","count"},..], docs/protocol.md; NULL: that it will not). PLEAT_E_INVALID: there are no
 * such slots here. */
int pleat_bind_begin(struct pleat_run *run, const json_t *slots,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* What the main process is to be bound to when it is executed now; NULL: to nothing. */
const struct pleat_cpu_set *pleat_bind_mask(const struct pleat_run *run);
/* Gives the run a cpuset where it is to have one and there can be some; *procs is what the main
 * process writes "0" into to join it, else -1. For the caller to close. */
void pleat_bind_group(struct pleat_run *run, int *procs);
/* Nothing of the run is left: its cpuset goes. Accepts that there is none. */
void pleat_bind_over(struct pleat_run *run);
void pleat_bind_finish(struct pleat_run *run);

/* Removes the groups that a killed agent of this instance and node left, if no process is in them.
 */
void pleat_bind_remove_old(const struct pleat_agent *agent);

/* ---- a change ---- */

/* Replaces what was planned; NULL: there is no change. PLEAT_E_INVALID, as above. */
int pleat_bind_plan(struct pleat_run *run, const json_t *slots,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_bind_open(struct pleat_run *run);
/* The run has the first `count` of the planned CPUs from now on; SIZE_MAX: all of them. */
void pleat_bind_accept(struct pleat_run *run, size_t count);
void pleat_bind_cancel(struct pleat_run *run);
/* Nothing of the run is left, and it is started again: accepts all, for the new main process. */
void pleat_bind_renew(struct pleat_run *run);
/* How many threads could not be told, and may still use other CPUs (logged). */
size_t pleat_bind_close(struct pleat_run *run);

/* Binds each process that is in the mailbox to its own of the run's CPUs, where each has several:
 * at a start its launcher did that, but processes that join later, and a change, want it anew. */
void pleat_bind_tasks(struct pleat_run *run);

/* ---- single threads, for folded runs ---- */

/* Binds one thread of exactly this process. PLEAT_E_NOTFOUND: it is gone. */
int pleat_bind_thread(const struct pleat_agent *agent, pid_t pid, uint64_t start, pid_t tid,
                      uint32_t cpu, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
