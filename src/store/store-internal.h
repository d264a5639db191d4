/* store-internal.h - what the files of src/store share, and what its tests need to break it. */
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
    void *record; /* an aligned copy for the callback */
    int64_t last_seq;
    int64_t first_seq;     /* of the records in the log; those before it were moved aside */
    int64_t committed_seq; /* last_seq before the open transaction */
    int64_t committed_first_seq;
    bool open;                /* a transaction is */
    bool reading;             /* inside a callback */
    bool damaged;             /* something in the file was found not to be what was written */
    struct file_id file, wal; /* what was opened; wal.inode 0: not there yet */
    bool was_left_open;       /* the process that had it before died */
};

/* What comes of a damaged log, said where one is found (salvage.h). */
#define PLEAT_STORE_DAMAGED                                                                        \
    "a pleatd that starts keeps the file aside and goes on with what is good of it"

/* The failure that SQLite reported last, as ours: what was done to which file, why, what to do. */
int pleat_store_failure(struct pleat_store *store, const char *doing, struct pleat_error *err);
/* 0 when a write may begin; PLEAT_E_STATE otherwise. */
int pleat_store_check_writing(const struct pleat_store *store, struct pleat_error *err);
/* Steps a bound writing statement. On failure the transaction is over and rolled back. */
int pleat_store_write(struct pleat_store *store, enum statement which, const char *doing,
                      struct pleat_error *err);
/* ---- replace.c ---- */

/* A replacement that was interrupted when its new file was complete goes on. */
int pleat_store_resume(const char *path, struct pleat_error *err);
/* The file PATH.salvage is complete: on the disk, and such a new file, when this returns 0. */
int pleat_store_publish(const char *path, struct pleat_error *err);
/* The store's file, with its write-ahead log, becomes `aside`, `ready` becomes the store's. */
int pleat_store_swap(const char *path, const char *ready, const char *aside,
                     struct pleat_error *err);
/* A name for a damaged file that nothing has yet. */
void pleat_store_name_aside(const char *path, int64_t now_us, char *aside, size_t size);

/* ---- records.c ---- */

/* PLEAT_E_CORRUPT: the log is not good at seq, how says why. */
int pleat_store_corrupt_record(const struct pleat_store *store, int64_t seq, const char *how,
                               struct pleat_error *err);
/* As pleat_store_read, of those that were not moved aside. */
int pleat_store_read_rows(struct pleat_store *store, int64_t seq,
                          pleat_store_record_callback callback, void *arg, struct pleat_error *err);

/* ---- segments.c ---- */

/* Records of the log at `path` that were moved aside, from the first to where one is missing or a
 * file is damaged; `store` is another one, with records of the same size. What the callback returns
 * other than 0 ends it. PLEAT_E_NOMEM. */
int pleat_store_salvage_segments(struct pleat_store *store, const char *path,
                                 pleat_store_record_callback callback, void *arg);
/* ---- checksum.c ---- */

/* Of the number, the size and the bytes: FNV-1a, 64 bits. */
int64_t pleat_store_checksum(int64_t number, const void *bytes, size_t size);

#endif
