#include "sim/platform.h"

#include <stdio.h>

int pleat_platform_add(struct pleat_platform *platform, const char *name, int32_t processors)
{
    struct pleat_sim_site site = {.nodes = processors,
                                  .slots = 1,
                                  .speed = 1,
                                  .load_estimate = 1,
                                  .queue_us = INT64_C(86400) * 1000000,
                                  .leave_us = INT64_C(30) * 1000000,
                                  .leaves_us = PLEAT_NEVER};
    snprintf(site.name, sizeof(site.name), "%s", name);
    return pleat_array_push(&platform->sites, site);
}

void pleat_platform_finish_site(struct pleat_sim_site *site)
{
    pleat_array_finish(&site->trace);
    pleat_array_finish(&site->others);
}

void pleat_platform_finish(struct pleat_platform *platform)
{
    for (size_t s = 0; s < platform->sites.count; s++)
        pleat_platform_finish_site(&platform->sites.items[s]);
    pleat_array_finish(&platform->sites);
    pleat_array_finish(&platform->links);
}
