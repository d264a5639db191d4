/* High priority before low: Lammers 2005, 3.3, where KOALA has one placement queue of high priority
 * and one of low. Here one queue has any number of priorities. */
#include "policy/policies.h"

static int64_t priority_key(const struct pleat_component *component)
{
    return -(int64_t)component->priority;
}

const struct pleat_policy pleat_policy_order_priority = {
    .number = 4,
    .version = 1,
    .question = PLEAT_ORDER,
    .name = "priority",
    .source = "Lammers 2005, 3.3",
    .summary = "the highest priority first",
    .key = priority_key,
};
