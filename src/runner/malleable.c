/* An MPI program linked with libpleat: the Malleable Runner of Buisson et al. 2007, V-A, with the
 * observe-decide-plan-execute loop in libpleat and the mailbox between. Where its MPI cannot start
 * processes at run time, and where a resize cannot go on, it is relaunched from its state. */
#include "runner/agent_runner.h"

const struct pleat_agent_runner_kind pleat_runner_malleable = {
    .name = "malleable",
    .capabilities = PLEAT_RUNNER_RESIZES | PLEAT_RUNNER_RELAUNCHES,
    .launches = true,
    .mailbox = true,
};
