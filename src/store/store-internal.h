/* store-internal.h - what the files of src/store share, and what its tests need to break a store.
 */
#ifndef PLEAT_STORE_STORE_INTERNAL_H
#define PLEAT_STORE_STORE_INTERNAL_H

#include <sqlite3.h>
#include <sys/types.h>

#include "store/store.h"

enum statement {
    ST_BEGIN,
    ST_COMMIT,
    ST_ROLLBACK,
    ST_APPEND,
    ST_READ,
    ST_PUT_SPEC,
    ST_GET_SPEC,
    ST_PUT_META,
    ST_GET_META,
    ST_PUT_SPEC_SHARED,
    ST_GET_SPEC_SHARED,
    ST_FIND_SHARED,
    ST_PUT_SHARED,
    ST_DROP_SHARED,
    ST_PUT_ACCOUNT,
    ST_ACCOUNTS,
    ST_DROP_ACCOUNT,
    ST_DROP_SPEC,
    ST_DROP_NOTES,
    ST_PUT_CHECKPOINT,
    ST_GET_CHECKPOINT,
    ST_DROP_CHECKPOINTS,
    ST_DROP_RECORDS,
    ST_APPEND_NOTE,
    ST_NOTES,
    ST_NOTES_NEWEST,
    ST_NOTES_OF_JOB,
    ST_NOTES_OF_JOB_NEWEST,
    ST_COUNT
};

struct file_id {
    dev_t device;
    ino_t inode;
};

struct pleat_store {
    sqlite3 *db;
    sqlite3_stmt *statements[ST_COUNT];
    char *path;
    size_t record_size;
    void *record; /* a copy of the record for the callback, aligned */
    int64_t last_seq;
    int64_t first_seq; /* number of the first record in the log; those before it were moved aside */
    int64_t committed_seq; /* last_seq before the open transaction */
    int64_t committed_first_seq;
    bool open;                /* a transaction is open */
    bool reading;             /* inside a callback */
    int reason;               /* errno of the last BEGIN, COMMIT or ROLLBACK; 0: it was done */
    bool damaged;             /* something in the file is not as it was written */
    struct file_id file, wal; /* the files that were opened; wal.inode 0: none yet */
    bool was_left_open;       /* the process that had the store before died without closing it */
};

/* What happens to a damaged log (salvage.h); the end of errors that report damage. */
#define PLEAT_STORE_DAMAGED                                                                        \
    "a pleatd that starts keeps the file aside and goes on with what is good of it"

/* Sets the error for the failure that SQLite reported last: what was done to which file, why it
 * failed, what to do. Returns its code, and marks the store where it is damage. */
int pleat_store_failure(struct pleat_store *store, const char *doing, struct pleat_error *err);
/* 0 when a write may begin; PLEAT_E_STATE otherwise. */
int pleat_store_check_writing(const struct pleat_store *store, struct pleat_error *err);
/* Steps a bound writing statement. On failure the transaction is over and rolled back. */
int pleat_store_write(struct pleat_store *store, enum statement which, const char *doing,
                      struct pleat_error *err);
/* ---- replace.c ---- */

/* Completes a replacement that was interrupted after its new file was complete. */
int pleat_store_resume(const char *path, struct pleat_error *err);
/* Syncs the complete file PATH.salvage and renames it to PATH.salvaged, which pleat_store_resume
 * takes. */
int pleat_store_publish(const char *path, struct pleat_error *err);
/* Renames the store's file and its write-ahead log to `aside`, and the file `ready` to `path`. */
int pleat_store_swap(const char *path, const char *ready, const char *aside,
                     struct pleat_error *err);
/* Makes a name for a damaged file, PATH.damaged-TIME, that no file has yet. */
void pleat_store_name_aside(const char *path, int64_t now_us, char *aside, size_t size);

/* ---- records.c ---- */

/* As pleat_store_read, for the records that are in the log. */
int pleat_store_read_rows(struct pleat_store *store, int64_t seq,
                          pleat_store_record_callback callback, void *arg, struct pleat_error *err);

/* ---- segments.c ---- */

/* Calls back for the records of the log at `path` that were moved aside, from the first up to a gap
 * or a damaged file. `store` is any store with records of the same size. A callback that returns
 * other than 0 ends it. PLEAT_E_NOMEM, else 0. */
int pleat_store_salvage_segments(struct pleat_store *store, const char *path,
                                 pleat_store_record_callback callback, void *arg);
/* ---- checksum.c ---- */

/* FNV-1a with 64 bits over the number, the size and the bytes. */
int64_t pleat_store_checksum(int64_t number, const void *bytes, size_t size);

#endif
