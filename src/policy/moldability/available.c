/* Initial size from availability: Buisson et al. 2007, V-B ("determined considering the number of
 * available processors"), at least the minimum; at most what the user gave as initial size. */
#include "policy/policies.h"

static struct pleat_start_size available_size(struct pleat_pass *pass, uint32_t component,
                                              uint32_t site, int32_t available)
{
    (void)site;
    const struct pleat_component *comp = &pass->view->components[component];
    int32_t smallest = pleat_accept_start(pass->view, comp);
    int32_t wanted = comp->initial > smallest ? comp->initial : smallest;
    if (comp->initial > 0 && wanted < available)
        available = wanted;
    return (struct pleat_start_size){.processors =
                                         pleat_accept_start_floor(pass->view, comp, available)};
}

const struct pleat_policy pleat_policy_available = {
    .number = 1,
    .version = 1,
    .question = PLEAT_MOLDABILITY,
    .name = "available",
    .source = "Buisson et al. 2007, V-B",
    .summary = "start with what is available, at most the initial size asked for",
    .settles = true,
    .size = available_size,
};
