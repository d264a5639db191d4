/* A program that cannot go on without more processors gets what is idle, and nothing that others
 * have: idle processors are kept for it until there are enough. This is the default: an ask should
 * not change the size of another user's job unless the site is configured so. */
#include "policy/policies.h"

const struct pleat_policy pleat_policy_need_idle = {
    .number = 1,
    .version = 3,
    .question = PLEAT_NEED,
    .name = "idle",
    .source = "baseline",
    .summary = "what is idle is kept for it; nothing is taken from others",
};
