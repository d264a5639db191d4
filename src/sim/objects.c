/* Applications that ask for processes themselves (Liu et al. 2009, 4.2). struct pleat_app says how
 * the number of their objects grows. What they ask for is remembered by application, and told to
 * the core for later runs, as a store would.
 *
 * Not all ends of iterations are simulated, only those at which the application gains objects, asks
 * for a process, or has to tell how far it is. */
#include <math.h>
#include <string.h>

#include "sim/internal.h"
#include "sim/uneven.h"

static const double two_pi = 6.283185307179586476925;

int objects_create(struct sim *sim)
{
    const struct pleat_apps *apps = &sim->workload->apps;
    for (size_t a = 0; a < apps->count; a++) {
        if (apps->items[a].objects == 0)
            continue;
        if (!sim->requests)
            sim->requests = calloc(apps->count, sizeof(*sim->requests));
        if (!sim->requests)
            return nomem(sim);
        sim->reads_decisions = true; /* effects do not tell when the next review is */
    }
    return 0;
}

void objects_destroy(struct sim *sim)
{
    for (size_t a = 0; sim->requests && a < sim->workload->apps.count; a++)
        free(sim->requests[a].by_iteration);
    for (size_t c = 0; c < sim->objects.count; c++)
        pleat_array_finish(&sim->objects.items[c].asked);
    free(sim->requests);
    pleat_array_finish(&sim->objects);
}

/* ---- what earlier runs asked for ---- */

/* Puts the rows of iterations `from` and later into an event, until it is full. Returns the
 * iteration at which the next event begins. */
static int32_t fill(const struct requests *requests, int32_t iterations, int32_t from,
                    struct pleat_event *event)
{
    int32_t i = from;
    event->u.history.executions = requests->executions;
    event->u.history.count = 0;
    for (; i <= iterations && event->u.history.count < 5; i++) {
        if (requests->by_iteration[i] == 0)
            continue;
        event->u.history.rows[event->u.history.count].iteration = i;
        event->u.history.rows[event->u.history.count++].requests = requests->by_iteration[i];
    }
    return i;
}

/* What pleatd tells before the rows. Where the level is given it is not told, and nothing is
 * predicted before the first iterations of a run: as in the paper. */
static int tell_recalled(struct sim *sim, uint32_t component, const struct requests *requests)
{
    if (requests->executions == 0 || sim->options->parameters[PLEAT_PARAM_BUFFER_DERIVED] <= 0)
        return 0;
    struct pleat_event event = {
        .time_us = sim->now_us,
        .kind = PLEAT_EV_RECALLED,
        .component = component,
        .u.recalled = {.iteration_us = requests->iteration_us / requests->executions,
                       .executions = requests->executions,
                       .most = requests->most}};
    return input(sim, &event);
}

int objects_submitted(struct sim *sim, uint32_t component)
{
    const struct app *app = &sim->apps.items[component];
    const struct requests *requests = &sim->requests[app->wish->app];
    if (sim->options->evolved)
        memset(&sim->options->evolved[app->job], 0, sizeof(*sim->options->evolved));
    int rc = tell_recalled(sim, component, requests);
    for (int32_t at = 0; !rc && requests->executions > 0 && at <= app->model->iterations;) {
        struct pleat_event event = {
            .time_us = sim->now_us, .kind = PLEAT_EV_HISTORY, .component = component};
        at = fill(requests, app->model->iterations, at, &event);
        rc = input(sim, &event);
    }
    return rc;
}

/* Adds a run that came to its end to what is remembered of its application. */
static int remember(struct sim *sim, const struct app *app, const struct objects *objects,
                    uint32_t buffer)
{
    struct requests *requests = &sim->requests[app->wish->app];
    if (!requests->by_iteration)
        requests->by_iteration =
            calloc((size_t)app->model->iterations + 1, sizeof(*requests->by_iteration));
    if (!requests->by_iteration)
        return nomem(sim);
    for (size_t i = 0; i < objects->asked.count; i++)
        requests->by_iteration[objects->asked.items[i]]++;
    requests->executions++;
    requests->iteration_us += (sim->now_us - app->begun_us) / (objects->done ? objects->done : 1);
    if (buffer != PLEAT_NONE && sim->view->buffers[buffer].row_most > requests->most)
        requests->most = sim->view->buffers[buffer].row_most;
    return 0;
}

/* ---- a run ---- */

/* What an iteration takes for one object, on average over what differs within a run. What is drawn
 * for a job depends only on the seed: so policies can be compared job by job. */
static double draw_object_time(const struct sim *sim, const struct app *app,
                               struct pleat_random *random)
{
    const struct pleat_app *model = app->model;
    double mean = (double)app->wish->run_us / model->iterations / model->objects;
    double speed = sim->sites[app->site].spec->speed;
    if (model->varies != PLEAT_VARIES_RUN)
        return mean / speed;
    double radius = sqrt(-2 * log(1 - pleat_random_unit(random)));
    double factor = 1 + radius * cos(two_pi * pleat_random_unit(random)) * model->speed_spread;
    return mean * (factor > 0.01 ? factor : 0.01) / speed;
}

/* Processes that the application would have more: gains of objects for which no process came yet;
 * below 0: processes for gains that it has lost. */
static int64_t missing(const struct app *app, const struct objects *objects)
{
    return (int64_t)app->wish->processors + objects->gained - objects->lost - app->size;
}

static int32_t lacks(const struct app *app, const struct objects *objects)
{
    int64_t more = missing(app, objects);
    return more > 0 ? (int32_t)more : 0;
}

/* The time of the iterations before `next`, as many as are not done yet. */
static double iterations_us(const struct sim *sim, const struct app *app,
                            const struct objects *objects, int64_t next)
{
    const struct pleat_app *model = app->model;
    double more = (double)lacks(app, objects) * model->gain;
    struct uneven uneven = {.seed = sim->options->seed * 0x9e3779b97f4a7c15u + app->job,
                            .varies = (enum pleat_varies)model->varies,
                            .spread = model->speed_spread,
                            .processes = app->size,
                            .most = model->objects + (model->balances ? more / app->size : more),
                            .others = model->objects + (model->balances ? more / app->size : 0)};
    if (model->varies == PLEAT_VARIES_RUN)
        return objects->object_us * uneven.most * (double)(next - objects->done);
    if (model->varies == PLEAT_VARIES_PROCESS)
        return objects->object_us * uneven_iteration(&uneven, 0) * (double)(next - objects->done);
    double sum = 0;
    for (int64_t i = objects->done; i < next; i++)
        sum += objects->object_us * uneven_iteration(&uneven, (uint64_t)i);
    return sum;
}

int objects_begin(struct sim *sim, uint32_t component)
{
    while (sim->objects.count <= component) {
        struct objects none = {0};
        if (pleat_array_push(&sim->objects, none))
            return nomem(sim);
    }
    struct objects *objects = &sim->objects.items[component];
    const struct app *app = &sim->apps.items[component];
    pleat_random_init(&objects->random, sim->options->seed * 0x9e3779b97f4a7c15u + app->job);
    objects->object_us = draw_object_time(sim, app, &objects->random);
    objects->done = objects->gained = objects->lost = objects->next = objects->asks_from = 0;
    objects->asked.count = 0;
    return 0;
}

/* The next iteration after which the application loses a gain, or says that it will. */
static int64_t next_loss(const struct pleat_app *model, int32_t done)
{
    if (model->loses_every == 0)
        return INT32_MAX;
    int64_t loss = ((int64_t)done / model->loses_every + 1) * model->loses_every;
    int64_t said = loss - model->announces;
    return said > done ? said : loss;
}

int64_t objects_next(struct sim *sim, uint32_t component)
{
    const struct app *app = &sim->apps.items[component];
    struct objects *objects = &sim->objects.items[component];
    const struct pleat_app *model = app->model;
    uint32_t buffer = sim->view->components[component].buffer;
    int64_t gains = ((int64_t)objects->done / model->gain_every + 1) * model->gain_every;
    int64_t asks = objects->asks_from > objects->done ? objects->asks_from : objects->done + 1;
    int64_t next = lacks(app, objects) > 0 && asks < gains ? asks : gains;
    if (next > next_loss(model, objects->done))
        next = next_loss(model, objects->done);
    if (next > model->iterations)
        next = model->iterations;
    if (buffer != PLEAT_NONE && sim->view->buffers[buffer].review_iteration > objects->done &&
        sim->view->buffers[buffer].review_iteration < next)
        next = sim->view->buffers[buffer].review_iteration;
    objects->next = (int32_t)next;
    double us = iterations_us(sim, app, objects, next) + 0.5;
    return us < (double)(LATEST_US - app->since_us) ? app->since_us + (int64_t)us : PLEAT_NEVER;
}

static int tell(struct sim *sim, uint32_t component)
{
    const struct app *app = &sim->apps.items[component];
    const struct objects *objects = &sim->objects.items[component];
    struct pleat_event event = {
        .time_us = sim->now_us,
        .kind = PLEAT_EV_PROGRESS,
        .component = component,
        .u.progress = {.run = app->run,
                       .iteration_us = (sim->now_us - app->begun_us) / objects->done,
                       .iteration = objects->done}};
    return input(sim, &event);
}

static int ask(struct sim *sim, uint32_t component)
{
    struct objects *objects = &sim->objects.items[component];
    struct pleat_event event = {
        .time_us = sim->now_us,
        .kind = PLEAT_EV_ADD_PROCESS,
        .component = component,
        .u.process = {.run = sim->apps.items[component].run, .iteration = objects->done}};
    if (pleat_array_push(&objects->asked, objects->done))
        return nomem(sim);
    return input(sim, &event);
}

/* The application gains objects. It notices that some iterations later, unless it was slow before:
 * then it knows. */
static void gain(struct objects *objects, const struct pleat_app *model, bool slow)
{
    uint64_t late =
        model->notices > 1 ? pleat_random_below(&objects->random, (uint64_t)model->notices) : 0;
    objects->gained++;
    if (!slow)
        objects->asks_from = late < (uint64_t)(INT32_MAX - objects->done)
                                 ? objects->done + 1 + (int32_t)late
                                 : INT32_MAX;
}

static int say_returning(struct sim *sim, uint32_t component, uint32_t processes)
{
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_RETURNING,
                                .component = component,
                                .u.returning = {.run = sim->apps.items[component].run,
                                                .iteration = sim->objects.items[component].done,
                                                .processes = processes}};
    return input(sim, &event);
}

int objects_vacated(struct sim *sim, uint32_t component)
{
    struct pleat_event stop = {.time_us = sim->now_us,
                               .kind = PLEAT_EV_STOP_PROCESS,
                               .component = component,
                               .u.process = {.run = sim->apps.items[component].run,
                                             .iteration = sim->objects.items[component].done}};
    return input(sim, &stop);
}

/* It loses a gain, and the process for that (*vacates), or says that it will. Of a process that
 * never came there is nothing to be given back. */
static int lose(struct sim *sim, uint32_t component, bool *vacates)
{
    const struct app *app = &sim->apps.items[component];
    const struct pleat_app *model = app->model;
    struct objects *objects = &sim->objects.items[component];
    bool says =
        model->announces > 0 && (objects->done + model->announces) % model->loses_every == 0;
    if (says && objects->gained > objects->lost)
        return say_returning(sim, component, 1);
    if (objects->done % model->loses_every != 0 || objects->gained == objects->lost)
        return 0;
    objects->lost++;
    *vacates = missing(app, objects) < 0;
    return !*vacates && model->announces > 0 ? say_returning(sim, component, 0) : 0;
}

int objects_milestone(struct sim *sim, uint32_t component, bool *done, bool *vacates)
{
    struct app *app = &sim->apps.items[component];
    struct objects *objects = &sim->objects.items[component];
    const struct pleat_app *model = app->model;
    uint32_t buffer = sim->view->components[component].buffer;
    bool slow = lacks(app, objects) > 0;
    objects->done = objects->next;
    app->since_us = sim->now_us;
    *done = objects->done >= model->iterations;
    if (*done)
        return 0;
    bool asks = slow && objects->done >= objects->asks_from;
    if (objects->done % model->gain_every == 0)
        gain(objects, model, slow);
    int rc = model->loses_every > 0 ? lose(sim, component, vacates) : 0;
    bool is_told =
        buffer != PLEAT_NONE && objects->done >= sim->view->buffers[buffer].review_iteration;
    if (!rc && is_told)
        rc = tell(sim, component);
    return rc || !asks || lacks(app, objects) == 0 ? rc : ask(sim, component);
}

/* Called before the core learns of the end, and forgets what it counted. */
int objects_end(struct sim *sim, uint32_t component, bool done)
{
    const struct app *app = &sim->apps.items[component];
    const struct objects *objects = &sim->objects.items[component];
    uint32_t index = sim->view->components[component].buffer;
    if (index != PLEAT_NONE) {
        const struct pleat_buffer *buffer = &sim->view->buffers[index];
        int64_t waited_us =
            buffer->waited_us + buffer->prepared * (sim->now_us - buffer->counted_us);
        sim->totals->requests += buffer->requests;
        sim->totals->satisfied += buffer->satisfied;
        sim->totals->prepared_us += (double)waited_us;
        if (sim->options->evolved)
            sim->options->evolved[app->job] =
                (struct pleat_sim_evolved){.requests = buffer->requests,
                                           .satisfied = buffer->satisfied,
                                           .waited_us = waited_us,
                                           .iterations = objects->done};
    }
    return done ? remember(sim, app, objects, index) : 0;
}
