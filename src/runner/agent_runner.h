/* agent_runner.h - what the live runners share: orders become requests to the node's agent, its
 * notifications become events (docs/protocol.md, "Agent and daemon"). A runner that differs only in
 * how its program is started is a row of this. */
#ifndef PLEAT_RUNNER_AGENT_RUNNER_H
#define PLEAT_RUNNER_AGENT_RUNNER_H

#include "runner/runner.h"

#define PLEAT_RUNNER_HOSTS "hosts" /* the file that the agent writes into the scratch directory */

struct pleat_agent_runner_kind {
    const char *name;
    unsigned capabilities;
    bool launches; /* by its MPI's launcher, one process per processor; else the program itself */
    bool mailbox;  /* its processes find a mailbox (libpleat) */
    bool folds;    /* its processes share processors (libpleat-fold is preloaded) */
};

extern const struct pleat_agent_runner_kind pleat_runner_plain;
extern const struct pleat_agent_runner_kind pleat_runner_mpi;
extern const struct pleat_agent_runner_kind pleat_runner_malleable;
extern const struct pleat_agent_runner_kind pleat_runner_folded;

/* What was submitted (`base`, NULL at the end) and what Pleat adds, as a JSON array; NULL: out of
 * memory. scratch: the run has that directory. */
json_t *pleat_job_environment(const struct pleat_run_order *order, char *const *base, bool scratch);

#endif
