/* How applications change what they may have: phases with limits of their own, processors that are
 * given back. */
#include "sim/internal.h"

int app_enter_phase(struct sim *sim, uint32_t component, const struct pleat_phase *phase)
{
    struct app *app = &sim->apps.items[component];
    int32_t minimum = sim->view->components[component].minimum;
    app->phase++;
    app->wanted_minimum = 0;
    int rc = set_limits(sim, component, phase->minimum, phase->maximum);
    if (rc == PLEAT_E_STATE && phase->minimum > minimum) {
        app->wanted_minimum = phase->minimum;
        rc = set_limits(sim, component, minimum,
                        phase->maximum > minimum ? phase->maximum : minimum);
    }
    return rc == PLEAT_E_NOMEM ? rc : 0;
}

int app_want_minimum(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    if (app->wanted_minimum == 0 || app->size < app->wanted_minimum)
        return 0;
    int rc =
        set_limits(sim, component, app->wanted_minimum, sim->view->components[component].maximum);
    app->wanted_minimum = 0;
    return rc == PLEAT_E_NOMEM ? rc : 0;
}

int app_limit_to_work(struct sim *sim, uint32_t component)
{
    const struct app *app = &sim->apps.items[component];
    const struct pleat_component *record = &sim->view->components[component];
    int64_t most = (int64_t)(app->model->work - app->completed) * app->model->component;
    if (most >= record->maximum || most < 1)
        return 0;
    int32_t maximum = (int32_t)most;
    int rc =
        set_limits(sim, component, record->minimum < maximum ? record->minimum : maximum, maximum);
    return rc == PLEAT_E_NOMEM ? rc : 0;
}

int app_give_back(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    int32_t from = app->size, count = app->owed;
    if (count == 0 || app->resize != 0)
        return 0;
    app_count_area(sim, app);
    app->owed = 0;
    app->size -= count;
    app->resized = true;
    struct pleat_event event = {
        .time_us = sim->now_us,
        .kind = PLEAT_EV_RETURNED,
        .component = component,
        .u.returned = {.run = app->run, .count = count, .number = ++app->returned}};
    int rc = input(sim, &event);
    return rc ? rc : changed(sim, app, from, app->size, 0);
}
