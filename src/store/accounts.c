/* Accounts: one row for each job that has ended. Also removes what is known about a job. */
#include <string.h>

#include "store/store-internal.h"

int pleat_store_put_account(struct pleat_store *store, const struct pleat_account_row *row,
                            struct pleat_error *err)
{
    int status = pleat_store_check_writing(store, err);
    if (status)
        return status;
    sqlite3_stmt *statement = store->statements[ST_PUT_ACCOUNT];
    size_t size = strlen(row->text);
    sqlite3_bind_int64(statement, 1, row->job);
    sqlite3_bind_int64(statement, 2, row->submit_us);
    sqlite3_bind_int64(statement, 3, row->end_us);
    sqlite3_bind_text64(statement, 4, row->text, size, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_int64(statement, 5, pleat_store_checksum(row->job, row->text, size));
    return pleat_store_write(store, ST_PUT_ACCOUNT, "write to", err);
}

static int take_account(struct pleat_store *store, sqlite3_stmt *row,
                        pleat_store_account_callback callback, void *arg, struct pleat_error *err)
{
    const char *text = (const char *)sqlite3_column_text(row, 3);
    size_t size = (size_t)sqlite3_column_bytes(row, 3);
    struct pleat_account_row account = {.job = sqlite3_column_int64(row, 0),
                                        .submit_us = sqlite3_column_int64(row, 1),
                                        .end_us = sqlite3_column_int64(row, 2),
                                        .text = text ? text : ""};
    if (sqlite3_column_int64(row, 4) != pleat_store_checksum(account.job, account.text, size)) {
        store->damaged = true;
        return pleat_error_set(err, PLEAT_E_CORRUPT,
                               "the account of job %lld in %s fails its "
                               "checksum",
                               (long long)account.job, store->path);
    }
    return callback(arg, &account);
}

int pleat_store_read_accounts(struct pleat_store *store, const struct pleat_account_filter *filter,
                              pleat_store_account_callback callback, void *arg,
                              struct pleat_error *err)
{
    if (store->reading)
        return pleat_error_set(err, PLEAT_E_STATE, "%s is being read", store->path);
    sqlite3_stmt *row = store->statements[ST_ACCOUNTS];
    int status = 0;
    int code;
    sqlite3_bind_int64(row, 1, filter->after_job);
    sqlite3_bind_int64(row, 2, filter->last_job ? filter->last_job : INT64_MAX);
    sqlite3_bind_int64(row, 3, filter->to_us ? filter->to_us : INT64_MAX);
    sqlite3_bind_int64(row, 4, filter->from_us);
    sqlite3_bind_int64(row, 5, filter->ended_before_us ? filter->ended_before_us : INT64_MAX);
    store->reading = true;
    while (!status && (code = sqlite3_step(row)) != SQLITE_DONE)
        status = code == SQLITE_ROW ? take_account(store, row, callback, arg, err)
                                    : pleat_store_failure(store, "read the accounts of", err);
    store->reading = false;
    sqlite3_reset(row);
    return status;
}

/* Runs a statement whose first parameter is the job; the others are bound. */
static int drop(struct pleat_store *store, enum statement which, int64_t job,
                struct pleat_error *err)
{
    sqlite3_bind_int64(store->statements[which], 1, job);
    return pleat_store_write(store, which, "write to", err);
}

int pleat_store_drop_notes(struct pleat_store *store, int64_t job, int64_t before_us,
                           struct pleat_error *err)
{
    int status = pleat_store_check_writing(store, err);
    if (status)
        return status;
    sqlite3_bind_int64(store->statements[ST_DROP_NOTES], 2, before_us ? before_us : INT64_MAX);
    return drop(store, ST_DROP_NOTES, job, err);
}

int pleat_store_drop_job(struct pleat_store *store, int64_t job, struct pleat_error *err)
{
    int status = pleat_store_drop_notes(store, job, 0, err);
    if (!status)
        status = drop(store, ST_DROP_ACCOUNT, job, err);
    return status ? status : drop(store, ST_DROP_SPEC, job, err);
}

int pleat_store_drop_unshared(struct pleat_store *store, struct pleat_error *err)
{
    int status = pleat_store_check_writing(store, err);
    return status ? status : pleat_store_write(store, ST_DROP_SHARED, "write to", err);
}

int64_t pleat_store_last_job(struct pleat_store *store)
{
    static const char *const texts[] = {
        "SELECT max(id) FROM spec", "SELECT max(job) FROM account",
        "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'last_job'"};
    int64_t last = 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        sqlite3_stmt *row = NULL;
        int code = sqlite3_prepare_v2(store->db, texts[i], -1, &row, NULL);
        if (code == SQLITE_OK)
            code = sqlite3_step(row);
        if (code == SQLITE_ROW && sqlite3_column_int64(row, 0) > last)
            last = sqlite3_column_int64(row, 0);
        else if (code != SQLITE_ROW && code != SQLITE_DONE)
            (void)pleat_store_failure(store, "read", NULL); /* this marks the store as damaged */
        sqlite3_finalize(row);
    }
    return last;
}
