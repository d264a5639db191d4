/* Repairs a log that is found damaged, or not in its place, while pleatd runs.
 *
 * What can be read of a damaged log becomes a new log, as at a start (salvage.c). But nothing is
 * open that would have to be settled: the state of all jobs is in memory, and becomes the new log's
 * checkpoint. Only specs, accounts and notes that cannot be read are lost.
 */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/accounts.h"
#include "daemon/crash.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/log_format.h"
#include "daemon/mark.h"
#include "daemon/notes.h"
#include "daemon/salvage.h"
#include "daemon/turn_inputs.h"

#define REPLACED                                                                                   \
    "%s (or its write-ahead log) was removed or replaced while pleatd ran: it is written anew, "   \
    "nothing is lost; what was in its place is kept as %s.damaged-*"

/* ---- damaged ---- */

/* Writes the state after record `seq` into a log that may end before that record. If it does, its
 * records are moved aside first, in case that this checkpoint is damaged, too. */
static int write_state(struct daemon *d, const struct pleat_string *state, int64_t seq,
                       log_writer *rest, struct pleat_error *err)
{
    int64_t good = pleat_store_last_seq(d->store);
    bool gap = good < seq;
    if (gap && pleat_store_set_aside(d->store, good, err))
        daemon_log("%s", err->text);
    seq = gap ? seq : good;
    int rc = pleat_store_begin(d->store, err);
    if (!rc)
        rc = pleat_store_skip_to(d->store, seq, err);
    if (!rc)
        rc = pleat_store_put_checkpoint(d->store, state->text, state->length, err);
    if (!rc && gap)
        rc = pleat_store_trim(d->store, seq, err);
    if (!rc)
        rc = pleat_store_put_meta(d->store, "instance", d->instance, err);
    if (!rc) /* runs that are relaunched after a restart have directories that are named by it */
        rc = pleat_store_put_meta(d->store, "secret", d->secret_text, err);
    if (!rc)
        rc = log_format_put(d, err);
    if (!rc && d->archive.has_accounts)
        rc = pleat_store_put_meta(d->store, "accounts", "1", err);
    if (!rc)
        rc = salvage_put_meta(d, err);
    if (!rc && d->sites) /* site_list_open has put them in order */
        rc = site_list_write(d, err);
    if (!rc && rest)
        rc = rest(d, err);
    crash_point();
    if (!rc)
        rc = pleat_store_commit(d->store, err);
    crash_point();
    if (rc)
        return rc;
    d->archive.checkpoint_seq = seq;
    d->archive.checkpoint_size = state->length;
    log_mark(d);
    return 0;
}

void log_repair(struct daemon *d, log_writer *rest, struct pleat_error *err)
{
    struct pleat_string state = {0};
    bool open = d->salvage.under_way;
    int64_t seq = pleat_store_last_seq(d->store) + (rest ? (int64_t)d->turn.records.count : 0);
    int rc = pleat_core_save(d->core, &state)
                 ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a checkpoint")
                 : 0;
    if (!rc) {
        pleat_store_abandon(d->store);
        d->store = NULL;
        rc = log_salvage(d, INT64_MAX, err);
    }
    if (!rc) {
        d->salvage.under_way = open;
        salvage_say_alive(d);
        note_make(d, daemon_now_us(d), "daemon", -1, note_text(d->salvage.damage));
        salvage_lost_specs(d);
        accounts_unmake(d);
        d->programs.changed = true; /* it is written anew */
        rc = write_state(d, &state, seq, rest, err);
    }
    pleat_string_finish(&state);
    if (rc) {
        daemon_log("%s: pleatd ends, its jobs run on", err->text);
        _exit(1);
    }
}

bool log_mend(struct daemon *d)
{
    struct pleat_error err = {0};
    if (!pleat_store_is_damaged(d->store) || d->turn.holding || d->turn.records.count)
        return false;
    pleat_error_set(&err, PLEAT_E_CORRUPT, "something was read that is not what was written");
    log_repair(d, NULL, &err);
    return true;
}

/* ---- not in its place ---- */

/* Writes a note about it at once, since the turn's notes are written already. */
static void say_replaced(struct daemon *d, const char *path)
{
    struct pleat_error err;
    char text[1600];
    snprintf(text, sizeof(text), REPLACED, path, path);
    daemon_log("%s", text);
    json_t *data = note_text(text);
    char *written = data ? json_dumps(data, JSON_COMPACT) : NULL;
    struct pleat_note note = {
        .time_us = daemon_now_us(d), .kind = "daemon", .job = -1, .data = written};
    if (!written || pleat_store_begin(d->store, &err) ||
        pleat_store_append_note(d->store, &note, NULL, &err) || pleat_store_commit(d->store, &err))
        pleat_store_rollback(d->store);
    free(written);
    json_decref(data);
}

int log_put_in_place(struct daemon *d, struct pleat_error *err)
{
    char path[600];
    if (pleat_store_in_place(d->store))
        return 0;
    log_path(d, path, sizeof(path));
    int rc = pleat_store_copy(d->store, err);
    if (rc)
        return pleat_error_prefix(err, rc, "%s (or its write-ahead log) was removed or replaced",
                                  path);
    pleat_store_abandon(d->store);
    d->store = NULL;
    rc = pleat_store_open(path, sizeof(struct pleat_event), &d->store, err);
    if (rc) {
        daemon_log("%s: pleatd ends, its jobs run on", err->text);
        _exit(1);
    }
    if (d->log.mark_fd > 0)
        close(d->log.mark_fd); /* the mark may have been removed, too */
    d->log.mark_fd = 0;
    log_mark(d);
    say_replaced(d, path);
    return 0;
}

void log_watch(struct daemon *d)
{
    if (d->turn.holding || d->turn.records.count || pleat_store_in_place(d->store))
        return;
    note_make(d, daemon_now_us(d), "daemon", -1,
              note_text("the log was removed or replaced while pleatd runs"));
    turn_want(d); /* the turn writes the note, and finds that the log is not in its place */
}
