/* A start at the sweet spot that earlier runs of the same program at the same site have shown.
 *
 * Swaminathan 2004, 5.2, expects that "the data collection phase can be significantly reduced if
 * the information from previous runs of the application can be incorporated": here nothing is
 * left of it for a job that cannot change its size. What is known of earlier runs comes with the
 * job (PLEAT_EV_REMEMBERED); where the spot is, and what "sweet" means, is said in spot.h. A job
 * starts with less where its spot is not available, and is not held back for it; with at most the
 * initial size that its user gave; and with what is available, as by the policy `available`, where
 * fewer than two sizes of its program were measured. */
#include "policy/policies.h"
#include "policy/spot.h"

static struct pleat_start_size learned_size(struct pleat_pass *pass, uint32_t component,
                                            uint32_t site, int32_t available)
{
    struct pleat_start_size size = pleat_policy_available.size(pass, component, site, available);
    const struct pleat_component *comp = &pass->view->components[component];
    if (size.processors < 1 || comp->first_timing == PLEAT_NONE || pleat_view_folds(comp))
        return size;
    struct pleat_spot_study study = pleat_spot_study(pass->view, comp);
    int32_t spot = pleat_spot_start(&study, size.processors);
    int32_t taken = spot > 0 ? pleat_accept_start_floor(pass->view, comp, spot) : 0;
    if (taken > 0)
        size.processors = taken;
    return size;
}

const struct pleat_policy pleat_policy_moldability_learned = {
    .number = 21,
    .version = 1,
    .question = PLEAT_MOLDABILITY,
    .name = "sweet-spot-learned",
    .source = "after Swaminathan 2004, 5.2",
    .summary = "the sweet spot by earlier runs of the program, else as available",
    .needs = PLEAT_NEEDS_TIMES | PLEAT_NEEDS_MEASURES,
    .settles = true,
    .size = learned_size,
};
