/* agent_runner.h - what the live runners share: orders become requests to the node's agent, its
 * notifications become events (docs/protocol.md, "Agent and daemon"). A runner that differs only in
 * how its program is started is a row of model/runners.def. */
#ifndef PLEAT_RUNNER_AGENT_RUNNER_H
#define PLEAT_RUNNER_AGENT_RUNNER_H

#include "runner/runner.h"

#define PLEAT_RUNNER_HOSTS "hosts" /* the file that the agent writes into the scratch directory */

/* What was submitted (`base`, NULL at the end) and what Pleat adds, as a JSON array; NULL: out of
 * memory. scratch: the run has that directory. */
json_t *pleat_job_environment(const struct pleat_run_order *order, char *const *base, bool scratch);

#endif
