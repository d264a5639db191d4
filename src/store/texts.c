/* Specs, the texts that they share, and the store's values. */
#include <string.h>

#include "store/store-internal.h"

/* *number: the shared text's number. The text is stored if the store does not have it. */
static int share(struct pleat_store *store, const char *text, int64_t *number,
                 struct pleat_error *err)
{
    size_t size = strlen(text);
    int64_t hash = pleat_store_checksum(0, text, size);
    sqlite3_stmt *find = store->statements[ST_FIND_SHARED];
    sqlite3_bind_int64(find, 1, hash);
    sqlite3_bind_text64(find, 2, text, size, SQLITE_STATIC, SQLITE_UTF8);
    int code = sqlite3_step(find);
    *number = code == SQLITE_ROW ? sqlite3_column_int64(find, 0) : 0;
    int status =
        code == SQLITE_ROW || code == SQLITE_DONE ? 0 : pleat_store_failure(store, "read", err);
    sqlite3_reset(find);
    sqlite3_clear_bindings(find);
    if (status || *number)
        return status;
    sqlite3_stmt *put = store->statements[ST_PUT_SHARED];
    sqlite3_bind_int64(put, 1, hash);
    sqlite3_bind_text64(put, 2, text, size, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_int64(put, 3, hash);
    status = pleat_store_write(store, ST_PUT_SHARED, "write to", err);
    *number = sqlite3_last_insert_rowid(store->db);
    return status;
}

int pleat_store_put_spec(struct pleat_store *store, int64_t id, const char *text,
                         const char *shared, struct pleat_error *err)
{
    int64_t number = 0;
    int status = pleat_store_check_writing(store, err);
    if (!status && shared)
        status = share(store, shared, &number, err);
    if (status)
        return status;
    enum statement which = shared ? ST_PUT_SPEC_SHARED : ST_PUT_SPEC;
    sqlite3_stmt *statement = store->statements[which];
    size_t size = strlen(text);
    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_text64(statement, 2, text, size, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_int64(statement, 3, pleat_store_checksum(id, text, size));
    if (shared)
        sqlite3_bind_int64(statement, 4, number);
    status = pleat_store_write(store, which, "write to", err);
    if (status == PLEAT_E_EXISTS)
        return pleat_error_set(err, PLEAT_E_EXISTS, "spec %lld is in %s already", (long long)id,
                               store->path);
    return status;
}

int pleat_store_put_meta(struct pleat_store *store, const char *key, const char *value,
                         struct pleat_error *err)
{
    int status = pleat_store_check_writing(store, err);
    if (status)
        return status;
    if (strcmp(key, "schema") == 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "the key 'schema' is the store's own");
    sqlite3_stmt *statement = store->statements[ST_PUT_META];
    sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, value, -1, SQLITE_STATIC);
    return pleat_store_write(store, ST_PUT_META, "write to", err);
}

/* Steps a bound reading statement, and appends its first column to *text. 1: there was a row; 0:
 * none; or an error. */
static int fetch_text(struct pleat_store *store, sqlite3_stmt *statement, struct pleat_string *text,
                      struct pleat_error *err)
{
    int code = sqlite3_step(statement);
    if (code == SQLITE_DONE)
        return 0;
    if (code != SQLITE_ROW)
        return pleat_store_failure(store, "read", err);
    const char *value = (const char *)sqlite3_column_text(statement, 0);
    pleat_string_add_bytes(text, value ? value : "", (size_t)sqlite3_column_bytes(statement, 0));
    if (text->failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a text of %s", store->path);
    return 1;
}

/* Checks what fetch_text has appended, which is *text from length `before` on, against the checksum
 * in the second column. number: the number with which the checksum begins. */
static int check_text(struct pleat_store *store, sqlite3_stmt *row, int64_t number, int64_t id,
                      size_t before, struct pleat_string *text, struct pleat_error *err)
{
    if (sqlite3_column_type(row, 1) != SQLITE_NULL &&
        sqlite3_column_int64(row, 1) ==
            pleat_store_checksum(number, text->text + before, text->length - before))
        return 0;
    text->length = before;
    if (text->text)
        text->text[before] = '\0';
    /* already known to be lost: a salvage left it out */
    if (sqlite3_column_type(row, 1) == SQLITE_NULL)
        return pleat_error_set(err, PLEAT_E_CORRUPT,
                               "what spec %lld of %s has in common with others is lost",
                               (long long)id, store->path);
    store->damaged = true;
    return pleat_error_set(err, PLEAT_E_CORRUPT, "spec %lld of %s fails its checksum",
                           (long long)id, store->path);
}

/* Appends a text that belongs to spec `id`; its checksum begins with `number`. absent: what the
 * error says where there is none. */
static int get_checked(struct pleat_store *store, enum statement which, int64_t id, int64_t number,
                       const char *absent, struct pleat_string *text, struct pleat_error *err)
{
    sqlite3_stmt *statement = store->statements[which];
    size_t before = text->length;
    sqlite3_bind_int64(statement, 1, id);
    int status = fetch_text(store, statement, text, err);
    if (status == 0)
        status = pleat_error_set(err, PLEAT_E_NOTFOUND, "spec %lld of %s %s", (long long)id,
                                 store->path, absent);
    else if (status == 1)
        status = check_text(store, statement, number, id, before, text, err);
    sqlite3_reset(statement);
    return status;
}

int pleat_store_get_spec(struct pleat_store *store, int64_t id, struct pleat_string *text,
                         struct pleat_error *err)
{
    return get_checked(store, ST_GET_SPEC, id, id, "is not there", text, err);
}

int pleat_store_get_shared(struct pleat_store *store, int64_t id, struct pleat_string *text,
                           struct pleat_error *err)
{
    return get_checked(store, ST_GET_SPEC_SHARED, id, 0, "shares nothing", text, err);
}

int pleat_store_get_meta(struct pleat_store *store, const char *key, struct pleat_string *value,
                         struct pleat_error *err)
{
    sqlite3_stmt *statement = store->statements[ST_GET_META];
    sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    int status = fetch_text(store, statement, value, err);
    if (status == 0)
        status = pleat_error_set(err, PLEAT_E_NOTFOUND, "no value '%s' in %s", key, store->path);
    else if (status == 1)
        status = 0;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}
