/* At a start: opens the log, or what can be read of it, and recovers the core from it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "daemon/accounts.h"
#include "daemon/crash.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/log_format.h"
#include "daemon/log_open.h"
#include "daemon/mark.h"
#include "daemon/recover.h"
#include "daemon/salvage.h"

enum { TRIES = 4 };

/* Salvages the log at a start. The instance may be readable only from the mark. */
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

/* Reads what the log says about an earlier damage. "salvaged" is 1 until all that it left open is
 * settled. */
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

/* Checks the structure of the whole log, after a death of pleatd. */
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

/* The mark is lost: the log is used as it is, but its end may be missing without a trace. As after
 * a salvage, nothing is started that the missing part may have started. */
static int without_mark(struct daemon *d, struct pleat_error *err)
{
    snprintf(d->salvage.damage, sizeof(d->salvage.damage),
             "%s/log.mark is missing or cannot be read: whether records at the end of the log are "
             "missing is not known; "
             "what may have been started is not started again",
             d->paths.state);
    daemon_log("%s", d->salvage.damage);
    salvage_count_started(d);
    d->salvage.under_way = true;
    int rc = salvage_write_meta(d, err);
    if (!rc)
        log_mark(d);
    return rc;
}

int log_open(struct daemon *d, struct pleat_error *err)
{
    char path[600];
    log_path(d, path, sizeof(path));
    int rc = pleat_store_open(path, sizeof(struct pleat_event), &d->store, err);
    if (!rc)
        rc = log_format_take(d, err); /* before anything can be taken for damage */
    if (!rc && pleat_store_was_left_open(d->store))
        rc = check(d, path, err);
    if (!rc) {
        read_meta(d);
        if (log_is_behind(d))
            rc = pleat_error_set(err, PLEAT_E_CORRUPT,
                                 "records at the end of the log are missing (%s, %s-wal)", path,
                                 path);
    }
    if (!rc)
        rc = take_instance(d, err);
    if (!rc && log_mark_is_lost(d))
        rc = without_mark(d, err);
    if (!rc && pleat_store_last_seq(d->store) == 0)
        salvage_count_started(d); /* an earlier log, which is gone, may have started jobs */
    if (rc != PLEAT_E_CORRUPT && rc != PLEAT_E_INVALID)
        return rc;
    pleat_store_abandon(d->store);
    d->store = NULL;
    rc = salvage(d, INT64_MAX, err);
    if (!rc)
        rc = log_format_take(d, err);
    return rc ? rc : take_instance(d, err);
}

static void forget_all(struct daemon *d)
{
    jobs_finish(d);
    accounts_finish(d);
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
        /* if pages cannot be read, others may still have good records: salvages all that can be
         * read */
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
