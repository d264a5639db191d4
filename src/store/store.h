/* store.h - what must survive the daemon, in one SQLite file: the log of records, specs, notes,
 * accounts, checkpoints.
 *
 * The log is the truth: records of one fixed size, opaque here, numbered from 1 without a gap, each
 * with a checksum that is verified when it is read. Specs are texts to which records refer by
 * number. Notes say in the words of people what happened; nothing is recovered from them.
 *
 * Writing: begin, any number of appends and puts, commit. What commit returned 0 for survives the
 * death of the process and of the machine; what was not committed leaves no trace. Failures of a
 * write or of commit other than PLEAT_E_INVALID, PLEAT_E_EXISTS and PLEAT_E_STATE (PLEAT_E_SYSTEM:
 * the disk is full, read-only, broken; PLEAT_E_NOMEM; PLEAT_E_CORRUPT) end the transaction: the
 * store is back in the state before begin, and the whole transaction can be tried again later.
 *
 * One process has the file at a time. One thread uses a store at a time. Every call may block for
 * the disk; commit waits until the disk has written.
 */
#ifndef PLEAT_STORE_STORE_H
#define PLEAT_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

/* 2 added shared texts, accounts, checkpoints; opening a store of schema 1 converts it */
#define PLEAT_STORE_SCHEMA 2

struct pleat_store;

/* Opens the file. If it is missing it is created with mode 0600; its directory must exist.
 * record_size: bytes of every record, from 1 to 65536. PLEAT_E_BUSY: another process has the file.
 * PLEAT_E_UNSUPPORTED: a newer Pleat wrote it. PLEAT_E_INVALID: it is something else.
 * PLEAT_E_CORRUPT, PLEAT_E_SYSTEM, PLEAT_E_NOMEM. */
int pleat_store_open(const char *path, size_t record_size, struct pleat_store **store,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Rolls an open transaction back, and frees the store. Accepts NULL. */
void pleat_store_close(struct pleat_store *store);
/* As pleat_store_close, but leaves the files as they are: for a store that is to be salvaged. */
void pleat_store_abandon(struct pleat_store *store);

/* Checks the structure of the whole file, and so reads all of it. PLEAT_E_CORRUPT: it is damaged.
 */
int pleat_store_check(struct pleat_store *store, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether the store's files are still at their paths, neither removed nor replaced. If they are
 * not, what is committed is lost when this process ends. */
bool pleat_store_in_place(struct pleat_store *store);
/* For a store that is not in place: writes all of it into a new file, which the next
 * pleat_store_open of that path takes. What is at the path by then is kept as PATH.damaged-TIME.
 * Not inside a transaction. This store should be abandoned then. PLEAT_E_SYSTEM: can be tried
 * again. */
int pleat_store_copy(struct pleat_store *store, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether the process that had the store before died without closing it. */
bool pleat_store_was_left_open(const struct pleat_store *store);
/* Whether any call since the store was opened found something that is not as it was written.
 * Damaged records of the log do not count: pleat_store_read reports them. Such a store should be
 * abandoned and salvaged (salvage.h). */
bool pleat_store_is_damaged(const struct pleat_store *store);

/* PLEAT_E_STATE when a transaction is open already, or inside a callback. */
int pleat_store_begin(struct pleat_store *store, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_store_commit(struct pleat_store *store, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Does nothing when no transaction is open (as after a failed write). */
void pleat_store_rollback(struct pleat_store *store);

/* ---- the log ---- */

/* Inside a transaction. size must be the record size. *seq: the record's number; may be NULL. */
int pleat_store_append(struct pleat_store *store, const void *record, size_t size, int64_t *seq,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* Inside a transaction: the next record will have the number seq + 1. The same transaction must
 * make a checkpoint at seq, since the records between do not exist (pleat_store_read:
 * PLEAT_E_CORRUPT). */
int pleat_store_skip_to(struct pleat_store *store, int64_t seq,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* The number of the last record, including those of the open transaction; 0: none. */
int64_t pleat_store_last_seq(const struct pleat_store *store);
/* The number of the first record in the file; those before it were moved aside. */
int64_t pleat_store_first_seq(const struct pleat_store *store);
/* Calls back for each record from from_seq on, in order; from_seq below 1 means 1. Records that
 * were moved aside are read from there (PLEAT_E_NOTFOUND: they are missing). `record` is aligned as
 * malloc aligns, and borrowed for the call; the callback must not call the store. If a callback
 * returns other than 0, reading ends and that value is returned. PLEAT_E_CORRUPT names the first
 * record that is missing or whose checksum or size is wrong; the callback was called for all before
 * it. */
typedef int (*pleat_store_record_callback)(void *arg, int64_t seq, const void *record);
int pleat_store_read(struct pleat_store *store, int64_t from_seq,
                     pleat_store_record_callback callback, void *arg,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- specs and other texts ---- */

/* Inside a transaction. shared: a text that many specs share, such as an environment; it is stored
 * once. NULL: none. PLEAT_E_EXISTS: the id has a text already, which stays. */
int pleat_store_put_spec(struct pleat_store *store, int64_t id, const char *text,
                         const char *shared, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the text to *text. PLEAT_E_NOTFOUND: the id has none. PLEAT_E_CORRUPT: it fails its
 * checksum. */
int pleat_store_get_spec(struct pleat_store *store, int64_t id, struct pleat_string *text,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the shared text of spec `id`. PLEAT_E_NOTFOUND: the spec has none. PLEAT_E_CORRUPT: it is
 * lost. */
int pleat_store_get_shared(struct pleat_store *store, int64_t id, struct pleat_string *text,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Inside a transaction; replaces the key's value. The key "schema" is the store's own
 * (PLEAT_E_INVALID). */
int pleat_store_put_meta(struct pleat_store *store, const char *key, const char *value,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the value to *value. PLEAT_E_NOTFOUND: the key has none. */
int pleat_store_get_meta(struct pleat_store *store, const char *key, struct pleat_string *value,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- checkpoints: states from which reading the log can begin ---- */

/* Inside a transaction: stores the state after all records so far, including those of the
 * transaction. The state is opaque here, and must have a checksum of its own. */
int pleat_store_put_checkpoint(struct pleat_store *store, const void *state, size_t size,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the state of the newest checkpoint at or before record most_seq to *state; *seq: the
 * checkpoint's record. PLEAT_E_NOTFOUND: there is none. */
int pleat_store_get_checkpoint(struct pleat_store *store, int64_t most_seq, int64_t *seq,
                               struct pleat_string *state,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* Writes the records up to to_seq that are in the log into a file beside it (a segment), which is
 * on the disk when this returns. Not inside a transaction. Repeating the call writes the same file.
 * Files with later records belong to a log that was damaged, and are removed. PLEAT_E_CORRUPT: some
 * of the records cannot be read any more. */
int pleat_store_set_aside(struct pleat_store *store, int64_t to_seq,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Inside a transaction: removes the records up to to_seq and the checkpoints before to_seq. The
 * records must have been set aside, unless they cannot be read. PLEAT_E_STATE: there is no
 * checkpoint at to_seq or later. */
int pleat_store_trim(struct pleat_store *store, int64_t to_seq,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- accounts: what jobs that have ended did and used ---- */

struct pleat_account_row {
    int64_t job, submit_us, end_us;
    const char *text; /* JSON, opaque here */
};

struct pleat_account_filter {
    int64_t after_job, last_job; /* jobs above after_job, up to last_job; last_job 0: all */
    int64_t from_us, to_us;  /* only jobs that lived at some time in between; to_us 0: no bound */
    int64_t ended_before_us; /* only jobs that ended before this; 0: no bound */
};

/* Inside a transaction; replaces the job's account. */
int pleat_store_put_account(struct pleat_store *store, const struct pleat_account_row *row,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Calls back for each account that passes the filter, in the order of jobs; otherwise as
 * pleat_store_read. PLEAT_E_CORRUPT: an account fails its checksum. */
typedef int (*pleat_store_account_callback)(void *arg, const struct pleat_account_row *row);
int pleat_store_read_accounts(struct pleat_store *store, const struct pleat_account_filter *filter,
                              pleat_store_account_callback callback, void *arg,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* Inside a transaction: pleat_store_drop_job removes all that is known about a job.
 * pleat_store_drop_notes removes only its notes before before_us (0: all), and keeps account and
 * spec; job -1: the notes of no job. Nothing to remove is no error. */
int pleat_store_drop_job(struct pleat_store *store, int64_t job,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_store_drop_notes(struct pleat_store *store, int64_t job, int64_t before_us,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* The highest job number among specs, accounts, and the value "last_job"; 0: none. What cannot be
 * read does not count (pleat_store_is_damaged). */
int64_t pleat_store_last_job(struct pleat_store *store);
/* Inside a transaction: removes shared texts that no spec has any more. */
int pleat_store_drop_unshared(struct pleat_store *store, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- notes ---- */

struct pleat_note {
    int64_t seq;      /* number from 1, never reused; given by the store */
    int64_t time_us;  /* microseconds since 1970 */
    const char *kind; /* a word of letters a to z, such as "resize" */
    int64_t job;      /* -1: about no job */
    int component;
    const char *data; /* JSON text, opaque here; NULL is written as {} */
};

struct pleat_note_filter {
    int64_t job;       /* -1: notes of all jobs */
    int64_t after_seq; /* only notes with higher numbers; 0: all */
    int64_t from_us;   /* only notes of this time or later */
    int64_t to_us;     /* only notes before this time; 0: no bound */
    int64_t limit;     /* number of notes at most; 0: all */
    bool newest_first;
};

/* Inside a transaction. *seq: the note's number; may be NULL. */
int pleat_store_append_note(struct pleat_store *store, const struct pleat_note *note, int64_t *seq,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Calls back for each note that passes the filter, in the order of seq; otherwise as
 * pleat_store_read. */
typedef int (*pleat_store_note_callback)(void *arg, const struct pleat_note *note);
int pleat_store_read_notes(struct pleat_store *store, const struct pleat_note_filter *filter,
                           pleat_store_note_callback callback, void *arg,
                           struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
