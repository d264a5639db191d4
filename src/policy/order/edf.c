/* Earliest deadline first: Jackson 1955; Liu and Layland 1973. Jobs without a deadline stand last.
 * A missed deadline changes nothing: no job is ended for it. */
#include "policy/policies.h"

static int64_t edf_key(const struct pleat_component *component)
{
    return component->due_us;
}

const struct pleat_policy pleat_policy_edf = {
    .number = 5,
    .version = 1,
    .question = PLEAT_ORDER,
    .name = "edf",
    .source = "Liu and Layland 1973",
    .summary = "the earliest deadline first; those without one last",
    .key = edf_key,
};
