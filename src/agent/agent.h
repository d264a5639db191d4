/* agent.h - the state of pleat-agent. What stands in which file, and who may call whom:
 * docs/architecture.md, "The agent's floors".
 *
 * The agent has one thread and one loop. Nothing blocks but pleat_strays_end, before the loop
 * starts, and, once, the choice of CPUs (granted.h). The agent touches no file that a user names: a
 * new process opens its files and goes to its directory itself. Notifications can be lost with a
 * connection, so nothing depends on them: what they say is kept in the run until the daemon has the
 * run forgotten.
 */
#ifndef PLEAT_AGENT_AGENT_H
#define PLEAT_AGENT_AGENT_H

#include <jansson.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <uv.h>

#include "agent/cpuset.h"
#include "agent/granted.h"
#include "agent/memory.h"
#include "agent/scratch.h"
#include "agent/tree.h"
#include "base/array.h"
#include "base/cpus.h"
#include "wire/connection.h"

#define PLEAT_AGENT_RUNS_MAX 65536
#define PLEAT_AGENT_LIST_MAX 4096 /* runs in one answer to `list`, so that it fits a line */

/* In the environment of every process that an agent starts: by these variables the process is found
 * again. */
#define PLEAT_RUN_ENV "PLEAT_RUN"         /* <instance>:<run> */
#define PLEAT_NODE_ENV "PLEAT_NODE"       /* <site>:<node> */
#define PLEAT_AGENT_ENV "PLEAT_AGENT_PID" /* <pid>:<start time of that process in ticks> */

/* With this signal a guard (guard.h) hands on a signal that tells it to end. A batch system sends
 * that one to all processes, the agent too: the agent must count both as one. */
#define PLEAT_AGENT_GUARD_SIGNAL (SIGRTMIN + 1)

struct pleat_agent_options {
    const char *daemon;  /* path of the daemon's socket; NULL: it is reached over TCP */
    const char *connect; /* HOST:PORT of the daemon; NULL: it is at a socket */
    const char *instance;
    const char *site;
    uint32_t node;
    const char *state;     /* directory of the lock file; NULL: none */
    const char *cpus;      /* CPUs of the slots; NULL: all that may be used */
    uint32_t share;        /* the agent has one share of these CPUs, of `shares` */
    uint32_t shares;       /* the number of shares; 0: it has all CPUs */
    uint32_t processors;   /* so many were granted by a batch system (granted.h); 0: none were */
    bool choose;           /* which CPUs these are is decided at once */
    bool no_cpusets;       /* cpusets are not used, although the kernel may have them */
    bool no_memory_groups; /* likewise memory groups: limits of memory are kept by measuring */
    bool guarded;          /* below a guard (guard.h) */
    bool announced;  /* the batch system sends SIGUSR1 and SIGUSR2 to all processes before it stops
                      * or kills them */
    uint32_t hold_s; /* how long runs go on after the first SIGTERM; 0: they are ended then */
    uint32_t call_s; /* how long an agent without runs calls a daemon that has no room for it, or
                      * does not answer */
};

/* How the agent reaches the daemon over TCP (link.h). */
struct pleat_daemon_link {
    struct pleat_address address;
    char identity[PLEAT_WIRE_IDENTITY_MAX + 1];
    unsigned char key[PLEAT_WIRE_KEY];
    int failures;      /* attempts in a row that failed */
    bool unknown;      /* the last one, since the daemon does not know this key */
    int64_t orphan_us; /* runs are ended after this time without a daemon; 0: never */
};

struct pleat_run;
struct pleat_run_kind;
PLEAT_ARRAY(pleat_run_list, struct pleat_run *);

struct pleat_agent {
    struct pleat_agent_options options;
    struct pleat_daemon_link link;
    char mark[PLEAT_SCRATCH_MARK]; /* scratch.h */
    const char *proc;              /* "/proc" */
    /* all kinds (kind.h), the plain one first; NULL at the end */
    const struct pleat_run_kind *const *kinds;
    pid_t pid;
    pid_t guard;         /* guard.h; 0: none */
    int records[2];      /* the pipe of the reapers of all runs (reaper.h) */
    uint64_t start;      /* of this process, in ticks since boot */
    int64_t number;      /* above 0, and different from that of every other agent */
    struct rlimit files; /* the limit that the agent was started with: runs get it */
    /* CPUs that the agent was started with: runs that are not bound may use them */
    struct pleat_cpu_set allowed;
    struct pleat_cpu_set reach; /* CPUs that processes could be told to use: no cpuset forbids it */
    struct pleat_cpu_list cpus; /* slot i is the i-th of these */
    struct pleat_granted granted;
    /* where runs get their groups; zeroed: runs get none */
    struct pleat_cgroup_place cpusets, memgroups;

    uv_loop_t loop;
    uv_signal_t on_child;
    uv_signal_t on_term;
    uv_signal_t on_interrupt;
    uv_signal_t on_guard;
    uv_signal_t on_suspending, on_ending; /* announced by the batch system */
    uv_poll_t on_record;
    uv_timer_t reconnect;
    uv_timer_t idle;
    int64_t idle_since_us; /* ... while that is active */
    uv_timer_t reap;
    uv_timer_t ending;
    uv_timer_t resizing;
    uv_timer_t progress;
    uv_timer_t folding;
    uv_timer_t measuring;
    uv_timer_t hearing;  /* over TCP: when the connection is dropped unless the daemon is heard */
    uv_timer_t orphaned; /* over TCP: the time without a daemon is over */
    uv_timer_t holding;  /* once a second while `holds` */

    struct pleat_connection *connection; /* NULL: none, `reconnect` is running */
    bool greeted;                        /* the daemon's hello has come */
    /* notifications are sent: from the hello on where no run is known, else from `list` on */
    bool reporting;
    bool quitting; /* end as soon as nothing runs */
    /* told to end: runs go on until then (monotonic), since they may leave by themselves */
    bool holds;
    int64_t hold_until_us;
    uint32_t unused_s; /* for how long no run has been there meanwhile */
    /* how often a signal told it to end, and how often its guard did */
    uint32_t told, told_by_guard;
    bool closing; /* all handles are being closed */

    bool answering; /* a request is being answered: notifications wait in `behind` for the reply */
    struct pleat_string behind;

    int64_t memory_wait_us; /* until the memory of runs is looked at again */
    struct pleat_memory_look memory_look;
    int64_t folding_us; /* when the timer of folded runs is due (monotonic) */
    /* of the folded runs that share processors in time (fold.h); NULL: there was none yet */
    struct pleat_fold_pool *pool;
    int pool_fd;

    struct pleat_run_list runs;     /* ordered by id */
    struct pleat_process_tree tree; /* the last snapshot; kept to reuse its memory */
    struct pleat_string env;        /* likewise */
    size_t unsettled; /* live processes of the snapshot whose environment cannot be read */
};

#endif
