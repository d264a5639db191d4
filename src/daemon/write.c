/* The turn's transaction. */
#include <stdlib.h>

#include "base/clock.h"
#include "daemon/archive.h"
#include "daemon/clean.h"
#include "daemon/crash.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/write.h"

static int write_notes(struct daemon *d, struct pleat_error *err)
{
    for (size_t i = 0; i < d->notes.count; i++) {
        struct made_note *made = &d->notes.items[i];
        char *text = json_dumps(made->data, JSON_COMPACT);
        struct pleat_note note = {
            .time_us = made->time_us, .kind = made->kind, .job = made->job, .data = text};
        int rc = pleat_store_append_note(d->store, &note, &made->seq, err);
        free(text);
        if (rc)
            return rc;
    }
    return 0;
}

/* Writes all of a turn but its records. */
static int write_rest(struct daemon *d, struct pleat_error *err)
{
    int rc = 0;
    archive_prepare(d); /* again, as the accounts may have been made from a part of the log that
                           could not be read */
    for (size_t i = 0; !rc && i < d->specs.made.count; i++)
        rc = pleat_store_put_spec(d->store, d->specs.made.items[i].job, d->specs.made.items[i].text,
                                  d->specs.made.items[i].environment, err);
    if (!rc)
        rc = write_notes(d, err);
    if (!rc && d->site_list.changed)
        rc = site_list_write(d, err);
    if (!rc)
        rc = programs_write(d, err);
    if (!rc)
        rc = archive_write(d, err);
    return rc ? rc : clean_write(d, err);
}

static int write_turn(struct daemon *d, struct pleat_error *err)
{
    int rc = pleat_store_begin(d->store, err);
    for (size_t i = 0; !rc && i < d->turn.records.count; i++)
        rc = pleat_store_append(d->store, &d->turn.records.items[i],
                                sizeof(d->turn.records.items[i]), NULL, err);
    if (!rc)
        rc = write_rest(d, err);
    crash_point();
    int64_t begun_us = pleat_clock_monotonic_us();
    if (!rc)
        rc = pleat_store_commit(d->store, err);
    d->turn.commit_us = pleat_clock_monotonic_us() - begun_us;
    crash_point();
    if (rc)
        pleat_store_rollback(d->store);
    return rc;
}

int turn_write(struct daemon *d, struct pleat_error *err)
{
    int rc = 0;
    if (!d->log.committed && pleat_store_is_damaged(d->store))
        rc = pleat_error_set(err, PLEAT_E_CORRUPT,
                             "something was read that is not what was written");
    else if (!d->log.committed)
        rc = write_turn(d, err);
    if (rc == PLEAT_E_CORRUPT) {
        log_repair(d, write_rest, err);
        rc = 0;
    }
    d->log.committed = !rc;
    if (!rc)
        rc = log_put_in_place(d, err);
    if (!rc) {
        d->log.committed = false;
        d->archive.has_accounts = true;
    }
    return rc;
}
