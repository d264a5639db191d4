/* Opening, closing, transactions; errors for SQLite's failures. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store-internal.h"

#define APPLICATION_ID 0x504c4541 /* "PLEA", in the header of the file */
#define TO_TEXT(x) #x
#define AS_TEXT(x) TO_TEXT(x)
#define NOTE_COLUMNS "SELECT seq, time_us, kind, job, component, data FROM note WHERE "
#define NOTE_RANGE "seq > ?2 AND time_us >= ?3 AND time_us < ?4 "

/* What schema 2 added. */
#define SINCE_SCHEMA_2                                                                             \
    "CREATE TABLE shared (id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, text TEXT NOT NULL,"      \
    " checksum INTEGER NOT NULL);"                                                                 \
    "CREATE INDEX shared_hash ON shared (hash);"                                                   \
    "ALTER TABLE spec ADD COLUMN shared INTEGER;"                                                  \
    "CREATE TABLE account (job INTEGER PRIMARY KEY, submit_us INTEGER NOT NULL,"                   \
    " end_us INTEGER NOT NULL, text TEXT NOT NULL, checksum INTEGER NOT NULL);"                    \
    "CREATE TABLE checkpoint (seq INTEGER PRIMARY KEY, state BLOB NOT NULL);"

static const char schema[] =
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE log (seq INTEGER PRIMARY KEY, record BLOB NOT NULL, checksum INTEGER NOT NULL);"
    "CREATE TABLE spec (id INTEGER PRIMARY KEY, text TEXT NOT NULL, checksum INTEGER NOT NULL);"
    "CREATE TABLE note (seq INTEGER PRIMARY KEY AUTOINCREMENT, time_us INTEGER NOT NULL,"
    " kind TEXT NOT NULL, job INTEGER NOT NULL, component INTEGER NOT NULL, data TEXT NOT NULL);"
    "CREATE INDEX note_job ON note (job, seq);" SINCE_SCHEMA_2
    "INSERT INTO meta VALUES ('schema', '" AS_TEXT(
        PLEAT_STORE_SCHEMA) "');"
                            "PRAGMA application_id = " AS_TEXT(APPLICATION_ID) ";";

static const char *const statement_texts[ST_COUNT] = {
    [ST_BEGIN] = "BEGIN IMMEDIATE",
    [ST_COMMIT] = "COMMIT",
    [ST_ROLLBACK] = "ROLLBACK",
    [ST_APPEND] = "INSERT INTO log (seq, record, checksum) VALUES (?1, ?2, ?3)",
    [ST_READ] = "SELECT seq, record, checksum FROM log WHERE seq >= ?1 ORDER BY seq",
    [ST_PUT_SPEC] = "INSERT INTO spec (id, text, checksum) VALUES (?1, ?2, ?3)",
    [ST_GET_SPEC] = "SELECT text, checksum FROM spec WHERE id = ?1",
    [ST_PUT_META] = "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)",
    [ST_PUT_SPEC_SHARED] = "INSERT INTO spec (id, text, checksum, shared) VALUES (?1, ?2, ?3, ?4)",
    [ST_GET_SPEC_SHARED] = "SELECT shared.text, shared.checksum, shared.id FROM spec"
                           " LEFT JOIN shared ON shared.id = spec.shared"
                           " WHERE spec.id = ?1 AND spec.shared IS NOT NULL",
    [ST_FIND_SHARED] = "SELECT id FROM shared WHERE hash = ?1 AND text = ?2",
    [ST_PUT_SHARED] = "INSERT INTO shared (hash, text, checksum)"
                      " VALUES (?1, ?2, ?3)",
    [ST_DROP_SHARED] = "DELETE FROM shared WHERE id NOT IN"
                       " (SELECT shared FROM spec WHERE shared IS NOT NULL)",
    [ST_PUT_ACCOUNT] = "INSERT OR REPLACE INTO account (job, submit_us, end_us, text, checksum)"
                       " VALUES (?1, ?2, ?3, ?4, ?5)",
    [ST_ACCOUNTS] = "SELECT job, submit_us, end_us, text, checksum FROM account WHERE job > ?1"
                    " AND job <= ?2 AND submit_us < ?3 AND end_us >= ?4 AND end_us < ?5"
                    " ORDER BY job",
    [ST_DROP_ACCOUNT] = "DELETE FROM account WHERE job = ?1",
    [ST_DROP_SPEC] = "DELETE FROM spec WHERE id = ?1",
    [ST_DROP_NOTES] = "DELETE FROM note WHERE job = ?1 AND time_us < ?2",
    [ST_PUT_CHECKPOINT] = "INSERT OR REPLACE INTO checkpoint (seq, state) VALUES (?1, ?2)",
    [ST_GET_CHECKPOINT] = "SELECT seq, state FROM checkpoint WHERE seq <= ?1 ORDER BY seq DESC",
    [ST_DROP_CHECKPOINTS] = "DELETE FROM checkpoint WHERE seq < ?1",
    [ST_DROP_RECORDS] = "DELETE FROM log WHERE seq <= ?1",
    [ST_GET_META] = "SELECT value FROM meta WHERE key = ?1",
    [ST_APPEND_NOTE] = "INSERT INTO note (time_us, kind, job, component, data)"
                       " VALUES (?1, ?2, ?3, ?4, ?5)",
    [ST_NOTES] = NOTE_COLUMNS NOTE_RANGE "ORDER BY seq LIMIT ?5",
    [ST_NOTES_NEWEST] = NOTE_COLUMNS NOTE_RANGE "ORDER BY seq DESC LIMIT ?5",
    [ST_NOTES_OF_JOB] = NOTE_COLUMNS "job = ?1 AND " NOTE_RANGE "ORDER BY seq LIMIT ?5",
    [ST_NOTES_OF_JOB_NEWEST] = NOTE_COLUMNS "job = ?1 AND " NOTE_RANGE "ORDER BY seq DESC LIMIT ?5",
};

/* ---- failures ---- */

static int system_failure(const struct pleat_store *store, const char *doing, int primary,
                          struct pleat_error *err)
{
    int reason = sqlite3_system_errno(store->db);
    if (!reason && primary == SQLITE_IOERR)
        reason = store->reason;
    const char *what = sqlite3_errmsg(store->db);
    const char *advice = "";
    if (primary == SQLITE_FULL || reason == ENOSPC || reason == EDQUOT)
        advice = "; free some space on its file system";
    else if (primary == SQLITE_READONLY || reason == EROFS || reason == EACCES)
        advice = "; make the file and its directory writable for you";
    else if (primary == SQLITE_CANTOPEN)
        advice = "; its directory must exist and be yours";
    if (reason)
        return pleat_error_set(err, PLEAT_E_SYSTEM, "cannot %s %s: %s (%s)%s", doing, store->path,
                               what, strerror(reason), advice);
    return pleat_error_set(err, PLEAT_E_SYSTEM, "cannot %s %s: %s%s", doing, store->path, what,
                           advice);
}

int pleat_store_failure(struct pleat_store *store, const char *doing, struct pleat_error *err)
{
    int primary = sqlite3_extended_errcode(store->db) & 0xff;
    switch (primary) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return pleat_error_set(err, PLEAT_E_BUSY,
                               "cannot %s %s: another process has it open (is a pleatd running "
                               "already?)",
                               doing, store->path);
    case SQLITE_NOMEM:
        return pleat_error_set(err, PLEAT_E_NOMEM, "cannot %s %s: out of memory", doing,
                               store->path);
    case SQLITE_ERROR:      /* a table or a column is missing */
    case SQLITE_CONSTRAINT: /* a constraint is broken, which no write of Pleat's does */
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        store->damaged = true;
        return pleat_error_set(err, PLEAT_E_CORRUPT, "cannot %s %s: %s; " PLEAT_STORE_DAMAGED,
                               doing, store->path, sqlite3_errmsg(store->db));
    default:
        return system_failure(store, doing, primary, err);
    }
}

/* ---- transactions ---- */

/* SQLite before 3.42 does not keep the system's reason for a COMMIT that failed. */
static int run(struct pleat_store *store, enum statement which)
{
    errno = 0;
    int code = sqlite3_step(store->statements[which]);
    store->reason = code == SQLITE_DONE ? 0 : errno;
    sqlite3_reset(store->statements[which]);
    return code == SQLITE_DONE ? 0 : -1;
}

/* Ends the transaction. SQLite may have rolled it back already, as on a full disk. */
static void roll_back(struct pleat_store *store)
{
    if (!sqlite3_get_autocommit(store->db))
        (void)run(store, ST_ROLLBACK);
    store->open = false;
    store->last_seq = store->committed_seq;
    store->first_seq = store->committed_first_seq;
}

int pleat_store_begin(struct pleat_store *store, struct pleat_error *err)
{
    if (store->open || store->reading)
        return pleat_error_set(err, PLEAT_E_STATE, "a transaction on %s is %s", store->path,
                               store->open ? "open already" : "not possible while reading");
    if (!sqlite3_get_autocommit(store->db))
        (void)run(store, ST_ROLLBACK); /* rolling an earlier transaction back had failed */
    if (run(store, ST_BEGIN))
        return pleat_store_failure(store, "begin to write to", err);
    store->open = true;
    store->committed_seq = store->last_seq;
    store->committed_first_seq = store->first_seq;
    return 0;
}

int pleat_store_check_writing(const struct pleat_store *store, struct pleat_error *err)
{
    if (store->open && !store->reading)
        return 0;
    return pleat_error_set(err, PLEAT_E_STATE, "no transaction is open on %s: begin one",
                           store->path);
}

int pleat_store_commit(struct pleat_store *store, struct pleat_error *err)
{
    int status = pleat_store_check_writing(store, err);
    if (status)
        return status;
    if (run(store, ST_COMMIT)) {
        status = pleat_store_failure(store, "write to", err);
        roll_back(store);
        return status;
    }
    store->open = false;
    store->committed_seq = store->last_seq;
    return 0;
}

void pleat_store_rollback(struct pleat_store *store)
{
    if (store->open && !store->reading)
        roll_back(store);
}

bool pleat_store_is_damaged(const struct pleat_store *store)
{
    return store->damaged;
}

bool pleat_store_was_left_open(const struct pleat_store *store)
{
    return store->was_left_open;
}

int pleat_store_write(struct pleat_store *store, enum statement which, const char *doing,
                      struct pleat_error *err)
{
    sqlite3_stmt *statement = store->statements[which];
    int code = sqlite3_step(statement);
    int status = 0;
    if (code != SQLITE_DONE && sqlite3_extended_errcode(store->db) == SQLITE_CONSTRAINT_PRIMARYKEY)
        status = PLEAT_E_EXISTS; /* ends this statement only, not the transaction */
    else if (code != SQLITE_DONE)
        status = pleat_store_failure(store, doing, err);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement); /* bound memory is the caller's */
    if (status && status != PLEAT_E_EXISTS)
        roll_back(store);
    return status;
}

/* ---- opening ---- */

/* The first column of the first row as an integer. */
static int query_int(struct pleat_store *store, const char *text, int64_t *value,
                     struct pleat_error *err)
{
    sqlite3_stmt *statement = NULL;
    int status = 0;
    if (sqlite3_prepare_v2(store->db, text, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    else
        status = pleat_store_failure(store, "open", err);
    sqlite3_finalize(statement);
    return status;
}

static int execute(struct pleat_store *store, const char *text, struct pleat_error *err)
{
    if (sqlite3_exec(store->db, text, NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    return pleat_store_failure(store, "open", err);
}

/* Makes a store of an empty file, checks a store's version, and refuses any other file. */
static int check_schema(struct pleat_store *store, struct pleat_error *err)
{
    int64_t application = 0, tables = 0, version = 0;
    int status = query_int(store, "PRAGMA application_id", &application, err);
    if (!status)
        status = query_int(store, "SELECT count(*) FROM sqlite_master", &tables, err);
    if (status)
        return status;
    if (tables == 0 && application == 0)
        return execute(store, schema, err);
    if (application != APPLICATION_ID)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s is a database of another program, not a log of Pleat",
                               store->path);
    status = query_int(
        store, "SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'schema'), 0)",
        &version, err);
    if (status)
        return status;
    if (version > PLEAT_STORE_SCHEMA)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "%s was written by a newer Pleat (schema %lld, this one knows up "
                               "to %d): run that version, or move the file away to begin anew",
                               store->path, (long long)version, PLEAT_STORE_SCHEMA);
    if (version == 1) /* inside the transaction in which the store is opened */
        return execute(store,
                       SINCE_SCHEMA_2 "UPDATE meta SET value = '" AS_TEXT(
                           PLEAT_STORE_SCHEMA) "' WHERE key = 'schema'",
                       err);
    if (version < 1)
        return pleat_error_set(err, PLEAT_E_CORRUPT,
                               "%s does not say which schema it has; " PLEAT_STORE_DAMAGED,
                               store->path);
    return 0;
}

static int prepare_all(struct pleat_store *store, struct pleat_error *err)
{
    for (int i = 0; i < ST_COUNT; i++)
        if (sqlite3_prepare_v3(store->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &store->statements[i], NULL) != SQLITE_OK)
            return pleat_store_failure(store, "open", err);
    /* if all records were moved aside, the log goes on after its newest checkpoint */
    int status = query_int(store,
                           "SELECT max(coalesce((SELECT max(seq) FROM log), 0),"
                           " coalesce((SELECT max(seq) FROM checkpoint), 0))",
                           &store->last_seq, err);
    if (!status)
        status = query_int(store, "SELECT min(seq) FROM log", &store->first_seq, err);
    if (store->first_seq == 0)
        store->first_seq = store->last_seq + 1;
    store->committed_first_seq = store->first_seq;
    return status;
}

/* Creates the file with mode 0600 if it is missing. An existing file is not opened: closing its
 * descriptor would drop the fcntl locks that SQLite has on it in this process. */
static int make_private_file(const char *path, struct pleat_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    else if (errno != EEXIST)
        return pleat_error_sys(err, errno,
                               "cannot create %s; its directory must exist and be yours", path);
    return 0;
}

/* Whether the last process that had the store died: closing removes the write-ahead log. */
static bool has_wal(const char *path)
{
    struct stat st;
    char name[PATH_MAX];
    return snprintf(name, sizeof(name), "%s-wal", path) < (int)sizeof(name) &&
           stat(name, &st) == 0 && st.st_size > 0;
}

/* Identifies the file at path and end; {0}: none. */
static struct file_id id_of(const char *path, const char *end)
{
    struct stat st;
    char name[PATH_MAX];
    struct file_id id = {0};
    if (snprintf(name, sizeof(name), "%s%s", path, end) < (int)sizeof(name) && stat(name, &st) == 0)
        id = (struct file_id){st.st_dev, st.st_ino};
    return id;
}

static bool is_same_file(struct file_id a, struct file_id b)
{
    return a.device == b.device && a.inode == b.inode;
}

bool pleat_store_in_place(struct pleat_store *store)
{
    struct file_id wal = id_of(store->path, "-wal");
    if (!store->wal.inode)
        store->wal = wal;
    return is_same_file(store->file, id_of(store->path, "")) && is_same_file(store->wal, wal);
}

int pleat_store_copy(struct pleat_store *store, struct pleat_error *err)
{
    char making[PATH_MAX];
    sqlite3_stmt *statement = NULL;
    snprintf(making, sizeof(making), "%s.salvage", store->path);
    (void)unlink(making);
    int status = make_private_file(making, err);
    if (status)
        return status;
    if (sqlite3_prepare_v2(store->db, "VACUUM INTO ?1", -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_bind_text(statement, 1, making, -1, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_DONE)
        status = pleat_store_failure(store, "copy", err);
    sqlite3_finalize(statement);
    if (!status)
        status = pleat_store_publish(store->path, err);
    if (status)
        (void)unlink(making);
    return status;
}

static int set_up(struct pleat_store *store, struct pleat_error *err)
{
    int status = pleat_store_resume(store->path, err);
    store->was_left_open = has_wal(store->path);
    if (!status)
        status = make_private_file(store->path, err);
    if (status)
        return status;
    if (sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK) {
        if (!store->db)
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory to open %s", store->path);
        return pleat_store_failure(store, "open", err);
    }
    /* EXCLUSIVE before WAL: the WAL's index is then kept in memory, and no second process can open
     * the file. FULL: a commit is on the disk when it returns. */
    status = execute(store,
                     "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
                     "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;"
                     "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;"
                     "PRAGMA cell_size_check = ON; BEGIN EXCLUSIVE",
                     err);
    int64_t wal = 0;
    if (!status)
        status =
            query_int(store, "SELECT journal_mode = 'wal' FROM pragma_journal_mode", &wal, err);
    if (!status && !wal)
        status = pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                 "%s is on a file system where SQLite cannot keep a write-ahead "
                                 "log: choose another place",
                                 store->path);
    if (!status)
        status = check_schema(store, err);
    if (!status)
        status = execute(store, "COMMIT", err);
    store->file = id_of(store->path, "");
    store->wal = id_of(store->path, "-wal");
    return status ? status : prepare_all(store, err);
}

int pleat_store_open(const char *path, size_t record_size, struct pleat_store **store,
                     struct pleat_error *err)
{
    if (record_size == 0 || record_size > 65536)
        return pleat_error_set(err, PLEAT_E_INVALID, "records of %zu bytes: from 1 to 65536",
                               record_size);
    struct pleat_store *fresh = calloc(1, sizeof(*fresh));
    if (fresh) {
        fresh->path = strdup(path);
        fresh->record = malloc(record_size);
    }
    if (!fresh || !fresh->path || !fresh->record) {
        pleat_store_close(fresh);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory to open %s", path);
    }
    fresh->record_size = record_size;
    int status = set_up(fresh, err);
    if (status) {
        pleat_store_close(fresh);
        return status;
    }
    *store = fresh;
    return 0;
}

int pleat_store_check(struct pleat_store *store, struct pleat_error *err)
{
    sqlite3_stmt *statement = NULL;
    int status = 0;
    if (sqlite3_prepare_v2(store->db, "PRAGMA quick_check(1)", -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
        status = pleat_store_failure(store, "check", err);
    } else {
        const char *said = (const char *)sqlite3_column_text(statement, 0);
        if (!said || strcmp(said, "ok") != 0) {
            const char *line = said ? strchr(said, '\n') : NULL; /* line 1 is the database's name */
            store->damaged = true;
            status = pleat_error_set(err, PLEAT_E_CORRUPT, "%s: %.200s; " PLEAT_STORE_DAMAGED,
                                     store->path, line ? line + 1 : "it is not as it was written");
        }
    }
    sqlite3_finalize(statement);
    return status;
}

void pleat_store_close(struct pleat_store *store)
{
    if (!store)
        return;
    for (int i = 0; i < ST_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    sqlite3_close(store->db); /* rolls back an open transaction */
    free(store->record);
    free(store->path);
    free(store);
}

void pleat_store_abandon(struct pleat_store *store)
{
    if (store)
        (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    pleat_store_close(store);
}
