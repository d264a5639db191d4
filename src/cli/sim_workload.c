/* sim_workload.c - from a log to the workload of a run: scaled, a share of it converted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sim_experiment.h"
#include "workload/convert.h"

/* Without --site and --platform: the machine that the log is of. */
static int add_machine(struct pleat_sim_experiment *experiment, struct pleat_sim_request *request,
                       struct pleat_error *err)
{
    const struct pleat_workload *workload = &experiment->workload;
    int32_t processors = workload->machine;
    if (request->platform.sites.count > 0)
        return 0;
    experiment->machine_from = "as the workload's header says";
    if (processors <= 0) {
        experiment->machine_from = "as many as its largest job has: the header does not say";
        for (size_t i = 0; i < workload->jobs.count; i++)
            if (workload->jobs.items[i].processors > processors)
                processors = workload->jobs.items[i].processors;
    }
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

static int convert_share(const struct pleat_sim_experiment *experiment, uint64_t seed, double share,
                         enum pleat_job_kind kind, struct pleat_workload *workload,
                         size_t *converted, struct pleat_error *err)
{
    const struct pleat_sim_request *request = experiment->request;
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
    conversion.sizes_kind = experiment->sizes.kind;
    conversion.sizes_parameter = experiment->sizes.step;
    conversion.app = experiment->app;
    conversion.seed = seed;
    return pleat_workload_convert(workload, &conversion, converted, err);
}

/* The jobs chosen for a share are among those chosen for a larger one: of both shares together,
 * those that are not malleable by then become moldable. */
static int convert(const struct pleat_sim_experiment *experiment, uint64_t seed,
                   struct pleat_workload *workload, size_t *malleable, size_t *moldable,
                   struct pleat_error *err)
{
    const struct pleat_sim_request *request = experiment->request;
    double both = request->malleable + request->moldable;
    int rc = convert_share(experiment, seed, request->malleable, PLEAT_MALLEABLE, workload,
                           malleable, err);
    if (!rc)
        rc = convert_share(experiment, seed, request->moldable > 0 ? fmin(both, 1) : 0,
                           PLEAT_MOLDABLE, workload, moldable, err);
    return rc;
}

static int read_app(struct pleat_sim_experiment *experiment,
                    const struct pleat_sim_request *request, struct pleat_error *err)
{
    struct pleat_conversion conversion;
    pleat_conversion_default(&conversion);
    experiment->app = conversion.app;
    if (request->app && pleat_app_parse(request->app, &experiment->workload, &experiment->app, err))
        return pleat_error_prefix(err, "--app");
    if (experiment->sizes.kind == PLEAT_SIZES_LIST &&
        pleat_workload_check_list(&experiment->app, err))
        return pleat_error_prefix(err, "--sizes table, --app");
    return 0;
}

static int read_sizes(struct pleat_sim_experiment *experiment,
                      const struct pleat_sim_request *request, struct pleat_error *err)
{
    if (!request->sizes || !pleat_conversion_sizes_parse(request->sizes, &experiment->sizes, err))
        return 0;
    return pleat_error_prefix(err, "--sizes");
}

int pleat_sim_workload_read(struct pleat_sim_experiment *experiment,
                            struct pleat_sim_request *request, struct pleat_error *err)
{
    const struct pleat_swf_options options = {.zero = request->zero, .most = request->jobs};
    int rc = read_sizes(experiment, request, err);
    if (!rc && pleat_workload_init(&experiment->workload))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (!rc)
        rc = pleat_swf_read(request->workload, &options, &experiment->workload, &experiment->report,
                            err);
    if (!rc && experiment->workload.jobs.count == 0)
        rc = pleat_error_set(err, PLEAT_E_INVALID, "%s: there is no job in it that can be run",
                             request->workload);
    if (!rc)
        rc = add_machine(experiment, request, err);
    if (!rc)
        rc = read_app(experiment, request, err);
    if (rc)
        return rc;
    pleat_workload_scale_load(&experiment->workload, request->load);
    double share = request->malleable + request->moldable;
    experiment->shared = request->seeds == 1 || share <= 0 ||
                         (request->malleable >= 1 && request->moldable <= 0) ||
                         (request->moldable >= 1 && request->malleable <= 0);
    return experiment->shared ? convert(experiment, request->seed, &experiment->workload,
                                        &experiment->malleable, &experiment->moldable, err)
                              : 0;
}

int pleat_sim_workload_for(const struct pleat_sim_experiment *experiment, struct pleat_sim_run *run,
                           struct pleat_workload *own, const struct pleat_workload **workload,
                           struct pleat_error *err)
{
    const struct pleat_workload *from = &experiment->workload;
    *own = (struct pleat_workload){0};
    run->malleable = experiment->malleable;
    run->moldable = experiment->moldable;
    *workload = from;
    if (experiment->shared)
        return 0;
    if (pleat_array_reserve(&own->jobs, from->jobs.count) ||
        pleat_array_reserve(&own->apps, from->apps.count))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the workload of seed %llu",
                               (unsigned long long)run->seed);
    struct pleat_workload copy =
        *from; /* tables are shared: converting appends applications only */
    memcpy(own->jobs.items, from->jobs.items, from->jobs.count * sizeof(*from->jobs.items));
    memcpy(own->apps.items, from->apps.items, from->apps.count * sizeof(*from->apps.items));
    copy.jobs = own->jobs;
    copy.jobs.count = from->jobs.count;
    copy.apps = own->apps;
    copy.apps.count = from->apps.count;
    *own = copy;
    *workload = own;
    return convert(experiment, run->seed, own, &run->malleable, &run->moldable, err);
}

void pleat_sim_workload_drop(struct pleat_workload *own)
{
    pleat_array_finish(&own->jobs);
    pleat_array_finish(&own->apps);
    *own = (struct pleat_workload){0};
}
