/* The log: records, each with its number and a checksum. */
#include <string.h>

#include "store/store-internal.h"

int pleat_store_append(struct pleat_store *store, const void *record, size_t size, int64_t *seq,
                       struct pleat_error *err)
{
    int status = pleat_store_check_writing(store, err);
    if (status)
        return status;
    if (size != store->record_size)
        return pleat_error_set(err, PLEAT_E_INVALID, "a record of %zu bytes; all have %zu", size,
                               store->record_size);
    sqlite3_stmt *statement = store->statements[ST_APPEND];
    int64_t number = store->last_seq + 1;
    sqlite3_bind_int64(statement, 1, number);
    sqlite3_bind_blob(statement, 2, record, (int)size, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, pleat_store_checksum(number, record, size));
    status = pleat_store_write(store, ST_APPEND, "write to", err);
    /* the file has more records than were found when it was opened */
    if (status == PLEAT_E_EXISTS) {
        store->damaged = true;
        pleat_store_rollback(store);
        return pleat_error_set(err, PLEAT_E_CORRUPT, "record %lld is in %s already",
                               (long long)number, store->path);
    }
    if (status)
        return status;
    store->last_seq = number;
    if (seq)
        *seq = number;
    return 0;
}

int pleat_store_skip_to(struct pleat_store *store, int64_t seq, struct pleat_error *err)
{
    int status = pleat_store_check_writing(store, err);
    if (!status && seq < store->last_seq)
        status = pleat_error_set(err, PLEAT_E_INVALID, "record %lld of %s is there already",
                                 (long long)seq, store->path);
    if (!status && store->first_seq > store->last_seq)
        store->first_seq = seq + 1;
    if (!status)
        store->last_seq = seq;
    return status;
}

int64_t pleat_store_last_seq(const struct pleat_store *store)
{
    return store->last_seq;
}

int64_t pleat_store_first_seq(const struct pleat_store *store)
{
    return store->first_seq;
}

/* Sets and returns PLEAT_E_CORRUPT: record seq is bad. how: in which way, such as "is missing". */
static int corrupt_record(const struct pleat_store *store, int64_t seq, const char *how,
                          struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_CORRUPT,
                           "record %lld of %s %s; the log is good up to record "
                           "%lld: " PLEAT_STORE_DAMAGED,
                           (long long)seq, store->path, how, (long long)(seq - 1));
}

/* Checks a row and copies its record to store->record. seq: the number that it must have. */
static int take_record(struct pleat_store *store, sqlite3_stmt *row, int64_t seq,
                       struct pleat_error *err)
{
    if (sqlite3_column_int64(row, 0) != seq)
        return corrupt_record(store, seq, "is missing", err);
    size_t size = (size_t)sqlite3_column_bytes(row, 1);
    if (sqlite3_column_type(row, 1) != SQLITE_BLOB || size != store->record_size)
        return corrupt_record(store, seq, "has the wrong size", err);
    memcpy(store->record, sqlite3_column_blob(row, 1), size);
    if (sqlite3_column_int64(row, 2) != pleat_store_checksum(seq, store->record, size))
        return corrupt_record(store, seq, "fails its checksum", err);
    return 0;
}

int pleat_store_read_rows(struct pleat_store *store, int64_t seq,
                          pleat_store_record_callback callback, void *arg, struct pleat_error *err)
{
    sqlite3_stmt *statement = store->statements[ST_READ];
    int code, status = 0;
    if (store->reading)
        return pleat_error_set(err, PLEAT_E_STATE, "%s is being read", store->path);
    store->reading = true;
    sqlite3_bind_int64(statement, 1, seq);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        status = take_record(store, statement, seq, err);
        if (!status)
            status = callback(arg, seq, store->record);
        if (status)
            break;
        seq++;
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = pleat_store_failure(store, "read", err);
    else if (code == SQLITE_DONE && seq <= store->last_seq)
        status = corrupt_record(store, seq, "is missing", err);
    store->reading = false;
    sqlite3_reset(statement);
    return status;
}
