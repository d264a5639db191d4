/* run.h - one start of one component on this node, from its start until the daemon forgets it. */
#ifndef PLEAT_AGENT_RUN_H
#define PLEAT_AGENT_RUN_H

#include "agent/agent.h"

enum pleat_run_state {
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

struct pleat_malleable;

struct pleat_run {
    struct pleat_agent *agent;
    uint64_t id;
    char job[64];
    enum pleat_run_state state;
    pid_t pid;       /* of the main process; 0 once it was reaped */
    pid_t session;   /* of the tree; the main process's pid */
    pid_t first_pid; /* what `started` says, also later */

    struct pleat_error failure; /* FAILED */
    bool user_fault;

    int code; /* ENDING, EXITED */
    int signal;
    int64_t cpu_us;
    int64_t max_rss_kb;
    uint32_t left; /* processes that outlived the main one and had to be ended */

    /* ending.c */
    bool killing;       /* `kill` was asked for */
    int64_t linger_us;  /* what outlives the main process may take this long to end by itself */
    int64_t ending_us;  /* when ending began (monotonic) */
    int64_t term_at_us; /* when processes are told to end */
    int64_t kill_at_us; /* when they are killed */
    unsigned doubts;    /* times that it seemed gone, but for processes that could not be read */
    bool complained;    /* logged that they do not go */
    struct pleat_told_list told;

    struct pleat_malleable *malleable; /* NULL: no mailbox */
    char *scratch;                     /* directory that goes when the run is over; NULL: none */
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
    bool truncate; /* output files that exist are emptied first */
    uint32_t mailbox_ranks;
    int64_t linger_us;
    const char *scratch; /* NULL: none */
};

/* ---- run.c ---- */

/* NULL when there is no such run. */
struct pleat_run *pleat_run_find(const struct pleat_agent *agent, uint64_t id);
/* Starts a run and tells what came of it by `started` or `start_failed`; both leave a run that must
 * be forgotten. An error (no memory, too many runs) leaves none. */
int pleat_run_start(struct pleat_agent *agent, const struct pleat_run_request *request,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reaps everything that can be reaped. */
void pleat_runs_reap(struct pleat_agent *agent);
/* Nothing of the run is left: tells the daemon. Called by ending.c. */
void pleat_run_exited(struct pleat_run *run);
/* Sends again what the daemon may have missed. */
void pleat_run_report(const struct pleat_run *run);
/* Removes an EXITED or FAILED run from the agent and frees it. */
void pleat_run_destroy(struct pleat_run *run);
/* RUNNING or ENDING. */
bool pleat_run_is_live(const struct pleat_run *run);
size_t pleat_runs_live(const struct pleat_agent *agent);

/* ---- ending.c ---- */

/* SIGTERM to all of the run's processes now, SIGKILL after the grace. Again: the earlier end
 * counts. */
void pleat_run_kill(struct pleat_run *run, int64_t grace_us);
/* The main process is gone; now the rest. */
void pleat_run_end_rest(struct pleat_run *run);
/* Goes on with all runs that are being ended; arms the timer for the next time. */
void pleat_runs_sweep(struct pleat_agent *agent);

#endif
