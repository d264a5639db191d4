/* launching.h - the programs that the script of a malleable run starts with `pleat launch`
 * (wire/launching.h has what is said).
 *
 * The script is never ended nor started again by a resize: a relaunch is that of the program that
 * runs, below its `pleat launch`, which waits. One at a time can change its size. Mailbox and state
 * are those of one launch: they go with it, so that nobody finds another program's.
 *
 * Between two of them there is nothing to relaunch: the run just has its new size, with which the
 * next one starts.
 */
#ifndef PLEAT_AGENT_LAUNCHING_H
#define PLEAT_AGENT_LAUNCHING_H

#include "agent/run.h"
#include "wire/launching.h"

struct pleat_call; /* a connection of a `pleat launch` */

struct pleat_launches {
    struct pleat_run *run; /* NULL once destroyed, while its handles are being closed */
    uv_poll_t poll;
    int fd;
    size_t handles; /* not closed */
    bool stopped;
    char name[PLEAT_LAUNCHING_NAME];
    uint32_t count;     /* of launches so far: the number of the last one */
    uint32_t processes; /* that the run has now */
    struct pleat_call *calls;
    struct pleat_call *current; /* whose program may be resized; NULL: none is there */
    bool adapts;                /* those whose MPI can do nothing else are relaunched */
    bool broke;                 /* the current one's processes died in a resize */
};

/* Sets run->launches, for a run that is about to be started with `processes` processes. */
int pleat_launches_create(struct pleat_run *run, uint32_t processes, bool adapts,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* The run is over. Accepts that there are none. */
void pleat_launches_stop(struct pleat_run *run);
/* Accepts NULL. */
void pleat_launches_destroy(struct pleat_launches *launches);

/* So many processors the run has from now on. Accepts a run without launches. */
void pleat_launches_sized(struct pleat_run *run, uint32_t processes);
/* Whether a program is there that has to end before it can be started again. */
bool pleat_launches_busy(const struct pleat_run *run);
/* Whether a resize of the present program must be a relaunch, although none was planned. */
bool pleat_launches_only_relaunch(const struct pleat_run *run);
/* The `pleat launch` whose processes are meant; 0: none. */
pid_t pleat_launches_pid(const struct pleat_run *run);
/* SIGTERM to all processes below the current one, SIGKILL after the grace; the sweep goes on. */
void pleat_launches_kill(struct pleat_run *run, int64_t grace_us);
/* The whole run is being ended: no `pleat launch` is to wait any more. */
void pleat_launches_end(struct pleat_run *run);
/* The run has a new mailbox and `processes` processes: starts the current program again. False:
 * there is none, or it is gone. */
bool pleat_launches_again(struct pleat_run *run, uint32_t processes);

#endif
