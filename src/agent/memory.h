/* memory.h - what all processes of a run have in memory together, and its limit.
 *
 * The measure is the proportional set size (smaps_rollup of proc(5)): a page that several processes
 * share counts once, a share for each of them. What they have resident, summed, is never less and
 * costs a hundredth to read, so the measure is taken only where that sum is above what is known.
 * Where the kernel does not tell it (a process of somebody else), what is resident stands for it.
 *
 * A limit is kept by a group of the kernel's (memgroup.h) where there can be one, else by what is
 * measured. Either way the run is ended at once, without a grace in which it could go on.
 */
#ifndef PLEAT_AGENT_MEMORY_H
#define PLEAT_AGENT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pleat_agent;
struct pleat_run;

/* A zeroed one: no limit, nothing known. */
struct pleat_memory {
    int64_t limit_kb;    /* 0: none */
    int64_t peak_kb;     /* measured, up to now */
    int64_t told_kb;     /* what the daemon was told of it */
    int64_t since_us;    /* its main process was started then (monotonic) */
    int64_t resident_kb; /* at the last look: summed; */
    int64_t measured_kb; /* ... proportional; only where resident_kb was above the peak */
    bool has_group;      /* of the name that agent and run give it */
    bool over;           /* it wanted more than its limit, and is ended for that */
};

/* Gives the run a group where it has a limit and there can be one; *procs is what the main process
 * writes "0" into to join it, else -1. For the caller to close. */
void pleat_memory_group(struct pleat_run *run, int *procs);
/* The main process of a run was reaped: takes what the largest process had that this one waited
 * for. */
void pleat_memory_largest(struct pleat_run *run, int64_t resident_kb);
/* Looks once more whether a run wanted more than its limit. If so, run->failure says it. */
bool pleat_memory_is_over(struct pleat_run *run);
/* Tells the daemon its peak, if any is known. */
void pleat_memory_report(struct pleat_run *run);
/* Nothing of the run is left: its group goes. Accepts that there is none. */
void pleat_memory_over(struct pleat_run *run);

/* Of one process, summed over its pages; 0: it is gone. */
int64_t pleat_memory_resident_kb(const struct pleat_agent *agent, pid_t pid);
/* ... each page by its share; where that cannot be read, as above. */
int64_t pleat_memory_proportional_kb(const struct pleat_agent *agent, pid_t pid);

/* ---- memory_watch.c ---- */

/* Looks at all live runs from now on, soon at first, where one was started since the last call
 * (agent->memory_wait_us is 0). */
void pleat_memory_arm(struct pleat_agent *agent);

#endif
