/* Checkpoints, and removing from the log the records before them. */
#include <limits.h>

#include "store/store-internal.h"

int pleat_store_put_checkpoint(struct pleat_store *store, const void *state, size_t size,
                               struct pleat_error *err)
{
    int status = pleat_store_check_writing(store, err);
    if (status)
        return status;
    sqlite3_stmt *statement = store->statements[ST_PUT_CHECKPOINT];
    sqlite3_bind_int64(statement, 1, store->last_seq);
    sqlite3_bind_blob64(statement, 2, state, size, SQLITE_STATIC);
    return pleat_store_write(store, ST_PUT_CHECKPOINT, "write a checkpoint to", err);
}

int pleat_store_get_checkpoint(struct pleat_store *store, int64_t most_seq, int64_t *seq,
                               struct pleat_string *state, struct pleat_error *err)
{
    sqlite3_stmt *row = store->statements[ST_GET_CHECKPOINT];
    int status = 0;
    sqlite3_bind_int64(row, 1, most_seq);
    int code = sqlite3_step(row);
    if (code == SQLITE_ROW) {
        const void *bytes = sqlite3_column_blob(row, 1);
        *seq = sqlite3_column_int64(row, 0);
        pleat_string_add_bytes(state, bytes ? bytes : "", (size_t)sqlite3_column_bytes(row, 1));
        if (state->failed)
            status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a checkpoint of %s",
                                     store->path);
    } else if (code == SQLITE_DONE) {
        status = pleat_error_set(err, PLEAT_E_NOTFOUND, "no checkpoint in %s", store->path);
    } else {
        status = pleat_store_failure(store, "read a checkpoint of", err);
    }
    sqlite3_reset(row);
    return status;
}

/* *seq: the record of the newest checkpoint; 0: there is none. */
static int newest(struct pleat_store *store, int64_t *seq, struct pleat_error *err)
{
    sqlite3_stmt *row = store->statements[ST_GET_CHECKPOINT];
    sqlite3_bind_int64(row, 1, INT64_MAX);
    int code = sqlite3_step(row);
    *seq = code == SQLITE_ROW ? sqlite3_column_int64(row, 0) : 0;
    int status = code == SQLITE_ROW || code == SQLITE_DONE
                     ? 0
                     : pleat_store_failure(store, "read a checkpoint of", err);
    sqlite3_reset(row);
    return status;
}

int pleat_store_trim(struct pleat_store *store, int64_t to_seq, struct pleat_error *err)
{
    int64_t newest_seq;
    int status = pleat_store_check_writing(store, err);
    if (!status)
        status = newest(store, &newest_seq, err);
    if (status)
        return status;
    if (newest_seq < to_seq)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "records up to %lld are needed: there is no later checkpoint",
                               (long long)to_seq);
    sqlite3_bind_int64(store->statements[ST_DROP_CHECKPOINTS], 1, to_seq);
    status = pleat_store_write(store, ST_DROP_CHECKPOINTS, "write to", err);
    if (status)
        return status;
    sqlite3_bind_int64(store->statements[ST_DROP_RECORDS], 1, to_seq);
    status = pleat_store_write(store, ST_DROP_RECORDS, "write to", err);
    if (!status && store->first_seq <= to_seq)
        store->first_seq = to_seq + 1;
    return status;
}
