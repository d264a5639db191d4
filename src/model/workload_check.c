/* Whether the jobs and applications of a workload can be run. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/workload.h"

static int wrong(struct pleat_error *err, const char *what)
{
    return pleat_error_set(err, PLEAT_E_INVALID, "%s", what);
}

static bool time_fits(int64_t us)
{
    return us >= 0 && us <= PLEAT_WORKLOAD_TIME_MAX;
}

static bool rows_fit(uint32_t first, uint32_t count, size_t there)
{
    return (uint64_t)first + count <= there;
}

/* Finite and at least 0. */
static bool sensible(double value)
{
    return isfinite(value) && value >= 0;
}

static int check_speedup(const struct pleat_workload *workload, const struct pleat_speedup *speedup,
                         struct pleat_error *err)
{
    switch (speedup->kind) {
    case PLEAT_SPEEDUP_LINEAR:
        return 0;
    case PLEAT_SPEEDUP_AMDAHL:
        if (!sensible(speedup->serial) || speedup->serial > 1)
            return wrong(err, "the serial fraction is not from 0 to 1");
        return 0;
    case PLEAT_SPEEDUP_DOWNEY:
        if (!sensible(speedup->parallelism) || speedup->parallelism < 1)
            return wrong(err, "the average parallelism is not 1 or more");
        if (!sensible(speedup->sigma))
            return wrong(err, "the variance of parallelism (sigma) is not 0 or more");
        return 0;
    case PLEAT_SPEEDUP_TABLE:
        break;
    default:
        return wrong(err, "the kind of speedup is unknown");
    }
    if (speedup->count < 1 || !rows_fit(speedup->first, speedup->count, workload->table.count))
        return wrong(err, "its rows are not in the table of run times");
    int32_t last = 0;
    for (uint32_t i = 0; i < speedup->count; i++) {
        const struct pleat_table_row *row = &workload->table.items[speedup->first + i];
        if (row->processors <= last || row->processors > PLEAT_SIZE_MAX)
            return wrong(err, "the sizes of the table of run times do not increase from 1 on");
        if (row->run_us < 1 || !time_fits(row->run_us))
            return wrong(err, "a run time of the table is not above 0, or above 3,170 years");
        last = row->processors;
    }
    return 0;
}

static int check_cost(const struct pleat_workload *workload, const struct pleat_resize_cost *cost,
                      struct pleat_error *err)
{
    if (!time_fits(cost->fixed_us))
        return wrong(err, "the time of a resize is negative, or above 3,170 years");
    if (!sensible(cost->bytes))
        return wrong(err, "the volume of data is not 0 or more");
    if (cost->bytes > 0 &&
        !(cost->bandwidth > 0 && cost->bytes / cost->bandwidth * 1e6 <= PLEAT_WORKLOAD_TIME_MAX))
        return wrong(err, "the bandwidth is not above 0, or so small that moving the data would "
                          "take more than 3,170 years");
    if (!rows_fit(cost->first, cost->count, workload->costs.count))
        return wrong(err, "its rows are not in the table of resize costs");
    for (uint32_t i = 0; i < cost->count; i++) {
        const struct pleat_cost_row *row = &workload->costs.items[cost->first + i];
        if (row->from < 0 || row->to < 0 || row->from > PLEAT_SIZE_MAX ||
            row->to > PLEAT_SIZE_MAX || !time_fits(row->us))
            return wrong(err, "a measured resize has a size or a time that is negative or too "
                              "large");
    }
    return 0;
}

static int check_phases(const struct pleat_workload *workload, const struct pleat_app *app,
                        struct pleat_error *err)
{
    if (!rows_fit(app->first_phase, app->phase_count, workload->phases.count))
        return wrong(err, "its rows are not in the table of phases");
    double last = -1;
    for (uint32_t i = 0; i < app->phase_count; i++) {
        const struct pleat_phase *phase = &workload->phases.items[app->first_phase + i];
        if (!sensible(phase->at) || phase->at >= 1 || phase->at <= last)
            return wrong(err, "the phases do not begin at increasing shares from 0 to below 1");
        if (phase->minimum < 1 || phase->maximum < phase->minimum ||
            phase->maximum > PLEAT_SIZE_MAX)
            return wrong(err, "a phase's limits are not 1 <= minimum <= maximum");
        last = phase->at;
    }
    return 0;
}

static int check_asks(const struct pleat_workload *workload, const struct pleat_app *app,
                      struct pleat_error *err)
{
    if (!rows_fit(app->first_ask, app->ask_count, workload->asks.count))
        return wrong(err, "its rows are not in the table of asks");
    if (app->ask_count > 0 && (app->component > 0 || app->objects > 0))
        return wrong(err, "an application of components or objects does not ask for processors");
    double last = -1;
    for (uint32_t i = 0; i < app->ask_count; i++) {
        const struct pleat_workload_ask *ask = &workload->asks.items[app->first_ask + i];
        if (!sensible(ask->at) || ask->at >= 1 || ask->at <= last)
            return wrong(err, "it does not ask at increasing shares from 0 to below 1");
        if (ask->change == 0 || ask->change > PLEAT_SIZE_MAX || ask->change < -PLEAT_SIZE_MAX ||
            (ask->must && ask->change < 0))
            return wrong(err, "it asks for no processors, or must have fewer");
        last = ask->at;
    }
    return 0;
}

/* Whether an application must have more processors in a section. It would stand still there until
 * it has them, which it can do at an adaptation point only. */
static bool must_have_more_in_section(const struct pleat_app *app,
                                      const struct pleat_workload_ask *ask)
{
    uint32_t part = (uint32_t)(ask->at * app->sections);
    return ask->must && ask->at >= pleat_workload_section(app, part, false) &&
           ask->at <= pleat_workload_section(app, part, true);
}

static int check_sections(const struct pleat_workload *workload, const struct pleat_app *app,
                          struct pleat_error *err)
{
    if (app->sections == 0 && app->section_share == 0)
        return 0;
    if (app->sections < 1 || app->sections > PLEAT_SECTIONS_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "%d sections: not from 1 to %d", app->sections,
                               PLEAT_SECTIONS_MAX);
    if (!sensible(app->section_share) || app->section_share == 0 ||
        app->sections * app->section_share >= 1)
        return wrong(err, "its sections take none of its work, or all of it");
    if (app->component > 0 || app->objects > 0)
        return wrong(err, "an application of components or objects has no sections");
    for (uint32_t i = 0; i < app->ask_count; i++) {
        const struct pleat_workload_ask *ask = &workload->asks.items[app->first_ask + i];
        if (must_have_more_in_section(app, ask))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "at %g of its work it cannot go on without more processors, in "
                                   "a section in which nothing may change",
                                   ask->at);
    }
    return 0;
}

static int check_name(const struct pleat_app *app, struct pleat_error *err)
{
    if (!memchr(app->name, '\0', sizeof(app->name)))
        return wrong(err, "the name has no end");
    for (const char *at = app->name; *at; at++) {
        if ((unsigned char)*at <= ' ' || *at == ';' || *at == 0x7f)
            return wrong(err, "the name has a space, a semicolon or a control character");
    }
    return 0;
}

static int check_objects(const struct pleat_app *app, struct pleat_error *err)
{
    if (app->objects == 0 && app->gain == 0 && app->gain_every == 0 && app->speed_spread == 0 &&
        app->notices == 0 && !app->balances && app->varies == PLEAT_VARIES_RUN &&
        app->loses_every == 0 && app->announces == 0)
        return 0;
    if (app->objects < 1 || app->gain < 1 || app->gain_every < 1 || app->iterations < 1)
        return wrong(err,
                     "an application that asks for processes has objects, gain and iterations, "
                     "each at least 1 (as iterations=3000 objects=10 gain=10/100 would say)");
    if (app->notices < 0)
        return wrong(err, "it notices after a negative number of iterations");
    if (app->loses_every < 0 || app->announces < 0 ||
        (app->announces > 0 && app->announces >= app->loses_every))
        return wrong(err, "it says at most as many iterations before that it will give a process "
                          "back as lie between two such times (loses=150/20)");
    if (app->varies > PLEAT_VARIES_OBJECT)
        return wrong(err, "its speed varies from what to what?");
    if (!sensible(app->speed_spread) || app->speed_spread > 0.25)
        return wrong(err, "the spread of the speed is not from 0 to 0.25");
    if (app->component > 0 || app->phase_count > 0 || app->adapt_us > 0 ||
        app->speedup.kind != PLEAT_SPEEDUP_LINEAR)
        return wrong(err, "an application that asks for processes is linear, without components, "
                          "phases, or a time between adaptation points");
    return 0;
}

int pleat_workload_check_app(const struct pleat_workload *workload, const struct pleat_app *app,
                             struct pleat_error *err)
{
    int rc = check_name(app, err);
    if (!rc)
        rc = check_speedup(workload, &app->speedup, err);
    if (!rc)
        rc = check_cost(workload, &app->cost, err);
    if (!rc)
        rc = check_phases(workload, app, err);
    if (!rc)
        rc = check_asks(workload, app, err);
    if (!rc)
        rc = check_sections(workload, app, err);
    if (rc)
        return rc;
    if (!time_fits(app->adapt_us))
        return wrong(err, "the time between adaptation points is negative, or above 3,170 years");
    if (app->iterations < 0)
        return wrong(err, "the number of iterations is negative");
    if (!sensible(app->mpl_overhead) || app->mpl_overhead > 1000)
        return wrong(err, "the overhead of multiprogramming is not from 0 to 1000");
    if (!sensible(app->imbalance) || app->imbalance > PLEAT_SIZE_MAX)
        return wrong(err, "the imbalance is not 0 or more");
    if (app->gives_back && (app->component == 0 || app->adapt_us > 0 || app->iterations > 0 ||
                            app->cost.fixed_us > 0 || app->cost.bytes > 0 || app->cost.count > 0))
        return wrong(err, "what gives back are components, which adapt at any time and at no cost");
    if (!rows_fit(app->first_input, app->input_count, workload->inputs.count))
        return wrong(err, "its rows are not in the table of inputs");
    for (uint32_t i = 0; i < app->input_count; i++) {
        const struct pleat_input_file *file = &workload->inputs.items[app->first_input + i];
        if (!(file->bytes >= 0 && file->bytes <= 1e18) || file->site >= PLEAT_SITES_MAX)
            return wrong(err, "an input file has a size, and is at a site");
    }
    if (app->component < 0 || app->component > PLEAT_SIZE_MAX || app->work < 0 ||
        (app->component > 0) != (app->work > 0))
        return wrong(err, "component and work must both be 0, or both be above 0");
    return check_objects(app, err);
}

static int check_limits(const struct pleat_workload_job *job, struct pleat_error *err)
{
    if (job->processors < 1 || job->processors > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "%d processors: not from 1 to %d",
                               job->processors, PLEAT_SIZE_MAX);
    int32_t least = job->kind == PLEAT_MALLEABLE ? 0 : 1;
    if (job->minimum < least || job->maximum < job->minimum || job->maximum < 1 ||
        job->maximum > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "minimum %d and maximum %d: not %d <= minimum <= maximum <= %d",
                               job->minimum, job->maximum, least, PLEAT_SIZE_MAX);
    if (job->kind == PLEAT_RIGID && job->minimum != job->maximum)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "minimum %d and maximum %d of a rigid job differ", job->minimum,
                               job->maximum);
    if (job->initial != 0 && (job->initial < job->minimum || job->initial > job->maximum))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "initial size %d: neither 0 nor from minimum %d to maximum %d",
                               job->initial, job->minimum, job->maximum);
    return 0;
}

int pleat_workload_check_list(const struct pleat_app *app, struct pleat_error *err)
{
    if (app->speedup.kind != PLEAT_SPEEDUP_TABLE)
        return wrong(err, "the accepted sizes are those of the application's table of run times, "
                          "and it has none (as table:1=600,2=330 would give it)");
    if (app->speedup.count > PLEAT_SIZES_LIST_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the accepted sizes are those of the application's table of run "
                               "times, and it has %u rows, more than the %d of a list",
                               app->speedup.count, PLEAT_SIZES_LIST_MAX);
    return 0;
}

/* The largest accepted size that is at most n; 0: none. */
static int32_t accepted(const struct pleat_workload *workload, const struct pleat_workload_job *job,
                        int32_t n)
{
    if (job->sizes_kind == PLEAT_SIZES_LIST) {
        const struct pleat_speedup *speedup = &workload->apps.items[job->app].speedup;
        const struct pleat_table_row *rows = workload->table.items + speedup->first;
        uint32_t count = pleat_table_rank(rows, speedup->count, n);
        return count ? rows[count - 1].processors : 0;
    }
    struct pleat_sizes sizes = {.kind = (enum pleat_sizes_kind)job->sizes_kind,
                                .step = job->sizes_parameter};
    return pleat_sizes_floor(&sizes, n);
}

static int check_sizes(const struct pleat_workload *workload, const struct pleat_workload_job *job,
                       struct pleat_error *err)
{
    if (job->sizes_kind >= PLEAT_SIZES_KIND_COUNT)
        return wrong(err, "the kind of accepted sizes is none of any, powers, squares, multiples, "
                          "grids, and those of the table");
    if (job->sizes_kind == PLEAT_SIZES_LIST) {
        int rc = pleat_workload_check_list(&workload->apps.items[job->app], err);
        if (rc)
            return rc;
    }
    if (job->sizes_kind == PLEAT_SIZES_MULTIPLES &&
        (job->sizes_parameter < 1 || job->sizes_parameter > PLEAT_SIZE_MAX))
        return wrong(err, "accepted sizes are multiples of less than 1");
    int32_t size = accepted(workload, job, job->maximum);
    if (size < job->minimum || size < 1)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "no size from minimum %d to maximum %d is an accepted one",
                               job->minimum, job->maximum);
    return 0;
}

/* Whether a job is as most in recorded logs: rigid, and nothing known but times, size and user. */
static bool is_usual(const struct pleat_workload_job *job)
{
    const int64_t too_long = ~((INT64_C(1) << 56) - 1); /* or negative */
    static const char zeros[16];
    _Static_assert(PLEAT_RIGID == 0 && PLEAT_SIZES_ANY == 0, "what is usual is 0");
    _Static_assert(offsetof(struct pleat_workload_job, part) + 1 -
                           offsetof(struct pleat_workload_job, initial) ==
                       sizeof(zeros),
                   "from `initial` to `part` there is no padding");
    return job->processors > 0 && job->processors <= PLEAT_SIZE_MAX &&
           job->minimum == job->processors && job->maximum == job->processors &&
           job->site == PLEAT_NONE &&
           memcmp((const char *)job + offsetof(struct pleat_workload_job, initial), zeros,
                  sizeof(zeros)) == 0 &&
           job->job_class <= PLEAT_CLASS_LONG && job->user >= -1 &&
           ((job->submit_us | job->run_us | job->estimate_us | job->deadline_us | job->begin_us |
             job->think_us) &
            too_long) == 0;
}

int pleat_workload_check_job(const struct pleat_workload *workload,
                             const struct pleat_workload_job *job, struct pleat_error *err)
{
    if (is_usual(job) && workload->apps.count > 0)
        return 0;
    if (job->kind > PLEAT_MALLEABLE)
        return wrong(err, "its kind is none of rigid, moldable, malleable");
    if (job->app >= workload->apps.count)
        return pleat_error_set(err, PLEAT_E_INVALID, "application %u: there are only %zu", job->app,
                               workload->apps.count);
    int rc = check_limits(job, err);
    if (!rc)
        rc = check_sizes(workload, job, err);
    if (rc)
        return rc;
    if (!time_fits(job->submit_us) || !time_fits(job->run_us) || !time_fits(job->estimate_us) ||
        !time_fits(job->deadline_us) || !time_fits(job->begin_us) || !time_fits(job->think_us))
        return wrong(err, "its submission, run time, estimate, deadline, begin or think time is "
                          "negative, or above 3,170 years");
    if (job->processes < 0 || job->processes > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "%d processes: not from 0 to %d",
                               job->processes, PLEAT_SIZE_MAX);
    if (job->site != PLEAT_NONE && job->site >= PLEAT_SITES_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "site %u: there can only be %d", job->site,
                               PLEAT_SITES_MAX);
    if (job->user < -1)
        return pleat_error_set(err, PLEAT_E_INVALID, "user %d: neither -1 nor 0 or more",
                               job->user);
    if (job->job_class > PLEAT_CLASS_LONG)
        return wrong(err, "its class is neither short nor long nor unknown");
    if (job->mpl_max > 0 && (job->kind != PLEAT_MALLEABLE || job->minimum < 1 ||
                             job->processes > 0 || workload->apps.items[job->app].component > 0))
        return wrong(err,
                     "it folds, and is not malleable, may have no process, has a fixed number of "
                     "them, or is one of components and work");
    if (workload->apps.items[job->app].objects > 0 &&
        (job->kind != PLEAT_MOLDABLE || job->processes > 0 || job->sizes_kind != PLEAT_SIZES_ANY))
        return wrong(err, "a job that asks for processes itself is moldable, is not folded, and "
                          "takes any size");
    int32_t least = job->minimum > 0 ? job->minimum : 1;
    if (least == job->processors && job->processes == 0 &&
        workload->apps.items[job->app].objects == 0)
        return 0; /* its run time, looked at already */
    double longest = job->mpl_max > 0
                         ? pleat_workload_run_time(workload, job, 1, least) * (1 + job->mpl_max)
                         : pleat_workload_run_time(workload, job, least, job->processes);
    if (workload->apps.items[job->app].component == 0 && !(longest <= PLEAT_WORKLOAD_TIME_MAX))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "on %d processors, its minimum, it would run for more than 3,170 "
                               "years",
                               least);
    return 0;
}

int pleat_workload_check(const struct pleat_workload *workload, struct pleat_error *err)
{
    if (workload->apps.count < 1)
        return wrong(err, "a workload without application 0 was not initialized");
    for (size_t i = 0; i < workload->apps.count; i++) {
        int rc = pleat_workload_check_app(workload, &workload->apps.items[i], err);
        if (rc)
            return pleat_error_prefix(err, rc, "application %zu", i);
    }
    int64_t last = 0;
    double total = 0;
    bool follows = false;
    for (size_t i = 0; i < workload->jobs.count; i++) {
        const struct pleat_workload_job *job = &workload->jobs.items[i];
        int rc = pleat_workload_check_job(workload, job, err);
        if (rc)
            return pleat_error_prefix(err, rc, "job %lld", (long long)job->number);
        if (job->submit_us < last)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "job %lld: submitted before the job in front of it",
                                   (long long)job->number);
        if (follows && job->submit_us != last)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "job %lld: not submitted together with the others of its job",
                                   (long long)job->number);
        follows = job->part & PLEAT_PART_FOLLOWS;
        last = job->submit_us;
        total += (double)job->run_us;
        if (total > (double)(INT64_MAX / 4))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "job %lld: the run times up to here add up to more than 70,000 "
                                   "years",
                                   (long long)job->number);
    }
    if (follows)
        return wrong(err, "the last job's other components are missing");
    if (workload->machine < 0 || !time_fits(workload->origin_us))
        return wrong(err, "the machine's size or the time of the beginning is negative");
    return 0;
}
