/* agent_runner.h - what all live runners share: orders become requests to the node's agent, and its
 * notices become events (docs/protocol.md, "Agent and daemon"). A runner that differs only in how
 * its program is started is a row of model/runners.def.
 */
#ifndef PLEAT_RUNNER_AGENT_RUNNER_H
#define PLEAT_RUNNER_AGENT_RUNNER_H

#include "runner/runner.h"

/* name of the host file that the agent writes into the scratch directory */
#define PLEAT_RUNNER_HOSTS "hosts"

/* The environment of a job as a JSON array: `base` (what was submitted, NULL at the end) and what
 * Pleat adds. scratch: the run has the directory order->scratch. NULL: out of memory. */
json_t *pleat_job_environment(const struct pleat_run_order *order, char *const *base, bool scratch);

/* As `notice` in pleat_runner_ops: agent_notice.c. */
int pleat_agent_notice(struct pleat_runner *runner, uint32_t component, const char *method,
                       const json_t *params, struct pleat_error *err);

/* Adds a member "processes" to `start`: how many there are at the start, and how many there may be.
 * PLEAT_E_UNSUPPORTED: it cannot be where it is to start. */
int pleat_runner_add_processes(const struct pleat_run_order *order, json_t *params,
                               struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
