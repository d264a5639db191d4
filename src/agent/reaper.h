/* reaper.h - a process between the agent and the main process of a run, which adopts all that the
 * run leaves without a parent.
 *
 * It is a subreaper, so everything that the run ever starts stays below it, whatever session,
 * parent or environment that gives itself: this is how the agent knows whose a process is, and
 * "nothing is left of the run" is "its reaper has no child". It waits for all of them, tells the
 * agent how the main process ended, and ends when nothing is left. It holds no file of the run and
 * is in none of its groups. Where the agent dies and no guard is there it ends the run itself.
 *
 * A reaper that is killed hands what it has to the agent, which is a subreaper, too, and then has
 * only sessions and environments to go by (ending.c).
 */
#ifndef PLEAT_AGENT_REAPER_H
#define PLEAT_AGENT_REAPER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define PLEAT_REAPER_NAME "pleat-reaper"
/* From its agent: it ends all that it has, and itself, and tells nothing. */
#define PLEAT_REAPER_END SIGHUP

/* What a reaper writes into the agent's pipe, once, when the main process has ended; shorter than
 * PIPE_BUF. */
struct pleat_reaper_record {
    pid_t reaper;
    int status; /* of the main process, as from wait(2) */
    bool alone; /* nothing else is left: the reaper ends */
    struct rusage usage;
};

/* The memory of the arguments of this process, in which a reaper says what it is. */
void pleat_reaper_title_room(int argc, char **argv);

/* What a reaper is told by its agent, before it is forked. */
struct pleat_reaper_order {
    pid_t agent;
    pid_t guard;     /* of the agent (guard.h); 0: none */
    int records;     /* the pipe into which it writes */
    const char *job; /* what it calls itself after; borrowed */
};

/* Divides this process, which has one thread and was forked by the agent with all signals blocked.
 * What called goes on as the reaper and does not return; of its files it keeps the pipe and
 * standard error. This returns 0 in its child, the main process; or errno: there is no child, and
 * what called goes on. */
int pleat_reaper_divide(const struct pleat_reaper_order *order);

#endif
