/* remote.h - what a run's launcher wants on other nodes, on the agent that leads the run.
 *
 * The agent listens in the run's scratch directory to pleat-remote (src/remote), which the launcher
 * calls in the place of ssh. Each call is a part: a command for one node, with a number of its own
 * in the run. The agent hands the command to the daemon (`part_wanted`), and gets back what becomes
 * of it (`part_told`, `part_output`). It speaks with no other agent.
 *
 * Only processes of the run are heard: those below the run's reaper. */
#ifndef PLEAT_AGENT_REMOTE_H
#define PLEAT_AGENT_REMOTE_H

#include "agent/run.h"

/* Listens, for a run that is about to be started, and whose scratch directory is there. `nodes` as
 * in the request. Sets run->remote. */
int pleat_remote_create(struct pleat_run *run, const json_t *nodes,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* The run is started again over these nodes, or on this one only (NULL): listens for its new
 * launcher, and knows the new names. Also where it did not listen before. */
int pleat_remote_renew(struct pleat_run *run, const json_t *nodes,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* Forgets parts that have ended. Tells which nodes the run has left: what agents there keep of it
 * can be freed. */
void pleat_remote_tidy(struct pleat_run *run);
/* The same for new processes that are started while the run's compute (warm.h), and whose launcher
 * has a socket of its own. Their parts have mailboxes in which ranks wait. */
int pleat_remote_prepare(struct pleat_run *run, const json_t *nodes,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* The new processes are the run's from now on: pleat_remote_next returns their parts from now on,
 * and those of the old processes end with their launcher. */
void pleat_remote_hand_over(struct pleat_run *run);
/* Nobody wants the new processes, and their launcher is gone. */
void pleat_remote_drop_new(struct pleat_run *run);
/* Whether there are parts of a generation that is not the run's. */
bool pleat_remote_has_others(const struct pleat_run *run);
/* How many ranks of new processes wait on other nodes, as their agents have said. */
uint32_t pleat_remote_waiting(const struct pleat_run *run);
/* Ends all calls, and listens no more. Accepts a run that does not listen. */
void pleat_remote_stop(struct pleat_run *run);
void pleat_remote_destroy(struct pleat_run *run);
/* Adds the variables by which pleat-remote finds the socket, and knows this node. is_new: for the
 * launcher of new processes. */
void pleat_remote_add_variables(const struct pleat_run *run, bool is_new, struct pleat_string *own);

/* Tells again which parts are wanted, or not any more. */
void pleat_remote_report(const struct pleat_run *run);
/* Adds the member "parts" to what `list` says. Nonzero: no memory. */
int pleat_remote_describe(const struct pleat_run *run, json_t *text);

/* What the agent of a part that runs has said to the last order (agreement.h). */
struct pleat_part_voice {
    uint32_t part, node;
    uint32_t order; /* the order that it has answered; 0: none */
    bool yes;
    uint64_t k; /* an iteration */
    /* its ranks that are in a section in which nothing may change; since when there are some, and
     * when that was said last (monotonic) */
    uint32_t not_now;
    uint32_t waiting; /* its ranks that wait for the state */
    int64_t since_us, heard_us;
};
/* The next running part of the generation that is the run's after `after` (NULL: the first).
 * Returns NULL after the last. */
struct pleat_part_voice *pleat_remote_next(const struct pleat_run *run,
                                           const struct pleat_part_voice *before);
/* How many ranks on other nodes are in a section in which nothing may change, as far as their
 * agents have said so lately. *longest_ns: for how long there have been some. */
uint32_t pleat_remote_sections(const struct pleat_run *run, uint64_t *longest_ns);
/* The request `part_said`. About a part that is not known it does nothing. */
int pleat_remote_said(struct pleat_run *run, const json_t *params,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* The requests `part_told` and `part_output`. About a part that is not known they do nothing. What
 * a part wrote may come again: its pleat-remote gets each byte once. `part_heard` tells what
 * pleat-remote has handed on, or, where it is gone, all that has come. */
int pleat_remote_told(struct pleat_run *run, const json_t *params,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_remote_output(struct pleat_run *run, const json_t *params, const char *bytes,
                        size_t count, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
