/* What becomes of jobs. */
#include "sim/internal.h"

int set_limits(struct sim *sim, uint32_t component, int32_t minimum, int32_t maximum)
{
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_LIMITS,
                                .component = component,
                                .u.limits = {minimum, maximum}};
    return try_input(sim, &event);
}

static PLEAT_COLD int rewind_phases(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    app->phase = 0;
    int rc = set_limits(sim, component, app->wish->minimum, app->wish->maximum);
    return rc == PLEAT_E_NOMEM ? rc : 0;
}

int job_over(struct sim *sim, size_t index)
{
    sim->ended++;
    return sim->followers ? feedback_over(sim, index) : 0;
}

static int end_job(struct sim *sim, struct app *app, enum pleat_component_state state)
{
    struct pleat_sim_outcome *outcome = &sim->outcomes[app->job];
    bool unneeded = app->sibling != PLEAT_NONE && !app->started && state == PLEAT_DONE;
    outcome->fate = app->killed                ? PLEAT_SIM_KILLED
                    : unneeded                 ? PLEAT_SIM_SKIPPED
                    : state == PLEAT_DONE      ? PLEAT_SIM_DONE
                    : state == PLEAT_CANCELLED ? PLEAT_SIM_REJECTED
                                               : PLEAT_SIM_FAILED;
    if (outcome->fate == PLEAT_SIM_FAILED && outcome->end_us == PLEAT_NEVER)
        outcome->end_us = sim->now_us; /* given up while it waited */
    sim->totals->fates[outcome->fate]++;
    sim->last_us = sim->now_us;
    stop_timer(sim, &app->files_timer);
    app->stage = APP_GONE;
    return job_over(sim, app->job);
}

/* conclude() for one component of a job. */
static int conclude_one(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    enum pleat_component_state state =
        (enum pleat_component_state)sim->view->components[component].state;
    if (app->stage == APP_GONE)
        return 0;
    if (pleat_component_state_is_final(state))
        return end_job(sim, app, state);
    if (state == PLEAT_QUEUED && app->phase > 0)
        return rewind_phases(sim, component);
    return 0;
}

/* conclude() for all components of a job, which end together. */
static PLEAT_COLD int conclude_all(struct sim *sim, uint32_t component)
{
    uint32_t next, at = component;
    int rc;
    do { /* a new component may use the record of one that has ended */
        next = sim->apps.items[at].sibling;
        rc = conclude_one(sim, at);
        at = next;
    } while (!rc && next != component);
    return rc;
}

int conclude(struct sim *sim, uint32_t component)
{
    bool alone = sim->apps.items[component].sibling == PLEAT_NONE;
    return alone ? conclude_one(sim, component) : conclude_all(sim, component);
}
