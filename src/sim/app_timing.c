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

/* How many of its iterations the application has done; the end of one counts even where rounding
 * has it just ahead. */
static double iterations_done(const struct sim *sim, const struct app *app)
{
    double since = app->stage == APP_COMPUTING ? (double)(sim->now_us - app->since_us) : 0;
    double done = 1 - app->left + since / app->duration;
    return done * parts_of(app);
}

/* When that many iterations will be done. PLEAT_NEVER: not before the last one, which is not
 * reported. */
static int64_t time_of_part(const struct app *app, double part)
{
    return part < parts_of(app) ? app_time_of(app, 1 - part / parts_of(app)) : PLEAT_NEVER;
}

/* The first iteration at the present size is the first that is computed at it from its beginning.
 */
void app_restart_timing(const struct sim *sim, struct app *app)
{
    app->reported = 0;
    app->timed_us = PLEAT_NEVER;
    if (!sim->reads_times || app->size == 0 || app->model->component > 0 ||
        app->model->objects > 0 || app->duration <= 0)
        return;
    double tolerance = 1 / app->duration;
    app->timed_us = time_of_part(app, ceil((1 - app->left - tolerance) * parts_of(app)) + 1);
}

/* ---- with their noise ---- */

/* From one report to the next: each of the first four iterations at a size is one, then there are
 * ever more in one. */
static int32_t in_next_report(const struct app *app)
{
    enum { FIRST = 4, MOST = 64 };
    int32_t more = app->reported < FIRST ? 1 : app->reported / FIRST;
    return more < MOST ? more : MOST;
}

/* Distributed normally (Box and Muller 1958). */
static double normal(struct pleat_random *random)
{
    static const double two_pi = 6.283185307179586;
    double radius = sqrt(-2 * log(1 - pleat_random_unit(random)));
    return radius * cos(two_pi * pleat_random_unit(random));
}

/* The mean of `count` iterations that take mean_us but for the noise; *spread_us: their standard
 * deviation. */
static double draw(struct sim *sim, double mean_us, int32_t count, double *spread_us)
{
    static const double shortest = 0.05; /* no iteration takes less, as a share of the mean */
    double noise = sim->options->time_noise, sum = 0, squares = 0;
    for (int32_t i = 0; i < count; i++) {
        double factor = noise > 0 ? 1 + noise * normal(&sim->noise) : 1;
        double us = mean_us * (factor > shortest ? factor : shortest);
        sum += us;
        squares += us * us;
    }
    double mean = sum / count, variance = squares / count - mean * mean;
    *spread_us = noise > 0 && variance > 0 ? sqrt(variance) : 0;
    return mean;
}

static struct pleat_event measured(struct sim *sim, const struct app *app, uint32_t component)
{
    int32_t count = in_next_report(app);
    double spread_us, mean_us = draw(sim, app->duration / parts_of(app), count, &spread_us);
    return (struct pleat_event){
        .time_us = sim->now_us,
        .kind = PLEAT_EV_MEASURED,
        .component = component,
        .u.measured = {.run = app->run,
                       .iteration_us = mean_us >= 1 ? (int64_t)(mean_us + 0.5) : 1,
                       .spread_us = (int64_t)(spread_us + 0.5),
                       .redistribution_us = app->stood_us,
                       .processors = app->size,
                       .count = count,
                       .from = app->stood_us > 0 ? app->sized_from : 0,
                       .iterations = (int32_t)(iterations_done(sim, app) + 0.5)}};
}

int app_tell_timing(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    if (sim->reads_measures) {
        struct pleat_event event = measured(sim, app, component);
        app->reported += event.u.measured.count;
        app->timed_us = time_of_part(app, event.u.measured.iterations + in_next_report(app));
        return input(sim, &event);
    }
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
