/* store.h - what must survive the daemon: the log of records, specs, notes; one SQLite file.
 *
 * The log is the truth: records of one fixed size, opaque here, numbered from 1 without a gap, each
 * with a checksum that is verified when it is read. Specs (texts) are what records refer to by
 * number. Notes say what happened in people's terms; nothing is recovered from them.
 *
 * Writing: begin, any number of appends and puts, commit. What commit returned 0 for survives the
 * death of the process and of the machine; what was not committed leaves no trace. Failures of a
 * write or of commit other than PLEAT_E_INVALID, PLEAT_E_EXISTS and PLEAT_E_STATE (PLEAT_E_SYSTEM:
 * the disk is full, read-only, broken; PLEAT_E_NOMEM; PLEAT_E_CORRUPT) end the transaction: the
 * store is back in the state before begin, and the whole transaction can be tried again later.
 *
 * One process has the file at a time. One thread uses a store at a time. Every call blocks for the
 * disk; only commit waits for it to have written.
 */
#ifndef PLEAT_STORE_STORE_H
#define PLEAT_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

#define PLEAT_STORE_SCHEMA 2 /* 2: shared texts, accounts, checkpoints; 1 is brought up to it */

struct pleat_store;

/* Opens the file, creating it (mode 0600, its directory must exist) where missing. record_size:
 * bytes of every record. PLEAT_E_BUSY: another process has it. PLEAT_E_UNSUPPORTED: written by a
 * newer Pleat. PLEAT_E_INVALID: the file is something else. PLEAT_E_CORRUPT, PLEAT_E_SYSTEM,
 * PLEAT_E_NOMEM. */
int pleat_store_open(const char *path, size_t record_size, struct pleat_store **store,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Rolls an open transaction back. Accepts NULL. */
void pleat_store_close(struct pleat_store *store);
/* The same, and leaves the files as they are: for one that is to be salvaged. */
void pleat_store_abandon(struct pleat_store *store);

/* PLEAT_E_CORRUPT: the structure of the file is not good. Reads all of it. */
int pleat_store_check(struct pleat_store *store, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Its files are those that were opened: not removed, not replaced. Else what is committed is lost
 * with this process. */
bool pleat_store_in_place(struct pleat_store *store);
/* Outside a transaction: writes all of it into a new file, which the next pleat_store_open of that
 * path takes; what is at the path by then is kept as PATH.damaged-TIME. For a store that is not in
 * place; it is to be abandoned. PLEAT_E_SYSTEM: can be tried again. */
int pleat_store_copy(struct pleat_store *store, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The process that had it before died without closing it. */
bool pleat_store_was_left_open(const struct pleat_store *store);
/* Something was found not to be what was written, by any call since it was opened; but not a record
 * of the log, of which pleat_store_read tells. Such a store is to be abandoned and salvaged
 * (salvage.h). */
bool pleat_store_is_damaged(const struct pleat_store *store);

/* PLEAT_E_STATE when a transaction is open already. */
int pleat_store_begin(struct pleat_store *store, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_store_commit(struct pleat_store *store, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Nothing happens when no transaction is open (as after a failed write). */
void pleat_store_rollback(struct pleat_store *store);
bool pleat_store_in_transaction(const struct pleat_store *store);

/* ---- the log ---- */

/* Inside a transaction. size must be the record size. *seq (may be NULL): its number. */
int pleat_store_append(struct pleat_store *store, const void *record, size_t size, int64_t *seq,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* Inside a transaction: the next record will have the number seq + 1, which needs a checkpoint at
 * seq in the same transaction; records between are not there (pleat_store_read: PLEAT_E_CORRUPT).
 */
int pleat_store_skip_to(struct pleat_store *store, int64_t seq,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* The number of the last record, those of the open transaction included; 0: none. */
int64_t pleat_store_last_seq(const struct pleat_store *store);
/* The number of the first record in the file: those before it were moved aside. */
int64_t pleat_store_first_seq(const struct pleat_store *store);
/* Calls back for each record from from_seq on, in order; from_seq below 1 means 1; what was moved
 * aside is read where it is now (PLEAT_E_NOTFOUND: it is not there any more). `record` is
 * aligned as malloc aligns and borrowed for the call; the callback must not call the store. A
 * callback that returns other than 0 ends the reading, and that is returned. PLEAT_E_CORRUPT names
 * the record whose checksum or size is wrong or that is missing; the callback was called for all
 * before it. */
typedef int (*pleat_store_record_callback)(void *arg, int64_t seq, const void *record);
int pleat_store_read(struct pleat_store *store, int64_t from_seq,
                     pleat_store_record_callback callback, void *arg,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- specs and other texts ---- */

/* Inside a transaction. PLEAT_E_EXISTS: the id has a text, which is left as it is. */
int pleat_store_put_spec(struct pleat_store *store, int64_t id, const char *text,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the text to *text. PLEAT_E_NOTFOUND, PLEAT_E_CORRUPT. */
int pleat_store_get_spec(struct pleat_store *store, int64_t id, struct pleat_string *text,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same with a part that many specs have in common, as an environment: it is stored once. shared
 * may be NULL. */
int pleat_store_put_spec_with(struct pleat_store *store, int64_t id, const char *text,
                              const char *shared, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends that part of spec `id`. PLEAT_E_NOTFOUND: it has none. PLEAT_E_CORRUPT: it is lost. */
int pleat_store_get_shared(struct pleat_store *store, int64_t id, struct pleat_string *text,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Inside a transaction; replaces. The key "schema" is the store's own (PLEAT_E_INVALID). */
int pleat_store_put_meta(struct pleat_store *store, const char *key, const char *value,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the value to *value. PLEAT_E_NOTFOUND. */
int pleat_store_get_meta(struct pleat_store *store, const char *key, struct pleat_string *value,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- checkpoints: a state from which the log can be read on ---- */

/* Inside a transaction: the state (opaque, with a checksum of its own) after all records so far,
 * those of the transaction included. */
int pleat_store_put_checkpoint(struct pleat_store *store, const void *state, size_t size,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* The newest checkpoint that is not after most_seq: its record's number, and its state, appended to
 * *state. PLEAT_E_NOTFOUND: there is none. */
int pleat_store_get_checkpoint(struct pleat_store *store, int64_t most_seq, int64_t *seq,
                               struct pleat_string *state,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* Writes the records up to to_seq that are in the log into a file beside it (a segment), on the
 * disk when this returns. Outside a transaction. Done again it writes the same file again. Files of
 * later records are those of a log that was damaged, and go. PLEAT_E_CORRUPT: not all of the
 * records can be read any more. */
int pleat_store_set_aside(struct pleat_store *store, int64_t to_seq,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Inside a transaction: removes the records up to to_seq from the log, which must have been set
 * aside or cannot be, and checkpoints before to_seq. There must be one at to_seq, or later. */
int pleat_store_trim(struct pleat_store *store, int64_t to_seq,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Calls back for each segment, the oldest first: its path, the numbers of its first and its last
 * record, the last record itself. The callback may remove the file. */
struct pleat_segment {
    const char *path;
    int64_t first_seq, last_seq;
    const void *last_record;
    int64_t bytes; /* of the file */
};
typedef int (*pleat_store_segment_callback)(void *arg, const struct pleat_segment *segment);
int pleat_store_read_segment_list(struct pleat_store *store, pleat_store_segment_callback callback,
                                  void *arg, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- accounts: what jobs that have ended did and used ---- */

struct pleat_account_row {
    int64_t job, submit_us, end_us;
    const char *text; /* JSON, opaque here */
};

struct pleat_account_filter {
    int64_t after_job, last_job; /* last_job 0: all */
    int64_t from_us, to_us;      /* lives that overlap this; to_us 0: without end */
    int64_t ended_before_us;     /* 0: whenever they ended */
};

/* Inside a transaction; replaces. */
int pleat_store_put_account(struct pleat_store *store, const struct pleat_account_row *row,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Calls back for each account that passes the filter, by job; as pleat_store_read otherwise. One
 * that fails its checksum is PLEAT_E_CORRUPT. */
typedef int (*pleat_store_account_callback)(void *arg, const struct pleat_account_row *row);
int pleat_store_read_accounts(struct pleat_store *store, const struct pleat_account_filter *filter,
                              pleat_store_account_callback callback, void *arg,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* Inside a transaction: removes all that is known about a job, or (its account and its spec are
 * kept) only its notes. Removing what is not there is no error. */
int pleat_store_drop_job(struct pleat_store *store, int64_t job,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_store_drop_notes(struct pleat_store *store, int64_t job, int64_t before_us,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* The highest number of a job in specs, accounts, and the value "last_job"; 0: none. What
 * cannot be read does not count (pleat_store_is_damaged). */
int64_t pleat_store_last_job(struct pleat_store *store);
/* Inside a transaction: shared texts that no spec has any more. */
int pleat_store_drop_unshared(struct pleat_store *store, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- notes ---- */

struct pleat_note {
    int64_t seq;      /* from 1, never reused; set by the store */
    int64_t time_us;  /* since 1970 */
    const char *kind; /* "resized" */
    int64_t job;      /* -1: of no job */
    int component;
    const char *data; /* JSON text, opaque here; NULL is written as {} */
};

struct pleat_note_filter {
    int64_t job;       /* -1: of all jobs */
    int64_t after_seq; /* 0: from the beginning */
    int64_t from_us;   /* this moment or later */
    int64_t to_us;     /* before this moment; 0: without end */
    int64_t limit;     /* at most so many; 0: all */
    bool newest_first;
};

/* Inside a transaction. *seq may be NULL. */
int pleat_store_append_note(struct pleat_store *store, const struct pleat_note *note, int64_t *seq,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Calls back for each note that passes the filter, by seq; as pleat_store_read otherwise. */
typedef int (*pleat_store_note_callback)(void *arg, const struct pleat_note *note);
int pleat_store_read_notes(struct pleat_store *store, const struct pleat_note_filter *filter,
                           pleat_store_note_callback callback, void *arg,
                           struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
