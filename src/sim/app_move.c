#include "sim/app_move.h"

bool app_moves_at_all(const struct sim *sim)
{
    const int64_t *parameters = sim->options->parameters;
    return sim->lends && parameters[PLEAT_PARAM_MOVE_US] > 0 &&
           parameters[PLEAT_PARAM_REPLACE_US] > 0 && parameters[PLEAT_PARAM_SHRINK_OFF_US] > 0;
}

bool app_may_move(const struct sim *sim, const struct pleat_workload_job *job)
{
    const struct pleat_app *model = &sim->workload->apps.items[job->app];
    return sim->moves && job->kind == PLEAT_MALLEABLE && job->mpl_max == 0 && model->objects == 0 &&
           model->component == 0;
}

bool app_leaves_lead(const struct sim *sim, uint32_t component)
{
    return sim->moves && pleat_core_moves(sim->core, component);
}

int app_goes_on(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    const struct pleat_event event = {.time_us = sim->now_us,
                                      .kind = PLEAT_EV_STARTED,
                                      .component = component,
                                      .u.exit = {.run = app->run}};
    if (!pleat_core_is_moving(sim->core, component))
        return 0; /* what it had there was lost: it waits again */
    app->stage = APP_COMPUTING;
    sim->totals->stood_us += (double)(sim->now_us - app->since_us) * app->size;
    app->since_us = sim->now_us;
    app_restart_timing(sim, app);
    if (app->lacks)
        app->timed_us = PLEAT_NEVER;
    int rc = input(sim, &event);
    if (!rc)
        rc = app_want_minimum(sim, component);
    if (!rc)
        rc = app_give_back(sim, component);
    return rc;
}

int app_begin_elsewhere(struct sim *sim, uint32_t component, uint64_t run, bool *other)
{
    struct app *app = &sim->apps.items[component];
    struct site *site = &sim->sites[app->site];
    *other = app->run != run;
    if (*other) {
        stop_timer(sim, &app->timer);
        app_count_area(sim, app);
        return changed(sim, app, app->size, 0, 0);
    }
    int64_t delay = site_delay(site, &site->spec->start);
    return set_timer(sim, TIMER_APP, component, 0, sim->now_us + delay, &app->timer);
}
