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
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/archive.h"
#include "daemon/crash.h"
#include "daemon/daemon.h"
#include "daemon/files.h"
#include "daemon/jobs.h"
#include "daemon/log.h"
#include "daemon/mark.h"
#include "daemon/notes.h"
#include "daemon/recover.h"
#include "daemon/runs.h"
#include "daemon/salvage.h"
#include "daemon/specs.h"
#include "daemon/turn.h"
#include "store/salvage.h"

enum { TRIES = 4 };

/* What is said of the damage ends with the name of the file. */
static const char *damaged_file(const struct daemon *d)
{
    static const char before[] = "file is kept as ";
    const char *at = strstr(d->salvage.damage, before);
    return at ? at + strlen(before) : NULL;
}

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

int salvage_put_meta(struct daemon *d, struct pleat_error *err)
{
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)d->jobs.last_number);
    int rc = pleat_store_put_meta(d->store, "last_job", number, err);
    if (!rc)
        rc = pleat_store_put_meta(d->store, "salvaged", d->salvage.under_way ? "1" : "0", err);
    return rc ? rc : pleat_store_put_meta(d->store, "damage", d->salvage.damage, err);
}

static void count_started(struct daemon *d)
{
    int64_t started = last_started(d);
    d->jobs.last_number = started > d->jobs.last_number ? started : d->jobs.last_number;
}

/* In the new log, so that a pleatd after this one knows it too. */
static int write_meta(struct daemon *d, struct pleat_error *err)
{
    int rc = pleat_store_begin(d->store, err);
    if (!rc)
        rc = salvage_put_meta(d, err);
    if (!rc)
        rc = pleat_store_commit(d->store, err);
    pleat_store_rollback(d->store);
    return rc;
}

int log_salvage(struct daemon *d, int64_t most_seq, struct pleat_error *why)
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
    (void)log_is_behind(d);
    count_started(d);
    d->jobs.last_number =
        result.last_job > d->jobs.last_number ? result.last_job : d->jobs.last_number;
    d->salvage.under_way = true;
    snprintf(d->salvage.damage, sizeof(d->salvage.damage),
             "the log was damaged: %lld records are used, %lld after them cannot be; the damaged "
             "file is kept as %s",
             (long long)result.records, (long long)result.after, result.aside);
    daemon_log("%s", d->salvage.damage);
    return write_meta(d, why);
}

/* At a start, where what the log was is known only from its file. */
static int salvage(struct daemon *d, int64_t most_seq, struct pleat_error *why)
{
    int rc = log_salvage(d, most_seq, why);
    if (!rc) {
        if (!*d->instance)
            (void)log_mark_instance(d);
        log_mark(d);
    }
    return rc;
}

void salvage_say_alive(struct daemon *d)
{
    char kept[sizeof(d->salvage.damage)];
    const char *path = damaged_file(d);
    snprintf(kept, sizeof(kept), "%s", path ? path : "");
    snprintf(
        d->salvage.damage, sizeof(d->salvage.damage),
        "the log was damaged while pleatd ran: it is written anew, with the state of all jobs; "
        "the damaged file is kept as %.600s",
        kept);
    daemon_log("%s", d->salvage.damage);
}

/* The log says that it was salvaged until all that it left open is settled. */
static void read_meta(struct daemon *d)
{
    struct pleat_string text = {0};
    struct pleat_error ignored;
    if (pleat_store_get_meta(d->store, "last_job", &text, &ignored) == 0)
        d->jobs.last_number = strtoll(text.text, NULL, 10);
    pleat_string_finish(&text);
    if (pleat_store_get_meta(d->store, "salvaged", &text, &ignored) == 0)
        d->salvage.under_way = !strcmp(text.text, "1");
    pleat_string_finish(&text);
    if (pleat_store_get_meta(d->store, "damage", &text, &ignored) == 0)
        snprintf(d->salvage.damage, sizeof(d->salvage.damage), "%s", text.text);
    pleat_string_finish(&text);
}

static int write_instance(struct daemon *d, struct pleat_error *err)
{
    int rc = pleat_store_begin(d->store, err);
    if (!rc)
        rc = pleat_store_put_meta(d->store, "instance", d->instance, err);
    crash_point();
    if (!rc)
        rc = pleat_store_commit(d->store, err);
    crash_point();
    return rc;
}

static int take_instance(struct daemon *d, struct pleat_error *err)
{
    struct pleat_string known = {0};
    int rc = pleat_store_get_meta(d->store, "instance", &known, err);
    if (rc == 0) {
        snprintf(d->instance, sizeof(d->instance), "%s", known.text);
        pleat_string_finish(&known);
        return 0;
    }
    if (rc != PLEAT_E_NOTFOUND)
        return rc;
    if (log_mark_instance(d))
        return write_instance(d, err);
    unsigned char bytes[8];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return pleat_error_sys(err, errno, "no random numbers");
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(d->instance + 2 * i, 3, "%02x", bytes[i]);
    return write_instance(d, err);
}

/* After a death of pleatd: whether the structure of all of the log is good. */
static int check(struct daemon *d, const char *path, struct pleat_error *err)
{
    struct stat st = {0};
    int64_t begun_us = pleat_clock_monotonic_us();
    int rc = pleat_store_check(d->store, err);
    (void)!stat(path, &st);
    daemon_log("the pleatd before this one did not end in order: its log of %.1f MB was checked, "
               "which took %.2f s",
               (double)st.st_size / 1e6, (double)(pleat_clock_monotonic_us() - begun_us) / 1e6);
    return rc;
}

/* The log is used as it is, but its end may be missing without a trace: nothing is done that the
 * missing part may have done. */
static int without_mark(struct daemon *d, struct pleat_error *err)
{
    snprintf(d->salvage.damage, sizeof(d->salvage.damage),
             "%s/log.mark is missing or cannot be read: whether the log has its end is not known; "
             "what may have been started is not started again",
             d->paths.state);
    daemon_log("%s", d->salvage.damage);
    count_started(d);
    d->salvage.under_way = true;
    int rc = write_meta(d, err);
    if (!rc)
        log_mark(d);
    return rc;
}

int log_open(struct daemon *d, struct pleat_error *err)
{
    char path[600];
    log_path(d, path, sizeof(path));
    int rc = pleat_store_open(path, sizeof(struct pleat_event), &d->store, err);
    if (!rc && pleat_store_was_left_open(d->store))
        rc = check(d, path, err);
    if (!rc) {
        read_meta(d);
        if (log_is_behind(d))
            rc = pleat_error_set(err, PLEAT_E_CORRUPT,
                                 "records at its end are missing (of %s, %s-wal)", path, path);
    }
    if (!rc)
        rc = take_instance(d, err);
    if (!rc && log_mark_is_lost(d))
        rc = without_mark(d, err);
    if (!rc && pleat_store_last_seq(d->store) == 0)
        count_started(d); /* of a log that is not there any more */
    if (rc != PLEAT_E_CORRUPT && rc != PLEAT_E_INVALID)
        return rc;
    pleat_store_abandon(d->store);
    d->store = NULL;
    rc = salvage(d, INT64_MAX, err);
    return rc ? rc : take_instance(d, err);
}

static void forget_all(struct daemon *d)
{
    jobs_finish(d);
    archive_finish(d);
    d->jobs.living = 0;
    d->archive.checkpoint_seq = 0;
    d->runs.count = 0;
    d->turn.next_size_list = 0;
    d->clock.last_us = 0;
    pleat_core_destroy(d->core);
    d->core = NULL;
}

int log_recover(struct daemon *d, struct pleat_error *err)
{
    int rc = 0;
    for (int try = 1; try <= TRIES; try++) {
        d->log.good_seq = 0;
        if (pleat_core_create(&d->core))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        rc = recover(d, err);
        if (rc != PLEAT_E_CORRUPT || try == TRIES)
            break;
        /* where pages cannot be read, good records may be in others */
        bool pages = try == 1 && pleat_store_is_damaged(d->store);
        int64_t good = pages ? INT64_MAX : try < TRIES - 1 ? d->log.good_seq : 0;
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

#define SPEC_LOST "cancelled: what it is to run was lost with a part of the log"

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

/* Of a job that the log does not say to have a run. Its directory is made when it is first started;
 * in it stands which run it was given last (run_note). */
static bool was_started(struct daemon *d, const struct job *job)
{
    char path[600];
    const struct pleat_component *c = job_component(d, job);
    uint64_t last = run_noted(d, job->id);
    if (last || c->state == PLEAT_FINISHING)
        return last > c->run;
    job_output_path(d, job->id, "", path, sizeof(path)); /* by a version that wrote no run down */
    return c->attempt == 0 && access(path, F_OK) == 0;
}

/* It waits, or will, or the log ends before it was given to an agent. */
static bool is_before_its_start(const struct pleat_component *c)
{
    return c->state == PLEAT_FINISHING || c->state == PLEAT_QUEUED || c->state == PLEAT_PLACED ||
           c->state == PLEAT_STAGING_IN || c->state == PLEAT_CLAIMING;
}

void salvage_lost_specs(struct daemon *d)
{
    struct pleat_error lost;
    for (size_t i = 0; i < d->jobs.by_number.count; i++) {
        struct job *job = d->jobs.by_number.items[i];
        if (job->ended || job->spec_lost || job_component(d, job)->state != PLEAT_QUEUED ||
            spec_of(d, job->id, &lost))
            continue;
        job->spec_lost = true;
        cancel(d, job, SPEC_LOST);
    }
}

void salvage_begin(struct daemon *d)
{
    struct pleat_event numbers = {.kind = PLEAT_EV_SALVAGED, .component = PLEAT_NONE};
    if (d->salvage.under_way) {
        turn_event(d, &numbers);
        note_make(d, daemon_now_us(d), "daemon", -1, json_pack("{s:s}", "text", d->salvage.damage));
    }
    for (size_t i = 0; d->salvage.under_way && i < d->runs.count; i++)
        if (d->runs.items[i].run >= d->salvage.runs_below)
            d->salvage.runs_below = d->runs.items[i].run + 1;
    for (size_t i = 0; i < d->jobs.by_number.count; i++) {
        const struct job *job = d->jobs.by_number.items[i];
        const struct pleat_component *c = job_component(d, job);
        if (job->spec_lost && !pleat_state_is_final((enum pleat_state)c->state))
            cancel(d, job, SPEC_LOST);
        else if (d->salvage.under_way && is_before_its_start(c) && was_started(d, job))
            salvage_cancel(d, job->component);
    }
}

void salvage_hold_starts(struct daemon *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->turn.effects.count; i++)
        if (!d->salvage.under_way || d->turn.effects.items[i].kind != PLEAT_DO_START)
            d->turn.effects.items[kept++] = d->turn.effects.items[i];
    d->turn.effects.count = kept;
}

void salvage_settled(struct daemon *d)
{
    struct pleat_error err = {0};
    if (!d->salvage.under_way || d->turn.holding)
        return;
    d->salvage.under_way = false;
    if (write_meta(d, &err)) {
        daemon_log("%s", err.text);
        d->salvage.under_way = true;
    }
}

const char *salvage_text(struct daemon *d)
{
    const char *path = damaged_file(d);
    return path && access(path, F_OK) == 0 ? d->salvage.damage : NULL;
}
