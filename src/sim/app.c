/* Applications as closed forms. An application has a share of its work left, and all of its work
 * would take a certain time at its present size; when it ends follows from these. Something is
 * computed only when a size begins or ends, not for iterations in between.
 *
 * A resize: the application computes on until the processes of a growth have started (the site's
 * time for that), and then to its next adaptation point. There it stands still for the
 * time that the change costs, and only then runs at the new size. Processors that it leaves are
 * free after that; processors that it gets were claimed before. So while it stands still it has the
 * larger number of processors. */
#include <math.h>

#include "sim/app_move.h"
#include "sim/internal.h"

/* ---- work ---- */

static double duration_at(const struct sim *sim, const struct app *app)
{
    const struct pleat_workload_job *job = app->wish;
    double speed = sim->sites[app->site].spec->speed;
    double duration =
        app->own_size == app->size
            ? app->own_duration /* read from `app`: the job's record may be in no cache */
            : pleat_workload_run_time(sim->workload, job, app->size,
                                      job->mpl_max > 0 ? app->processes : job->processes);
    return speed == 1 ? duration : duration / speed;
}

static const struct pleat_phase *next_phase(const struct sim *sim, const struct app *app)
{
    const struct pleat_app *model = app->model;
    return app->phase < model->phase_count
               ? &sim->workload->phases.items[model->first_phase + app->phase]
               : NULL;
}

static bool computes(const struct app *app)
{
    return app->stage == APP_COMPUTING && app->size > 0 && !app->lacks;
}

/* Finds the end of an application that is not plain. Returns when its next phase or the next step
 * of its objects comes; PLEAT_NEVER. */
static PLEAT_COLD int64_t next_step(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    app->end_us = PLEAT_NEVER;
    if (app->model->gives_back) {
        app->end_us = work_next(sim, app);
    } else if (app->model->component > 0) {
        app->end_us = work_end(sim, app);
    } else if (app->model->objects > 0) {
        return objects_next(sim, component);
    } else if (computes(app)) {
        const struct pleat_phase *phase = next_phase(sim, app);
        const struct pleat_workload_ask *ask = next_ask(sim, app);
        app->end_us = app_time_of(app, 0);
        int64_t begins = phase ? app_time_of(app, 1 - phase->at) : PLEAT_NEVER;
        int64_t asks = ask ? app_time_of(app, 1 - ask->at) : PLEAT_NEVER;
        int64_t section = section_next(app);
        int64_t next = begins < asks ? begins : asks;
        return next < section ? next : section;
    }
    return PLEAT_NEVER;
}

/* Sets the one timer of a running application to what comes first: its end, its next phase, its
 * next report of what an iteration takes, the next step of its objects, or being killed. */
static int schedule(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    int64_t at = app->kill_us;
    if (app->plain) {
        app->end_us = computes(app) ? app_time_of(app, 0) : PLEAT_NEVER;
    } else {
        int64_t next = next_step(sim, component);
        at = next < at ? next : at;
    }
    if (app->end_us < at)
        at = app->end_us;
    if (app->timed_us < at)
        at = app->timed_us;
    if (at == PLEAT_NEVER) {
        stop_timer(sim, &app->timer);
        return 0;
    }
    if (at > sim->last_us)
        sim->last_us = at;
    return set_timer(sim, TIMER_APP, component, 0, at, &app->timer);
}

/* ---- life ---- */

static int64_t kill_time(const struct sim *sim, const struct pleat_workload_job *job)
{
    bool killed = sim->options->kill_at_estimate && job->estimate_us > 0 &&
                  sim->options->estimates == PLEAT_ESTIMATES_GIVEN;
    return killed ? sim->now_us + job->estimate_us : PLEAT_NEVER;
}

static int begin(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    struct pleat_sim_outcome *outcome = &sim->outcomes[app->job];
    outcome->start_us = sim->now_us;
    outcome->processors = app->size;
    outcome->site = app->site;
    app->stage = APP_COMPUTING;
    app->resized = false;
    app->left = 1;
    app->area = 0;
    app->since_us = app->begun_us = app->sized_us = sim->now_us;
    app->kill_us = kill_time(sim, app->wish);
    app->phase = 0;
    app->wanted_minimum = 0;
    app->duration = duration_at(sim, app);
    app->stood_us = 0;
    app->sized_from = 0;
    app_restart_timing(sim, app);
    app->owed = 0;
    app->lacks = false;
    if (!app->plain) {
        app->returned = app->asked = app->ask = app->section = 0;
        app->section_told = false;
    }
    int rc = app->plain                  ? 0
             : app->model->component > 0 ? work_begin(sim, app)
             : app->model->objects > 0   ? objects_begin(sim, component)
                                         : 0;
    if (!rc)
        rc = changed(sim, app, 0, app->size, 0);
    return rc ? rc : schedule(sim, component);
}

static int started(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    bool fails = site_fails(&sim->sites[app->site], PLEAT_FAILURE_START);
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = fails ? PLEAT_EV_START_FAILED : PLEAT_EV_STARTED,
                                .component = component,
                                .u.exit = {.run = app->run}};
    if (!fails) {
        int rc = begin(sim, component);
        return rc ? rc : input(sim, &event);
    }
    event.u.exit.reason = PLEAT_REASON_START_SYSTEM;
    app->stage = APP_WAITING;
    int rc = input(sim, &event);
    return rc ? rc : conclude(sim, component);
}

int app_start(struct sim *sim, uint32_t component, uint64_t run, int32_t size, int32_t processes)
{
    struct app *app = &sim->apps.items[component];
    struct site *site = &sim->sites[sim->view->components[component].site];
    if (app->stage == APP_MOVING) {
        bool other;
        int rc = app_begin_elsewhere(sim, component, run, &other);
        if (rc || !other)
            return rc;
    }
    app->run = run;
    app->resize = 0;
    app->size = size;
    app->processes = processes;
    app->site = sim->view->components[component].site;
    app->stage = APP_STARTING;
    if (app->started) /* its outcome was not looked at since it was submitted */
        sim->outcomes[app->job].restarts++;
    app->started = true;
    sim->last_us = sim->now_us;
    if (site->instant) {
        app->decided_us = sim->now_us;
        return begin(sim, component);
    }
    int64_t delay = site_delay(site, &site->spec->start);
    if (delay > 0)
        return set_timer(sim, TIMER_APP, component, 0, sim->now_us + delay, &app->timer);
    return started(sim, component);
}

static int end(struct sim *sim, uint32_t component, int32_t signal)
{
    struct app *app = &sim->apps.items[component];
    bool ran = app->stage != APP_STARTING;
    stop_timer(sim, &app->timer);
    stop_timer(sim, &app->adapt_timer);
    app->stage = APP_WAITING;
    app->resize = 0;
    int rc = 0;
    if (ran) {
        struct pleat_sim_outcome *outcome = &sim->outcomes[app->job];
        app_count_area(sim, app);
        work_finish(sim, app);
        int64_t run_us = sim->now_us - app->begun_us;
        outcome->average =
            app->resized && run_us > 0 ? (float)app->area / (float)run_us : (float)app->size;
        outcome->end_us = sim->now_us;
        if (sim->now_us > sim->totals->end_us)
            sim->totals->end_us = sim->now_us;
        rc = changed(sim, app, app->size, 0, 0);
        if (!rc && !app->plain && app->model->objects > 0)
            rc = objects_end(sim, component, signal == 0);
    }
    if (rc)
        return rc;
    /* member by member: where an initializer clears what it does not name, the core's first load of
     * a cleared member waits until two overlapping stores have reached the cache */
    struct pleat_event event;
    event.time_us = sim->now_us;
    event.kind = PLEAT_EV_EXITED;
    event.flags = 0;
    event.component = component;
    event.u.exit.run = app->run;
    event.u.exit.code = 0;
    event.u.exit.signal = signal;
    event.u.exit.reason = PLEAT_REASON_EXIT;
    rc = input(sim, &event);
    return rc ? rc : conclude(sim, component);
}

int app_kill(struct sim *sim, uint32_t component, uint64_t run)
{
    struct app *app = &sim->apps.items[component];
    return app->stage >= APP_STARTING && app->run == run ? end(sim, component, 9) : 0;
}

/* Some components of an application that gives back are done, or all of its work is. */
static PLEAT_COLD int pieces_end(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    app->owed += work_ended(sim, app) * app->model->component;
    if (app->completed >= app->model->work)
        return end(sim, component, 0);
    int rc = app_give_back(sim, component);
    if (!rc)
        rc = app_limit_to_work(sim, component);
    return rc ? rc : schedule(sim, component);
}

static int pass_section(struct sim *sim, uint32_t component);

/* The application has vacated its last process, and gives it back. */
static int vacate(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    app_count_area(sim, app);
    app->size--;
    app->resized = true;
    app->decided_us = sim->now_us;
    app->mandatory = false;
    sim->outcomes[app->job].shrunk++;
    sim->totals->shrinks++;
    int rc = changed(sim, app, app->size + 1, app->size, 0);
    return rc ? rc : objects_vacated(sim, component);
}

int app_milestone(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    if (app->stage == APP_STARTING)
        return started(sim, component);
    if (app->stage == APP_MOVING) {
        int rc = app_goes_on(sim, component);
        return rc ? rc : app_reschedule(sim, component);
    }
    if (!app->plain && app->model->objects > 0 && sim->now_us < app->kill_us) {
        bool done = false, vacates = false;
        int rc = objects_milestone(sim, component, &done, &vacates);
        if (!rc && vacates)
            rc = vacate(sim, component);
        if (rc)
            return rc;
        return done ? end(sim, component, 0) : schedule(sim, component);
    }
    if (sim->now_us >= app->end_us)
        return !app->plain && app->model->gives_back ? pieces_end(sim, component)
                                                     : end(sim, component, 0);
    if (sim->now_us >= app->kill_us) {
        app->killed = true;
        return end(sim, component, 9);
    }
    const struct pleat_phase *phase = next_phase(sim, app);
    int rc = 0;
    if (sim->now_us >= app->timed_us)
        rc = app_tell_timing(sim, component);
    if (!rc && phase && sim->now_us >= app_time_of(app, 1 - phase->at))
        rc = app_enter_phase(sim, component, phase);
    const struct pleat_workload_ask *ask = next_ask(sim, app);
    if (!rc && ask && computes(app) && sim->now_us >= app_time_of(app, 1 - ask->at)) {
        app_account(sim, app);
        rc = app_ask(sim, component);
    }
    if (!rc && !app->plain && computes(app) && sim->now_us >= section_next(app))
        rc = pass_section(sim, component);
    return rc ? rc : schedule(sim, component);
}

int app_added(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    if (app->stage != APP_COMPUTING)
        return 0; /* the application has ended meanwhile */
    app_count_area(sim, app);
    app->size++;
    app->resized = true;
    app->offered = 1;
    app->decided_us = sim->now_us;
    app->mandatory = false;
    sim->outcomes[app->job].grown++;
    sim->totals->grows++;
    int rc = changed(sim, app, app->size - 1, app->size, 0);
    return rc ? rc : schedule(sim, component);
}

int app_reschedule(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    return app->stage == APP_COMPUTING ? schedule(sim, component) : 0;
}

int app_answered(struct sim *sim, const struct pleat_effect *answer)
{
    struct app *app = &sim->apps.items[answer->component];
    if (!ask_answered(sim, app, answer) || !app->lacks)
        return 0;
    app_account(sim, app);
    app->lacks = false;
    sim->totals->lacked_us += (double)(sim->now_us - app->lacks_us);
    if (app->stage == APP_COMPUTING)
        app_restart_timing(sim, app);
    return app_reschedule(sim, answer->component);
}

/* ---- resizing ---- */

/* When the present one of `parts` equal parts of the work ends. Less than a microsecond after the
 * end of a part the application is taken to be there still. PLEAT_NEVER: the part ends with the
 * work. */
static int64_t next_part(const struct sim *sim, const struct app *app, int32_t parts)
{
    double computed = app->duration > 0 ? (double)(sim->now_us - app->since_us) / app->duration : 1;
    double done = 1 - app->left + computed;
    double tolerance = app->duration > 0 ? 1 / app->duration : 0;
    double part = ceil((done - tolerance) * parts);
    if (part >= parts)
        return PLEAT_NEVER;
    int64_t at = app_time_of(app, 1 - part / parts);
    return at > sim->now_us ? at : sim->now_us;
}

static int64_t next_adaptation_point(const struct sim *sim, const struct app *app)
{
    const struct pleat_app *model = app->model;
    if (app->lacks)
        return sim->now_us; /* it stands still, as at such a point */
    if (model->adapt_us > 0) {
        int64_t passed = sim->now_us - app->begun_us;
        return app->begun_us + (passed + model->adapt_us - 1) / model->adapt_us * model->adapt_us;
    }
    return model->iterations > 0 && app->size > 0 ? next_part(sim, app, model->iterations)
                                                  : sim->now_us;
}

/* The change of which the application was told comes at its next adaptation point. */
static int await_point(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    int64_t at = next_adaptation_point(sim, app);
    if (at <= sim->now_us)
        return app_adapt(sim, component);
    return at == PLEAT_NEVER ? 0 : set_timer(sim, TIMER_ADAPT, component, 0, at, &app->adapt_timer);
}

/* A section begins or ends. At its end a change that was held back comes at the next point. */
static PLEAT_COLD int pass_section(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    int rc = section_step(sim, component);
    bool waits = app->resize != 0 && !in_section(app) && app->adapt_timer == PLEAT_HEAP_NONE;
    return rc || !waits ? rc : await_point(sim, component);
}

static int applied(struct sim *sim, uint32_t component, int64_t stood_us)
{
    struct app *app = &sim->apps.items[component];
    struct pleat_sim_outcome *outcome = &sim->outcomes[app->job];
    int32_t from = app->size, to = app->target;
    bool moves = app_leaves_lead(sim, component);
    const uint16_t kinds[] = {moves ? PLEAT_EV_MOVED : PLEAT_EV_APPLIED, PLEAT_EV_VACATED};
    int answers = to < from && !moves && !sim->sites[app->site].instant ? 2 : 1;
    int32_t left = moves ? 0 : to; /* processes */
    uint64_t resize = app->resize;
    app_count_area(sim, app);
    app->stage = moves ? APP_MOVING : APP_COMPUTING;
    app->since_us = sim->now_us;
    app->size = to;
    app->sized_from = from;
    app->resize = 0;
    app->resized = true;
    outcome->grown += to > from;
    outcome->shrunk += to < from;
    sim->totals->grows += to > from;
    sim->totals->shrinks += to < from;
    sim->totals->stood_us += (double)stood_us * (to > from ? to : from);
    int rc = 0;
    if (app->model->component > 0)
        rc = work_resize(sim, app, from, to);
    else if (to > 0)
        app->duration = duration_at(sim, app);
    app->stood_us = stood_us;
    app_restart_timing(sim, app);
    if (app->lacks)
        app->timed_us = PLEAT_NEVER;
    if (!rc)
        rc = changed(sim, app, from, to, stood_us);
    for (int i = 0; !rc && i < answers; i++) {
        struct pleat_event event = {
            .time_us = sim->now_us,
            .kind = kinds[i],
            .component = component,
            .u.change = {.resize = resize, .processors = left, .processes = left}};
        rc = input(sim, &event);
    }
    if (moves && !rc) { /* when it has been started there */
        stop_timer(sim, &app->timer);
        return 0;
    }
    if (!rc)
        rc = app_want_minimum(sim, component);
    if (!rc)
        rc = app_give_back(sim, component);
    return rc ? rc : schedule(sim, component);
}

int app_adapt(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    const struct pleat_app *model = app->model;
    if (app->processes_start) {
        app->processes_start = false;
        return await_point(sim, component);
    }
    if (app->stage == APP_STANDING)
        return applied(sim, component, model->component > 0 ? 0 : sim->now_us - app->since_us);
    if (!app->plain && in_section(app))
        return 0; /* in a section: pass_section goes on */
    int64_t cost = pleat_workload_resize_time(sim->workload, model, app->size, app->target);
    int rc = sim->now_us >= app->timed_us ? app_tell_timing(sim, component) : 0;
    if (rc)
        return rc;
    app_account(sim, app);
    if (cost <= 0)
        return applied(sim, component, 0);
    app->stage = APP_STANDING;
    app->timed_us = PLEAT_NEVER;
    rc = set_timer(sim, TIMER_ADAPT, component, 0, sim->now_us + cost, &app->adapt_timer);
    return rc ? rc : schedule(sim, component);
}

int app_resize(struct sim *sim, const struct pleat_effect *effect)
{
    uint32_t component = effect->component;
    struct app *app = &sim->apps.items[component];
    const struct pleat_component *record = &sim->view->components[component];
    if (app->stage != APP_COMPUTING || app->run != effect->u.change.run ||
        record->resize == PLEAT_NONE)
        return 0; /* the application has ended meanwhile */
    app->resize = effect->id;
    app->target = effect->u.change.processors;
    app->offered = effect->u.change.offered;
    app->mandatory = effect->flags & PLEAT_MANDATORY;
    app->decided_us = pleat_core_resize(sim->core, record->resize)->begun_us;
    struct site *site = &sim->sites[app->site];
    bool starts_processes = app->target > app->size && app->wish->mpl_max == 0; /* no folded ones */
    int64_t delay = starts_processes ? site_delay(site, &site->spec->grow) : 0;
    app->processes_start = delay > 0;
    return delay > 0
               ? set_timer(sim, TIMER_ADAPT, component, 0, sim->now_us + delay, &app->adapt_timer)
               : await_point(sim, component);
}

int app_withdraw(struct sim *sim, uint32_t component, uint64_t resize)
{
    struct app *app = &sim->apps.items[component];
    if (app->resize != resize || app->stage != APP_COMPUTING)
        return 0; /* too late: the change is being made */
    app->processes_start = false;
    stop_timer(sim, &app->adapt_timer);
    sim->totals->put_off += !app->plain && app->section_told;
    app->resize = 0;
    struct pleat_event event = {
        .time_us = sim->now_us,
        .kind = PLEAT_EV_WITHDRAWN,
        .component = component,
        .u.change = {.resize = resize, .processors = app->size, .processes = app->size}};
    return input(sim, &event);
}
