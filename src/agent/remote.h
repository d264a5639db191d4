/* remote.h - what a run's launcher wants on other nodes, on the agent that leads the run.
 *
 * The agent listens in the run's scratch directory to pleat-remote (src/remote), which the launcher
 * calls in the place of ssh. Each call is a part: a command for one node, with a number of its own
 * in the run. The agent hands it to the daemon (`part_wanted`), and back what becomes of it
 * (`part_told`, `part_output`). It speaks with no other agent.
 *
 * Only a process of the run is heard, which is one below the run's reaper.
 */
#ifndef PLEAT_AGENT_REMOTE_H
#define PLEAT_AGENT_REMOTE_H

#include "agent/run.h"

/* Listens, for a run that is about to be started, and whose scratch directory is there. `nodes` as
 * in the request. Sets run->remote. */
int pleat_remote_create(struct pleat_run *run, const json_t *nodes,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Ends all calls, and listens no more. Accepts a run that does not listen. */
void pleat_remote_stop(struct pleat_run *run);
void pleat_remote_destroy(struct pleat_run *run);
/* Adds the variables by which pleat-remote finds the socket, and knows this node. */
void pleat_remote_add_variables(const struct pleat_run *run, struct pleat_string *own);

/* Tells again which parts are wanted, or not any more. */
void pleat_remote_report(const struct pleat_run *run);
/* Adds the member "parts" to what `list` says. Nonzero: no memory. */
int pleat_remote_describe(const struct pleat_run *run, json_t *text);

/* The requests `part_told` and `part_output`. About a part that is not known they do nothing. */
int pleat_remote_told(struct pleat_run *run, const json_t *params,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_remote_output(struct pleat_run *run, const json_t *params,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
