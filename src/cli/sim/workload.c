/* workload.c - makes the workload of a run from a log or a model: scaled, and a share of it
 * converted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sim/experiment.h"
#include "cli/workload/workload.h"
#include "workload/convert.h"
#include "workload/estimate.h"

/* The size of the machine of a workload. Where the header does not name it (*said false), it is the
 * size of the largest job. */
static int32_t machine_of(const struct pleat_workload *workload, bool *said)
{
    int32_t processors = workload->machine;
    *said = processors > 0;
    for (size_t i = 0; !*said && i < workload->jobs.count; i++)
        if (workload->jobs.items[i].processors > processors)
            processors = workload->jobs.items[i].processors;
    return processors;
}

/* Adds the machine of the workload as the only site, where there is neither --site nor --platform.
 * All workloads must be of machines of one size. */
static int add_machine(struct pleat_sim_experiment *experiment, struct pleat_sim_request *request,
                       struct pleat_error *err)
{
    bool said, other_said;
    if (request->platform.sites.count > 0)
        return 0;
    int32_t processors = machine_of(&experiment->sources[0].workload, &said);
    for (size_t i = 1; i < experiment->source_count; i++) {
        int32_t other = machine_of(&experiment->sources[i].workload, &other_said);
        if (other != processors)
            return pleat_error_set(
                err, PLEAT_E_INVALID,
                "%s is of a machine with %d processors, %s of one with %d: choose one with "
                "--site NAME:PROCESSORS",
                experiment->sources[0].name, (int)processors, experiment->sources[i].name,
                (int)other);
    }
    experiment->machine_from = request->generate ? "as the model says"
                               : said            ? "as the workload's header says"
                                      : "as many as its largest job has: the header does not say";
    if (pleat_platform_add(&request->platform, "machine", processors))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return 0;
}

static int32_t largest_site(const struct pleat_platform *platform)
{
    int32_t most = 0;
    for (size_t i = 0; i < platform->sites.count; i++) {
        int32_t size = platform->sites.items[i].nodes * platform->sites.items[i].slots;
        most = size > most ? size : most;
    }
    return most;
}

/* What is converted and how, for one run or for all that share a workload. */
struct converting {
    const struct pleat_sim_experiment *experiment;
    const struct pleat_app *app;
    uint64_t seed;
};

static int convert_share(const struct converting *how, double share, enum pleat_job_kind kind,
                         struct pleat_workload *workload, size_t *converted,
                         struct pleat_error *err)
{
    const struct pleat_sim_request *request = how->experiment->request;
    struct pleat_conversion conversion;
    *converted = 0;
    if (share <= 0)
        return 0;
    pleat_conversion_default(&conversion);
    conversion.share = share;
    conversion.kind = kind;
    conversion.minimum = request->minimum;
    conversion.maximum = request->maximum;
    conversion.initial = request->initial;
    conversion.machine = largest_site(&request->platform);
    conversion.sizes_kind = how->experiment->sizes.kind;
    conversion.sizes_parameter = how->experiment->sizes.step;
    conversion.app = *how->app;
    conversion.seed = how->seed;
    return pleat_workload_convert(workload, &conversion, converted, err);
}

/* Converts shares of the jobs. The jobs of a share are among those of a larger share. So first
 * malleable_share of them become malleable; of the share of both together the others become
 * moldable. */
static int convert(const struct converting *how, double malleable_share,
                   struct pleat_workload *workload, size_t *malleable, size_t *moldable,
                   struct pleat_error *err)
{
    double moldable_share = how->experiment->request->moldable;
    int rc = convert_share(how, malleable_share, PLEAT_MALLEABLE, workload, malleable, err);
    if (!rc)
        rc = convert_share(how, moldable_share > 0 ? fmin(malleable_share + moldable_share, 1) : 0,
                           PLEAT_MOLDABLE, workload, moldable, err);
    return rc;
}

/* Reads the application of converted jobs. Its tables become the workload's. */
static int read_app(const struct pleat_sim_experiment *experiment, struct pleat_workload *workload,
                    struct pleat_app *app, struct pleat_error *err)
{
    const struct pleat_sim_request *request = experiment->request;
    struct pleat_conversion conversion;
    pleat_conversion_default(&conversion);
    *app = conversion.app;
    int rc = request->app ? pleat_app_parse(request->app, workload, app, err) : 0;
    if (rc)
        return pleat_error_prefix(err, rc, "--app");
    if (experiment->sizes.kind == PLEAT_SIZES_LIST)
        rc = pleat_workload_check_list(app, err);
    return rc ? pleat_error_prefix(err, rc, "--sizes table, --app") : 0;
}

static int read_sizes(struct pleat_sim_experiment *experiment,
                      const struct pleat_sim_request *request, struct pleat_error *err)
{
    if (!request->sizes)
        return 0;
    int rc = pleat_conversion_sizes_parse(request->sizes, &experiment->sizes, err);
    return rc ? pleat_error_prefix(err, rc, "--sizes") : 0;
}

/* ---- where workloads come from ---- */

/* Replaces the estimates of the workload. */
static int estimate(const struct pleat_sim_request *request, uint64_t seed,
                    struct pleat_workload *workload, struct pleat_error *err)
{
    if (!request->popular.wanted)
        return 0;
    int rc = pleat_estimate_popular(&workload->jobs, request->popular.longest_us, seed, err);
    return rc ? pleat_error_prefix(err, rc, "--estimates popular") : 0;
}

static int generate(const struct pleat_sim_request *request, uint64_t seed,
                    struct pleat_workload *workload, struct pleat_error *err)
{
    if (pleat_workload_init(workload))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int rc = pleat_generator_draw(&request->generator, seed, workload, err);
    if (rc)
        return pleat_error_prefix(err, rc, "--generate %s, seed %llu", request->generate,
                                  (unsigned long long)seed);
    if (request->jobs > 0 && workload->jobs.count > request->jobs)
        workload->jobs.count = request->jobs;
    if (workload->jobs.count == 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "--generate %s: no job came in that time",
                               request->generate);
    pleat_workload_scale_load(workload, request->load);
    return estimate(request, seed, workload, err);
}

static int read_log(const struct pleat_sim_request *request, uint64_t seed,
                    struct pleat_sim_source *source, struct pleat_error *err)
{
    struct pleat_reading reading = {.format = request->format,
                                    .flops = request->flops > 0 ? request->flops
                                                                : request->platform.flops,
                                    .swf = {.zero = request->zero, .most = request->jobs}};
    if (pleat_workload_init(&source->workload))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int rc = pleat_workload_read(source->name, &reading, &source->workload, err);
    source->report = reading.report;
    if (!rc)
        pleat_say_notes(source->name, &reading.notes);
    pleat_string_finish(&reading.notes);
    if (!rc && source->workload.jobs.count == 0)
        rc = pleat_error_set(err, PLEAT_E_INVALID, "%s: no job of this workload can be run",
                             source->name);
    if (!rc)
        pleat_workload_scale_load(&source->workload, request->load);
    return rc ? rc : estimate(request, seed, &source->workload, err);
}

static int read_sources(struct pleat_sim_experiment *experiment,
                        const struct pleat_sim_request *request, struct pleat_error *err)
{
    size_t count = request->generate ? 1 : request->workload_count;
    experiment->sources = calloc(count, sizeof(*experiment->sources));
    if (!experiment->sources)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    experiment->source_count = count;
    for (size_t i = 0; i < count; i++) {
        struct pleat_sim_source *source = &experiment->sources[i];
        source->name = request->generate ? request->generate : request->workloads[i];
        int rc = request->generate ? generate(request, request->seed, &source->workload, err)
                                   : read_log(request, request->seed + i, source, err);
        if (!rc)
            rc = read_app(experiment, &source->workload, &source->app, err);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- what runs share ---- */

static bool is_all_or_none(double share)
{
    return share <= 0 || share >= 1;
}

/* Whether each seed chooses other jobs to convert. */
static bool chooses(const struct pleat_sim_request *request)
{
    bool chooses = !is_all_or_none(request->moldable);
    for (size_t i = 0; i < request->malleable_count; i++)
        chooses = chooses || !is_all_or_none(request->malleable[i]);
    return chooses;
}

static enum pleat_sim_variation variation(const struct pleat_sim_experiment *experiment,
                                          const struct pleat_sim_request *request)
{
    if (request->seeds == 1)
        return PLEAT_SIM_SAME_JOBS;
    if (request->generate || experiment->source_count > 1)
        return PLEAT_SIM_WORKLOADS;
    if (request->popular.wanted)
        return chooses(request) ? PLEAT_SIM_CONVERSIONS_AND_ESTIMATES : PLEAT_SIM_ESTIMATES;
    return chooses(request) ? PLEAT_SIM_CONVERSIONS : PLEAT_SIM_SAME_JOBS;
}

static int convert_sources(struct pleat_sim_experiment *experiment, struct pleat_error *err)
{
    const struct pleat_sim_request *request = experiment->request;
    int rc = 0;
    for (size_t i = 0; !rc && i < experiment->source_count; i++) {
        struct pleat_sim_source *source = &experiment->sources[i];
        struct converting how = {experiment, &source->app, request->seed + i};
        rc = convert(&how, request->malleable[0], &source->workload, &source->malleable,
                     &source->moldable, err);
    }
    return rc;
}

int pleat_sim_workload_read(struct pleat_sim_experiment *experiment,
                            struct pleat_sim_request *request, struct pleat_error *err)
{
    int rc = read_sizes(experiment, request, err);
    if (!rc)
        rc = read_sources(experiment, request, err);
    if (!rc)
        rc = add_machine(experiment, request, err);
    if (rc)
        return rc;
    bool one_run = request->seeds == 1 || experiment->source_count > 1; /* of each source */
    experiment->variation = variation(experiment, request);
    experiment->shared = !request->hold_load && request->malleable_count == 1 &&
                         (one_run || experiment->variation == PLEAT_SIM_SAME_JOBS);
    return experiment->shared ? convert_sources(experiment, err) : 0;
}

/* ---- the workload of a run ---- */

static int copy(const struct pleat_workload *from, struct pleat_workload *to)
{
    /* tables are shared; applications are copied, since converting appends some */
    struct pleat_workload fresh = *from;
    fresh.jobs = (struct pleat_workload_jobs){0};
    fresh.apps = (struct pleat_apps){0};
    if (!pleat_array_reserve(&fresh.jobs, from->jobs.count) &&
        !pleat_array_reserve(&fresh.apps, from->apps.count)) {
        memcpy(fresh.jobs.items, from->jobs.items, from->jobs.count * sizeof(*from->jobs.items));
        memcpy(fresh.apps.items, from->apps.items, from->apps.count * sizeof(*from->apps.items));
        fresh.jobs.count = from->jobs.count;
        fresh.apps.count = from->apps.count;
        *to = fresh;
        return 0;
    }
    pleat_array_finish(&fresh.jobs);
    pleat_array_finish(&fresh.apps);
    return PLEAT_E_NOMEM;
}

static int make_own(const struct pleat_sim_experiment *experiment,
                    const struct pleat_sim_source *source, struct pleat_sim_run *run,
                    struct pleat_sim_own *own, struct pleat_error *err)
{
    struct pleat_app app = source->app;
    own->generated = experiment->request->generate;
    int rc = 0;
    if (own->generated) {
        rc = generate(experiment->request, run->seed, &own->workload, err);
        if (!rc)
            rc = read_app(experiment, &own->workload, &app, err);
    } else if (copy(&source->workload, &own->workload)) {
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the workload of seed %llu",
                             (unsigned long long)run->seed);
    } else {
        rc = estimate(experiment->request, run->seed, &own->workload, err);
    }
    struct converting how = {experiment, &app, run->seed};
    return rc ? rc
              : convert(&how, run->combination->malleable, &own->workload, &run->malleable,
                        &run->moldable, err);
}

int pleat_sim_workload_cut(const struct pleat_sim_request *request,
                           const struct pleat_workload *workload, struct pleat_sim_run *run,
                           struct pleat_error *err)
{
    const struct pleat_workload_job *jobs = workload->jobs.items;
    int64_t first = jobs[0].submit_us, last = jobs[workload->jobs.count - 1].submit_us;
    double span_s = (double)(last - first) / 1e6;
    double warmup_s = request->warmup.seconds + request->warmup.share * span_s;
    double cooldown_s = request->cooldown.seconds + request->cooldown.share * span_s;
    run->from_us = INT64_MIN;
    run->to_us = INT64_MAX;
    if (!pleat_sim_cuts(request))
        return 0;
    if (warmup_s + cooldown_s >= span_s)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: jobs are submitted within %.0f s; --warmup and --cooldown "
                               "leave nothing of that",
                               run->workload, span_s);
    run->from_us = first + llround(warmup_s * 1e6);
    run->to_us = last - llround(cooldown_s * 1e6);
    return 0;
}

int pleat_sim_workload_for(const struct pleat_sim_experiment *experiment, struct pleat_sim_run *run,
                           struct pleat_sim_own *own, const struct pleat_workload **workload,
                           struct pleat_error *err)
{
    size_t index = (size_t)(run->seed - experiment->request->seed) % experiment->source_count;
    const struct pleat_sim_source *source = &experiment->sources[index];
    int rc = 0;
    *own = (struct pleat_sim_own){0};
    run->malleable = source->malleable;
    run->moldable = source->moldable;
    *workload = &source->workload;
    if (!experiment->shared) {
        rc = make_own(experiment, source, run, own, err);
        *workload = &own->workload;
    }
    run->jobs = (*workload)->jobs.count;
    return rc ? rc : pleat_sim_workload_cut(experiment->request, *workload, run, err);
}

void pleat_sim_workload_drop(struct pleat_sim_own *own)
{
    if (own->generated) {
        pleat_workload_finish(&own->workload);
    } else {
        pleat_array_finish(&own->workload.jobs);
        pleat_array_finish(&own->workload.apps);
    }
    *own = (struct pleat_sim_own){0};
}
