/* Applications that ask for more processors, or give some back, at points of their work (Lammers
 * 2005, 5.3.2 and 5.3.3). The core is told what the agent of a real program tells it, and its
 * answer is what a real program gets.
 *
 * An application with a voluntary ask goes on meanwhile. One with a mandatory ask stands still
 * until it has the answer, as if it were at an adaptation point; if it is refused it goes on
 * without. */
#include "sim/internal.h"

const struct pleat_workload_ask *next_ask(const struct sim *sim, const struct app *app)
{
    const struct pleat_app *model = app->model;
    return app->ask < model->ask_count ? &sim->workload->asks.items[model->first_ask + app->ask]
                                       : NULL;
}

static int32_t wanted(const struct app *app, int32_t change)
{
    if (change < 0)
        return app->size + change < 1 ? 1 : app->size + change;
    return change < PLEAT_SIZE_MAX - app->size ? app->size + change : PLEAT_SIZE_MAX;
}

int app_ask(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    const struct pleat_workload_ask *ask = next_ask(sim, app);
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_ASKED,
                                .flags = ask->must ? PLEAT_MANDATORY : 0,
                                .component = component,
                                .u.asked = {.run = app->run,
                                            .number = ++app->asked,
                                            .processors = wanted(app, ask->change)}};
    app->ask++;
    app->asked_more = ask->change > 0;
    int rc = input(sim, &event);
    const struct pleat_ask *known = pleat_view_ask(sim->view, &sim->view->components[component]);
    if (rc || known->number != app->asked)
        return rc; /* its job has a fixed size, or it folds: it cannot ask */
    sim->totals->asks += ask->change > 0;
    sim->totals->gifts += ask->change < 0;
    if (!ask->must || known->state != PLEAT_ASK_PENDING)
        return 0;
    app->lacks = true;
    app->lacks_us = sim->now_us;
    app->timed_us = PLEAT_NEVER;
    return 0;
}

bool ask_answered(struct sim *sim, const struct app *app, const struct pleat_effect *answer)
{
    bool granted = answer->u.asked.state == PLEAT_ASK_GRANTED;
    bool partly = granted && answer->u.asked.reason == PLEAT_ASK_PARTLY;
    if (app->stage < APP_COMPUTING || answer->u.asked.run != app->run ||
        answer->u.asked.number != app->asked)
        return false; /* that run is over, or it has asked anew */
    if (app->asked_more) {
        sim->totals->asks_granted += granted && !partly;
        sim->totals->asks_partly += partly;
        sim->totals->asks_refused += !granted;
    }
    return true;
}
