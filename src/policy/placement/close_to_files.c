/* Close-to-Files: Buisson et al. 2007, IV-A; Lammers 2005, 3.3 (first: Mohamed and Epema 2004).
 *
 * Sites that have a component's input files are favoured, then those to which bringing them takes
 * the least time; only sites on which the component fits count. Taken where the papers are silent:
 * several files are brought one after another, each from where that is fastest; among equally near
 * sites the one with the most idle processors, as worst-fit does (so this is worst-fit for
 * components without files), then the site named first. */
#include "policy/policies.h"

static uint32_t close_to_files_place(struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_component *comp = &pass->view->components[component];
    uint32_t best = PLEAT_NONE;
    int64_t least_us = PLEAT_NEVER;
    int32_t most = 0;
    for (uint32_t site = 0; site < pass->view->site_count; site++) {
        int32_t available = pleat_plan_available(pass->plan, component, site);
        if (!pleat_view_allows(pass->view, comp, site) ||
            pleat_accept_start_floor(pass->view, comp, available) == 0)
            continue;
        int64_t us = pleat_view_transfer(pass->view, comp, site);
        int32_t idle = pleat_plan_at_once(pass->plan, component, site);
        if (us < least_us || (us == least_us && idle > most)) {
            best = site;
            least_us = us;
            most = idle;
        }
    }
    return best;
}

const struct pleat_policy pleat_policy_close_to_files = {
    .number = 2,
    .version = 1,
    .question = PLEAT_PLACEMENT,
    .name = "close-to-files",
    .source = "Buisson et al. 2007, IV-A",
    .summary = "the site to which the input files are brought soonest",
    .settles = true,
    .place = close_to_files_place,
};
