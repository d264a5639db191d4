/* No malleability: sizes stay as they started; the baseline of every comparison. */
#include "policy/policies.h"

static int32_t none_grow(struct pleat_pass *pass, uint32_t site, int32_t processors)
{
    (void)pass;
    (void)site;
    return processors;
}

static int32_t none_shrink(struct pleat_pass *pass, uint32_t site, int32_t processors,
                           uint32_t waiter)
{
    (void)pass;
    (void)site;
    (void)waiter;
    return processors;
}

const struct pleat_policy pleat_policy_none = {
    .number = 3,
    .version = 1,
    .question = PLEAT_MALLEABILITY,
    .name = "none",
    .source = "baseline",
    .summary = "never grow or shrink anything",
    .grow = none_grow,
    .shrink = none_shrink,
};
