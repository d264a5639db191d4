/* run.h - one start of one component on this node, from its start until the daemon forgets it. What
 * a run does beyond that is done by its kind (kind.h). */
#ifndef PLEAT_AGENT_RUN_H
#define PLEAT_AGENT_RUN_H

#include "agent/agent.h"
#include "agent/bind.h"
#include "agent/memory.h"
#include "agent/outcomes.h"
#include "agent/process.h"

enum pleat_run_state {
    PLEAT_RUN_STARTING, /* the main process exists, and may wait for a file system */
    PLEAT_RUN_RUNNING,
    PLEAT_RUN_ENDING, /* the main process has ended, other processes may be left */
    PLEAT_RUN_EXITED, /* no process is left; waits for `forget` */
    PLEAT_RUN_FAILED  /* could not be started; waits for `forget` */
};

/* A process that was told to end. */
struct pleat_told {
    pid_t pid;
    uint64_t start;
    bool outlived; /* counted in run->left */
};
PLEAT_ARRAY(pleat_told_list, struct pleat_told);

struct pleat_evolve;
struct pleat_evolve_request;
struct pleat_folded;
struct pleat_folded_request;
struct pleat_inflow;
struct pleat_launches;
struct pleat_malleable;
struct pleat_outflow;
struct pleat_part_mailbox;
struct pleat_part_state;
struct pleat_relaunch;
struct pleat_remote;
struct pleat_run_kind;
struct pleat_screen;
struct pleat_starting;
struct pleat_succession;

/* The processes of one start of a run's program. A run has one generation; in a warm relaunch for a
 * while two (succession.h). */
struct pleat_generation {
    pid_t reaper;  /* above all its processes (reaper.h); 0: it has ended, or was killed */
    bool empty;    /* no process of it is left, as its reaper says */
    pid_t pid;     /* of the main process; 0: not known yet, or it has ended */
    pid_t session; /* of the main process, whose pid it is; kept when that ends; 0: not known yet */
    pid_t first_pid; /* of the last main process that was executed; kept when that ends */
    struct pleat_starting *starting; /* NULL: no start of it is under way */
};

/* Ending the program that a script has launched, but not the script. */
struct pleat_part_end {
    bool killing;
    int64_t ending_us, term_at_us, kill_at_us; /* as in struct pleat_run */
};

struct pleat_run {
    struct pleat_agent *agent;
    uint64_t id;
    char job[64];
    int64_t begun_s; /* since 1970: files of the run are not older */
    enum pleat_run_state state;
    uint32_t part_number;        /* number of the part, of a run that another agent leads; 0: it is
                                  * no part */
    struct pleat_generation now; /* the run's processes, which `state` is about */
    struct pleat_succession *succession; /* a second generation; NULL: there is none */
    /* in the last snapshot there were processes below the reaper that are not the run's
     * (leftovers.h) */
    bool spares;
    char *program; /* argv[0] of the last start */

    struct pleat_error failure; /* FAILED; EXITED: where code and signal do not tell all */
    bool user_fault;
    bool was_told; /* EXITED: its main process had been told to end before it ended */

    int code; /* ENDING, EXITED */
    int signal;
    int64_t cpu_us;     /* of all its main processes since the last exit that was told */
    int64_t max_rss_kb; /* of its largest process */
    uint32_t left;      /* processes that outlived the main one and had to be ended */

    /* ending.c */
    bool killing;       /* all its processes are to end */
    bool unwanted;      /* likewise, for good: the run is not started again */
    bool lost;          /* the agent ends, and the run with it, though nobody told the run to end */
    bool reaper_told;   /* somebody else told its reaper to end; the agent may be told next */
    bool signalled;     /* the user, or the daemon before a limit, has sent it a signal */
    bool cut_off;       /* unwanted, while its processes left in order to be started again */
    int64_t linger_us;  /* how long processes may outlive the main process */
    int64_t ending_us;  /* when ending began (monotonic) */
    int64_t term_at_us; /* when processes are told to end */
    int64_t kill_at_us; /* when they are killed */
    bool end_waits;  /* ENDING: no process is left, and its end is told when what it wrote was heard
                      */
    unsigned doubts; /* times that nothing seemed left, but for processes that could not be read */
    bool complained; /* the daemon was told of processes that do not end */
    struct pleat_told_list told;

    struct pleat_part_end part;

    const struct pleat_run_kind *kind; /* the kind's functions; the next members are the
                                        * kind's: */
    struct pleat_malleable *malleable; /* NULL: no mailbox */
    struct pleat_evolve *evolve;       /* its processes ask for more; NULL: they do not */
    struct pleat_run *leader; /* the run that this is a process of (evolve.h); NULL: of none. The
                               * daemon knows only that one */
    uint32_t process_id;      /* which */
    struct pleat_far *far;    /* as process_id, but another agent has the leader (far.h) */
    struct pleat_launches *launches; /* NULL: the main process is the launcher of the program */
    struct pleat_folded *folded;     /* NULL: each process has a processor */
    struct pleat_remote *remote;     /* NULL: it has no parts on other nodes */
    struct pleat_outflow *outflow;   /* its output goes to pleatd; NULL: to files */
    struct pleat_part_mailbox *part_mailbox; /* the mailbox of a part of a malleable run; NULL: it
                                              * is no such part */
    struct pleat_relaunch *relaunch;         /* NULL: no relaunch is wanted */
    /* EXITED in a resize, and can be relaunched; of launches: the program has, and the script waits
     */
    bool broken;
    /* EXITED: for that resize it has saved its state, of iteration moved_at, on other nodes, one of
     * which leads it from now on; 0: no */
    uint64_t moved, moved_at;
    uint32_t last_part;             /* as in struct pleat_run_request */
    struct pleat_outcomes outcomes; /* of requests */

    struct pleat_binding binding;
    struct pleat_run_memory memory;
    /* processors of each process of its MPI programs; 0: not given, counts as 1 */
    uint32_t cpus_per_task;
    bool limit_signalled; /* the signal before the time limit was sent */

    char *cwd; /* kept to start the run again */
    char *stdin_path, *stdout_path, *stderr_path;
    char *terminal;              /* instead of these three; NULL: none */
    struct pleat_screen *screen; /* `terminal` is one that the agent has made; NULL: it is not */
    struct pleat_inflow *inflow; /* its input comes from pleatd; NULL: from a file */
    /* the input is a regular file or /dev/null: whoever opens it reads it from its beginning, and
     * takes nothing away from others */
    bool input_is_file;
    bool truncate; /* at the next start, which clears it */
    mode_t umask;
    struct pleat_limits *limits; /* NULL: the agent's */
    int32_t nice;                /* PLEAT_PROCESS_NICE_HERE: the agent's */
    int scratch_lock;            /* of scratch (scratch.h); -1: none */
    char *scratch;               /* a directory that is removed when the run is over; NULL: none */
};

/* What `start` says. Strings and JSON arrays of strings are borrowed. */
struct pleat_run_request {
    uint64_t id;
    const char *job;
    const json_t *argv; /* not empty */
    const json_t *env;
    const char *cwd;
    const char *stdin_path; /* NULL: none */
    bool output_sent;       /* its output goes to the daemon, and not to files (outflow.h) */
    /* a file that comes with the request, and is made in `scratch`, executable; NULL: none */
    const char *file, *file_text;
    bool stdin_sent; /* its input is sent by the daemon instead (inflow.h) */
    const char *stdout_path;
    const char *stderr_path;
    const char *terminal; /* instead of these three; NULL: none */
    const json_t *window; /* the agent makes a terminal of that size for it (screen.h); NULL: no */
    bool truncate;        /* output files that exist are emptied first */
    mode_t umask;         /* of the run's processes */
    const struct pleat_limits *limits; /* NULL: the agent's */
    int32_t nice;                      /* PLEAT_PROCESS_NICE_HERE: the agent's */
    uint32_t mailbox_ranks;
    uint32_t launches; /* only of a script: the size with which its programs start; 0: no script */
    /* the script's programs are relaunched where their MPI cannot change their size otherwise */
    bool launches_adapt;
    bool waits; /* it is a part whose ranks wait for a state that is not there yet
                 * (shm/mailbox.h) */
    const struct pleat_folded_request *folded;  /* NULL: not folded */
    const struct pleat_evolve_request *evolves; /* NULL: its processes ask for no others */
    const struct pleat_far_request *far; /* a process of such a run, which another node's agent
                                          * leads; NULL: it is none */
    struct pleat_run *leader;            /* as in struct pleat_run */
    uint32_t process_id;
    int64_t linger_us;
    const char *scratch; /* NULL: none */
    /* the number of processors in the file PLEAT_SCRATCH_HOSTS (scratch.h); 0: no file */
    uint32_t hosts;
    const json_t *slots; /* NULL: not bound */
    const json_t *nodes; /* NULL: one */
    uint32_t part;       /* of a run that another node's agent leads; 0: it is none */
    uint64_t before; /* the run that is an earlier part of the same run here; 0: there is none */
    struct pleat_part_state *inherits; /* what that keeps of the state; NULL: nothing */
    /* of a run that another node has led, and that goes on here from what `inherits` has: */
    uint32_t last_part;     /* numbers of its parts up to this one were used */
    uint64_t resize;        /* for which it left that node, where it had */
    uint32_t from, to;      /* with so many processors; those that it has now */
    const char *occasion;   /* NULL: unknown */
    uint32_t place, places; /* which node of the run this is (0: it leads), and of how many */
    int64_t memory_kb;      /* limit for all processes together; 0: no limit */
    uint32_t cpus_per_task; /* as in struct pleat_run */
};

#endif
