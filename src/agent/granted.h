/* granted.h - which CPUs the slots of a node are of which a batch system has granted some.
 *
 * A batch system says how many processors a job has on a host. Where it confines the job (a cpuset,
 * an affinity), the agent may use just those CPUs, and they are the slots. Where the agent may use
 * fewer CPUs than were granted, since the batch system counts more than there are, they are several
 * slots each. Where it may use more, nothing says which are the job's: then as many are chosen when
 * slots are first asked for. Idle CPUs come first, and none that another agent on this host has
 * chosen, of whichever user, as long as there are others. An agent keeps what it has chosen until
 * it ends.
 */
#ifndef PLEAT_AGENT_GRANTED_H
#define PLEAT_AGENT_GRANTED_H

#include "base/cpus.h"
#include "base/error.h"

/* Zeroed: nothing was granted. */
struct pleat_granted {
    uint32_t count;   /* processors; 0: no batch system has granted any */
    bool open;        /* the CPUs have yet to be chosen */
    bool chosen;      /* they were chosen here */
    int64_t since_us; /* open: when busy_us was read (monotonic) */
    int64_t *busy_us; /* open: how long each CPU had been busy then; NULL: not known */
    int *kept;        /* one descriptor for each chosen CPU that others leave alone meanwhile */
    size_t kept_count;
};

/* `count` processors were granted to a process that may use the CPUs `allowed`. Fills *cpus, which
 * is empty, unless the CPUs have to be chosen. proc: "/proc". PLEAT_E_NOMEM. */
int pleat_granted_begin(struct pleat_granted *granted, uint32_t count, const char *proc,
                        const struct pleat_cpu_set *allowed, struct pleat_cpu_list *cpus,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Chooses the CPUs and fills *cpus, if that is still to be done. This may take
 * PLEAT_GRANTED_LOOK_US. PLEAT_E_NOMEM: nothing is chosen. */
int pleat_granted_choose(struct pleat_granted *granted, const char *proc,
                         const struct pleat_cpu_set *allowed, struct pleat_cpu_list *cpus,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_granted_finish(struct pleat_granted *granted);

#define PLEAT_GRANTED_LOOK_US INT64_C(60000)

/* The part of pleat_granted_choose that decides. Adds to *cpus `count` CPUs of `order` (fewer where
 * that has fewer), in its order: those that are not busy before those that are, and both before
 * those that `take` refuses. busy: for each CPU of `order`. PLEAT_E_NOMEM. */
int pleat_granted_pick(const struct pleat_cpu_list *order, const bool *busy, uint32_t count,
                       bool (*take)(void *arg, uint32_t cpu), void *arg,
                       struct pleat_cpu_list *cpus, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
