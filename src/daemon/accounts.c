/* Accounts of ended jobs: those still to be written, and reading those in the store. */
#include <stdlib.h>

#include "daemon/accounts.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/specs.h"

void accounts_ended(struct daemon *d, struct job *job)
{
    struct ended ended = {.job = job->id};
    job_ended(d, job);
    programs_ended(d, job);
    if (pleat_array_push(&d->archive.ended, ended))
        daemon_log("out of memory: job %lld has no account", (long long)job->id);
    int64_t when = daemon_now_us(d) + d->config.keep_ended_us;
    if (when < d->archive.next_us)
        d->archive.next_us = when;
}

void accounts_unmake(struct daemon *d)
{
    for (size_t i = 0; i < d->archive.ended.count; i++) {
        struct job *job = job_find(d, d->archive.ended.items[i].job);
        if (!job) /* the core has forgotten the job: its account cannot be made again */
            continue;
        free(d->archive.ended.items[i].text);
        d->archive.ended.items[i].text = NULL;
        job_drop_account(job);
    }
}

void accounts_finish(struct daemon *d)
{
    for (size_t i = 0; i < d->archive.ended.count; i++)
        free(d->archive.ended.items[i].text);
    pleat_array_finish(&d->archive.ended);
    pleat_array_finish(&d->archive.archived);
}

/* Members of an entry of `history` that a job, as `job` shows it, does not have. */
static const char *const only_of_entry[] = {"archived", "sizes", "resizes", "processor_s", "cpu_s"};
static int take_row(void *arg, const struct pleat_account_row *row)
{
    json_t **whole = arg;
    *whole = json_loads(row->text, 0, NULL);
    return 0;
}

/* The text of a job's account as JSON. NULL: the store has none, or (err->code set) it cannot be
 * read. */
static json_t *read_row(struct daemon *d, int64_t job, struct pleat_error *err)
{
    struct pleat_account_filter only = {.after_job = job - 1, .last_job = job};
    json_t *whole = NULL;
    if (pleat_store_read_accounts(d->store, &only, take_row, &whole, err)) {
        json_decref(whole);
        return NULL;
    }
    return whole;
}

bool accounts_know(struct daemon *d, int64_t job)
{
    struct pleat_error err = {0};
    json_t *whole = read_row(d, job, &err);
    json_decref(whole);
    return whole != NULL;
}

json_t *accounts_job(struct daemon *d, int64_t job, bool history)
{
    struct pleat_error err = {0};
    json_t *whole = read_row(d, job, &err), *value;
    if (!whole) {
        if (err.code)
            daemon_log("job %lld: %s", (long long)job, err.text);
        return NULL;
    }
    const json_t *spec = spec_json(d, job, &err);
    json_t *object = spec ? json_copy((json_t *)(uintptr_t)spec) : json_object();
    size_t i;
    json_array_foreach(json_object_get(whole, "without"), i, value)
        json_object_del(object, json_string_value(value));
    json_t *use = json_object_get(whole, "use");
    for (i = 0; i < sizeof(only_of_entry) / sizeof(only_of_entry[0]); i++)
        json_object_del(use, only_of_entry[i]);
    json_object_update(object, use);
    json_object_update(object, json_object_get(whole, "job"));
    json_object_set_new(object, "slots", json_array());
    json_object_set_new(object, "progress", json_null());
    json_object_set_new(object, "times", json_array());
    json_object_set_new(object, "curve", json_null());
    if (!history)
        json_object_del(object, "history");
    json_decref(whole);
    return object;
}

json_t *accounts_entry(struct daemon *d, const struct pleat_account_row *row)
{
    json_t *whole = json_loads(row->text, 0, NULL);
    json_t *entry = json_incref(json_object_get(whole, "use"));
    json_decref(whole);
    if (entry)
        json_object_set_new(entry, "archived", json_boolean(!job_find(d, row->job)));
    return entry;
}
