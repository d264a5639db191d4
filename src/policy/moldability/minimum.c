/* Initial size: the minimum, or the initial size that the user gave if that is available. */
#include "policy/policies.h"

static struct pleat_start_size minimum_size(struct pleat_pass *pass, uint32_t component,
                                            uint32_t site, int32_t available)
{
    (void)site;
    const struct pleat_component *comp = &pass->view->components[component];
    int32_t smallest = pleat_accept_start(pass->view, comp);
    int32_t wanted = comp->initial > smallest ? comp->initial : smallest;
    return (struct pleat_start_size){
        .processors =
            pleat_accept_start_floor(pass->view, comp, wanted < available ? wanted : available)};
}

const struct pleat_policy pleat_policy_minimum = {
    .number = 2,
    .version = 1,
    .question = PLEAT_MOLDABILITY,
    .name = "minimum",
    .source = "Buisson et al. 2007, VI-C (initial size 2, the minimum)",
    .summary = "start with the minimum, or with the initial size asked for",
    .settles = true,
    .size = minimum_size,
};
