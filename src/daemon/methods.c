/* What clients can ask: a table of methods (docs/protocol.md, "Client and daemon"). */
#include <string.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "launch/launch.h"

/* A method answers (now or later) or fills *err. */
enum { PAGE_BYTES = PLEAT_WIRE_LINE_MAX / 8 * 7 }; /* of jobs in one answer */

typedef int (*method)(struct client *client, int64_t request, const json_t *params,
                      struct pleat_error *err);

/* The number of the job that the params name, which may have been let go of; -1 where they name
 * none. */
static int find_number_if_named(struct client *client, const json_t *params, int64_t *id,
                                struct pleat_error *err)
{
    *id = -1;
    int rc = pleat_get_int(params, "job", false, 1, INT64_MAX, id, err);
    if (rc || *id < 0 || job_find(client->daemon, *id) || archive_knows(client->daemon, *id))
        return rc;
    return pleat_error_set(err, PLEAT_E_NOTFOUND, "no job %lld: see 'pleat ps --all'",
                           (long long)*id);
}

static int find_number(struct client *client, const json_t *params, int64_t *id,
                       struct pleat_error *err)
{
    int rc = find_number_if_named(client, params, id, err);
    if (!rc && *id < 0)
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'job' is missing: which job?");
    return rc;
}

/* The job that the params must name, to change something about it; NULL and *rc otherwise. */
static struct job *find_job(struct client *client, const json_t *params, int *rc,
                            struct pleat_error *err)
{
    int64_t id;
    *rc = find_number(client, params, &id, err);
    if (*rc)
        return NULL;
    struct job *job = job_find(client->daemon, id);
    if (!job)
        *rc = pleat_error_set(err, PLEAT_E_STATE, "it has ended already, and is archived");
    return job;
}

/* Inputs are refused before the core while nothing can be written. */
static int check_writing(const struct daemon *d, struct pleat_error *err)
{
    return d->holding ? pleat_error_set(err, PLEAT_E_BUSY,
                                        "the daemon cannot write its log (%s): nothing is taken "
                                        "until it can",
                                        d->holding_why.text)
                      : 0;
}

static int take_input(struct client *client, struct input *input, struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    int rc = check_writing(d, err);
    if (rc)
        return rc;
    input->client = client;
    turn_input(d, input);
    return 0;
}

static int find_site(struct daemon *d, const char *name, uint32_t *site, struct pleat_error *err)
{
    *site = PLEAT_NONE;
    if (!name)
        return 0;
    for (size_t i = 0; i < d->config.site_count; i++)
        if (!strcmp(d->config.sites[i].name, name))
            *site = (uint32_t)i;
    return *site != PLEAT_NONE
               ? 0
               : pleat_error_set(err, PLEAT_E_NOTFOUND, "no site '%s': see 'pleat sites'", name);
}

/* Whether the program's MPI can do it. */
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

static int submit_spec(struct client *client, int64_t request, json_t *json,
                       struct pleat_spec *spec, struct pleat_error *err)
{
    uint32_t site;
    int rc = find_site(client->daemon, spec->site, &site, err);
    if (rc)
        return rc;
    struct input input = {.request = request,
                          .reply = REPLY_SUBMIT,
                          .spec_json = json,
                          .spec = spec,
                          .event = {.kind = PLEAT_EV_SUBMIT,
                                    .u.submit = {.estimate_us = spec->estimate_us,
                                                 .minimum = spec->minimum,
                                                 .maximum = spec->maximum,
                                                 .initial = spec->initial,
                                                 .site = site,
                                                 .priority = spec->priority,
                                                 .job_kind = (uint8_t)spec->kind,
                                                 .sizes_kind = (uint8_t)spec->sizes.kind}}};
    unsigned can = pleat_runner_capabilities(spec->runner);
    if (spec->kind == PLEAT_MALLEABLE && !(can & PLEAT_RUNNER_RESIZES))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a malleable job needs a runner that can resize it; '%s' cannot: "
                               "use the runner 'malleable' (a program linked with libpleat), or "
                               "make the job moldable",
                               spec->runner);
    rc = check_way(spec, err);
    if (rc)
        return rc;
    bool relaunches = can & PLEAT_RUNNER_RELAUNCHES && spec->resize != PLEAT_WAY_MERGE;
    input.event.flags = (uint16_t)((spec->asks ? PLEAT_COMPONENT_ASKS : 0) |
                                   (can & PLEAT_RUNNER_EMPTIES ? PLEAT_COMPONENT_EMPTY : 0) |
                                   (relaunches ? PLEAT_COMPONENT_RELAUNCHES : 0));
    return take_input(client, &input, err);
}

static int method_submit(struct client *client, int64_t request, const json_t *params,
                         struct pleat_error *err)
{
    struct pleat_spec *spec = calloc(1, sizeof(*spec));
    if (!spec)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int rc = pleat_spec_from_json(params, spec, err);
    if (rc) {
        free(spec);
        return rc;
    }
    json_t *json = json_deep_copy(params);
    if (!json)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (!rc)
        rc = submit_spec(client, request, json, spec, err);
    if (rc) {
        json_decref(json);
        pleat_spec_finish(spec);
        free(spec);
    }
    return rc;
}

/* False, and the job is let go, where an answer would get too long with it: the page is full. */
static bool add_to_page(json_t *jobs, json_t *job, size_t *bytes)
{
    *bytes += json_dumpb(job, NULL, 0, JSON_COMPACT) + 1;
    if (*bytes <= PAGE_BYTES || json_array_size(jobs) == 0)
        return json_array_append_new(jobs, job) == 0;
    json_decref(job);
    return false;
}

static int method_jobs(struct client *client, int64_t request, const json_t *params,
                       struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    bool all = false, brief = false;
    int64_t after = 0, limit = INT64_MAX;
    int rc = pleat_get_bool(params, "all", false, &all, err);
    if (!rc)
        rc = pleat_get_bool(params, "brief", false, &brief, err);
    if (!rc)
        rc = pleat_get_int(params, "after", false, 0, INT64_MAX, &after, err);
    if (!rc)
        rc = pleat_get_int(params, "limit", false, 1, INT64_MAX, &limit, err);
    if (rc)
        return rc;
    json_t *jobs = json_array();
    size_t bytes = 0;
    bool more = false;
    for (size_t i = job_after(d, after); i < d->numbers.count && limit > 0 && !more; i++) {
        struct job *job = d->numbers.items[i];
        if (job->ended && !all)
            continue;
        more = !add_to_page(jobs, brief ? job_brief(d, job) : job_to_json(d, job, false), &bytes);
        limit--;
    }
    client_reply(client, request, json_pack("{s:o, s:b}", "jobs", jobs, "more", more));
    return 0;
}

static int method_job(struct client *client, int64_t request, const json_t *params,
                      struct pleat_error *err)
{
    int64_t id;
    int rc = find_number(client, params, &id, err);
    if (rc)
        return rc;
    struct job *job = job_find(client->daemon, id);
    client_reply(client, request,
                 job ? job_to_json(client->daemon, job, true)
                     : archive_job(client->daemon, id, true));
    return 0;
}

static int method_why(struct client *client, int64_t request, const json_t *params,
                      struct pleat_error *err)
{
    int rc;
    json_t *result;
    struct job *job = find_job(client, params, &rc, err);
    if (!job)
        return rc;
    rc = why_to_json(client->daemon, job, &result, err);
    if (!rc)
        client_reply(client, request, result);
    return rc;
}

static int method_top(struct client *client, int64_t request, const json_t *params,
                      struct pleat_error *err)
{
    int64_t limit = 200, ended = 0;
    json_t *result;
    int rc = pleat_get_int(params, "limit", false, 0, 800, &limit, err);
    if (!rc)
        rc = pleat_get_int(params, "ended", false, 0, 200, &ended, err);
    if (!rc)
        rc = top_to_json(client->daemon, limit, ended, &result, err);
    if (!rc)
        client_reply(client, request, result);
    return rc;
}

static int method_cancel(struct client *client, int64_t request, const json_t *params,
                         struct pleat_error *err)
{
    int rc;
    const struct job *job = find_job(client, params, &rc, err);
    if (!job)
        return rc;
    struct input input = {.request = request,
                          .reply = REPLY_EMPTY,
                          .event = {.kind = PLEAT_EV_CANCEL, .component = job->component}};
    return take_input(client, &input, err);
}

static int method_resize(struct client *client, int64_t request, const json_t *params,
                         struct pleat_error *err)
{
    int64_t size = -1, by = 0;
    bool mandatory = false;
    int rc;
    const struct job *job = find_job(client, params, &rc, err);
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
                                    .flags = mandatory ? PLEAT_MANDATORY : 0,
                                    .u.demand = {.processors = (int32_t)size}}};
    return take_input(client, &input, err);
}

/* Either of the limits in one request: each is one event, and one answer. */
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
    struct input input = {.request = request,
                          .reply = REPLY_EMPTY,
                          .event = {.kind = PLEAT_EV_TERMS,
                                    .component = job->component,
                                    .u.terms = {.notice_us = component->notice_us,
                                                .lifetime_us = component->lifetime_us,
                                                .limit_us = (int64_t)(limit_s * 1e6)}}};
    return take_input(client, &input, err);
}

static int method_limits(struct client *client, int64_t request, const json_t *params,
                         struct pleat_error *err)
{
    int rc;
    const struct job *job = find_job(client, params, &rc, err);
    if (!job)
        return rc;
    const struct pleat_component *component = job_component(client->daemon, job);
    int64_t minimum = component->minimum, maximum = component->maximum;
    rc = pleat_get_int(params, "min", false, 0, PLEAT_SIZE_MAX, &minimum, err);
    if (!rc)
        rc = pleat_get_int(params, "max", false, 1, PLEAT_SIZE_MAX, &maximum, err);
    if (!rc && json_object_get(params, "limit_s"))
        return change_time_limit(client, request, job, params, err);
    if (rc)
        return rc;
    struct input input = {
        .request = request,
        .reply = REPLY_EMPTY,
        .event = {.kind = PLEAT_EV_LIMITS,
                  .component = job->component,
                  .u.limits = {.minimum = (int32_t)minimum, .maximum = (int32_t)maximum}}};
    return take_input(client, &input, err);
}

static int method_wait(struct client *client, int64_t request, const json_t *params,
                       struct pleat_error *err)
{
    int64_t job;
    int rc = find_number_if_named(client, params, &job, err);
    if (!rc)
        parked_wait(client, request, job);
    return rc;
}

static int method_output(struct client *client, int64_t request, const json_t *params,
                         struct pleat_error *err)
{
    const char *stream = "stdout";
    int64_t offset = 0;
    bool follow = false;
    int64_t job;
    int rc = find_number(client, params, &job, err);
    if (!rc)
        rc = pleat_get_string(params, "stream", false, &stream, err);
    if (!rc)
        rc = pleat_get_int(params, "offset", false, 0, INT64_MAX, &offset, err);
    if (!rc)
        rc = pleat_get_bool(params, "follow", false, &follow, err);
    if (!rc && strcmp(stream, "stdout") && strcmp(stream, "stderr"))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "no stream '%s': stdout or stderr", stream);
    if (!rc)
        parked_output(client, request, job, stream, offset, follow);
    return rc;
}

static int add_event(void *arg, const struct pleat_note *note)
{
    json_t *data = json_loads(note->data, 0, NULL);
    json_t *event = note_to_json(note->seq, note->time_us, note->kind, note->job, data);
    json_decref(data);
    return event && !json_array_append_new(arg, event) ? 0 : PLEAT_E_NOMEM;
}

static int read_events(struct client *client, const json_t *params, json_t **events, int64_t *job,
                       int64_t default_limit, struct pleat_error *err)
{
    struct pleat_note_filter filter = {.limit = default_limit};
    double from_s = 0;
    int rc = find_number_if_named(client, params, &filter.job, err);
    if (!rc)
        rc = pleat_get_real(params, "from_s", false, &from_s, err);
    if (!rc && !(from_s >= 0 && from_s <= 1e12))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'from_s' is in seconds since 1970, up to 1e12");
    filter.from_us = (int64_t)(from_s * 1e6);
    if (!rc)
        rc = pleat_get_int(params, "after", false, 0, INT64_MAX, &filter.after_seq, err);
    if (!rc)
        rc = pleat_get_int(params, "limit", false, 1, 4000, &filter.limit, err);
    if (rc)
        return rc;
    *job = filter.job;
    *events = json_array();
    rc = pleat_store_read_notes(client->daemon->store, &filter, add_event, *events, err);
    if (rc)
        json_decref(*events);
    return rc;
}

/* From where to ask on. */
static int64_t last_of(const json_t *events, const json_t *params)
{
    size_t count = json_array_size(events);
    return json_integer_value(count ? json_object_get(json_array_get(events, count - 1), "seq")
                                    : json_object_get(params, "after"));
}

static int method_events(struct client *client, int64_t request, const json_t *params,
                         struct pleat_error *err)
{
    json_t *events;
    int64_t job;
    int rc = read_events(client, params, &events, &job, 2000, err);
    if (!rc)
        client_reply(
            client, request,
            json_pack("{s:o, s:I}", "events", events, "last", (json_int_t)last_of(events, params)));
    return rc;
}

static int method_follow(struct client *client, int64_t request, const json_t *params,
                         struct pleat_error *err)
{
    json_t *events;
    int64_t job;
    int rc = read_events(client, params, &events, &job, 0, err);
    if (rc)
        return rc;
    client_reply(client, request, NULL);
    size_t index;
    json_t *event;
    json_array_foreach(events, index, event)
    {
        struct pleat_string out = {0};
        if (pleat_write_notification(&out, "event", json_incref(event)))
            daemon_log("a notification could not be written");
        client_send(client, &out);
    }
    json_decref(events);
    client->follows = client->connection != NULL;
    client->follow_job = job;
    return 0;
}

static int method_sites(struct client *client, int64_t request, const json_t *params,
                        struct pleat_error *err)
{
    (void)params;
    (void)err;
    struct daemon *d = client->daemon;
    const struct pleat_view *view = pleat_core_view(d->core);
    json_t *sites = json_array();
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    for (uint32_t i = 0; i < view->site_count && i < d->config.site_count; i++) {
        const struct pleat_site *site = &view->sites[i];
        int32_t unused = site->capacity - site->held - site->background;
        json_array_append_new(
            sites, json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:b, s:I}", "name",
                             d->config.sites[i].name, "kind", d->config.sites[i].kind, "processors",
                             site->capacity, "free", unused > 0 ? unused : 0, "used", site->held,
                             "background", site->background, "threshold", site->threshold,
                             "oversubscribed", site->capacity > cpus, "cpus", (json_int_t)cpus));
    }
    client_reply(client, request, json_pack("{s:o}", "sites", sites));
    return 0;
}

static json_t *parameters_to_json(struct daemon *d)
{
    json_t *object = json_object();
    for (uint32_t p = pleat_parameter_next(0); p; p = pleat_parameter_next(p)) {
        char name[40];
        snprintf(name, sizeof(name), "%s", pleat_parameter_name(p));
        size_t length = strlen(name);
        int64_t value = pleat_core_parameter(d->core, (enum pleat_parameter)p);
        if (length > 3 && !strcmp(name + length - 3, "_us")) {
            snprintf(name + length - 2, 2, "s");
            json_object_set_new(object, name, json_real((double)value / 1e6));
        } else {
            json_object_set_new(object, name, json_integer(value));
        }
    }
    return object;
}

static int method_info(struct client *client, int64_t request, const json_t *params,
                       struct pleat_error *err)
{
    (void)params;
    (void)err;
    struct daemon *d = client->daemon;
    json_t *policies = json_object();
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        json_object_set_new(policies, pleat_question_name((enum pleat_question)q),
                            json_string(pleat_core_policy(d->core, (enum pleat_question)q)->name));
    client_reply(client, request,
                 json_pack("{s:s, s:i, s:s, s:s, s:s, s:f, s:o, s:o, s:o, s:I, s:s?, s:s?, s:s?}",
                           "version", PLEAT_VERSION, "pid", (int)getpid(), "socket",
                           d->paths.socket, "directory", d->paths.state, "instance", d->instance,
                           "started_s", (double)d->started_us / 1e6, "policies", policies,
                           "parameters", parameters_to_json(d), "jobs", jobs_counts(d),
                           "log_records", (json_int_t)pleat_store_last_seq(d->store),
                           "configuration", d->config.path, "holding",
                           d->holding ? d->holding_why.text : NULL, "damage", salvage_text(d)));
    return 0;
}

static int method_policies(struct client *client, int64_t request, const json_t *params,
                           struct pleat_error *err)
{
    (void)params;
    (void)err;
    json_t *list = json_array();
    const struct pleat_policy *policy;
    for (size_t i = 0; (policy = pleat_policy_at(i)); i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s, s:b}", "question",
                            pleat_question_name(policy->question), "name", policy->name, "source",
                            policy->source, "summary", policy->summary, "active",
                            pleat_core_policy(client->daemon->core, policy->question) == policy));
    client_reply(client, request, json_pack("{s:o}", "policies", list));
    return 0;
}

/* One question and its answer; PLEAT_E_NOTFOUND names what there is. */
static int find_policy(const char *question, const char *name, const struct pleat_policy **out,
                       struct pleat_error *err)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        if (strcmp(pleat_question_name((enum pleat_question)q), question))
            continue;
        *out = name ? pleat_policy_find((enum pleat_question)q, name) : NULL;
        return *out ? 0
                    : pleat_error_set(err, PLEAT_E_NOTFOUND,
                                      "no %s policy '%s': see 'pleat policies'", question,
                                      name ? name : "");
    }
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "no question '%s': approach, queue, order, placement, moldability, "
                           "malleability",
                           question);
}

static int method_configure(struct client *client, int64_t request, const json_t *params,
                            struct pleat_error *err)
{
    json_t *wanted = json_object_get(params, "policies");
    const struct pleat_policy *found[PLEAT_QUESTION_COUNT] = {NULL};
    const struct pleat_policy *policy = NULL;
    const char *question;
    json_t *name;
    int left = 0;
    if (!json_is_object(wanted))
        return pleat_error_set(err, PLEAT_E_INVALID, "'policies' must be an object");
    json_object_foreach(wanted, question, name)
    {
        int rc = find_policy(question, json_string_value(name), &policy, err);
        if (rc || !policy)
            return rc;
        found[policy->question] = policy;
    }
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        left += found[q] != NULL;
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        if (!found[q])
            continue;
        struct input input = {.request = request,
                              .reply = REPLY_EMPTY,
                              .event = {.kind = PLEAT_EV_POLICY,
                                        .component = PLEAT_NONE,
                                        .u.policy = {.question = (uint32_t)q,
                                                     .policy = found[q]->number,
                                                     .version = found[q]->version}}};
        if (--left > 0) /* the last one answers */
            turn_event(client->daemon, &input.event);
        else
            return take_input(client, &input, err);
    }
    client_reply(client, request, NULL);
    return 0;
}

static int method_stop(struct client *client, int64_t request, const json_t *params,
                       struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    bool force = false;
    int active = 0;
    int rc = pleat_get_bool(params, "force", false, &force, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < d->numbers.count; i++) {
        if (d->numbers.items[i]->ended)
            continue;
        active++;
        struct pleat_event cancel = {.kind = PLEAT_EV_CANCEL,
                                     .component = d->numbers.items[i]->component};
        if (!force)
            continue;
        rc = check_writing(d, err); /* else the user would wait for it without knowing why */
        if (rc)
            return rc;
        turn_event(d, &cancel);
    }
    if (active > 0 && !force)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "%d job%s not ended: cancel %s, or stop with --force", active,
                               active == 1 ? " has" : "s have", active == 1 ? "it" : "them");
    client_reply(client, request, NULL);
    d->stopping = true;
    if (active == 0)
        daemon_stop(d);
    return 0;
}

void method_call(struct client *client, const struct pleat_message *message)
{
    static const struct {
        const char *name;
        method call;
    } methods[] = {
        {"submit", method_submit},     {"jobs", method_jobs},
        {"job", method_job},           {"cancel", method_cancel},
        {"resize", method_resize},     {"limits", method_limits},
        {"wait", method_wait},         {"output", method_output},
        {"events", method_events},     {"follow", method_follow},
        {"sites", method_sites},       {"info", method_info},
        {"policies", method_policies}, {"configure", method_configure},
        {"stop", method_stop},         {"history", method_history},
        {"why", method_why},           {"top", method_top},
        {"clean", method_clean},
    };
    struct pleat_error err = {0};
    int rc = pleat_error_set(&err, PLEAT_E_NOTFOUND, "no method '%s'", message->method);
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (!strcmp(methods[i].name, message->method))
            rc = methods[i].call(client, message->id, message->params, &err);
    if (rc < 0)
        client_fail(client, message->id, &err);
}
