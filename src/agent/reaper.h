/* reaper.h - a process between the agent and the main process of a run, which adopts all processes
 * that the run leaves without a parent.
 *
 * The reaper is a subreaper, so all processes that the run ever starts stay below it, whatever
 * session, parent or environment they give themselves. That is how the agent knows whose a process
 * is, and "nothing is left of the run" means "its reaper has no child". The reaper waits for its
 * children, tells the agent how the main process ended, and ends when it has no child. It has no
 * file of the run open, and is in none of its groups, nor in the agent's. Where the agent dies and
 * there is no guard, the reaper ends the run itself.
 *
 * Where a reaper is killed, its processes become children of the agent, which is a subreaper, too.
 * The agent then has only sessions and environments to find a run's processes by (owner.c).
 */
#ifndef PLEAT_AGENT_REAPER_H
#define PLEAT_AGENT_REAPER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* The signal by which the agent has a reaper end all its processes and itself, without a word. */
#define PLEAT_REAPER_END SIGHUP

/* The record that a reaper writes into the agent's pipe when the main process has ended, and again
 * when no other process is left. It is shorter than PIPE_BUF, so it is written as a whole. The main
 * process is reaped after the first one: where the reaper is killed before, the agent gets it. */
struct pleat_reaper_record {
    pid_t reaper;
    int status;      /* of the main process, as from wait(2) */
    bool unexecuted; /* the main process has ended before its program was executed */
    bool alone;      /* no other process is left: the reaper ends */
    bool told; /* somebody has sent the reaper SIGTERM, as a batch system does to all processes
                * of an allocation that it ends, while the main process did not ignore that */
    struct rusage usage;
};

/* Gives a reaper the memory of this process's arguments, into which it writes its name. */
void pleat_reaper_title_room(int argc, char **argv);

/* What an agent tells a reaper before it forks it. */
struct pleat_reaper_order {
    pid_t agent;
    pid_t guard;     /* of the agent (guard.h); 0: none */
    int records;     /* the pipe into which it writes */
    const char *job; /* the job in the reaper's name; borrowed */
};

/* Divides this process, which has one thread and was forked by the agent with all signals blocked.
 * The caller goes on as the reaper and does not return. Of its files the reaper keeps the pipe and
 * standard error. The call returns 0 in its child, the main process. Otherwise it returns errno:
 * there is no child, and the caller goes on as it was. */
int pleat_reaper_divide(const struct pleat_reaper_order *order);

#endif
