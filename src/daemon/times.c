/* What agents say of the times of iterations, given to the core where a policy wants to know it. */
#include "daemon/times.h"

#include <math.h>

#include "base/grid.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/turn_inputs.h"

static int64_t number_in(const json_t *params, const char *name)
{
    return json_integer_value(json_object_get(params, name));
}

/* Gives the core the time of an iteration, and so the log, if a policy wants to know it: at a new
 * size, and when the mean has moved by more than one part in NEWS since the last time. */
static void tell_timing(struct daemon *d, struct job *job, uint64_t run, int64_t size,
                        int64_t iteration_us, int64_t redistribution_us)
{
    enum { NEWS = 20 };
    const struct pleat_component *component = job_component(d, job);
    int64_t moved_us = iteration_us - job->timed_us;
    if (!(pleat_core_needs(d->core) & PLEAT_NEEDS_TIMES) || iteration_us <= 0 || size < 1 ||
        size != component->processors)
        return;
    if (job->timed_size == size && (moved_us < 0 ? -moved_us : moved_us) <= job->timed_us / NEWS)
        return;
    job->timed_size = (int32_t)size;
    job->timed_us = iteration_us;
    struct pleat_event event = {.kind = PLEAT_EV_TIMED,
                                .component = job->component,
                                .u.timed = {.run = run,
                                            .iteration_us = iteration_us,
                                            .redistribution_us = redistribution_us,
                                            .processors = component->processors}};
    turn_event(d, &event);
}

/* ---- with their spread ---- */

/* What an agent says of the iterations of a run at its present size, summed up. */
struct measured {
    uint64_t run;
    int64_t count;
    double us, squares;
    uint64_t grid; /* base/grid.h; 0: not said */
};

/* The core gets what was measured since the last time: each of the first few iterations at a size,
 * then ever more at once, as each report is written into the log and brings a pass. */
static bool is_worth_telling(const struct job *job, int64_t more)
{
    enum { MOST = 64 };
    int64_t enough = job->told_count / 3 < MOST ? job->told_count / 3 : MOST;
    return more > 0 && more >= enough;
}

/* What it measured at this size on another process grid says nothing of this one. */
static void tell_grid(struct daemon *d, struct job *job, int32_t size, uint64_t grid)
{
    const struct measured_size *last = measured_of(&job->measured, size);
    struct pleat_event event = {
        .kind = PLEAT_EV_UNLEARNED, .component = job->component, .u.unlearned.processors = size};
    if (last && last->grid != grid)
        turn_event(d, &event);
}

static void tell_measured(struct daemon *d, struct job *job, const struct measured *now)
{
    const struct pleat_component *component = job_component(d, job);
    int32_t size = component->processors;
    if (size < 1 || now->count < 1 || !(now->us > 0))
        return;
    if (job->timed_size != size || now->count < job->told_count || job->told_run != now->run ||
        job->told_grid != now->grid) {
        tell_grid(d, job, size, now->grid);
        job->timed_size = size;
        job->told_run = now->run;
        job->told_grid = now->grid;
        job->told_count = 0;
        job->told_us = job->told_squares = 0;
    }
    int64_t more = now->count - job->told_count;
    if (!is_worth_telling(job, more))
        return;
    double count = (double)more, mean_us = (now->us - job->told_us) / count;
    double variance = (now->squares - job->told_squares) / count - mean_us * mean_us;
    bool redistributed = job->redistributed_size == size;
    struct pleat_event event = {
        .kind = PLEAT_EV_MEASURED,
        .component = job->component,
        .u.measured = {.run = now->run,
                       .iteration_us = mean_us > 1 ? (int64_t)(mean_us + 0.5) : 1,
                       .spread_us = more > 1 && variance > 0 ? (int64_t)sqrt(variance) : 0,
                       .redistribution_us = redistributed ? job->paused_us : 0,
                       .processors = size,
                       .count = more < INT32_MAX ? (int32_t)more : INT32_MAX,
                       .from = redistributed ? job->redistributed_from : 0,
                       .iterations = job->iteration > 0 && job->iteration < INT32_MAX
                                         ? (int32_t)job->iteration
                                         : 0}};
    job->told_count = now->count;
    job->told_us = now->us;
    job->told_squares = now->squares;
    (void)measured_take(&job->measured, &event, now->grid);
    programs_learn(d, job, &event, now->grid);
    turn_event(d, &event);
}

static bool wants_measures(const struct daemon *d)
{
    return pleat_core_needs(d->core) & PLEAT_NEEDS_MEASURES;
}

void times_take(struct daemon *d, struct job *job, uint64_t run, const json_t *params)
{
    int64_t size = number_in(params, "processes");
    if (size != job_component(d, job)->processes)
        return;
    int64_t count = number_in(params, "measured");
    if (wants_measures(d) && count > 0) {
        struct measured now = {
            run, count, (double)job->iteration_us * (double)count,
            json_real_value(json_object_get(params, "squares_us2")),
            pleat_grid_parse(json_string_value(json_object_get(params, "grid")))};
        tell_measured(d, job, &now);
    } else {
        tell_timing(d, job, run, size, job->iteration_us,
                    job->redistributed_size == size ? job->redistributed_us : 0);
    }
}

/* An iteration of a folded program is defined as one second of useful processor time, summed over
 * its processes. A change of its partition redistributes nothing, but costs time. */
void times_take_folded(struct daemon *d, struct job *job)
{
    double rate = json_real_value(json_object_get(job->folded, "rate"));
    int64_t size = number_in(job->folded, "processors");
    if (rate > 1e-6 && isfinite(rate))
        tell_timing(d, job, job->folded_run, size, (int64_t)(1e6 / rate),
                    number_in(job->folded, "change_us"));
}

/* ---- of earlier runs ---- */

/* Of a waiting job the pass that follows is to know it; of one that starts the next turn is soon
 * enough, as this one is written already. */
static void tell_core(struct daemon *d, const struct pleat_event *event, bool at_once)
{
    struct pleat_error err;
    struct pleat_event now = *event;
    now.time_us = daemon_now_us(d);
    if (!at_once)
        turn_event(d, event);
    else if (turn_apply(d, &now, &err) < 0)
        daemon_log("what is known of earlier runs is not taken: %s", err.text);
}

/* Has the core been told nearly the same already, or measured it itself? */
static bool is_known(const struct pleat_timing *known, const struct pleat_timing *size,
                     int32_t iterations)
{
    enum { NEWS = 50 };
    if (!known)
        return false;
    int64_t moved_us = known->iteration_us - size->iteration_us;
    int32_t count = size->count < PLEAT_TIMING_REMEMBERED ? size->count : PLEAT_TIMING_REMEMBERED;
    return known->earlier == 0 ||
           (known->earlier == iterations && known->count >= count &&
            (moved_us < 0 ? -moved_us : moved_us) <= size->iteration_us / NEWS);
}

static bool has_recalled(const struct pleat_view *view, const struct pleat_component *component)
{
    for (const struct pleat_timing *t = pleat_timing_smallest(view, component); t;
         t = pleat_timing_greater(view, t))
        if (t->earlier > 0)
            return true;
    return false;
}

static void recall(struct daemon *d, struct job *job, uint32_t site, bool at_once)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    const struct program *program = programs_of(d, job, site);
    bool elsewhere = job->recalled_site != site + 1;
    struct pleat_event event = {.kind = PLEAT_EV_UNLEARNED, .component = job->component};
    if ((elsewhere || !program) && has_recalled(view, job_component(d, job)))
        tell_core(d, &event, at_once);
    job->recalled = d->programs.news;
    job->recalled_site = site + 1;
    event.kind = PLEAT_EV_REMEMBERED;
    size_t count = program ? program->sizes.count : 0;
    for (size_t i = 0; i < count; i = measured_next(&program->sizes, i + 1)) {
        const struct pleat_timing *size = &program->sizes.items[i].timing;
        const struct pleat_timing *known =
            elsewhere ? NULL : pleat_timing_at(view, job_component(d, job), size->processors);
        if (is_known(known, size, program->iterations))
            continue;
        event.u.measured.iteration_us = size->iteration_us;
        event.u.measured.spread_us = (int64_t)sqrt(size->squares / size->count);
        event.u.measured.redistribution_us = size->redistribution_us;
        event.u.measured.processors = size->processors;
        event.u.measured.count = size->count;
        event.u.measured.from = size->from;
        event.u.measured.iterations = program->iterations;
        tell_core(d, &event, at_once);
    }
}

void times_recall(struct daemon *d, struct job *job)
{
    if (wants_measures(d))
        recall(d, job, job_component(d, job)->site, false);
}

/* The site at which a component will run, if it can be no other one; or PLEAT_NONE. */
static uint32_t certain_site(const struct pleat_view *view, const struct pleat_component *component)
{
    uint32_t found = PLEAT_NONE;
    if (component->wanted_site != PLEAT_NONE)
        return component->wanted_site;
    for (uint32_t s = 0; s < view->site_count; s++) {
        if (!view->sites[s].gone && found != PLEAT_NONE)
            return PLEAT_NONE;
        found = view->sites[s].gone ? found : s;
    }
    return found;
}

void times_recall_waiting(struct daemon *d)
{
    enum { FIRST = 64 };
    const struct pleat_view *view = pleat_core_view(d->core);
    uint32_t c = view->queue_first;
    if (!(pleat_core_policy(d->core, PLEAT_MOLDABILITY)->needs & PLEAT_NEEDS_MEASURES))
        return;
    for (int i = 0; i < FIRST && c != PLEAT_NONE; i++, c = pleat_queue_next(view, c)) {
        struct job *job = job_of_component(d, c);
        if (!job || job->recalled == d->programs.news || view->components[c].kind == PLEAT_RIGID)
            continue;
        uint32_t site = certain_site(view, &view->components[c]);
        if (site != PLEAT_NONE)
            recall(d, job, site, true);
    }
}
