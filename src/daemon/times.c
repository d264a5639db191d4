/* What agents say of the times of iterations, given to the core where a policy wants to know it. */
#include "daemon/times.h"

#include <math.h>

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
};

/* The core gets what was measured since the last time: each of the first few iterations at a size,
 * then ever more at once, as each report is written into the log and brings a pass. */
static bool is_worth_telling(const struct job *job, int64_t more)
{
    enum { MOST = 64 };
    int64_t enough = job->told_count / 3 < MOST ? job->told_count / 3 : MOST;
    return more > 0 && more >= enough;
}

static void tell_measured(struct daemon *d, struct job *job, const struct measured *now)
{
    const struct pleat_component *component = job_component(d, job);
    int32_t size = component->processors;
    if (size < 1 || now->count < 1 || !(now->us > 0))
        return;
    if (job->timed_size != size || now->count < job->told_count || job->told_run != now->run) {
        job->timed_size = size;
        job->told_run = now->run;
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
    programs_learn(d, job, &event);
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
        struct measured now = {run, count, (double)job->iteration_us * (double)count,
                               json_real_value(json_object_get(params, "squares_us2"))};
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

void times_recall(struct daemon *d, const struct job *job)
{
    const struct program *program =
        wants_measures(d) ? programs_of(d, job, job_component(d, job)->site) : NULL;
    for (size_t i = 0; program && i < program->sizes.count; i++) {
        const struct pleat_timing *size = &program->sizes.items[i];
        struct pleat_event event = {
            .kind = PLEAT_EV_REMEMBERED,
            .component = job->component,
            .u.measured = {.iteration_us = size->iteration_us,
                           .spread_us = (int64_t)sqrt(size->squares / size->count),
                           .redistribution_us = size->redistribution_us,
                           .processors = size->processors,
                           .count = size->count,
                           .from = size->from,
                           .iterations = program->iterations}};
        turn_event(d, &event);
    }
}
