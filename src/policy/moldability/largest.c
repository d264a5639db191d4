/* The largest size that a job takes on the machine, or wait: Utrera 2010, 6.5.1 d (jobs are treated
 * as rigid, with the maximum that they can have in 60 processors). */
#include "policy/classes.h"
#include "policy/policies.h"

static struct pleat_start_size largest_size(struct pleat_pass *pass, uint32_t component,
                                            uint32_t site, int32_t available)
{
    struct pleat_start_size size = pleat_start_unfolded(
        pass, component, site,
        pleat_view_capacity(pass->view, &pass->view->components[component], site), 1);
    if (size.processors > available)
        size.processors = 0;
    return size;
}

const struct pleat_policy pleat_policy_largest = {
    .number = 19,
    .version = 1,
    .question = PLEAT_MOLDABILITY,
    .name = "largest",
    .source = "Utrera 2010, 6.5.1 d",
    .summary = "the largest size that fits the machine, as if rigid",
    .settles = true,
    .size = largest_size,
};
