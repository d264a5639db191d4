/* Sections in which an application's size must not change ("not now"): the core is told what the
 * agent of a real program would tell it, and decides what that means for resizes. A change that the
 * application was told of already waits for the section's end.
 *
 * An agent tells only of sections that have lasted for a while. Here these are the sections that
 * would last that long at the size with which they begin. A shorter section holds back a change,
 * and is over before the core knows of it. */
#include "sim/internal.h"

enum { LASTS_US = 1000000 };

/* Has an application sections that matter? They mean nothing to one that cannot be resized. */
static bool has_sections(const struct app *app)
{
    return app->model->sections > 0 && app->wish->kind == PLEAT_MALLEABLE &&
           app->wish->mpl_max == 0;
}

bool in_section(const struct app *app)
{
    return app->section & 1;
}

int64_t section_next(const struct app *app)
{
    uint32_t number = app->section / 2;
    if (!has_sections(app) || number >= (uint32_t)app->model->sections)
        return PLEAT_NEVER;
    return app_time_of(app, 1 - pleat_workload_section(app->model, number, in_section(app)));
}

static int tell(struct sim *sim, uint32_t component, bool begins)
{
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_SECTION,
                                .flags = begins ? PLEAT_NOT_NOW : 0,
                                .component = component,
                                .u.section.run = sim->apps.items[component].run};
    return input(sim, &event);
}

int section_step(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    bool begins = !in_section(app), tells = app->section_told;
    app->section++;
    if (begins)
        tells = app->model->section_share * app->duration >= LASTS_US;
    app->section_told = begins && tells;
    sim->totals->sections += begins && tells;
    return tells ? tell(sim, component, begins) : 0;
}
