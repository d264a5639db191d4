/* An MPI program as it is, started by its MPI's launcher with one process per processor. Its size
 * does not change while it runs. */
#include "runner/agent_runner.h"

const struct pleat_agent_runner_kind pleat_runner_mpi = {.name = "mpi", .launches = true};
