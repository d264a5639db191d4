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

#define PLEAT_STORE_SCHEMA 1

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
/* The number of the last record, those of the open transaction included; 0: none. */
int64_t pleat_store_last_seq(const struct pleat_store *store);
/* Calls back for each record from from_seq on, in order; from_seq below 1 means 1. `record` is
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
/* Inside a transaction; replaces. The key "schema" is the store's own (PLEAT_E_INVALID). */
int pleat_store_put_meta(struct pleat_store *store, const char *key, const char *value,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the value to *value. PLEAT_E_NOTFOUND. */
int pleat_store_get_meta(struct pleat_store *store, const char *key, struct pleat_string *value,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

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
