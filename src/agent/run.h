/* run.h - one start of one component on this node, from its start until the daemon forgets it. What
 * it does beyond that is its kind's (kind.h); on which floor each file stands says agent.h. */
#ifndef PLEAT_AGENT_RUN_H
#define PLEAT_AGENT_RUN_H

#include "agent/agent.h"
#include "agent/bind.h"
#include "agent/memory.h"
#include "agent/outcomes.h"
#include "agent/process.h"

enum pleat_run_state {
    PLEAT_RUN_STARTING, /* its main process is there, and may wait for a file system */
    PLEAT_RUN_RUNNING,
    PLEAT_RUN_ENDING, /* the main process is gone, others of its tree may be left */
    PLEAT_RUN_EXITED, /* nothing is left; waits for `forget` */
    PLEAT_RUN_FAILED  /* could not be started; waits for `forget` */
};

/* A process that was told to end. */
struct pleat_told {
    pid_t pid;
    uint64_t start;
    bool outlived; /* counted in run->left */
};
PLEAT_ARRAY(pleat_told_list, struct pleat_told);

struct pleat_folded;
struct pleat_folded_request;
struct pleat_launches;
struct pleat_malleable;
struct pleat_relaunch;
struct pleat_run_kind;
struct pleat_starting;

/* Ending what a script has launched, and not the script. */
struct pleat_part_end {
    bool killing;
    int64_t ending_us, term_at_us, kill_at_us; /* as in struct pleat_run */
};

struct pleat_run {
    struct pleat_agent *agent;
    uint64_t id;
    char job[64];
    int64_t begun_s; /* since 1970: its files are not older */
    enum pleat_run_state state;
    pid_t reaper; /* all of it is below that (reaper.h); 0: it has ended, or was killed */
    bool spares; /* in the last snapshot: below its reaper is what is not the run's (leftovers.h) */
    bool empty;  /* nothing is left of the last start: its reaper says so */
    pid_t pid;   /* of the main process; 0: not known yet, or it has ended */
    pid_t session;   /* of the main process: its pid, also later; 0: not known yet */
    pid_t first_pid; /* of the last main process that was executed, also later */
    struct pleat_starting *starting; /* NULL: not STARTING */
    char *program;                   /* as it was called last */

    struct pleat_error
        failure; /* FAILED; EXITED: where there is more to say than code and signal */
    bool user_fault;

    int code; /* ENDING, EXITED */
    int signal;
    int64_t cpu_us;     /* of all its main processes since it was told last */
    int64_t max_rss_kb; /* of the largest */
    uint32_t left;      /* processes that outlived the main one and had to be ended */

    /* ending.c */
    bool killing;       /* all its processes are to end */
    bool unwanted;      /* ... for good: it is not started again */
    int64_t linger_us;  /* what outlives the main process may take this long to end by itself */
    int64_t ending_us;  /* when ending began (monotonic) */
    int64_t term_at_us; /* when processes are told to end */
    int64_t kill_at_us; /* when they are killed */
    unsigned doubts;    /* times that it seemed gone, but for processes that could not be read */
    bool complained;    /* told that they do not go */
    struct pleat_told_list told;

    struct pleat_part_end part;

    const struct pleat_run_kind *kind; /* what it does is done through that; and it alone uses: */
    struct pleat_malleable *malleable; /* NULL: no mailbox */
    struct pleat_launches *launches;   /* NULL: its main process is the program's launcher */
    struct pleat_folded *folded;       /* NULL: it has a processor for each process */
    struct pleat_relaunch *relaunch;   /* NULL: none is wanted */
    bool broken;                       /* EXITED in a resize, and can be relaunched; of launches:
                                        * the program has, and the script waits */
    struct pleat_outcomes outcomes;    /* what came of requests */

    struct pleat_binding binding;
    struct pleat_memory memory;
    uint32_t cpus_per_task; /* processors of each process of its MPI programs; 0: not said, one */
    bool limit_signalled;   /* it was sent the signal before its time limit */

    char *cwd; /* for starting it again */
    char *stdin_path, *stdout_path, *stderr_path;
    char *terminal; /* in the place of these; NULL: none */
    bool truncate;  /* at the next start; the first one does that */
    mode_t umask;
    struct pleat_limits *limits; /* NULL: the agent's */
    int32_t nice;                /* PLEAT_PROCESS_NICE_HERE: the agent's */
    char *scratch;               /* directory that goes when the run is over; NULL: none */
};

/* What `start` says. Strings and JSON arrays of strings are borrowed. */
struct pleat_run_request {
    uint64_t id;
    const char *job;
    const json_t *argv; /* not empty */
    const json_t *env;
    const char *cwd;
    const char *stdin_path; /* NULL: none */
    const char *stdout_path;
    const char *stderr_path;
    const char *terminal;              /* in the place of these; NULL: none */
    bool truncate;                     /* output files that exist are emptied first */
    mode_t umask;                      /* of its processes */
    const struct pleat_limits *limits; /* NULL: the agent's */
    int32_t nice;                      /* PLEAT_PROCESS_NICE_HERE: the agent's */
    uint32_t mailbox_ranks;
    uint32_t launches; /* of a script: the processes with which its programs start; 0: it is none */
    bool launches_adapt; /* ... and are relaunched where their MPI can do nothing else */
    const struct pleat_folded_request *folded; /* NULL: it is not folded */
    int64_t linger_us;
    const char *scratch;    /* NULL: none */
    uint32_t hosts;         /* the number of processors in a file there; 0: no file */
    const json_t *slots;    /* NULL: it is not bound */
    int64_t memory_kb;      /* what all its processes may have together; 0: no limit */
    uint32_t cpus_per_task; /* as in the run */
};

/* ---- run.c ---- */

/* Begins to start a run. What comes of it is told by `started` or `start_failed`; both leave a run
 * that must be forgotten. An error (no memory, too many runs) leaves none. */
int pleat_run_start(struct pleat_agent *agent, const struct pleat_run_request *request,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes note of all that has ended: what reapers tell, and what this process can reap. */
void pleat_runs_reap(struct pleat_agent *agent);
/* Nothing of the run is left: starts it again where that is wanted, else tells the daemon. Called
 * by ending.c. */
void pleat_run_exited(struct pleat_run *run);
/* A run was STARTING: its program is executed (failure NULL), or cannot be. */
void pleat_run_start_settled(struct pleat_run *run, const struct pleat_error *failure);
/* A run is over; tells the daemon. `broken`: it could be relaunched. */
void pleat_run_finish(struct pleat_run *run, bool broken);
/* Of launches: nothing is left of a program that died in a resize, and its kind has seen to that.
 * Tells that it could be relaunched. */
void pleat_run_broke(struct pleat_run *run);
/* Of a run that has exited broken: it is not wanted again. Tells its exit once more, as final. */
void pleat_run_give_up(struct pleat_run *run);
/* Sends again what the daemon may have missed. */
void pleat_run_report(struct pleat_run *run);
/* Removes an EXITED or FAILED run from the agent and frees it. */
void pleat_run_destroy(struct pleat_run *run);

/* ---- owner.c: floor 1 ---- */

/* The run that a process of agent->tree belongs to, or 0: it is of no run, or that cannot be seen.
 */
uint64_t pleat_run_of_process(struct pleat_agent *agent, struct pleat_tree_process *process);
/* NULL when there is no such run. */
struct pleat_run *pleat_run_find(const struct pleat_agent *agent, uint64_t id);
/* Where a run with this id is, or would be inserted. */
size_t pleat_run_position(const struct pleat_agent *agent, uint64_t id);
/* STARTING, RUNNING or ENDING. */
bool pleat_run_is_live(const struct pleat_run *run);
size_t pleat_runs_live(const struct pleat_agent *agent);

/* The daemon speaks of processors, mailboxes and launchers of processes. */
uint32_t pleat_run_processors(const struct pleat_run *run, uint32_t processes);
uint32_t pleat_run_processes(const struct pleat_run *run, uint32_t processors);

/* ---- limit_signal.c ---- */

enum pleat_signal_to {
    PLEAT_SIGNAL_ALL,    /* all of its processes */
    PLEAT_SIGNAL_OTHERS, /* but its main process */
    PLEAT_SIGNAL_MAIN    /* its main process alone */
};

/* Sends a run the signal before its time limit, once, and says so (`signalled`). Launchers get
 * none, unless one is the main process alone: they would hand it on, or end of it. */
void pleat_run_limit_signal(struct pleat_run *run, int number, enum pleat_signal_to to);

/* ---- ending.c ---- */

/* SIGTERM to all of the run's processes now, SIGKILL after the grace. Again: the earlier end
 * counts. Whether it is started again then is not its concern. */
void pleat_run_kill(struct pleat_run *run, int64_t grace_us);
/* The same, and the run is not started again. */
void pleat_run_end(struct pleat_run *run, int64_t grace_us);
/* Goes on with all runs that are being ended; arms the timer for the next time. */
void pleat_runs_sweep(struct pleat_agent *agent);

#endif
