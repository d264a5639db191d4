/* memory.h - what all processes of a run have in memory together, and its limit.
 *
 * The measure is the proportional set size (smaps_rollup of proc(5)): of a page that several
 * processes share, each process counts its share. The sum of resident set sizes is never less and
 * costs a hundredth to read. So the measure is taken only where that sum is above the known peak.
 * Where the kernel does not tell the measure (a process of another user), the resident set size
 * stands for it.
 *
 * A limit is kept by a group of the kernel's (memgroup.h) where one can be made, else by what is
 * measured. Either way the run is ended at once, without a grace.
 */
#ifndef PLEAT_AGENT_MEMORY_H
#define PLEAT_AGENT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/tree.h"

struct pleat_agent;
struct pleat_run;

/* Zeroed: no limit, and nothing measured. */
struct pleat_run_memory {
    int64_t limit_kb;    /* 0: none */
    int64_t peak_kb;     /* the most that was measured so far */
    int64_t told_kb;     /* the peak that the daemon was told */
    int64_t since_us;    /* when the main process was started (monotonic) */
    int64_t oom_kills;   /* how many processes of the machine the kernel had ended by then */
    int64_t resident_kb; /* resident set sizes at the last look, summed */
    /* proportional set sizes at the last look; only where resident_kb was above the peak */
    int64_t measured_kb;
    bool is_measured; /* in the present look, since resident_kb was above the peak */
    bool has_group;   /* the run has a group, named as pleat_bind_group_name says */
    bool over;        /* the run wanted more than its limit, and is ended because of that */
};

enum pleat_memory_stage {
    PLEAT_MEMORY_RESTS,
    PLEAT_MEMORY_LISTS,       /* all processes of the machine */
    PLEAT_MEMORY_RESIDENT,    /* reads what they have resident */
    PLEAT_MEMORY_PROPORTIONAL /* reads their proportional set sizes */
};

/* A look at the memory of all live runs, in several turns of the loop (memory_watch.c). Zeroed:
 * none is under way. */
struct pleat_memory_look {
    enum pleat_memory_stage stage;
    struct pleat_process_reading reading; /* of the list of processes */
    struct pleat_process_tree tree;
    size_t next; /* the process of the tree that is read next */
    uint32_t turns;
    int64_t took_us; /* in all of these */
    int64_t over_us; /* when the last look was over (monotonic); 0: there was none */
};

/* Gives the run a group where it has a limit and a group can be made. *procs is the file into which
 * the main process writes "0" to join the group, or -1 where there is none. The caller closes it.
 */
void pleat_memory_group(struct pleat_run *run, int *procs);
/* The main process of a run was reaped. resident_kb: the peak of the largest process among it and
 * those that it waited for. */
void pleat_memory_largest(struct pleat_run *run, int64_t resident_kb);
/* Checks once more whether a run wanted more than its limit. If so, run->failure says it. */
bool pleat_memory_is_over(struct pleat_run *run);
/* Where nothing else explains why a run that has ended was killed, and the kernel has ended
 * processes meanwhile because memory was used up, run->failure says so. */
void pleat_memory_explain(struct pleat_run *run);
/* Tells the daemon the run's peak, if it is known. */
void pleat_memory_report(struct pleat_run *run);
/* Removes the group of a run of which nothing is left. Accepts a run without one. */
void pleat_memory_over(struct pleat_run *run);

/* The resident set size of a process; 0: it is gone. */
int64_t pleat_memory_resident_kb(const struct pleat_agent *agent, pid_t pid);
/* The proportional set size of a process; where it cannot be read, the resident set size. */
int64_t pleat_memory_proportional_kb(const struct pleat_agent *agent, pid_t pid);

/* ---- memory_watch.c ---- */

/* Looks at all live runs from now on; soon, where one was started since the last call
 * (agent->memory_wait_us is 0). A process that joins an evolving run changes nothing about when. */
void pleat_memory_arm(struct pleat_agent *agent);
/* Frees what a look has. The loop does not run any more. */
void pleat_memory_finish(struct pleat_agent *agent);

#endif
