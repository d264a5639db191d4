/* ASP-MAX, adaptive static partitioning with a limit: Utrera 2010, 5.2, 5.4.1 c and table 5.1,
 * after Rosti et al. 1998.
 *
 *   a job's processes: what is available, at most MAX = 60 % of the machine
 *
 * Section 5.4.1 says 60 % of the idle processors: asp-max-idle. Taken where the thesis is silent: a
 * job whose smallest size is above the limit starts with that; closed nodes are not part of the
 * machine. */
#include "policy/classes.h"
#include "policy/policies.h"

enum { MAX_PERCENT = 60 };

static int32_t part(int32_t processors)
{
    return (int32_t)((int64_t)processors * MAX_PERCENT / 100);
}

static struct pleat_start_size asp_max_size(struct pleat_pass *pass, uint32_t component,
                                            uint32_t site, int32_t available)
{
    return pleat_start_share(pass, component, site,
                             part(pleat_view_open_processors(pass->view, site)), available, 1);
}

static struct pleat_start_size asp_max_idle_size(struct pleat_pass *pass, uint32_t component,
                                                 uint32_t site, int32_t available)
{
    return pleat_start_share(pass, component, site, part(available), available, 1);
}

const struct pleat_policy pleat_policy_asp_max = {
    .number = 12,
    .version = 2,
    .question = PLEAT_MOLDABILITY,
    .name = "asp-max",
    .source = "Utrera 2010, 5.2 (Rosti et al. 1998)",
    .summary = "what is available, at most 60 % of the machine",
    .settles = true,
    .size = asp_max_size,
};

const struct pleat_policy pleat_policy_asp_max_idle = {
    .number = 16,
    .version = 1,
    .question = PLEAT_MOLDABILITY,
    .name = "asp-max-idle",
    .source = "Utrera 2010, 5.4.1 c",
    .summary = "60 % of what is idle",
    .settles = true,
    .size = asp_max_idle_size,
};
