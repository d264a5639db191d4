/* Component-and-work applications (Lammers 2005, 5.4-5.5). The job is a number of components of one
 * size. Each component does one piece of work after another, and all pieces take the same time. The
 * job ends when a given number of pieces is done. It shrinks by ending the components that began
 * their pieces last: the work on these pieces is lost. Components that stay are not held up by a
 * resize.
 *
 * In a job that gives back, a component that has done its piece is gone, with its processors. The
 * next one comes with the next growth, after the time that a claim takes.
 *
 * Components that began at the same time are kept as one wave. A wave goes on with the next piece
 * even if enough pieces are begun. Such surplus pieces would be done last: so they do not change
 * when enough pieces are done, and they are the first to be given up. */
#include <math.h>

#include "sim/internal.h"

/* How long one piece takes, in microseconds. */
static int64_t duration_of(const struct sim *sim, const struct app *app)
{
    double speed = sim->sites[app->site].spec->speed;
    int64_t duration = llround((double)app->wish->run_us / speed);
    return duration > 0 ? duration : 1;
}

static int32_t components_of(const struct app *app, int32_t processors)
{
    return processors / app->model->component;
}

static int add(struct sim *sim, struct app *app, int32_t count)
{
    if (count <= 0)
        return 0;
    uint32_t index = sim->free_wave;
    if (index == PLEAT_NONE) {
        if (pleat_array_reserve(&sim->waves, 1))
            return nomem(sim);
        index = (uint32_t)sim->waves.count++;
    } else {
        sim->free_wave = sim->waves.items[index].next;
    }
    sim->waves.items[index] = (struct wave){sim->now_us, count, app->wave};
    app->wave = index;
    return 0;
}

static void unlink_wave(struct sim *sim, struct app *app, uint32_t index)
{
    uint32_t *link = &app->wave;
    while (*link != index)
        link = &sim->waves.items[*link].next;
    *link = sim->waves.items[index].next;
    sim->waves.items[index].next = sim->free_wave;
    sim->free_wave = index;
}

static int64_t pieces_done(const struct sim *sim, const struct wave *wave, int64_t duration)
{
    return (sim->now_us - wave->began_us) / duration;
}

/* The wave that began its present piece last. */
static uint32_t latest(const struct sim *sim, const struct app *app, int64_t duration)
{
    uint32_t found = PLEAT_NONE;
    int64_t least = INT64_MAX;
    for (uint32_t w = app->wave; w != PLEAT_NONE; w = sim->waves.items[w].next) {
        int64_t since = (sim->now_us - sim->waves.items[w].began_us) % duration;
        if (since < least) {
            least = since;
            found = w;
        }
    }
    return found;
}

int work_begin(struct sim *sim, struct app *app)
{
    app->wave = PLEAT_NONE;
    app->completed = 0;
    return add(sim, app, components_of(app, app->size));
}

int work_resize(struct sim *sim, struct app *app, int32_t from, int32_t to)
{
    int64_t duration = duration_of(sim, app);
    int32_t more = components_of(app, to) - components_of(app, from);
    for (int32_t fewer = -more; fewer > 0;) {
        uint32_t index = latest(sim, app, duration);
        struct wave *wave = &sim->waves.items[index];
        int32_t gone = fewer < wave->count ? fewer : wave->count;
        app->completed += gone * (int32_t)pieces_done(sim, wave, duration);
        wave->count -= gone;
        fewer -= gone;
        if (wave->count == 0)
            unlink_wave(sim, app, index);
    }
    return add(sim, app, more);
}

/* The first moment after `after` at which components end their present pieces; *count: how many. */
static int64_t next_ending(const struct sim *sim, const struct app *app, int64_t duration,
                           int64_t after, int64_t *count)
{
    int64_t next = PLEAT_NEVER;
    for (uint32_t w = app->wave; w != PLEAT_NONE; w = sim->waves.items[w].next) {
        const struct wave *wave = &sim->waves.items[w];
        int64_t ends = wave->began_us + (pieces_done(sim, wave, duration) + 1) * duration;
        if (ends <= after || ends > next)
            continue;
        *count = ends < next ? wave->count : *count + wave->count;
        next = ends;
    }
    return next;
}

int64_t work_end(const struct sim *sim, const struct app *app)
{
    int64_t duration = duration_of(sim, app), components = 0;
    int64_t left = app->model->work - app->completed;
    for (uint32_t w = app->wave; w != PLEAT_NONE; w = sim->waves.items[w].next) {
        const struct wave *wave = &sim->waves.items[w];
        components += wave->count;
        left -= wave->count * pieces_done(sim, wave, duration);
    }
    if (left <= 0)
        return sim->now_us;
    if (components == 0)
        return PLEAT_NEVER;
    /* in every round all components do one piece; then some of them do the rest */
    int64_t rounds = (left - 1) / components, at = sim->now_us;
    left -= rounds * components;
    while (left > 0) {
        int64_t count = 0;
        at = next_ending(sim, app, duration, at, &count);
        left -= count;
    }
    return rounds < (LATEST_US - at) / duration ? at + rounds * duration : PLEAT_NEVER;
}

int64_t work_next(const struct sim *sim, const struct app *app)
{
    int64_t duration = duration_of(sim, app), next = PLEAT_NEVER;
    for (uint32_t w = app->wave; w != PLEAT_NONE; w = sim->waves.items[w].next)
        if (sim->waves.items[w].began_us + duration < next)
            next = sim->waves.items[w].began_us + duration;
    return next;
}

int32_t work_ended(struct sim *sim, struct app *app)
{
    int64_t duration = duration_of(sim, app);
    int32_t ended = 0;
    for (uint32_t next, w = app->wave; w != PLEAT_NONE; w = next) {
        next = sim->waves.items[w].next;
        if (sim->waves.items[w].began_us + duration > sim->now_us)
            continue;
        ended += sim->waves.items[w].count;
        unlink_wave(sim, app, w);
    }
    app->completed += ended;
    return ended;
}

void work_finish(struct sim *sim, struct app *app)
{
    while (app->wave != PLEAT_NONE)
        unlink_wave(sim, app, app->wave);
}
