/* `history`: what jobs did and used, over all that are known. */
#include <string.h>

#include "base/clock.h"
#include "daemon/daemon.h"

/* An answer is one line of limited length: it ends where one more could be too much. */
enum { ENTRY_BYTES = 600, PART_BYTES = 220, ANSWER_BYTES = 700000, LIMIT = 500 };

struct request {
    int64_t from_us, to_us; /* lives that overlap this */
    int64_t after, limit;
    int64_t job; /* -1: all */
};

static int read_request(const json_t *params, struct request *request, struct pleat_error *err)
{
    double from_s = 0, to_s = 0;
    request->job = -1;
    request->limit = LIMIT;
    int rc = pleat_get_real(params, "from_s", false, &from_s, err);
    if (!rc)
        rc = pleat_get_real(params, "to_s", false, &to_s, err);
    if (!rc)
        rc = pleat_get_int(params, "after", false, 0, INT64_MAX, &request->after, err);
    if (!rc)
        rc = pleat_get_int(params, "limit", false, 1, INT64_MAX, &request->limit, err);
    if (!rc)
        rc = pleat_get_int(params, "job", false, 1, INT64_MAX, &request->job, err);
    if (!rc && (!(from_s >= 0 && from_s <= 1e12) || !(to_s >= 0 && to_s <= 1e12)))
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "'from_s' and 'to_s' are seconds since 1970, up to 1e12");
    request->from_us = (int64_t)(from_s * (double)PLEAT_US_PER_S);
    request->to_us = json_object_get(params, "to_s") && to_s > 0
                         ? (int64_t)(to_s * (double)PLEAT_US_PER_S)
                         : INT64_MAX;
    return rc;
}

static json_t *seconds_or_null(int64_t us)
{
    return us == PLEAT_NEVER ? json_null() : json_real((double)us / 1e6);
}

static void add_times(json_t *object, const struct pleat_component *c, int64_t now_us)
{
    bool started = c->start_us != PLEAT_NEVER, ended = c->end_us != PLEAT_NEVER;
    int64_t until_us = started ? c->start_us : ended ? c->end_us : now_us;
    json_object_set_new(object, "submit_s", seconds_or_null(c->submit_us));
    json_object_set_new(object, "start_s", seconds_or_null(c->start_us));
    json_object_set_new(object, "end_s", seconds_or_null(c->end_us));
    json_object_set_new(object, "wait_s", json_real((double)(until_us - c->submit_us) / 1e6));
    json_object_set_new(object, "run_s",
                        started
                            ? json_real((double)((ended ? c->end_us : now_us) - c->start_us) / 1e6)
                            : json_null());
}

static json_t *entry_of(struct daemon *d, struct job *job)
{
    const struct pleat_component *c = job_component(d, job);
    struct account *account = job_account(d, job);
    int64_t now_us = daemon_now_us(d);
    bool over = pleat_state_is_final((enum pleat_state)c->state);
    if (!over)
        account_until(account, now_us);
    json_t *object = json_pack("{s:I, s:s, s:s, s:s, s:i, s:i, s:i, s:b}", "job",
                               (json_int_t)job->id, "name", job->spec.name ? job->spec.name : "",
                               "kind", pleat_kind_name((enum pleat_job_kind)c->kind), "state",
                               pleat_state_name((enum pleat_state)c->state), "min", c->minimum,
                               "max", c->maximum, "attempt", (int)c->attempt, "archived", 0);
    if (!object)
        return NULL;
    json_object_set_new(object, "reason",
                        c->reason == PLEAT_REASON_NONE
                            ? json_null()
                            : json_string(pleat_reason_name((enum pleat_reason)c->reason)));
    json_object_set_new(object, "exit_code", over ? json_integer(c->code) : json_null());
    json_object_set_new(object, "signal",
                        over && c->signal ? json_integer(c->signal) : json_null());
    add_times(object, c, now_us);
    account_add_use(account, object);
    return object;
}

static bool overlaps(const struct request *request, const struct pleat_component *c)
{
    return c->submit_us < request->to_us && c->end_us >= request->from_us;
}

static size_t length_of(const json_t *entry)
{
    return ENTRY_BYTES + PART_BYTES * (json_array_size(json_object_get(entry, "sizes")) +
                                       json_array_size(json_object_get(entry, "resizes")));
}

int method_history(struct client *client, int64_t number, const json_t *params,
                   struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    struct request request = {0};
    int rc = read_request(params, &request, err);
    if (rc)
        return rc;
    if (request.job >= 0 && !job_find(d, request.job))
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no job %lld: see 'pleat history'",
                               (long long)request.job);
    json_t *jobs = json_array();
    bool more = false;
    size_t length = 0;
    for (size_t i = 0; i < d->jobs.count && !more; i++) {
        struct job *job = d->jobs.items[i];
        if (job->id <= request.after || (request.job >= 0 && job->id != request.job) ||
            !overlaps(&request, job_component(d, job)))
            continue;
        more = length > ANSWER_BYTES || (int64_t)json_array_size(jobs) >= request.limit;
        if (more)
            break;
        json_t *entry = entry_of(d, job);
        length += length_of(entry);
        json_array_append_new(jobs, entry);
    }
    client_reply(client, number, json_pack("{s:o, s:b}", "jobs", jobs, "more", more));
    return 0;
}
