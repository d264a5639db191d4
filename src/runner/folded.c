/* An MPI program as it is, with as many processes as its user wants on as many processors as there
 * are for it: virtual malleability (Utrera 2010). It knows nothing of that: the agent says on which
 * processors its processes may be, and libpleat-fold, preloaded into them, hands these on. */
#include "runner/agent_runner.h"

const struct pleat_agent_runner_kind pleat_runner_folded = {
    .name = "folded",
    .capabilities = PLEAT_RUNNER_RESIZES,
    .launches = true,
    .folds = true,
};
