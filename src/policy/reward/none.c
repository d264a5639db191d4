/* A job that gives up processors though it could refuse gains nothing by it; the baseline. */
#include "policy/policies.h"

const struct pleat_policy pleat_policy_reward_none = {
    .number = 1,
    .version = 1,
    .question = PLEAT_REWARD,
    .name = "none",
    .source = "baseline",
    .summary = "nothing",
};
