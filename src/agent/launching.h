/* launching.h - the programs that the script of a malleable run starts with `pleat launch` (what is
 * said on the connection: wire/launching.h).
 *
 * A resize never ends or restarts the script. It relaunches the program that runs, below its `pleat
 * launch`, which waits. One program at a time can change its size. Mailbox and state belong to one
 * launch and go with it, so that no program finds another one's.
 *
 * Between two launches there is nothing to relaunch: the run gets its new size at once, and the
 * next program starts with it.
 */
#ifndef PLEAT_AGENT_LAUNCHING_H
#define PLEAT_AGENT_LAUNCHING_H

#include "agent/run.h"
#include "wire/launching.h"

enum pleat_call_stage {
    PLEAT_CALL_NEW,     /* the `pleat launch` has said nothing yet */
    PLEAT_CALL_RUNNING, /* its program runs */
    PLEAT_CALL_REST,    /* its launcher has ended; it will say when no process is left */
    PLEAT_CALL_WAITING  /* no process is left: it waits until it is told what to do */
};

/* A connection of a `pleat launch`. */
struct pleat_call {
    struct pleat_launches *launches;
    struct pleat_call *next;
    uv_poll_t poll;
    int fd;
    pid_t pid;
    enum pleat_call_stage stage;
    bool relaunches; /* its MPI cannot start processes at run time */
};

struct pleat_launches {
    struct pleat_run *run; /* NULL once destroyed, while handles are being closed */
    uv_poll_t poll;
    int fd;
    size_t handles; /* not closed */
    bool stopped;
    char name[PLEAT_LAUNCHING_NAME];
    uint32_t count;     /* of launches so far: the number of the last launch */
    uint32_t processes; /* that the run has now */
    struct pleat_call *calls;
    struct pleat_call *current; /* the launch whose program may be resized; NULL: none */
    bool adapts; /* programs whose MPI can change their size in no other way are relaunched */
    bool broke;  /* the processes of the current program died in a resize */
};

/* Sets run->launches, for a run that is about to be started with `processes` processes. */
int pleat_launches_create(struct pleat_run *run, uint32_t processes, bool adapts,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* To be called when the run is over. Accepts a run without launches. */
void pleat_launches_stop(struct pleat_run *run);
/* Accepts NULL. */
void pleat_launches_destroy(struct pleat_launches *launches);

/* Ends a connection; the launch is not current any more. */
void pleat_call_drop(struct pleat_call *call);
/* Says something to a `pleat launch`. A failure is logged. */
void pleat_call_say(struct pleat_call *call, enum pleat_launching_kind kind, const char *text);
/* Says that the program is to start, now. resized: with the run's mailbox and state. */
int pleat_call_say_start(struct pleat_call *call, bool resized,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* From now on the run has `processes` processes. Accepts a run without launches. */
void pleat_launches_sized(struct pleat_run *run, uint32_t processes);
/* Whether a program runs that has to end before it can be started again. */
bool pleat_launches_busy(const struct pleat_run *run);
/* Whether a resize of the present program must be a relaunch, although none was planned. */
bool pleat_launches_only_relaunch(const struct pleat_run *run);
/* The pid of the current `pleat launch`; 0: there is none. */
pid_t pleat_launches_pid(const struct pleat_run *run);
/* SIGTERM to all processes below the current `pleat launch`, SIGKILL after the grace. The sweep
 * (ending.c) goes on with it. */
void pleat_launches_kill(struct pleat_run *run, int64_t grace_us);
/* Starts the current program again, with the run's new mailbox and `processes` processes. False:
 * there is no current program any more. */
bool pleat_launches_again(struct pleat_run *run, uint32_t processes);

#endif
