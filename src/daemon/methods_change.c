/* Methods that submit, cancel and resize jobs, and set their limits. */
#include <string.h>

#include "daemon/carry_out.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/methods.h"
#include "daemon/process_sites.h"
#include "daemon/slots.h"
#include "daemon/specs.h"
#include "daemon/turn_inputs.h"
#include "launch/launch.h"
#include "model/demand.h"
#include "model/indexes.h"
#include "model/submission.h"

static int find_site(struct daemon *d, const char *name, uint32_t *site, struct pleat_error *err)
{
    *site = name ? site_list_find(d, name) : PLEAT_NONE;
    if (name && *site == PLEAT_NONE)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no site '%s': see 'pleat sites'", name);
    if (name && d->config.sites[*site].leaving)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "site '%s' is being removed, and takes no jobs: see 'pleat sites'",
                               name);
    return 0;
}

/* Whether the program's MPI can resize it in the way that the spec wants. */
static int check_way(const struct pleat_spec *spec, struct pleat_error *err)
{
    enum pleat_mpi mpi;
    int rc = pleat_mpi_parse(spec->mpi, &mpi, err);
    if (rc || spec->kind != PLEAT_MALLEABLE || spec->resize != PLEAT_WAY_MERGE ||
        pleat_mpi_spawns(mpi))
        return rc;
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "a program of %s cannot start more processes while it runs: leave "
                           "'resize' at 'auto', and it is relaunched when its size changes",
                           spec->mpi);
}

/* Whether a job that folds may run at every site where it may be placed: there is no telling where
 * that will be. */
static int check_bound(struct daemon *d, uint32_t wanted, struct pleat_error *err)
{
    const char *bad = NULL, *good = NULL;
    for (size_t i = 0; i < d->config.site_count; i++) {
        const struct pleat_config_site *site = &d->config.sites[i];
        if ((wanted != PLEAT_NONE && wanted != i) || site->gone)
            continue;
        if (slots_may_fold(d, (uint32_t)i))
            good = site->name;
        else
            bad = site->name;
    }
    if (!bad)
        return 0;
    return pleat_error_set(
        err, PLEAT_E_UNSUPPORTED,
        "a job that folds needs processors that are its own, and site %s has more than this "
        "machine, bound to none: %s%s%ssay in the configuration which they are, as in cpus = "
        "\"0,1,0,1\" of the site (pleat.conf(5)), or run it unfolded (--no-fold)",
        bad, good ? "have it run at another site (--site " : "", good ? good : "",
        good ? "), " : "");
}

/* Makes the input that submits a job. It refers to `json` and `spec`, which stay the caller's. */
static int make_submit(struct client *client, int64_t request, json_t *json,
                       struct pleat_spec *spec, struct input *input, struct pleat_error *err)
{
    uint32_t site;
    int rc = find_site(client->daemon, spec->site, &site, err);
    if (rc)
        return rc;
    struct pleat_submission submission;
    *input =
        (struct input){.request = request, .reply = REPLY_SUBMIT, .spec_json = json, .spec = spec};
    pleat_submission_of_spec(spec, &submission);
    submission.site = site;
    pleat_submission_event(&submission, 0, PLEAT_NONE, &input->event);
    unsigned can = pleat_runner_kind_find(spec->runner)->capabilities;
    if (spec->kind == PLEAT_MALLEABLE && !(can & PLEAT_RUNNER_RESIZES))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a malleable job needs a runner that can resize it; '%s' cannot: "
                               "use the runner 'malleable' (a program linked with libpleat), or "
                               "make the job moldable",
                               spec->runner);
    rc = check_way(spec, err);
    if (!rc)
        rc = process_sites_check(client->daemon, spec, err);
    return rc || !spec->folds ? rc : check_bound(client->daemon, site, err);
}

static void drop_submits(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        json_decref(inputs->items[i].spec_json);
        if (inputs->items[i].spec)
            pleat_spec_finish(inputs->items[i].spec);
        free(inputs->items[i].spec);
    }
    pleat_array_finish(inputs);
}

/* Makes one task of a job array, and adds its input to *inputs. */
static int make_task(struct client *client, int64_t request, const json_t *params, int32_t index,
                     struct inputs *inputs, struct pleat_error *err)
{
    struct input input = {.spec_json = json_copy((json_t *)(uintptr_t)params),
                          .spec = calloc(1, sizeof(struct pleat_spec))};
    json_t *json = input.spec_json;
    json_t *array =
        json_pack("{s:i, s:O}", "index", index, "list", json_object_get(params, "array"));
    if (json_object_set_new(json, "array", array) || !input.spec ||
        pleat_array_push(inputs, input)) {
        json_decref(json);
        free(input.spec);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    struct pleat_spec *spec = input.spec;
    int rc = pleat_spec_from_json(json, spec, err);
    return rc ? rc
              : make_submit(client, request, json, spec, &inputs->items[inputs->count - 1], err);
}

/* Submits a job for each index, all in one turn: all of them are accepted, or none. The answer to
 * the last input is the answer about the array. */
static int submit_array(struct client *client, int64_t request, const json_t *params,
                        struct pleat_error *err)
{
    struct pleat_index_list list = {0};
    struct inputs inputs = {0};
    int32_t limit;
    int rc = method_check_writing(client->daemon, err);
    if (!rc)
        rc = pleat_indexes_parse(json_string_value(json_object_get(params, "array")), &list, &limit,
                                 err);
    for (size_t i = 0; !rc && i < list.count; i++)
        rc = make_task(client, request, params, list.items[i], &inputs, err);
    for (size_t i = 0; !rc && i < inputs.count; i++) {
        inputs.items[i].client = i + 1 == inputs.count ? client : NULL;
        turn_input(client->daemon, &inputs.items[i]);
        inputs.items[i].spec_json = NULL; /* the turn owns it now */
        inputs.items[i].spec = NULL;
    }
    drop_submits(&inputs);
    pleat_array_finish(&list);
    return rc;
}

/* The newest job that was submitted with this token; 0: none. A client that lost its connection
 * repeats its submission with the same token. An array is one submission, however many tasks it
 * has. */
static int64_t job_with_token(struct daemon *d, const char *token)
{
    enum { NEWEST = 2000 };
    struct pleat_error ignored;
    for (size_t left = d->jobs.by_number.count, n = 0; left > 0 && n < NEWEST; n++) {
        int64_t job = d->jobs.by_number.items[--left]->id;
        const json_t *spec = spec_json(d, job, &ignored);
        const char *known = spec ? json_string_value(json_object_get(spec, "token")) : NULL;
        if (known && !strcmp(known, token))
            return job;
        int64_t first = json_integer_value(json_object_get(json_object_get(spec, "array"), "job"));
        if (first > 0 && first < job) /* its tasks have consecutive numbers */
            left = job_after(d, first - 1);
    }
    return 0;
}

/* What a submission of this job is answered that is repeated. */
static json_t *submitted(struct daemon *d, int64_t job)
{
    struct pleat_spec_array array = job_spec(d, job)->array;
    return array.count ? json_pack("{s:I, s:i, s:[]}", "job", (json_int_t)array.job, "tasks",
                                   array.count, "warnings")
                       : json_pack("{s:I, s:[]}", "job", (json_int_t)job, "warnings");
}

int method_submit(struct client *client, int64_t request, const json_t *params,
                  struct pleat_error *err)
{
    const char *token = json_string_value(json_object_get(params, "token"));
    int64_t before = token && json_is_true(json_object_get(params, "again"))
                         ? job_with_token(client->daemon, token)
                         : 0;
    if (before) { /* answered with the next turn, since the job may not be written yet */
        turn_reply(client->daemon, client, request, submitted(client->daemon, before));
        turn_want(client->daemon);
        return 0;
    }
    struct pleat_spec *spec = calloc(1, sizeof(*spec));
    if (!spec)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int rc = pleat_spec_from_json(params, spec, err);
    if (rc) {
        free(spec);
        return rc;
    }
    if (spec->array.count && spec->array.place < 0) {
        pleat_spec_finish(spec);
        free(spec);
        return submit_array(client, request, params, err);
    }
    struct input input;
    json_t *json = json_deep_copy(params);
    if (spec->array.count)
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'array' is a list of indexes: \"0-9:2\"");
    else if (!json)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (!rc)
        rc = make_submit(client, request, json, spec, &input, err);
    if (!rc)
        rc = method_input(client, &input, err);
    if (rc) {
        json_decref(json);
        pleat_spec_finish(spec);
        free(spec);
    }
    return rc;
}

int method_cancel(struct client *client, int64_t request, const json_t *params,
                  struct pleat_error *err)
{
    int rc;
    bool now = false;
    const struct job *job = params_job(client, params, &rc, err);
    if (!job)
        return rc;
    rc = pleat_get_bool(params, "now", false, &now, err);
    if (rc)
        return rc;
    if (now) /* if the job is being ended the log says so already; if not, the input below comes
                first */
        carry_out_kill(client->daemon, job_find(client->daemon, job->id));
    struct input input = {.request = request,
                          .reply = REPLY_EMPTY,
                          .event = {.kind = PLEAT_EV_CANCEL, .component = job->component}};
    return method_input(client, &input, err);
}

int method_resize(struct client *client, int64_t request, const json_t *params,
                  struct pleat_error *err)
{
    int64_t size = -1, by = 0;
    bool mandatory = false;
    int rc;
    const struct job *job = params_job(client, params, &rc, err);
    if (!job)
        return rc;
    rc = pleat_get_int(params, "processors", false, 0, PLEAT_SIZE_MAX, &size, err);
    if (!rc)
        rc = pleat_get_int(params, "by", false, -PLEAT_SIZE_MAX, PLEAT_SIZE_MAX, &by, err);
    if (!rc)
        rc = pleat_get_bool(params, "mandatory", false, &mandatory, err);
    if (rc)
        return rc;
    const struct pleat_component *component = job_component(client->daemon, job);
    if (size < 0)
        size = component->processors + by < 0 ? 0 : component->processors + by;
    struct input input = {.request = request,
                          .reply = REPLY_RESIZE,
                          .before = component->processors,
                          .event = {.kind = PLEAT_EV_DEMAND,
                                    .component = job->component,
                                    .flags = mandatory ? PLEAT_MANDATORY : PLEAT_CAP_AS_ACCEPTED,
                                    .u.demand = {.processors = (int32_t)size}}};
    return method_input(client, &input, err);
}

/* Changes the time limit. A request has either this or limits of the size, since it becomes one
 * event with one answer. */
static int change_time_limit(struct client *client, int64_t request, const struct job *job,
                             const json_t *params, struct pleat_error *err)
{
    const struct pleat_component *component = job_component(client->daemon, job);
    double limit_s = 0;
    int rc = json_is_null(json_object_get(params, "limit_s"))
                 ? 0
                 : pleat_get_real(params, "limit_s", true, &limit_s, err);
    if (!rc && !(limit_s >= 0 && limit_s <= 1e9))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'limit_s' must be between 0 and 1e9 seconds");
    if (!rc && (json_object_get(params, "min") || json_object_get(params, "max")))
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "'limit_s' goes without 'min' and 'max': ask twice");
    if (rc)
        return rc;
    const struct pleat_terms *terms =
        pleat_view_terms(pleat_core_view(client->daemon->core), component);
    struct input input = {.request = request,
                          .reply = REPLY_EMPTY,
                          .event = {.kind = PLEAT_EV_TERMS,
                                    .component = job->component,
                                    .u.terms = {.notice_us = terms->notice_us,
                                                .lifetime_us = terms->lifetime_us,
                                                .limit_us = (int64_t)(limit_s * 1e6)}}};
    return method_input(client, &input, err);
}

int method_limits(struct client *client, int64_t request, const json_t *params,
                  struct pleat_error *err)
{
    int rc;
    const struct job *job = params_job(client, params, &rc, err);
    if (!job)
        return rc;
    const struct pleat_component *component = job_component(client->daemon, job);
    bool folds = pleat_view_folds(component);
    const struct pleat_view *view = pleat_core_view(client->daemon->core);
    const struct pleat_folding *folding = pleat_view_folding(view, component);
    int64_t minimum = folds ? folding->partition_least : pleat_view_asked_least(view, component);
    int64_t maximum = folds ? folding->partition_most : pleat_view_asked(view, component);
    rc = pleat_get_int(params, "min", false, 0, PLEAT_SIZE_MAX, &minimum, err);
    if (!rc)
        rc = pleat_get_int(params, "max", false, 1, PLEAT_SIZE_MAX, &maximum, err);
    if (!rc && json_object_get(params, "limit_s"))
        return change_time_limit(client, request, job, params, err);
    int32_t cpus = rc ? 0 : job_spec(client->daemon, job->id)->cpus_per_task;
    if (cpus > 1 && (minimum % cpus || maximum % cpus))
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "each process of job %lld has %d processors: its limits must be "
                             "multiples of %d processors",
                             (long long)job->id, cpus, cpus);
    if (rc)
        return rc;
    struct input input = {
        .request = request,
        .reply = REPLY_EMPTY,
        .event = {.kind = PLEAT_EV_LIMITS,
                  .component = job->component,
                  .u.limits = {.minimum = (int32_t)minimum, .maximum = (int32_t)maximum}}};
    if (folds) { /* the user means processors; a folded job's limits are about processes */
        input.event.kind = PLEAT_EV_PARTITION;
        input.event.flags = PLEAT_PARTITION_NEAREST;
        input.event.u.partition.minimum = (int32_t)minimum;
        input.event.u.partition.maximum = (int32_t)maximum;
        input.event.u.partition.mpl = folding->mpl_first;
    }
    return method_input(client, &input, err);
}
