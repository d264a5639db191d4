/* Precedence to Running Applications: Buisson et al. 2007, V-B.
 *
 * Free processors go to running malleable jobs; waiting jobs are not considered while at least one
 * running malleable job can still be grown. No job is shrunk. Taken where the paper is silent: no
 * waiting job may start then, not even a rigid one; a job that is in a resize, and would take more
 * afterwards, can still be grown. */
#include "policy/policies.h"

static void pra_decide(struct pleat_pass *pass)
{
    bool can_still_be_grown = false;
    for (uint32_t site = 0; site < pass->view->site_count; site++) {
        pleat_pass_grow(pass, site);
        can_still_be_grown = can_still_be_grown || pleat_pass_could_grow(pass, site);
    }
    if (!can_still_be_grown)
        (void)pass->policies[PLEAT_QUEUE]->start(pass);
}

const struct pleat_policy pleat_policy_pra = {
    .number = 1,
    .version = 1,
    .question = PLEAT_APPROACH,
    .name = "pra",
    .source = "Buisson et al. 2007, V-B",
    .summary = "precedence to running applications: grow first, start when nobody can grow",
    .decide = pra_decide,
};
