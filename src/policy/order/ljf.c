/* Longest job first, by the user's estimate: Utrera 2010, 2.3.2.2. Jobs without an estimate stand
 * last. */
#include "policy/policies.h"

static int64_t ljf_key(const struct pleat_component *component)
{
    return component->estimate_us > 0 ? -component->estimate_us : PLEAT_NEVER;
}

const struct pleat_policy pleat_policy_ljf = {
    .number = 3,
    .version = 1,
    .question = PLEAT_ORDER,
    .name = "ljf",
    .source = "Utrera 2010, 2.3.2.2",
    .summary = "the longest estimate first",
    .key = ljf_key,
};
