/* terminals.h - terminals of `pleat run --pty` whose jobs run on other hosts than this one.
 *
 * The agent there makes a terminal for the run (agent/screen.h). What is typed goes to it as the
 * run's input (inputs.h). What it shows comes as the run's output, and is kept here, and nowhere
 * else, until `pleat run` has said that it was shown; the agent keeps it as long, and no more of it
 * than it keeps of any output, so a program waits for a terminal that is slow. Both are numbered,
 * so nothing is lost or shown twice if this pleatd ends: its `pleat run` goes on with the next one.
 *
 * When the connection closes on which `pleat run` waits for the job's end, or nobody waits for it
 * for a while, since `pleat run` was killed while no pleatd was there, the terminal is hung up: the
 * processes of its session get SIGHUP.
 *
 * All of this is in memory only. */
#ifndef PLEAT_DAEMON_TERMINALS_H
#define PLEAT_DAEMON_TERMINALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct agent;
struct client;
struct daemon;
struct job;
struct pleat_run_order;
struct terminal;

struct terminals {
    struct terminal *first;
};

/* Whether a run of the job on that node cannot open the job's terminal, which is of this host, and
 * has one there. False also where the agent of the node is not connected. */
bool terminals_are_far(struct daemon *d, int64_t job, uint32_t site, uint32_t node);
/* Completes the order of a run that is about to be started. PLEAT_E_UNSUPPORTED: its terminal
 * cannot be passed on; PLEAT_E_STATE: its `pleat run` is gone. */
int terminals_order(struct daemon *d, const struct job *job, struct pleat_run_order *order,
                    struct pleat_error *err);

/* ---- what is asked by clients ---- */

/* The client waits for the end of a job that has its terminal: when it goes, so does that. */
void terminals_keep(struct client *client, int64_t job);

/* What was shown: the first `offset` bytes of what that run has written; 0: none is known. */
struct terminal_seen {
    int64_t job;
    uint64_t run;
    int64_t offset;
};

/* Answers with what comes next ("run", "offset", and bytes), with the run that has the terminal now
 * ("run"; 0: none has it any more), or when the job has ended and all was shown ("over"). */
void terminals_show(struct client *client, int64_t request, const struct terminal_seen *seen);
/* The client's terminal has another size. */
void terminals_resize(struct daemon *d, int64_t job, uint16_t rows, uint16_t columns);
void terminals_forget(struct client *client);

/* ---- what comes from agents ---- */

/* The notice `output`. False: the job has no terminal. *code: an errno: it could not be kept. */
bool terminals_take(struct agent *agent, const struct job *job, uint64_t run, int64_t offset,
                    const char *bytes, size_t count, int *code);
/* The agent has been connected again. */
void terminals_listed(struct agent *agent);

/* Answers what can be answered. To be called after each turn. */
void terminals_check(struct daemon *d);
/* Hangs up what nobody has waited for. To be called once a second. */
void terminals_look(struct daemon *d);
void terminals_finish(struct daemon *d);

#endif
