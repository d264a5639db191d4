/* A program that cannot go on without more processors gets what is idle, and nothing that others
 * have: what is idle is kept for it until there is enough. The default, as an ask alone should not
 * change the size of anybody else's job: who wants that says so. */
#include "policy/policies.h"

const struct pleat_policy pleat_policy_need_idle = {
    .number = 1,
    .version = 3,
    .question = PLEAT_NEED,
    .name = "idle",
    .source = "baseline",
    .summary = "what is idle is kept for it; nothing is taken from others",
};
