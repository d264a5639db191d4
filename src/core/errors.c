/* Errors of sites: Lammers 2005, 3.5. What goes wrong at a site by no fault of the user's is
 * counted: starts that its nodes could not do, processors that it took away, claims in which
 * something broke (one that it refuses for now is none). A start that succeeds shows that it was a
 * transient error. */
#include "core/internal.h"

static void bar(struct pleat_core *core, uint32_t index)
{
    struct pleat_site *site = site_at(core, index);
    int64_t again_us = core->parameters[PLEAT_PARAM_SITE_AGAIN_US];
    site->barred = 1;
    if (again_us > 0)
        arm(core, &site->again, DEADLINE_SITE, index, now_of(core) + again_us);
    core->wants_pass = true; /* who waits may find another place */
}

void site_error(struct pleat_core *core, uint32_t index)
{
    struct pleat_site *site = site_at(core, index);
    int64_t limit = core->parameters[PLEAT_PARAM_SITE_ERRORS];
    if (site->errors < UINT32_MAX)
        site->errors++;
    if (limit > 0 && site->errors > limit && !site->barred)
        bar(core, index);
}

void site_pardon(struct pleat_core *core, uint32_t index)
{
    struct pleat_site *site = site_at(core, index);
    site->errors = 0;
    if (site->barred)
        core->wants_pass = true;
    site->barred = 0;
    disarm(core, &site->again);
}

void sites_judge(struct pleat_core *core)
{
    int64_t limit = core->parameters[PLEAT_PARAM_SITE_ERRORS];
    for (uint32_t s = 0; s < core->sites.count; s++) {
        bool too_many = limit > 0 && site_at(core, s)->errors > limit;
        if (site_at(core, s)->barred && !too_many)
            site_pardon(core, s);
        else if (!site_at(core, s)->barred && too_many)
            bar(core, s);
    }
}
