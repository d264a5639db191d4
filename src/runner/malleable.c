/* An MPI program linked with libpleat: the Malleable Runner of Buisson et al. 2007, V-A, with the
 * observe-decide-plan-execute loop in libpleat and the mailbox between. */
#include "runner/agent_runner.h"

const struct pleat_agent_runner_kind pleat_runner_malleable = {
    .name = "malleable",
    .capabilities = PLEAT_RUNNER_RESIZES,
    .launches = true,
    .mailbox = true,
};
