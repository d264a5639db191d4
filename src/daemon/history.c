/* `history`: what jobs did and used, for all jobs of which an account is kept. */
#include <string.h>

#include "base/clock.h"
#include "daemon/account.h"
#include "daemon/accounts.h"
#include "daemon/buffer_json.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/history.h"
#include "daemon/job_json.h"
#include "daemon/jobs.h"
#include "daemon/methods.h"
#include "daemon/specs.h"

/* Bounds of an answer, which is one line of limited length. Sizes of entries are estimated:
 * ENTRY_BYTES for each, PART_BYTES for each size and resize in it. */
enum { ENTRY_BYTES = 600, PART_BYTES = 220, ANSWER_BYTES = 700000, LIMIT = 500 };

struct request {
    int64_t from_us, to_us; /* only jobs that lived at some time in between */
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

json_t *history_entry(struct daemon *d, struct job *job)
{
    const struct pleat_component *c = job_component(d, job);
    struct account *account = job_account(d, job);
    int64_t now_us = daemon_now_us(d);
    bool over = pleat_component_state_is_final((enum pleat_component_state)c->state);
    if (!over)
        account_until(account, now_us);
    json_t *object = json_pack(
        "{s:I, s:s, s:s, s:s, s:i, s:i, s:i, s:b}", "job", (json_int_t)job->id, "name",
        job_name(d, job->id), "kind", pleat_kind_name((enum pleat_job_kind)c->kind), "state",
        pleat_component_state_name((enum pleat_component_state)c->state), "min",
        job_minimum(pleat_core_view(d->core), c), "max", job_maximum(pleat_core_view(d->core), c),
        "attempt", (int)c->attempt, "archived", 0);
    if (!object)
        return NULL;
    json_object_set_new(object, "reason",
                        c->reason == PLEAT_REASON_NONE
                            ? json_null()
                            : json_string(pleat_reason_name((enum pleat_reason)c->reason)));
    json_object_set_new(object, "exit_code", over ? json_integer(c->code) : json_null());
    json_object_set_new(object, "signal",
                        over && c->signal ? json_integer(c->signal) : json_null());
    json_t *buffer = buffer_to_json(d, c);
    if (json_is_null(buffer) && account->buffer)
        buffer = json_incref(account->buffer);
    json_object_set_new(object, "buffer", buffer);
    job_add_times(object, c, now_us);
    account_add_use(account, object);
    return object;
}

static bool overlaps(const struct request *request, const struct pleat_component *c)
{
    return c->submit_us < request->to_us && c->end_us >= request->from_us;
}

/* An answer being made, in the order of job numbers. */
struct answer {
    struct daemon *d;
    const struct request *request;
    json_t *jobs;
    size_t length;
    bool more;
};

static size_t length_of(const json_t *entry)
{
    return ENTRY_BYTES + PART_BYTES * (json_array_size(json_object_get(entry, "sizes")) +
                                       json_array_size(json_object_get(entry, "resizes")));
}

/* Takes the entry. False: the answer is full, and the entry was not added. */
static bool add(struct answer *answer, json_t *entry)
{
    if (answer->length > ANSWER_BYTES ||
        (int64_t)json_array_size(answer->jobs) >= answer->request->limit) {
        json_decref(entry);
        answer->more = true;
        return false;
    }
    answer->length += length_of(entry);
    return entry && !json_array_append_new(answer->jobs, entry);
}

static int add_account(void *arg, const struct pleat_account_row *row)
{
    struct answer *answer = arg;
    return add(answer, accounts_entry(answer->d, row)) ? 0 : 1;
}

static bool is_asked_for(struct daemon *d, const struct request *request, const struct job *job)
{
    return !job->accounted && overlaps(request, job_component(d, job)) &&
           (request->job < 0 || request->job == job->id);
}

/* Merges two lists in the order of job numbers: accounts from the store, and jobs that have none
 * yet. What comes after the last entry that fits is left for the next request. */
static int fill(struct answer *answer, struct pleat_error *err)
{
    struct daemon *d = answer->d;
    const struct request *request = answer->request;
    struct pleat_account_filter filter = {.after_job = request->after,
                                          .last_job = INT64_MAX,
                                          .from_us = request->from_us,
                                          .to_us = request->to_us};
    if (request->job >= 0) {
        filter.last_job = request->job;
        if (request->after < request->job)
            filter.after_job = request->job - 1;
    }
    struct answer accounts = {.d = d, .request = request, .jobs = json_array()};
    int rc = pleat_store_read_accounts(d->store, &filter, add_account, &accounts, err);
    size_t next = job_after(d, request->after), i;
    bool room = rc >= 0;
    json_t *entry;
    json_array_foreach(accounts.jobs, i, entry)
    {
        int64_t number = json_integer_value(json_object_get(entry, "job"));
        for (; room && next < d->jobs.by_number.count && d->jobs.by_number.items[next]->id < number;
             next++)
            if (is_asked_for(d, request, d->jobs.by_number.items[next]))
                room = add(answer, history_entry(d, d->jobs.by_number.items[next]));
        room = room && add(answer, json_incref(entry));
    }
    answer->more = answer->more || accounts.more;
    for (; room && !accounts.more && next < d->jobs.by_number.count; next++)
        if (is_asked_for(d, request, d->jobs.by_number.items[next]))
            room = add(answer, history_entry(d, d->jobs.by_number.items[next]));
    json_decref(accounts.jobs);
    return rc < 0 ? rc : 0;
}

int method_history(struct client *client, int64_t number, const json_t *params,
                   struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    struct request request = {0};
    struct answer answer = {.d = d, .request = &request};
    int rc = read_request(params, &request, err);
    if (rc)
        return rc;
    if (request.job >= 0 && !job_find(d, request.job) && !accounts_know(d, request.job))
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no job %lld: see 'pleat history'",
                               (long long)request.job);
    answer.jobs = json_array();
    rc = fill(&answer, err);
    if (rc) {
        json_decref(answer.jobs);
        return rc;
    }
    client_reply(client, number, json_pack("{s:o, s:b}", "jobs", answer.jobs, "more", answer.more));
    return 0;
}
