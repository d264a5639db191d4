/* A log that is damaged: its good part is used, the rest kept aside, and what that leaves open is
 * settled so that nothing is done twice.
 *
 * What the lost part said is not known. So: numbers (of jobs, runs, claims) that it may have given
 * are not given again; a waiting job that has been started before (its output directory is there)
 * is cancelled, and so is a running one whose run no agent has: to start it again could do its work
 * twice. What agents run and the log does not know is ended, as always (agents.c). */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/daemon.h"
#include "store/salvage.h"

enum { TRIES = 3 };

static void log_path(const struct daemon *d, char *path, size_t size)
{
    snprintf(path, size, "%s/log.sqlite", d->paths.state);
}

/* The highest number of a job that has been started. */
static int64_t last_started(const struct daemon *d)
{
    char path[600];
    int64_t last = 0;
    snprintf(path, sizeof(path), "%s/jobs", d->paths.state);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char *end;
        int64_t number = strtoll(entry->d_name, &end, 10);
        if (*end == '\0' && number > last)
            last = number;
    }
    if (directory)
        closedir(directory);
    return last;
}

/* In the new log, so that a pleatd after this one knows it too. */
static int write_meta(struct daemon *d, struct pleat_error *err)
{
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)d->last_job);
    int rc = pleat_store_begin(d->store, err);
    if (!rc)
        rc = pleat_store_put_meta(d->store, "last_job", number, err);
    if (!rc)
        rc = pleat_store_put_meta(d->store, "salvaged", d->salvaged ? "1" : "0", err);
    if (!rc)
        rc = pleat_store_put_meta(d->store, "damage", d->damage, err);
    if (!rc)
        rc = pleat_store_commit(d->store, err);
    pleat_store_rollback(d->store);
    return rc;
}

/* The log is closed. */
static int salvage(struct daemon *d, int64_t most_seq, struct pleat_error *why)
{
    struct pleat_salvage result;
    struct pleat_error reason = *why;
    char path[600];
    log_path(d, path, sizeof(path));
    daemon_log("the log is damaged: %s", reason.text);
    int rc = pleat_store_salvage(path, sizeof(struct pleat_event), most_seq, pleat_clock_real_us(),
                                 &result, why);
    if (!rc)
        rc = pleat_store_open(path, sizeof(struct pleat_event), &d->store, why);
    if (rc) {
        pleat_error_prefix(why, "the damaged log cannot be repaired");
        return rc;
    }
    int64_t started = last_started(d);
    (void)log_is_behind(d);
    d->last_job = started > d->last_job ? started : d->last_job;
    d->last_job = result.last_job > d->last_job ? result.last_job : d->last_job;
    d->salvaged = true;
    snprintf(d->damage, sizeof(d->damage),
             "the log was damaged: %lld records are used, %lld after them cannot be; the damaged "
             "file is kept as %.500s",
             (long long)result.records, (long long)result.after, result.aside);
    daemon_log("%s", d->damage);
    rc = write_meta(d, why);
    if (!rc) {
        if (!*d->instance)
            (void)log_mark_instance(d);
        log_mark(d);
    }
    return rc;
}

/* The log says that it was salvaged until all that it left open is settled. */
static void read_meta(struct daemon *d)
{
    struct pleat_string text = {0};
    struct pleat_error ignored;
    if (pleat_store_get_meta(d->store, "last_job", &text, &ignored) == 0)
        d->last_job = strtoll(text.text, NULL, 10);
    pleat_string_finish(&text);
    if (pleat_store_get_meta(d->store, "salvaged", &text, &ignored) == 0)
        d->salvaged = !strcmp(text.text, "1");
    pleat_string_finish(&text);
    if (pleat_store_get_meta(d->store, "damage", &text, &ignored) == 0)
        snprintf(d->damage, sizeof(d->damage), "%s", text.text);
    pleat_string_finish(&text);
}

int log_open(struct daemon *d, struct pleat_error *err)
{
    char path[600];
    log_path(d, path, sizeof(path));
    int rc = pleat_store_open(path, sizeof(struct pleat_event), &d->store, err);
    if (rc == PLEAT_E_CORRUPT || rc == PLEAT_E_INVALID)
        return salvage(d, INT64_MAX, err);
    if (rc)
        return rc;
    read_meta(d);
    if (!log_is_behind(d))
        return 0;
    pleat_error_set(err, PLEAT_E_CORRUPT, "records at its end are missing (of %s, %s-wal)", path,
                    path);
    pleat_store_abandon(d->store);
    d->store = NULL;
    return salvage(d, INT64_MAX, err);
}

static void forget_all(struct daemon *d)
{
    jobs_finish(d);
    archive_finish(d);
    d->living = 0;
    d->checkpoint_seq = 0;
    d->runs.count = 0;
    d->next_size_list = 0;
    d->last_us = 0;
    pleat_core_destroy(d->core);
    d->core = NULL;
}

int log_recover(struct daemon *d, struct pleat_error *err)
{
    int rc = 0;
    for (int try = 1; try <= TRIES; try++) {
        d->good_seq = 0;
        if (pleat_core_create(&d->core))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        rc = recover(d, err);
        if (rc != PLEAT_E_CORRUPT || try == TRIES)
            break;
        int64_t good = try < TRIES - 1 ? d->good_seq : 0;
        forget_all(d);
        pleat_store_abandon(d->store);
        d->store = NULL;
        rc = salvage(d, good, err);
        if (rc)
            return rc;
    }
    return rc;
}

/* ---- what it leaves open ---- */

static void cancel(struct daemon *d, const struct job *job, const char *why)
{
    struct pleat_event event = {.kind = PLEAT_EV_CANCEL, .component = job->component};
    note_make(d, daemon_now_us(d), "warning", job->id, json_pack("{s:s}", "text", why));
    turn_event(d, &event);
}

void salvage_cancel(struct daemon *d, uint32_t component)
{
    cancel(d, job_of_component(d, component),
           "cancelled: what became of it was in the part of the log that is damaged, and to start "
           "it again could do its work twice; submit it again if it is needed");
}

static bool was_started(struct daemon *d, const struct job *job)
{
    char path[600];
    job_output_path(d, job->id, "", path, sizeof(path));
    return access(path, F_OK) == 0;
}

void salvage_begin(struct daemon *d)
{
    struct pleat_event numbers = {.kind = PLEAT_EV_SALVAGED, .component = PLEAT_NONE};
    if (d->salvaged) {
        turn_event(d, &numbers);
        note_make(d, daemon_now_us(d), "daemon", -1, json_pack("{s:s}", "text", d->damage));
    }
    for (size_t i = 0; d->salvaged && i < d->runs.count; i++)
        if (d->runs.items[i].run >= d->runs_below)
            d->runs_below = d->runs.items[i].run + 1;
    for (size_t i = 0; i < d->numbers.count; i++) {
        const struct job *job = d->numbers.items[i];
        const struct pleat_component *c = job_component(d, job);
        if (job->spec_lost && !pleat_state_is_final((enum pleat_state)c->state))
            cancel(d, job, "cancelled: what it is to run was lost with a part of the log");
        else if (d->salvaged && c->state == PLEAT_QUEUED && c->attempt == 0 && was_started(d, job))
            salvage_cancel(d, job->component);
    }
}

void salvage_settled(struct daemon *d)
{
    struct pleat_error err = {0};
    if (!d->salvaged || d->holding)
        return;
    d->salvaged = false;
    if (write_meta(d, &err)) {
        daemon_log("%s", err.text);
        d->salvaged = true;
    }
}

const char *salvage_text(struct daemon *d)
{
    const char *path = strrchr(d->damage, ' '); /* it ends with the name of the file */
    return path && access(path + 1, F_OK) == 0 ? d->damage : NULL;
}
