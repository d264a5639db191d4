#include "cli/common/daemon.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "cli/common/cli.h"
#include "cli/common/reply.h"

/* Items in one answer, which is one line of at most 1 MiB. */
#define EVENTS_AT_ONCE 1000
#define JOBS_AT_ONCE 200
#define BRIEF_JOBS_AT_ONCE 1000

int pleat_daemon_connect(struct pleat_client **client)
{
    struct pleat_paths paths;
    struct pleat_error err = {0};
    int status = pleat_paths_init(&paths, &err);
    if (!status)
        status = pleat_client_open_or_start(&paths, NULL, NULL, client, &err);
    if (!status)
        return 0;
    pleat_fail(&err);
    return PLEAT_EXIT_NO_DAEMON;
}

int pleat_daemon_failed(const struct pleat_error *err, bool about_job)
{
    int code = pleat_fail(err);
    if (err->code == PLEAT_E_PROTOCOL)
        return PLEAT_EXIT_NO_DAEMON;
    return err->code == PLEAT_E_NOTFOUND && about_job ? PLEAT_EXIT_NO_JOB : code;
}

int pleat_daemon_reconnect(struct pleat_client **client, double patience_s,
                           const struct pleat_error *err)
{
    const struct timespec pause = {0, 200000000};
    int64_t until_us = pleat_clock_monotonic_us() + (int64_t)(patience_s * PLEAT_US_PER_S);
    struct pleat_paths paths;
    struct pleat_error why = {0};
    if ((err->code != PLEAT_E_CLOSED && err->code != PLEAT_E_SYSTEM) || patience_s <= 0 ||
        pleat_paths_init(&paths, &why))
        return pleat_daemon_failed(err, true);
    pleat_client_close(*client);
    *client = NULL;
    pleat_say("%s: waiting for pleatd to come back", err->text);
    while (pleat_client_open(&paths, client, &why)) {
        *client = NULL;
        if (pleat_clock_monotonic_us() >= until_us) {
            pleat_fail(&why);
            return PLEAT_EXIT_NO_DAEMON;
        }
        nanosleep(&pause, NULL);
    }
    pleat_say("pleatd is there again");
    return 0;
}

/* As pleat_client_call, for methods whose answer is an object. */
static int call(struct pleat_client *client, const char *method, json_t *params, json_t **answer,
                struct pleat_error *err)
{
    int status = pleat_client_call(client, method, params, answer, err);
    if (!status && !json_is_object(*answer)) {
        json_decref(*answer);
        status = pleat_error_set(err, PLEAT_E_PROTOCOL,
                                 "pleatd's answer to '%s' is no object: it is of another version",
                                 method);
    }
    return status;
}

int pleat_daemon_ask_patiently(struct pleat_client **client, double patience_s, const char *method,
                               json_t *params, json_t **result)
{
    struct pleat_error err = {0};
    int code = 0;
    while (!code && call(*client, method, json_incref(params), result, &err))
        code = pleat_daemon_reconnect(client, patience_s, &err);
    json_decref(params);
    return code;
}

int pleat_daemon_resume(struct pleat_client **client, const atomic_int *interrupted, int *losses,
                        const struct pleat_error *err)
{
    const struct timespec pause = {0, 100000000};
    int64_t until_us = pleat_clock_monotonic_us() + (int64_t)(PLEAT_PATIENCE_S * PLEAT_US_PER_S);
    struct pleat_paths paths;
    struct pleat_error why = {0};
    if (!pleat_client_is_lost(*client) || ++*losses >= PLEAT_LOSSES_MAX ||
        pleat_paths_init(&paths, &why))
        return pleat_daemon_failed(err, false);
    pleat_client_close(*client);
    *client = NULL;
    if (*losses > 1)
        nanosleep(&pause, NULL);
    for (;;) {
        int status = pleat_client_open_or_start(&paths, NULL, interrupted, client, &why);
        if (!status)
            return 0;
        *client = NULL;
        bool stop = status == PLEAT_INTERRUPTED || (interrupted && atomic_load(interrupted));
        if (stop || pleat_clock_monotonic_us() >= until_us)
            break;
        nanosleep(&pause, NULL);
    }
    pleat_fail(why.code ? &why : err);
    return PLEAT_EXIT_NO_DAEMON;
}

/* A random token: no other submission has it. */
static void add_token(json_t *spec)
{
    unsigned char bytes[16];
    char text[2 * sizeof(bytes) + 1];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return;
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    json_object_set_new(spec, "token", json_string(text));
}

int pleat_daemon_submit(struct pleat_client **client, json_t *spec, json_t **answer,
                        struct pleat_error *err)
{
    int losses = 0;
    add_token(spec);
    for (;;) {
        int status = pleat_client_call(*client, "submit", json_incref(spec), answer, err);
        if (!status && !json_is_object(*answer)) {
            json_decref(*answer);
            *answer = NULL;
            status = pleat_error_set(err, PLEAT_E_PROTOCOL,
                                     "pleatd's answer to 'submit' is no object: it is of another "
                                     "version");
        }
        bool again = status && pleat_client_is_lost(*client) && json_object_get(spec, "token");
        if (!again || pleat_daemon_resume(client, NULL, &losses, err)) {
            json_decref(spec);
            return status;
        }
        json_object_set_new(spec, "again", json_true());
    }
}

/* Whoever names several jobs is told which of them a refusal is about. */
static void name_job(struct pleat_error *err, json_int_t job)
{
    char name[40];
    int length = snprintf(name, sizeof(name), "job %lld", (long long)job);
    for (const char *at = err->text; (at = strstr(at, name)) != NULL; at += length)
        if (at[length] < '0' || at[length] > '9')
            return; /* it says so itself */
    (void)pleat_error_prefix(err, err->code, "%s", name);
}

int pleat_daemon_ask(struct pleat_client *client, const char *method, json_t *params,
                     json_t **result)
{
    struct pleat_error err = {0};
    json_t *answer = NULL;
    json_t *job = json_incref(json_object_get(params, "job"));
    int status = call(client, method, params, &answer, &err);
    if (status && json_is_integer(job) && !pleat_client_is_lost(client))
        name_job(&err, json_integer_value(job));
    json_decref(job);
    if (status)
        return pleat_daemon_failed(&err, job != NULL);
    if (result)
        *result = answer;
    else
        json_decref(answer);
    return 0;
}

int pleat_daemon_ask_once(const char *method, json_t *params, json_t **result)
{
    struct pleat_client *client;
    int code = pleat_daemon_connect(&client);
    if (code) {
        json_decref(params);
        return code;
    }
    code = pleat_daemon_ask(client, method, params, result);
    pleat_client_close(client);
    return code;
}

int pleat_daemon_show(const char *method, json_t *params, int (*print)(const json_t *answer))
{
    json_t *answer = NULL;
    int code = pleat_daemon_ask_once(method, params, &answer);
    if (code)
        return code;
    code = pleat_settings.json ? pleat_reply_print(answer) : print(answer);
    json_decref(answer);
    return code;
}

/* Appends the jobs with numbers beyond *last, and sets *last to the number of the last job. Returns
 * how many were appended. */
static size_t take_jobs(json_t *all, const json_t *answer, int64_t *last)
{
    size_t i, count = 0;
    json_t *job;
    json_array_foreach(pleat_reply_array(answer, "jobs"), i, job)
    {
        int64_t number = pleat_reply_int(job, "job", 0);
        if (number <= *last)
            continue;
        json_array_append(all, job);
        *last = number;
        count++;
    }
    return count;
}

/* Appends the next page: up to `limit` jobs with numbers beyond *last. *more: there may be more. */
static int fetch_page(struct pleat_client *client, unsigned wanted, size_t limit, json_t *jobs,
                      int64_t *last, bool *more)
{
    json_t *answer = NULL,
           *params = json_pack("{s:b, s:b, s:I, s:I}", "all", (wanted & PLEAT_JOBS_ALL) != 0,
                               "brief", (wanted & PLEAT_JOBS_BRIEF) != 0, "after",
                               (json_int_t)*last, "limit", (json_int_t)limit);
    int code = pleat_daemon_ask(client, "jobs", params, &answer);
    if (code)
        return code;
    size_t count = take_jobs(jobs, answer, last);
    *more = count > 0 && (count >= limit || json_is_true(json_object_get(answer, "more")));
    json_decref(answer);
    return 0;
}

int pleat_daemon_jobs(struct pleat_client *client, unsigned wanted, json_t **jobs)
{
    size_t limit = wanted & PLEAT_JOBS_BRIEF ? BRIEF_JOBS_AT_ONCE : JOBS_AT_ONCE;
    json_t *found = json_array();
    int64_t last = 0;
    for (bool more = true; more;) {
        int code = fetch_page(client, wanted, limit, found, &last, &more);
        if (code) {
            json_decref(found);
            return code;
        }
    }
    *jobs = found;
    return 0;
}

/* Whether jobs that are wanted may follow this one: it stands before the last one, or it is a task
 * of one of the arrays. */
static bool may_follow(const json_t *job, int64_t first, int64_t last)
{
    int64_t array = pleat_reply_int(json_object_get(job, "array"), "job", 0);
    return pleat_reply_int(job, "job", 0) < last || (array >= first && array <= last);
}

int pleat_daemon_jobs_between(struct pleat_client *client, int64_t first, int64_t last,
                              json_t *jobs)
{
    const json_t *before = json_array_get(jobs, json_array_size(jobs) - 1);
    int64_t seen = pleat_reply_int(before, "job", 0);
    size_t limit =
        last - first < BRIEF_JOBS_AT_ONCE ? (size_t)(last - first + 1) : BRIEF_JOBS_AT_ONCE;
    seen = seen < first - 1 ? first - 1 : seen;
    for (bool more = true; more;) {
        int code = fetch_page(client, PLEAT_JOBS_BRIEF, limit, jobs, &seen, &more);
        if (code)
            return code;
        more = more && may_follow(json_array_get(jobs, json_array_size(jobs) - 1), first, last);
        limit = BRIEF_JOBS_AT_ONCE;
    }
    return 0;
}

int pleat_daemon_events(struct pleat_client *client, int64_t job, int64_t after, double from_s,
                        json_t **events)
{
    json_t *all = json_array();
    for (;;) {
        json_t *answer = NULL, *params = json_pack("{s:I, s:i}", "after", (json_int_t)after,
                                                   "limit", EVENTS_AT_ONCE);
        if (job)
            json_object_set_new(params, "job", json_integer(job));
        if (from_s > 0)
            json_object_set_new(params, "from_s", json_real(from_s));
        int code = pleat_daemon_ask(client, "events", params, &answer);
        if (code) {
            json_decref(all);
            return code;
        }
        json_t *some = pleat_reply_array(answer, "events");
        size_t count = json_array_size(some);
        int64_t last = after;
        if (count) {
            json_array_extend(all, some);
            last = pleat_reply_int(json_array_get(some, count - 1), "seq", after);
        }
        json_decref(answer);
        if (count == 0 || last <= after)
            break;
        after = last;
    }
    *events = all;
    return 0;
}

/* The number of the first event after number `after`; 0: there is none. Negative: an exit code,
 * negated. */
static int64_t event_after(struct pleat_client *client, int64_t after)
{
    json_t *answer = NULL,
           *params = json_pack("{s:I, s:i}", "after", (json_int_t)after, "limit", 1);
    int code = pleat_daemon_ask(client, "events", params, &answer);
    if (code)
        return -code;
    const json_t *event = json_array_get(pleat_reply_array(answer, "events"), 0);
    int64_t seq = event ? pleat_reply_int(event, "seq", 0) : 0;
    json_decref(answer);
    return seq > after ? seq : 0;
}

int pleat_daemon_last_event(struct pleat_client *client, int64_t *seq)
{
    int64_t low = 0, high = 0, step = 1, found;
    /* goes on from each event found, twice as far each time */
    while ((found = event_after(client, high)) > 0) {
        low = found;
        high = found + step;
        step *= 2;
    }
    while (!found && low < high) { /* there is an event after `low`, and none after `high` */
        int64_t middle = low + (high - low) / 2;
        found = event_after(client, middle);
        if (found > 0)
            low = found;
        else
            high = middle;
        found = found > 0 ? 0 : found;
    }
    *seq = low;
    return found < 0 ? (int)-found : 0;
}
