/* agent.h - the state of pleat-agent and what its files offer each other.
 *
 * The files stand on floors. A file calls files of the floors below it, and on its own floor only
 * those of its group. It reaches floors above only through a table (kind.h), or they act when a
 * turn of the loop is over (agent.c).
 *
 *   6  main.c     options, the process itself     kinds.c    the list of kinds of runs
 *      stray.c    what a killed predecessor left  guard.c    above the agent: ends what it leaves
 *   5  agent.c    loop, connection                methods.c  requests of the daemon, each to its
 *      start_request.c the longest of them                   run
 *   4  kinds of runs (kind.h): what is more than being started, watched and ended
 *      kind_malleable.c with a mailbox; scripts   kind_folded.c
 *      malleable.c mailbox and state              fold.c     segment and partition
 *      resize.c   requests to the mailbox         fold_watch.c looks at what the processes do
 *      relaunch.c ends a run, starts it again     fold_tell.c ... and tells of it
 *      launching.c what a script launches         vacate.c   waits until leaving ranks are gone
 *   3  ending.c   ends whole trees of processes   memory_watch.c ... those above their limits
 *      limit_signal.c before a run's time limit
 *   2  run.c      life of a run: start, exit, forget
 *      execute.c  its command line, environment   bind.c     binds its processes to its CPUs
 *      memory.c   what it has in memory           outcomes.c what came of requests
 *   1  owner.c    whose a process is, which run   notify.c   tells the daemon
 *      kind.c     the plain kind                  params.c   members of requests
 *   0  the library agent-base, which knows no run:
 *      process.c  fork and exec                   reaper.c   above a run: adopts what that leaves
 *      tree.c     /proc                           leftovers.c ends all below a process
 *      cpus.c     which CPUs the slots are        mapping.c  which process stands where
 *      detector.c is a program balanced?          rate.c     how fast is it?
 *      contention.c do foreign processes compute there?      cgroup.c groups that the kernel keeps:
 *      cpuset.c   that cannot leave their CPUs    memgroup.c that get no more memory
 *      scratch.c, shared_files.c directories and files of runs; log.c
 *
 * The agent has one thread and one loop. Nothing blocks but pleat_strays_end, before the loop
 * starts. The agent touches no file that a user names: a new process opens its files and goes to
 * its directory itself. Notifications can be lost with a connection, so nothing depends on them:
 * what they say is kept in the run until the daemon has the run forgotten.
 */
#ifndef PLEAT_AGENT_AGENT_H
#define PLEAT_AGENT_AGENT_H

#include <jansson.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <uv.h>

#include "agent/cpuset.h"
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

struct pleat_agent_options {
    const char *daemon; /* path of the daemon's socket */
    const char *instance;
    const char *site;
    uint32_t node;
    const char *state;     /* directory of the lock file; NULL: none */
    const char *cpus;      /* CPUs of the slots; NULL: all that may be used */
    bool no_cpusets;       /* cpusets are not used, although the kernel may have them */
    bool no_memory_groups; /* likewise memory groups: limits of memory are kept by measuring */
    bool guarded;          /* below a guard (guard.h) */
};

struct pleat_run;
struct pleat_run_kind;
PLEAT_ARRAY(pleat_run_list, struct pleat_run *);

struct pleat_agent {
    struct pleat_agent_options options;
    const char *proc; /* "/proc" */
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
    struct pleat_cpu_list cpus; /* slot i is the i-th of these */
    /* where runs get their groups; zeroed: runs get none */
    struct pleat_cgroup_place cpusets, memgroups;

    uv_loop_t loop;
    uv_signal_t on_child;
    uv_signal_t on_term;
    uv_signal_t on_interrupt;
    uv_poll_t on_record;
    uv_timer_t reconnect;
    uv_timer_t idle;
    uv_timer_t reap;
    uv_timer_t ending;
    uv_timer_t resizing;
    uv_timer_t progress;
    uv_timer_t folding;
    uv_timer_t measuring;

    struct pleat_connection *connection; /* NULL: none, `reconnect` is running */
    bool greeted;                        /* the daemon's hello has come */
    /* notifications are sent: from the hello on where no run is known, else from `list` on */
    bool reporting;
    bool quitting; /* end as soon as nothing runs */
    bool closing;  /* all handles are being closed */

    bool answering; /* a request is being answered: notifications wait in `held` behind the reply */
    struct pleat_string held;

    int64_t memory_wait_us; /* until the memory of runs is looked at again */
    int64_t folding_us;     /* when the timer of folded runs is due (monotonic) */

    struct pleat_run_list runs; /* ordered by id */
    struct pleat_tree tree;     /* the last snapshot; kept to reuse its memory */
    struct pleat_string env;    /* likewise */
    size_t unsettled; /* live processes of the snapshot whose environment cannot be read */
};

/* ---- notify.c ---- */

/* Sends a notification where the daemon can receive one now. params is stolen. It may be NULL only
 * where memory ran out: that is logged and the notification dropped (`list` will bring it again).
 */
void pleat_agent_notify(struct pleat_agent *agent, const char *method, json_t *params);
/* Sends lines where there is a connection. Takes the lines over. */
void pleat_agent_send(struct pleat_agent *agent, struct pleat_string *out);

/* ---- agent.c ---- */

/* Runs until the agent is told to end. Returns 0, or the error of setting up. */
int pleat_agent_run(struct pleat_agent *agent, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Ends all runs within grace_us, then the agent. */
void pleat_agent_terminate(struct pleat_agent *agent, int64_t grace_us);

/* ---- methods.c ---- */

/* Answers one request. *result is owned by the caller and may stay NULL for {}. */
int pleat_agent_answer(struct pleat_agent *agent, const struct pleat_message *message,
                       json_t **result, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- stray.c ---- */

/* Ends the processes that a dead agent of this instance, site and node left: SIGTERM, after 2 s
 * SIGKILL. Blocks until they are gone, at most 10 s. Processes of a living agent are never touched.
 */
void pleat_strays_end(const struct pleat_agent *agent);

#endif
