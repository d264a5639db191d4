#include "workload/convert.h"

#include <math.h>
#include <string.h>

int pleat_conversion_sizes_parse(const char *text, struct pleat_sizes *sizes,
                                 struct pleat_error *err)
{
    struct pleat_size_list list = {0};
    if (!strcmp(text, "table")) {
        *sizes = (struct pleat_sizes){.kind = PLEAT_SIZES_LIST};
        return 0;
    }
    int rc = pleat_sizes_parse(text, sizes, &list, err);
    bool listed = !rc && sizes->kind == PLEAT_SIZES_LIST;
    pleat_array_finish(&list);
    if (rc == PLEAT_E_NOMEM || (!rc && !listed))
        return rc;
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "accepted sizes '%s': expected any, powers, squares, grids, "
                           "multiples:N, or table (those of the application's table)%s",
                           text, listed ? "; a list fits one job, not many" : "");
}

void pleat_conversion_default(struct pleat_conversion *conversion)
{
    *conversion = (struct pleat_conversion){
        .share = 1,
        .kind = PLEAT_MALLEABLE,
        .minimum = 0.25,
        .maximum = 2,
        .sizes_kind = PLEAT_SIZES_ANY,
        .app = {.speedup = {.kind = PLEAT_SPEEDUP_AMDAHL, .serial = 0.02}},
        .seed = 1,
    };
}

/* The finalizer of SplitMix64 (Steele, Lea and Flood 2014): each bit of z changes about half of all
 * bits. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number in [0, 1) that depends on the job's number and the seed alone. The job is chosen at
 * every share above it. */
static double lot(uint64_t seed, int64_t number)
{
    uint64_t hash = mix(mix(seed + 0x9e3779b97f4a7c15u) + (uint64_t)number * 0x9e3779b97f4a7c15u);
    return (double)(hash >> 11) * 0x1.0p-53;
}

/* A product without the rounding error that would keep it from being whole. */
static double product(double factor, int32_t size)
{
    double value = factor * size, whole = round(value);
    return fabs(value - whole) < 1e-9 * value ? whole : value;
}

static int32_t bounded(double value, int32_t most)
{
    return value < most ? (int32_t)value : most;
}

static int32_t initial_size(const struct pleat_conversion *conversion,
                            const struct pleat_sizes *sizes, int32_t minimum, int32_t maximum,
                            int32_t size)
{
    if (conversion->initial <= 0)
        return 0;
    int32_t wanted = bounded(round(product(conversion->initial, size)), maximum);
    int32_t accepted = pleat_sizes_floor(sizes, wanted);
    return accepted >= minimum ? accepted : pleat_sizes_ceil(sizes, minimum);
}

/* Converts a chosen job, without its application. False: no accepted size is left for it. */
static bool change(const struct pleat_conversion *conversion, const struct pleat_sizes *sizes,
                   struct pleat_workload_job *job)
{
    int32_t machine = conversion->machine > 0 ? conversion->machine : PLEAT_SIZE_MAX;
    int32_t minimum = bounded(ceil(product(conversion->minimum, job->processors)), PLEAT_SIZE_MAX);
    if (minimum < 1)
        minimum = 1;
    int32_t maximum = bounded(floor(product(conversion->maximum, job->processors)), PLEAT_SIZE_MAX);
    if (maximum < minimum)
        maximum = minimum;
    if (maximum > machine)
        maximum = machine;
    if (minimum > maximum || pleat_sizes_floor(sizes, maximum) < minimum)
        return false;
    if (sizes->kind == PLEAT_SIZES_LIST) {
        minimum = pleat_sizes_ceil(sizes, minimum);
        maximum = pleat_sizes_floor(sizes, maximum);
    }
    job->kind = (uint8_t)conversion->kind;
    job->minimum = minimum;
    job->maximum = maximum;
    job->initial = initial_size(conversion, sizes, minimum, maximum, job->processors);
    job->sizes_kind = (uint8_t)conversion->sizes_kind;
    job->sizes_parameter = conversion->sizes_parameter;
    return true;
}

static int check(const struct pleat_workload *workload, const struct pleat_conversion *conversion,
                 struct pleat_error *err)
{
    if (!(conversion->share >= 0 && conversion->share <= 1))
        return pleat_error_set(err, PLEAT_E_INVALID, "share of jobs %g: not from 0 to 1",
                               conversion->share);
    if (conversion->kind != PLEAT_MOLDABLE && conversion->kind != PLEAT_MALLEABLE)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "jobs are made moldable or malleable, nothing else");
    if (!(conversion->minimum >= 0 && conversion->minimum <= conversion->maximum &&
          conversion->maximum > 0 && isfinite(conversion->maximum)))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "minimum %g and maximum %g times the size: not 0 <= minimum <= "
                               "maximum, maximum above 0",
                               conversion->minimum, conversion->maximum);
    if (!(conversion->initial >= 0 && isfinite(conversion->initial)))
        return pleat_error_set(err, PLEAT_E_INVALID, "initial %g times the size: not 0 or more",
                               conversion->initial);
    if (conversion->machine < 0 || conversion->machine > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "a machine of %d processors: not from 0 to %d",
                               conversion->machine, PLEAT_SIZE_MAX);
    if ((unsigned)conversion->sizes_kind >= PLEAT_SIZES_KIND_COUNT)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the kind of accepted sizes is none of any, powers, squares, "
                               "multiples, grids, and those of the table");
    if (conversion->sizes_kind == PLEAT_SIZES_MULTIPLES &&
        (conversion->sizes_parameter < 1 || conversion->sizes_parameter > PLEAT_SIZE_MAX))
        return pleat_error_set(err, PLEAT_E_INVALID, "multiples of %d: not from 1 to %d",
                               conversion->sizes_parameter, PLEAT_SIZE_MAX);
    int rc = pleat_workload_check_app(workload, &conversion->app, err);
    if (rc)
        return pleat_error_prefix(err, rc, "the application of converted jobs");
    if (conversion->sizes_kind == PLEAT_SIZES_LIST)
        rc = pleat_workload_check_list(&conversion->app, err);
    return rc ? pleat_error_prefix(err, rc, "converted jobs") : 0;
}

/* The accepted sizes. Those of a list are written into `values`, which has room for the longest
 * list. */
static struct pleat_sizes accepted(const struct pleat_workload *workload,
                                   const struct pleat_conversion *conversion, int32_t *values)
{
    struct pleat_sizes sizes = {.kind = conversion->sizes_kind,
                                .step = conversion->sizes_parameter};
    if (sizes.kind == PLEAT_SIZES_LIST) {
        const struct pleat_speedup *speedup = &conversion->app.speedup;
        for (uint32_t i = 0; i < speedup->count; i++)
            values[i] = workload->table.items[speedup->first + i].processors;
        sizes.list = values;
        sizes.count = speedup->count;
    }
    return sizes;
}

int pleat_workload_convert(struct pleat_workload *workload,
                           const struct pleat_conversion *conversion, size_t *converted,
                           struct pleat_error *err)
{
    int rc = check(workload, conversion, err);
    if (rc)
        return rc;
    if (pleat_array_reserve(&workload->apps, 1))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int32_t values[PLEAT_SIZES_LIST_MAX];
    struct pleat_sizes sizes = accepted(workload, conversion, values);
    uint32_t app = (uint32_t)workload->apps.count;
    size_t count = 0;
    for (size_t i = 0; i < workload->jobs.count; i++) {
        struct pleat_workload_job *job = &workload->jobs.items[i];
        if (job->kind != PLEAT_RIGID || lot(conversion->seed, job->number) >= conversion->share ||
            !change(conversion, &sizes, job))
            continue;
        job->app = app;
        count++;
    }
    if (count > 0)
        workload->apps.items[workload->apps.count++] = conversion->app;
    if (converted)
        *converted = count;
    return 0;
}

void pleat_workload_scale_load(struct pleat_workload *workload, double factor)
{
    if (factor == 1 || workload->jobs.count == 0)
        return;
    int64_t first = workload->jobs.items[0].submit_us;
    for (size_t i = 0; i < workload->jobs.count; i++) {
        struct pleat_workload_job *job = &workload->jobs.items[i];
        int64_t before = job->submit_us;
        job->submit_us = first + llround((double)(before - first) / factor);
        if (job->deadline_us)
            job->deadline_us += job->submit_us - before;
        if (job->begin_us)
            job->begin_us += job->submit_us - before;
    }
}
