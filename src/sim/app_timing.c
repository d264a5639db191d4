/* app_timing.c - how far an application is with its work, and what its iterations take. */
#include <math.h>

#include "sim/internal.h"

/* The time at which no more than the share `left` of the work will be left; PLEAT_NEVER: later than
 * LATEST_US. */
int64_t app_time_of(const struct app *app, double left)
{
    if (left >= app->left)
        return app->since_us;
    double passes = (app->left - left) * app->duration + 0.5;
    return passes < (double)(LATEST_US - app->since_us) ? app->since_us + (int64_t)passes
                                                        : PLEAT_NEVER;
}

void app_account(const struct sim *sim, struct app *app)
{
    if (app->stage == APP_COMPUTING && app->size > 0 && !app->lacks && sim->now_us > app->since_us)
        app->left = app->duration > 0
                        ? app->left - (double)(sim->now_us - app->since_us) / app->duration
                        : 0;
    if (app->left < 0)
        app->left = 0;
    app->since_us = sim->now_us;
}

/* Into how many parts the work of an application without iterations is taken to be divided. */
enum { PARTS = 100 };

static int32_t parts_of(const struct app *app)
{
    return app->model->iterations > 0 ? app->model->iterations : PARTS;
}

/* When the first iteration ends that was computed at the present size from its beginning: then it
 * is reported. PLEAT_NEVER: there is none before the last iteration, which is not reported. */
int64_t app_first_timing(const struct sim *sim, const struct app *app)
{
    if (!sim->reads_times || app->size == 0 || app->model->component > 0 ||
        app->model->objects > 0 || app->duration <= 0)
        return PLEAT_NEVER;
    double tolerance = 1 / app->duration;
    double part = ceil((1 - app->left - tolerance) * parts_of(app)) + 1;
    return part < parts_of(app) ? app_time_of(app, 1 - part / parts_of(app)) : PLEAT_NEVER;
}

int app_tell_timing(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    int64_t iteration_us = (int64_t)(app->duration / parts_of(app) + 0.5);
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_TIMED,
                                .component = component,
                                .u.timed = {.run = app->run,
                                            .iteration_us = iteration_us > 0 ? iteration_us : 1,
                                            .redistribution_us = app->stood_us,
                                            .processors = app->size}};
    app->timed_us = PLEAT_NEVER;
    return input(sim, &event);
}
