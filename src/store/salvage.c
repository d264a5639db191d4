#include "store/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/pages.h"
#include "store/store-internal.h"

enum { KIND_MAX = 31, TABLES = 6 };

struct work {
    struct pleat_store *store;     /* the new store */
    sqlite3_stmt *inserts[TABLES]; /* one for each of `tables` */
    struct pleat_error *err;
    int status;
};

/* ---- rows into the new store ---- */

static void bind_value(sqlite3_stmt *statement, int index, const struct pleat_cell *cell)
{
    switch (cell->kind) {
    case PLEAT_CELL_INTEGER:
        sqlite3_bind_int64(statement, index, cell->integer);
        break;
    case PLEAT_CELL_TEXT:
        sqlite3_bind_text64(statement, index, (const char *)cell->bytes, cell->size, SQLITE_STATIC,
                            SQLITE_UTF8);
        break;
    case PLEAT_CELL_BLOB:
        sqlite3_bind_blob64(statement, index, cell->bytes, cell->size, SQLITE_STATIC);
        break;
    default:
        sqlite3_bind_null(statement, index);
        break;
    }
}

/* A row that SQLite refuses (such as NULL where none is allowed) is not good, and is left out.
 * Another failure, such as a full disk, ends the salvage. */
static int step_insert(struct work *work, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement) & 0xff;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (code == SQLITE_DONE || code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH)
        return 0;
    work->status = pleat_store_failure(work->store, "write to", work->err);
    return work->status;
}

static int insert_with(struct work *work, sqlite3_stmt *statement, const struct pleat_cell *cells,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        bind_value(statement, (int)i + 1, &cells[i]);
    return step_insert(work, statement);
}

static int insert(struct work *work, const char *sql, const struct pleat_cell *cells, size_t count)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(work->store->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return work->status = pleat_store_failure(work->store, "write to", work->err);
    int rc = insert_with(work, statement, cells, count);
    sqlite3_finalize(statement);
    return rc;
}

/* ---- which rows are unchanged since they were written ---- */

static bool is_good(int64_t number, const struct pleat_cell *bytes, const struct pleat_cell *sum)
{
    return sum->kind == PLEAT_CELL_INTEGER &&
           pleat_store_checksum(number, bytes->bytes, bytes->size) == sum->integer;
}

/* A kind of note is a short word. */
static bool is_kind(const struct pleat_cell *cell)
{
    if (cell->kind != PLEAT_CELL_TEXT || cell->size == 0 || cell->size > KIND_MAX)
        return false;
    for (size_t i = 0; i < cell->size; i++)
        if (cell->bytes[i] < 'a' || cell->bytes[i] > 'z')
            return false;
    return true;
}

static bool is_record(const struct work *work, const struct pleat_cell *c, size_t count)
{
    return count == 3 && c[1].kind == PLEAT_CELL_BLOB && c[1].size == work->store->record_size &&
           is_good(c[0].integer, &c[1], &c[2]);
}

static bool is_spec(const struct work *work, const struct pleat_cell *c, size_t count)
{
    (void)work; /* schema 2 has a fourth column */
    return (count == 3 || count == 4) && c[1].kind == PLEAT_CELL_TEXT &&
           is_good(c[0].integer, &c[1], &c[2]);
}

static bool is_shared(const struct work *work, const struct pleat_cell *c, size_t count)
{
    (void)work;
    return count == 4 && c[1].kind == PLEAT_CELL_INTEGER && c[2].kind == PLEAT_CELL_TEXT &&
           is_good(0, &c[2], &c[3]);
}

static bool is_account(const struct work *work, const struct pleat_cell *c, size_t count)
{
    (void)work;
    return count == 5 && c[1].kind == PLEAT_CELL_INTEGER && c[2].kind == PLEAT_CELL_INTEGER &&
           c[3].kind == PLEAT_CELL_TEXT && is_good(c[0].integer, &c[3], &c[4]);
}

static bool is_checkpoint(const struct work *work, const struct pleat_cell *c, size_t count)
{
    (void)work; /* a checkpoint's state has a checksum of its own */
    return count == 2 && c[1].kind == PLEAT_CELL_BLOB;
}

static bool is_note(const struct work *work, const struct pleat_cell *c, size_t count)
{
    (void)work;
    return count == 6 && c[1].kind == PLEAT_CELL_INTEGER && is_kind(&c[2]) &&
           c[3].kind == PLEAT_CELL_INTEGER && c[4].kind == PLEAT_CELL_INTEGER &&
           c[5].kind == PLEAT_CELL_TEXT;
}

/* Columns in the order of SELECT *, the number first. Newer rows are inserted first, so older ones
 * are ignored. */
static const struct table {
    const char *name, *insert;
    bool (*is_good)(const struct work *work, const struct pleat_cell *cells, size_t count);
} tables[TABLES] = {
    {"log", "INSERT OR IGNORE INTO log (seq, record, checksum) VALUES (?1, ?2, ?3)", is_record},
    {"spec", "INSERT OR IGNORE INTO spec (id, text, checksum, shared) VALUES (?1, ?2, ?3, ?4)",
     is_spec},
    {"shared", "INSERT OR IGNORE INTO shared (id, hash, text, checksum) VALUES (?1, ?2, ?3, ?4)",
     is_shared},
    {"account",
     "INSERT OR IGNORE INTO account (job, submit_us, end_us, text, checksum)"
     " VALUES (?1, ?2, ?3, ?4, ?5)",
     is_account},
    {"checkpoint", "INSERT OR IGNORE INTO checkpoint (seq, state) VALUES (?1, ?2)", is_checkpoint},
    {"note",
     "INSERT OR IGNORE INTO note (seq, time_us, kind, job, component, data)"
     " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
     is_note},
};

static int prepare_inserts(struct work *work)
{
    for (size_t i = 0; i < TABLES; i++)
        if (sqlite3_prepare_v2(work->store->db, tables[i].insert, -1, &work->inserts[i], NULL) !=
            SQLITE_OK)
            return pleat_store_failure(work->store, "write to", work->err);
    return 0;
}

static void finish_inserts(struct work *work)
{
    for (size_t i = 0; i < TABLES; i++)
        sqlite3_finalize(work->inserts[i]);
}

static bool is_key(const struct pleat_cell *cell, const char *key)
{
    return cell->size == strlen(key) && !memcmp(cell->bytes, key, cell->size);
}

/* "schema" is left out: the new store has its own. */
static bool is_meta(const struct pleat_cell *c, size_t count)
{
    return count == 2 && c[0].kind == PLEAT_CELL_TEXT && c[1].kind == PLEAT_CELL_TEXT &&
           !is_key(&c[0], "schema");
}

/* Takes only values that never change, or only grow, since the page may be an old one. */
static int take_page_meta(struct work *work, const struct pleat_cell *c)
{
    if (is_key(&c[0], "instance"))
        return insert(work, "INSERT OR IGNORE INTO meta VALUES (?1, ?2)", c, 2);
    if (is_key(&c[0], "last_job"))
        return insert(work,
                      "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value ="
                      " max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))",
                      c, 2);
    return 0;
}

static int take_page_row(void *arg, const struct pleat_row *row)
{
    struct work *work = arg;
    struct pleat_cell cells[PLEAT_PAGES_COLUMNS_MAX];
    if (!row->of_table)
        return is_meta(row->cells, row->count) ? take_page_meta(work, row->cells) : 0;
    if (row->rowid < 1 || row->cells[0].kind != PLEAT_CELL_NULL)
        return 0;
    memcpy(cells, row->cells, sizeof(cells));
    cells[0] = (struct pleat_cell){.kind = PLEAT_CELL_INTEGER, .integer = row->rowid};
    for (size_t i = 0; i < TABLES; i++)
        if (tables[i].is_good(work, cells, row->count))
            return insert_with(work, work->inserts[i], cells, row->count);
    return 0;
}

/* ---- tables that SQLite can still read ---- */

static void take_cell(sqlite3_stmt *row, int column, struct pleat_cell *cell)
{
    int type = sqlite3_column_type(row, column);
    *cell = (struct pleat_cell){.kind = PLEAT_CELL_NULL};
    if (type == SQLITE_INTEGER) {
        cell->kind = PLEAT_CELL_INTEGER;
        cell->integer = sqlite3_column_int64(row, column);
    } else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
        cell->kind = type == SQLITE_TEXT ? PLEAT_CELL_TEXT : PLEAT_CELL_BLOB;
        cell->bytes = type == SQLITE_TEXT ? sqlite3_column_text(row, column)
                                          : sqlite3_column_blob(row, column);
        cell->size = (size_t)sqlite3_column_bytes(row, column);
    }
}

/* which: index into `tables`; TABLES: the table of values. */
static int copy_rows(struct work *work, sqlite3_stmt *row, size_t which)
{
    struct pleat_cell cells[PLEAT_PAGES_COLUMNS_MAX];
    int rc = 0, count = sqlite3_column_count(row);
    while (!rc && count > 0 && count <= PLEAT_PAGES_COLUMNS_MAX &&
           sqlite3_step(row) == SQLITE_ROW) {
        for (int i = 0; i < count; i++)
            take_cell(row, i, &cells[i]);
        if (which == TABLES && is_meta(cells, (size_t)count))
            rc = insert(work, "INSERT OR IGNORE INTO meta VALUES (?1, ?2)", cells, 2);
        else if (which < TABLES && cells[0].kind == PLEAT_CELL_INTEGER && cells[0].integer > 0 &&
                 tables[which].is_good(work, cells, (size_t)count))
            rc = insert_with(work, work->inserts[which], cells, (size_t)count);
    }
    return rc;
}

/* Reads from the first row on up to a damaged page, then from the last row backwards. */
static int copy_table(struct work *work, sqlite3 *damaged, size_t which)
{
    static const char *const orders[] = {"", " ORDER BY 1 DESC"};
    int rc = 0;
    for (size_t i = 0; !rc && i < 2; i++) {
        char sql[80];
        sqlite3_stmt *row = NULL;
        snprintf(sql, sizeof(sql), "SELECT * FROM %s%s",
                 which < TABLES ? tables[which].name : "meta", orders[i]);
        if (sqlite3_prepare_v2(damaged, sql, -1, &row, NULL) == SQLITE_OK)
            rc = copy_rows(work, row, which);
        sqlite3_finalize(row);
    }
    return rc;
}

static int copy_tables(struct work *work, const char *path)
{
    sqlite3 *damaged = NULL;
    int rc = 0;
    if (sqlite3_open_v2(path, &damaged, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        /* the damaged store's write-ahead log is left as it is: what is kept aside is what was
         * found */
        sqlite3_db_config(damaged, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) == SQLITE_OK &&
        sqlite3_exec(damaged,
                     "PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF;"
                     "PRAGMA cell_size_check = ON",
                     NULL, NULL, NULL) == SQLITE_OK)
        for (size_t i = 0; !rc && i <= TABLES; i++)
            rc = copy_table(work, damaged, i);
    sqlite3_close(damaged);
    return rc;
}

/* ---- what of it can be used ---- */

static int64_t query(struct pleat_store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = 0;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static int64_t count_after(struct pleat_store *store, int64_t seq)
{
    sqlite3_stmt *row = NULL;
    int64_t count = 0;
    if (sqlite3_prepare_v2(store->db, "SELECT count(*) FROM log WHERE seq > ?1", -1, &row, NULL) ==
        SQLITE_OK) {
        sqlite3_bind_int64(row, 1, seq);
        if (sqlite3_step(row) == SQLITE_ROW)
            count = sqlite3_column_int64(row, 0);
    }
    sqlite3_finalize(row);
    return count;
}

/* The last of the records that follow `base` without a gap, up to most_seq. */
static int64_t end_after(struct pleat_store *store, int64_t base, int64_t most_seq)
{
    sqlite3_stmt *row = NULL;
    int64_t end = base;
    if (sqlite3_prepare_v2(store->db, "SELECT seq FROM log WHERE seq > ?1 ORDER BY seq", -1, &row,
                           NULL) == SQLITE_OK) {
        sqlite3_bind_int64(row, 1, base);
        while (end < most_seq && sqlite3_step(row) == SQLITE_ROW &&
               sqlite3_column_int64(row, 0) == end + 1)
            end++;
    }
    sqlite3_finalize(row);
    return end;
}

/* The last record that can be reached without a gap, from the first record or from any checkpoint.
 */
static int64_t end_of_good(struct pleat_store *store, int64_t most_seq)
{
    sqlite3_stmt *row = NULL;
    int64_t best = end_after(store, 0, most_seq);
    if (sqlite3_prepare_v2(store->db, "SELECT seq FROM checkpoint", -1, &row, NULL) == SQLITE_OK)
        while (sqlite3_step(row) == SQLITE_ROW) {
            int64_t base = sqlite3_column_int64(row, 0);
            int64_t end = base <= most_seq ? end_after(store, base, most_seq) : 0;
            best = end > best ? end : best;
        }
    sqlite3_finalize(row);
    return best;
}

static int copy_record(void *arg, int64_t seq, const void *record)
{
    struct work *work = arg;
    size_t size = work->store->record_size;
    struct pleat_cell cells[] = {
        {.kind = PLEAT_CELL_INTEGER, .integer = seq},
        {.kind = PLEAT_CELL_BLOB, .bytes = record, .size = size},
        {.kind = PLEAT_CELL_INTEGER, .integer = pleat_store_checksum(seq, record, size)},
    };
    return insert_with(work, work->inserts[0], cells, 3);
}

/* The log began from a checkpoint that is lost: takes the records that were moved aside. */
static int copy_from_aside(struct work *work, const char *path)
{
    if (pleat_store_salvage_segments(work->store, path, copy_record, work))
        return pleat_error_set(work->err, PLEAT_E_NOMEM, "out of memory for %s-archive", path);
    return work->status;
}

static int keep_good(struct work *work, const char *path, int64_t most_seq,
                     struct pleat_salvage *result)
{
    struct pleat_cell end = {.kind = PLEAT_CELL_INTEGER,
                             .integer = end_of_good(work->store, most_seq)};
    if (!end.integer && most_seq > 0) {
        int rc = copy_from_aside(work, path);
        if (rc)
            return rc;
        end.integer = end_of_good(work->store, most_seq);
    }
    result->records = end.integer;
    result->after = count_after(work->store, end.integer);
    result->specs = query(work->store, "SELECT count(*) FROM spec");
    result->last_job = query(work->store, "SELECT max(job) FROM note");
    int64_t job = pleat_store_last_job(work->store);
    result->last_job = job > result->last_job ? job : result->last_job;
    /* the number of a lost shared text may be given again: the specs that had it must not get
     * another's text */
    int rc = insert(work,
                    "UPDATE spec SET shared = -1"
                    " WHERE shared IS NOT NULL AND shared NOT IN (SELECT id FROM shared)",
                    NULL, 0);
    if (!rc)
        rc = insert(work, "DELETE FROM checkpoint WHERE seq > ?1", &end, 1);
    return rc ? rc : insert(work, "DELETE FROM log WHERE seq > ?1", &end, 1);
}

static int fill(struct work *work, const char *path, const char *wal, int64_t most_seq,
                struct pleat_salvage *result)
{
    int rc = prepare_inserts(work);
    if (!rc)
        rc = pleat_store_begin(work->store, work->err);
    if (!rc)
        rc = copy_tables(work, path);
    if (!rc && pleat_pages_read(path, wal, take_page_row, work))
        rc = work->status ? work->status
                          : pleat_error_set(work->err, PLEAT_E_NOMEM, "out of memory for %s", path);
    if (!rc)
        rc = keep_good(work, path, most_seq, result);
    if (!rc)
        rc = pleat_store_commit(work->store, work->err);
    finish_inserts(work);
    return rc;
}

static void remove_with_wal(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < 3; i++) {
        char name[PATH_MAX];
        snprintf(name, sizeof(name), "%s%s", path, ends[i]);
        (void)unlink(name);
    }
}

int pleat_store_salvage(const char *path, size_t record_size, int64_t most_seq, int64_t now_us,
                        struct pleat_salvage *result, struct pleat_error *err)
{
    char making[PATH_MAX], ready[PATH_MAX], wal[PATH_MAX];
    struct work work = {.err = err};
    snprintf(making, sizeof(making), "%s%s", path, ".salvage");
    snprintf(ready, sizeof(ready), "%s%s", path, ".salvaged");
    snprintf(wal, sizeof(wal), "%s%s", path, "-wal");
    memset(result, 0, sizeof(*result));
    pleat_store_name_aside(path, now_us, result->aside, sizeof(result->aside));
    remove_with_wal(making);
    int rc = pleat_store_open(making, record_size, &work.store, err);
    if (!rc)
        rc = fill(&work, path, wal, most_seq, result);
    pleat_store_close(work.store); /* this moves its write-ahead log into the file */
    if (!rc)
        rc = pleat_store_publish(path, err);
    if (rc) {
        remove_with_wal(making);
        return rc;
    }
    return pleat_store_swap(path, ready, result->aside, err);
}
