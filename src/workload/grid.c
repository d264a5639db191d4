/* grid.c - draws the jobs of a grid mix, and makes a workload of them. */
#include "workload/grid.h"

#include <math.h>
#include <string.h>

#include "workload/convert.h"
#include "workload/estimate.h"
#include "workload/generate-internal.h"
#include "workload/grid-internal.h"

enum { GAPS, TYPES, COMPONENTS, RUNS, SITES, ESTIMATES, STREAMS };

static const char *const placement_names[] = {
    [PLEAT_GRID_NON_FIXED] = "non-fixed",
    [PLEAT_GRID_FIXED] = "fixed",
    [PLEAT_GRID_SEMI_FIXED] = "semi-fixed",
};

const char *pleat_grid_placement_name(enum pleat_grid_placement placement)
{
    return (unsigned)placement < PLEAT_GRID_PLACEMENT_COUNT ? placement_names[placement] : NULL;
}

void pleat_grid_draw_finish(struct pleat_grid_draw *draw)
{
    pleat_array_finish(&draw->list);
    memset(draw, 0, sizeof(*draw));
}

/* ---- checking ---- */

int pleat_grid_check_type(const struct pleat_grid_mix *mix, const struct pleat_grid_type *type,
                          struct pleat_error *err)
{
    const char *wrong = NULL;
    if (!(type->weight >= 0 && type->weight <= 1e9))
        wrong = "its weight must be from 0 to 1e9";
    else if (type->placement != PLEAT_GRID_NON_FIXED && mix->sites.count == 0)
        wrong = "fixed components need sites: name them in 'sites'";
    else if (type->kind != PLEAT_RIGID && !(type->minimum >= 0 && type->minimum <= 1 &&
                                            type->maximum >= 1 && type->maximum <= PLEAT_SIZE_MAX))
        wrong = "minimum (0 to 1) and maximum (1 or more) are times the size drawn";
    else if (type->initial != 0 &&
             !(type->initial >= type->minimum && type->initial <= type->maximum))
        wrong = "initial must be 0 (as many as are available) or from minimum to maximum";
    else if (!(type->step_ms >= 0 && type->step_ms <= 1e9))
        wrong = "step must be from 0 to 1e9 milliseconds";
    return wrong ? pleat_error_set(err, PLEAT_E_INVALID, "type %s: %s", type->name, wrong) : 0;
}

int pleat_grid_check(const struct pleat_grid_mix *mix, struct pleat_error *err)
{
    double weights = 0;
    if (mix->jobs < 1 || mix->jobs > PLEAT_GENERATE_JOBS_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "%zu jobs: must be from 1 to %d", mix->jobs,
                               PLEAT_GENERATE_JOBS_MAX);
    if (mix->total < 0 || mix->total > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "total = %d: must be from 0 (no limit) to %d",
                               mix->total, PLEAT_SIZE_MAX);
    if (mix->estimate != 0 && !(mix->estimate >= 1 && mix->estimate <= GRID_ESTIMATE_MAX))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "estimate = %g: must be from 1 to %g times the run time, or 0 for "
                               "none",
                               mix->estimate, GRID_ESTIMATE_MAX);
    for (size_t i = 0; i < mix->types.count; i++) {
        int status = pleat_grid_check_type(mix, &mix->types.items[i], err);
        if (status)
            return status;
        weights += mix->types.items[i].weight;
    }
    if (!(weights > 0))
        return pleat_error_set(
            err, PLEAT_E_INVALID,
            "no type of jobs has a weight above 0: add one, type \"NAME\" {...}");
    return 0;
}

/* ---- drawing ---- */

struct drawing {
    const struct pleat_grid_mix *mix;
    struct pleat_stream *streams[STREAMS];
    double weights;
    /* components of the job that is being drawn */
    struct pleat_grid_component parts[GRID_COMPONENTS_MAX];
    uint32_t count;
    bool capped;
};

static uint32_t draw_type(struct drawing *d)
{
    const struct pleat_grid_types *types = &d->mix->types;
    double at = gsl_rng_uniform(&d->streams[TYPES]->rng) * d->weights;
    uint32_t last = 0;
    for (uint32_t i = 0; i < types->count && at >= 0; i++) {
        at -= types->items[i].weight;
        last = types->items[i].weight > 0 ? i : last;
    }
    return last;
}

/* Draws which components are fixed, and where. All numbers are drawn whatever the placement is, so
 * that the placement changes nothing else. */
static void draw_sites(struct drawing *d, enum pleat_grid_placement placement)
{
    const gsl_rng *rng = &d->streams[SITES]->rng;
    uint32_t fixed = 0, sites = (uint32_t)d->mix->sites.count;
    uint32_t one = (uint32_t)gsl_rng_uniform_int(rng, d->count);
    bool some = placement == PLEAT_GRID_SEMI_FIXED && d->count > 1;
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t site = sites ? (uint32_t)gsl_rng_uniform_int(rng, sites) : PLEAT_NONE;
        bool heads = gsl_rng_uniform(rng) < 0.5;
        /* `one` is always fixed; no other that would make all of them fixed */
        bool here = placement == PLEAT_GRID_FIXED ||
                    (some && (i == one || (heads && fixed + (i < one) + 1 < d->count)));
        d->parts[i].site = here ? site : PLEAT_NONE;
        fixed += here;
    }
}

/* Processors at the component's site, or (anywhere) at the largest site. A large number: not known.
 */
static int32_t room_at(const struct pleat_grid_mix *mix, uint32_t site)
{
    int32_t most = 0;
    for (uint32_t i = 0; i < mix->sites.count; i++) {
        int32_t processors = mix->sites.items[i].processors;
        if (processors == 0)
            processors = PLEAT_SIZE_MAX;
        if (site == i)
            return processors;
        most = processors > most ? processors : most;
    }
    return most ? most : PLEAT_SIZE_MAX;
}

/* Cuts the sizes to what the sites and the total allow. Components of which nothing is left are
 * dropped. */
static int fit(struct drawing *d, const struct pleat_grid_type *type, struct pleat_error *err)
{
    struct pleat_sizes sizes = pleat_grid_sizes(type);
    int64_t left = d->mix->total ? d->mix->total : INT64_MAX;
    uint32_t kept = 0;
    d->capped = false;
    for (uint32_t i = 0; i < d->count; i++) {
        int32_t wanted = pleat_sizes_floor(&sizes, d->parts[i].size);
        int32_t room = (int32_t)fmin(room_at(d->mix, d->parts[i].site), (double)left);
        if (wanted == 0)
            wanted = pleat_sizes_ceil(&sizes, d->parts[i].size);
        int32_t size = pleat_sizes_floor(&sizes, wanted < room ? wanted : room);
        d->capped = d->capped || wanted > room;
        if (size == 0)
            continue;
        left -= size;
        d->parts[kept] = d->parts[i];
        d->parts[kept++].size = size;
    }
    if (kept == 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "type %s: a job of it has no component that fits the sites, the "
                               "total and the sizes accepted",
                               type->name);
    d->count = kept;
    return 0;
}

static void set_limits(const struct drawing *d, const struct pleat_grid_type *type,
                       struct pleat_grid_component *part, int64_t *left)
{
    struct pleat_sizes sizes = pleat_grid_sizes(type);
    part->minimum = part->maximum = part->size;
    part->initial = 0;
    if (type->kind == PLEAT_RIGID)
        return;
    double most = fmin(floor(type->maximum * part->size), room_at(d->mix, part->site));
    int32_t more = (int32_t)fmin(most - part->size, (double)*left);
    part->minimum = (int32_t)fmax(ceil(type->minimum * part->size), 1);
    part->maximum = part->size + more;
    *left -= more;
    if (type->kind == PLEAT_MALLEABLE && type->initial > 0) {
        double wanted = fmin(fmax(round(type->initial * part->size), 1), part->maximum);
        part->initial = pleat_sizes_floor(&sizes, (int32_t)wanted);
        if (part->initial < part->minimum)
            part->initial = pleat_sizes_ceil(&sizes, part->minimum);
    }
}

static int draw_job(struct drawing *d, uint32_t number, int64_t submit_us, struct pleat_error *err)
{
    static const struct pleat_distribution one = {.kind = PLEAT_DIST_UNIFORM, .a = 0, .b = 1};
    uint32_t index = draw_type(d);
    const struct pleat_grid_type *type = &d->mix->types.items[index];
    struct pleat_stream *sizes = d->streams[COMPONENTS];
    double run = fmin(pleat_distribution_draw(&type->run, d->streams[RUNS]), GENERATE_RUN_MAX_S);
    int64_t run_us = pleat_generate_us(fmax(run, 1e-6), 0), estimate_us = 0;
    double part_of = pleat_distribution_draw(&one, d->streams[ESTIMATES]);
    if (d->mix->estimate > 0)
        estimate_us = pleat_generate_estimate(run_us, 1 + (d->mix->estimate - 1) * part_of, 0);
    d->count =
        (uint32_t)pleat_distribution_draw_whole(&type->components, sizes, 1, GRID_COMPONENTS_MAX);
    draw_sites(d, type->placement);
    for (uint32_t i = 0; i < d->count; i++)
        d->parts[i].size =
            (int32_t)pleat_distribution_draw_whole(&type->size, sizes, 1, PLEAT_SIZE_MAX);
    int status = fit(d, type, err);
    if (status)
        return status;
    int64_t left = d->mix->total ? d->mix->total : INT64_MAX;
    for (uint32_t i = 0; i < d->count; i++)
        left -= d->parts[i].size;
    for (uint32_t i = 0; i < d->count; i++) {
        struct pleat_grid_component *part = &d->parts[i];
        part->job = number;
        part->component = i + 1;
        part->components = d->count;
        part->type = index;
        part->submit_us = submit_us;
        part->run_us = run_us;
        part->estimate_us = estimate_us;
        set_limits(d, type, part, &left);
    }
    return 0;
}

static int draw_all(struct drawing *d, struct pleat_grid_draw *draw, struct pleat_error *err)
{
    double at = 0;
    for (size_t i = 0; i < d->mix->types.count; i++)
        d->weights += d->mix->types.items[i].weight;
    for (size_t i = 0; i < d->mix->jobs; i++) {
        if (i > 0)
            at += pleat_distribution_draw(&d->mix->gap, d->streams[GAPS]);
        if (!(at <= GENERATE_TIME_MAX_S))
            return pleat_error_set(err, PLEAT_E_TOOBIG,
                                   "job %zu would arrive after %g s, and the limit is %g: take "
                                   "fewer jobs or smaller gaps",
                                   i + 1, at, GENERATE_TIME_MAX_S);
        int status = draw_job(d, (uint32_t)i + 1, pleat_generate_us(at, 0), err);
        if (status)
            return status;
        if (pleat_array_reserve(&draw->list, d->count))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        memcpy(draw->list.items + draw->list.count, d->parts, d->count * sizeof(d->parts[0]));
        draw->list.count += d->count;
        draw->capped += d->capped;
    }
    draw->jobs = d->mix->jobs;
    return 0;
}

/* Gives each job one estimate, whatever its components are. Estimates come from a stream of their
 * own: without estimates the jobs are the same. */
static int estimate_popular(const struct pleat_grid_mix *mix, uint64_t seed,
                            struct pleat_grid_draw *draw, struct pleat_error *err)
{
    struct pleat_workload_jobs jobs = {0};
    int status = pleat_array_reserve(&jobs, draw->jobs)
                     ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                     : 0;
    for (size_t i = 0; !status && i < draw->list.count; i++)
        if (draw->list.items[i].component == 1)
            jobs.items[jobs.count++] =
                (struct pleat_workload_job){.run_us = draw->list.items[i].run_us};
    if (!status)
        status = pleat_estimate_popular(&jobs, mix->popular_longest_us, seed, err);
    for (size_t i = 0; !status && i < draw->list.count; i++)
        draw->list.items[i].estimate_us = jobs.items[draw->list.items[i].job - 1].estimate_us;
    pleat_array_finish(&jobs);
    return status;
}

int pleat_grid_draw(const struct pleat_grid_mix *mix, uint64_t seed, struct pleat_grid_draw *draw,
                    struct pleat_error *err)
{
    int status = pleat_grid_check(mix, err);
    if (status)
        return status;
    struct drawing *d = calloc(1, sizeof(*d));
    if (!d)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    d->mix = mix;
    bool whole = true;
    for (uint32_t i = 0; i < STREAMS; i++) {
        d->streams[i] = pleat_generate_stream(seed, i);
        whole = whole && d->streams[i];
    }
    status = whole ? draw_all(d, draw, err) : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (!status && mix->popular)
        status = estimate_popular(mix, seed, draw, err);
    draw->seed = seed;
    if (status)
        pleat_grid_draw_finish(draw);
    for (uint32_t i = 0; i < STREAMS; i++)
        pleat_stream_destroy(d->streams[i]);
    free(d);
    return status;
}

/* ---- a workload ---- */

static int add_apps(const struct pleat_grid_mix *mix, struct pleat_workload *workload,
                    struct pleat_error *err)
{
    for (size_t i = 0; i < mix->types.count; i++) {
        const struct pleat_grid_type *type = &mix->types.items[i];
        struct pleat_app app = {0};
        int status = pleat_app_parse(type->model ? type->model : "linear", workload, &app, err);
        if (status)
            return pleat_error_prefix(err, status, "type %s", type->name);
        size_t length = strnlen(type->name, sizeof(app.name) - 1);
        memcpy(app.name, type->name, length);
        app.name[length] = 0;
        if (pleat_array_push(&workload->apps, app))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    return 0;
}

static int32_t machine_of(const struct pleat_grid_mix *mix)
{
    int64_t sum = 0;
    for (size_t i = 0; i < mix->sites.count; i++) {
        if (mix->sites.items[i].processors == 0)
            return mix->total;
        sum += mix->sites.items[i].processors;
    }
    return sum == 0 || sum > PLEAT_SIZE_MAX ? mix->total : (int32_t)sum;
}

static struct pleat_workload_job job_of(const struct pleat_grid_mix *mix,
                                        const struct pleat_grid_component *part, size_t number,
                                        size_t first_app)
{
    const struct pleat_grid_type *type = &mix->types.items[part->type];
    struct pleat_workload_job job = pleat_generate_job((int64_t)number, part->size);
    job.submit_us = part->submit_us;
    job.run_us = part->run_us;
    job.estimate_us = part->estimate_us;
    job.minimum = part->minimum;
    job.maximum = part->maximum;
    job.initial = part->initial;
    job.app = (uint32_t)(first_app + part->type);
    job.site = part->site;
    job.part = part->component < part->components ? PLEAT_PART_FOLLOWS : 0;
    job.kind = (uint8_t)type->kind;
    if (type->kind != PLEAT_RIGID) {
        job.sizes_kind = (uint8_t)type->sizes_kind;
        job.sizes_parameter = type->sizes_step;
    }
    return job;
}

int pleat_grid_workload(const struct pleat_grid_mix *mix, const struct pleat_grid_draw *draw,
                        struct pleat_workload *workload, struct pleat_error *err)
{
    struct pleat_workload before = *workload;
    size_t count = draw->list.count;
    int status = pleat_generate_reserve(workload, count, err);
    if (!status)
        status = add_apps(mix, workload, err);
    for (size_t i = 0; i < count && !status; i++)
        workload->jobs.items[i] = job_of(mix, &draw->list.items[i], i + 1, before.apps.count);
    if (!status)
        status = pleat_generate_accept(workload, count, machine_of(mix), err);
    if (status) {
        workload->apps.count = before.apps.count;
        workload->table.count = before.table.count;
        workload->costs.count = before.costs.count;
        workload->phases.count = before.phases.count;
        workload->asks.count = before.asks.count;
        workload->inputs.count = before.inputs.count;
    }
    return status;
}
