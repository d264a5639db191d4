/* Notes: what happened, in the words of people. */
#include <string.h>

#include "store/store-internal.h"

int pleat_store_append_note(struct pleat_store *store, const struct pleat_note *note, int64_t *seq,
                            struct pleat_error *err)
{
    int status = pleat_store_check_writing(store, err);
    if (status)
        return status;
    if (!note->kind || !note->kind[0] || note->job < -1)
        return pleat_error_set(err, PLEAT_E_INVALID, "a note without a kind, or of job %lld",
                               (long long)note->job);
    sqlite3_stmt *statement = store->statements[ST_APPEND_NOTE];
    sqlite3_bind_int64(statement, 1, note->time_us);
    sqlite3_bind_text(statement, 2, note->kind, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, note->job);
    sqlite3_bind_int(statement, 4, note->component);
    sqlite3_bind_text(statement, 5, note->data ? note->data : "{}", -1, SQLITE_STATIC);
    status = pleat_store_write(store, ST_APPEND_NOTE, "write to", err);
    if (!status && seq)
        *seq = sqlite3_last_insert_rowid(store->db);
    return status;
}

static sqlite3_stmt *bind_filter(struct pleat_store *store, const struct pleat_note_filter *filter)
{
    enum statement which;
    if (filter->job >= 0)
        which = filter->newest_first ? ST_NOTES_OF_JOB_NEWEST : ST_NOTES_OF_JOB;
    else
        which = filter->newest_first ? ST_NOTES_NEWEST : ST_NOTES;
    sqlite3_stmt *statement = store->statements[which];
    if (filter->job >= 0)
        sqlite3_bind_int64(statement, 1, filter->job);
    sqlite3_bind_int64(statement, 2, filter->after_seq);
    sqlite3_bind_int64(statement, 3, filter->from_us);
    sqlite3_bind_int64(statement, 4, filter->to_us ? filter->to_us : INT64_MAX);
    sqlite3_bind_int64(statement, 5, filter->limit > 0 ? filter->limit : -1);
    return statement;
}

static const char *text_or_empty(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text ? text : "";
}

int pleat_store_read_notes(struct pleat_store *store, const struct pleat_note_filter *filter,
                           pleat_store_note_callback callback, void *arg, struct pleat_error *err)
{
    if (store->reading)
        return pleat_error_set(err, PLEAT_E_STATE, "%s is being read", store->path);
    sqlite3_stmt *row = bind_filter(store, filter);
    int status = 0;
    int code;
    store->reading = true;
    while (status == 0 && (code = sqlite3_step(row)) != SQLITE_DONE) {
        if (code != SQLITE_ROW) {
            status = pleat_store_failure(store, "read the notes of", err);
            break;
        }
        struct pleat_note note = {.seq = sqlite3_column_int64(row, 0),
                                  .time_us = sqlite3_column_int64(row, 1),
                                  .kind = text_or_empty(row, 2),
                                  .job = sqlite3_column_int64(row, 3),
                                  .component = sqlite3_column_int(row, 4),
                                  .data = text_or_empty(row, 5)};
        status = callback(arg, &note);
    }
    store->reading = false;
    sqlite3_reset(row);
    return status;
}
