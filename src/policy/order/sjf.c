/* Shortest job first, by the user's estimate: Utrera 2010, 2.3.2.2. Jobs without an estimate stand
 * last. Long jobs can wait for ever. */
#include "policy/policies.h"

static int64_t sjf_key(const struct pleat_component *component)
{
    return component->estimate_us > 0 ? component->estimate_us : PLEAT_NEVER;
}

const struct pleat_policy pleat_policy_sjf = {
    .number = 2,
    .version = 1,
    .question = PLEAT_ORDER,
    .name = "sjf",
    .source = "Utrera 2010, 2.3.2.2",
    .summary = "the shortest estimate first",
    .key = sjf_key,
};
