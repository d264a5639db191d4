/* Methods that ask about jobs: their state, end, output and events. Methods with longer answers
 * have files of their own: history.c, why.c, top.c.
 */
#include <string.h>

#include "daemon/accounts.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/follow.h"
#include "daemon/job_json.h"
#include "daemon/jobs.h"
#include "daemon/methods.h"
#include "daemon/notes.h"
#include "daemon/parked.h"
#include "daemon/top.h"
#include "daemon/why.h"

enum { PAGE_BYTES = PLEAT_WIRE_LINE_MAX / 8 * 7 }; /* bytes of jobs in one answer at most */

/* Takes the job. False: the page is full, and the job was not added. */
static bool add_to_page(json_t *jobs, json_t *job, size_t *bytes)
{
    *bytes += json_dumpb(job, NULL, 0, JSON_COMPACT) + 1;
    if (*bytes <= PAGE_BYTES || json_array_size(jobs) == 0)
        return json_array_append_new(jobs, job) == 0;
    json_decref(job);
    return false;
}

int method_jobs(struct client *client, int64_t request, const json_t *params,
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
    for (size_t i = job_after(d, after); i < d->jobs.by_number.count && !more; i++) {
        struct job *job = d->jobs.by_number.items[i];
        if (job->ended && !all)
            continue;
        more = limit-- == 0 ||
               !add_to_page(jobs, brief ? job_brief(d, job) : job_to_json(d, job, false), &bytes);
    }
    client_reply(client, request, json_pack("{s:o, s:b}", "jobs", jobs, "more", more));
    return 0;
}

int method_job(struct client *client, int64_t request, const json_t *params,
               struct pleat_error *err)
{
    int64_t id;
    int rc = params_job_number(client, params, &id, err);
    if (rc)
        return rc;
    struct job *job = job_find(client->daemon, id);
    client_reply(client, request,
                 job ? job_to_json(client->daemon, job, true)
                     : accounts_job(client->daemon, id, true));
    return 0;
}

int method_why(struct client *client, int64_t request, const json_t *params,
               struct pleat_error *err)
{
    int rc;
    json_t *result;
    struct job *job = params_job(client, params, &rc, err);
    if (!job)
        return rc;
    rc = why_to_json(client->daemon, job, &result, err);
    if (!rc)
        client_reply(client, request, result);
    return rc;
}

int method_top(struct client *client, int64_t request, const json_t *params,
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

int method_wait(struct client *client, int64_t request, const json_t *params,
                struct pleat_error *err)
{
    int64_t job;
    bool terminal = false;
    int rc = params_job_if_named(client, params, &job, err);
    if (!rc)
        rc = pleat_get_bool(params, "terminal", false, &terminal, err);
    if (!rc && terminal && job >= 0)
        terminals_keep(client, job);
    if (!rc)
        parked_wait(client, request, job);
    return rc;
}

int method_output(struct client *client, int64_t request, const json_t *params,
                  struct pleat_error *err)
{
    const char *stream = "stdout";
    struct output_wish wish = {0};
    int rc = params_job_number(client, params, &wish.job, err);
    if (!rc)
        rc = pleat_get_string(params, "stream", false, &stream, err);
    if (!rc)
        rc = pleat_get_int(params, "offset", false, 0, INT64_MAX, &wish.offset, err);
    if (!rc)
        rc = pleat_get_bool(params, "follow", false, &wish.follow, err);
    if (!rc)
        rc = pleat_get_bool(params, "paths", false, &wish.paths, err);
    if (!rc)
        rc = pleat_get_bool(params, "read", false, &wish.read, err);
    if (!rc && strcmp(stream, "stdout") && strcmp(stream, "stderr"))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "no stream '%s': stdout or stderr", stream);
    if (!rc) {
        snprintf(wish.stream, sizeof(wish.stream), "%s", stream);
        parked_output(client, request, &wish);
    }
    return rc;
}

static int add_event(void *arg, const struct pleat_note *note)
{
    json_t *data = json_loads(note->data, 0, NULL);
    json_t *event = note_to_json(note->seq, note->time_us, note->kind, note->job, data);
    json_decref(data);
    return event && !json_array_append_new(arg, event) ? 0 : PLEAT_E_NOMEM;
}

static int read_filter(struct client *client, const json_t *params,
                       struct pleat_note_filter *filter, struct pleat_error *err)
{
    double from_s = 0;
    int rc = params_job_if_named(client, params, &filter->job, err);
    if (!rc)
        rc = pleat_get_real(params, "from_s", false, &from_s, err);
    if (!rc && !(from_s >= 0 && from_s <= 1e12))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'from_s' is in seconds since 1970, up to 1e12");
    filter->from_us = (int64_t)(from_s * 1e6);
    if (!rc)
        rc = pleat_get_int(params, "after", false, 0, INT64_MAX, &filter->after_seq, err);
    return rc;
}

/* The sequence number from which the next request is to go on. */
static int64_t last_of(const json_t *events, const json_t *params)
{
    size_t count = json_array_size(events);
    return json_integer_value(count ? json_object_get(json_array_get(events, count - 1), "seq")
                                    : json_object_get(params, "after"));
}

int method_events(struct client *client, int64_t request, const json_t *params,
                  struct pleat_error *err)
{
    struct pleat_note_filter filter = {.limit = 2000};
    int rc = read_filter(client, params, &filter, err);
    if (!rc)
        rc = pleat_get_int(params, "limit", false, 1, 4000, &filter.limit, err);
    if (rc)
        return rc;
    json_t *events = json_array();
    rc = pleat_store_read_notes(client->daemon->store, &filter, add_event, events, err);
    if (rc)
        json_decref(events);
    else
        client_reply(
            client, request,
            json_pack("{s:o, s:I}", "events", events, "last", (json_int_t)last_of(events, params)));
    return rc;
}

int method_follow(struct client *client, int64_t request, const json_t *params,
                  struct pleat_error *err)
{
    struct pleat_note_filter filter = {0};
    int rc = read_filter(client, params, &filter, err);
    if (rc)
        return rc;
    client_reply(client, request, json_object());
    follow_begin(client, &filter);
    return 0;
}
