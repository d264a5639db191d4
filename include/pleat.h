/* pleat.h - let an MPI program grow and shrink while it runs (libpleat).
 *
 * The shape of a malleable program (docs/mpi-programmer.md is the guide):
 *
 *     MPI_Init(&argc, &argv);
 *     pleat_session_create(&session, &err);
 *     pleat_value_register(session, "step", &step, sizeof(step), &err);
 *     pleat_rows_create(session, "u", rows, row_bytes, 1, &u, &err);
 *     if (pleat_session_begin(session, &err) == PLEAT_STARTED)
 *         ...fill the local rows...                 // a rank that joined has its data already
 *     while (step < steps) {
 *         ...compute one step on pleat_session_comm(session), with the rows that are local now...
 *         step++;
 *         if (pleat_session_adapt(session, &err) == PLEAT_LEAVE)
 *             break;                                // this rank is no longer needed
 *     }
 *     pleat_session_finish(session);
 *     MPI_Finalize();
 *
 * Rules. All ranks call these functions in the same order (SPMD), from one thread. No communication
 * may be pending on the session's communicator at an adaptation point. A function returns 0 or a
 * named positive outcome, or a negative code (pleat-error.h) with the reason in *err, which may be
 * NULL. The library never aborts, never prints, never touches signal handling.
 *
 * Started without Pleat, the same program is an ordinary MPI program of constant size.
 */
#ifndef PLEAT_H
#define PLEAT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "pleat-error.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define PLEAT_API_VERSION 1

struct pleat_session;
struct pleat_rows;

/* What pleat_session_begin tells a rank. */
enum pleat_begin {
    PLEAT_STARTED = 1, /* it was there from the start: fill in the initial data */
    PLEAT_JOINED = 2 /* values and rows have just arrived: it joined a running program, or the whole
                      * program was started again at another size (every rank gets this then) */
};

/* What an adaptation point did. */
enum pleat_adapt {
    PLEAT_SAME = 0,   /* nothing changed (nothing was asked, or the change could not be done) */
    PLEAT_GREW = 1,   /* there are more ranks; communicator and local rows have changed */
    PLEAT_SHRANK = 2, /* there are fewer ranks, this one stays; as above */
    PLEAT_LEAVE = 3   /* this rank is released: finish the session, MPI_Finalize, exit with 0. All
                       * ranks get this when the program is to be started again at another size */
};

/* ---- the session ---- */

/* After MPI_Init; collective over MPI_COMM_WORLD. In a rank that joins, it is collective with the
 * ranks that run already, so nothing slow should come before it. At most one session at a time.
 * PLEAT_E_CORRUPT, PLEAT_E_UNSUPPORTED: not a mailbox this library can use; PLEAT_E_TOOBIG: more
 * ranks than the job may have; PLEAT_E_MPI, PLEAT_E_NOMEM, PLEAT_E_SYSTEM, PLEAT_E_STATE. */
static inline int pleat_session_create(struct pleat_session **session,
                                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* When all values and rows are registered. An enum pleat_begin, or negative: the rank cannot take
 * part and must end. If it is one that joins, the ranks that run already go on without the new
 * ones; it finishes the session, calls MPI_Finalize and exits with 0 (for mpirun, another exit code
 * is a reason to end all ranks). */
int pleat_session_begin(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;

/* An adaptation point: a place in the outer loop, once per iteration, where the values and rows
 * registered are the whole state. The ranks need not arrive together. Quiet, it costs well under a
 * microsecond: no system call, no communication. Returns an enum pleat_adapt; negative: the session
 * is broken (an MPI call failed half-way) and the program should end. A resize that could not be
 * done without harm is no error: PLEAT_SAME, see pleat_session_failure. */
int pleat_session_adapt(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Before pleat_session_begin, on all ranks: this program asks pleat_session_pending. Its resizes
 * come one adaptation point later than they could. PLEAT_E_STATE: after begin. */
int pleat_session_announce(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;

/* 1: a resize may come at the next adaptation point; 0: none will. No communication: all ranks get
 * the same answer between the same two adaptation points, so work for it may be collective: data
 * that the library does not know of can be put into what is registered just then. 1 is no promise:
 * the resize may be withdrawn, or fail. Always 0 before the first adaptation point, and without
 * pleat_session_announce. */
int pleat_session_pending(const struct pleat_session *session);

/* This program can use `most` ranks from now on, and no more: it is not offered more, and where it
 * has more it is shrunk, soon. 0: any number again, as at first. Between create and finish, as
 * often as it likes; rank 0's word counts, that of others is not looked at; no communication. Never
 * above what the job's user said, never below the smallest size that the user said. Ranks that are
 * started again with the whole program say it again. PLEAT_E_INVALID: below 0. */
int pleat_session_limit(struct pleat_session *session, int most,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

/* Ends the session and frees its rows; the local data are gone after it. Collective over the
 * current ranks; ranks that were told to leave call it on their own. Then MPI_Finalize. Accepts
 * NULL. */
void pleat_session_finish(struct pleat_session *session);

/* The current communicator: borrowed, never to be freed, replaced at a resize (its error handler is
 * carried over). MPI_COMM_NULL in a rank that leaves. */
MPI_Comm pleat_session_comm(const struct pleat_session *session);
/* The same for Fortran (MPI_Comm_c2f): its communicators are integers. */
MPI_Fint pleat_session_comm_fortran(const struct pleat_session *session);
int pleat_session_rank(const struct pleat_session *session);
int pleat_session_size(const struct pleat_session *session);

/* 1 in a rank that was started to join a running program, from create on. Not in one that was
 * started again together with all others. */
int pleat_session_joined(const struct pleat_session *session);

/* 1 when the whole program was started again and goes on from its saved state, from create on: then
 * files that it wrote before are to be continued, not begun. */
int pleat_session_resumed(const struct pleat_session *session);

/* 1 when the program runs under Pleat and may be resized. */
int pleat_session_malleable(const struct pleat_session *session);

/* Why the last resize could not be done; empty text: none failed. Borrowed. */
const struct pleat_error *pleat_session_failure(const struct pleat_session *session);

/* Rank 0 is asked what it would accept of an offer: `offered` ranks in all, `current` now, more or
 * fewer; `mandatory`: the processors will be taken away in any case. Returns the number of ranks in
 * all that it accepts; it is limited to what lies between `current` and `offered`, and to `offered`
 * where mandatory. */
typedef int (*pleat_offer_callback)(int current, int offered, int mandatory, void *arg);

/* Without a callback the program accepts every offer. Called from pleat_session_adapt. */
void pleat_session_on_offer(struct pleat_session *session, pleat_offer_callback callback,
                            void *arg);

/* ---- what moves along ---- */

/* A value that is the same on all ranks (a loop counter, a parameter): ranks that join get rank
 * 0's. `ptr` must stay valid until the session is finished. Before begin. PLEAT_E_EXISTS: the name
 * is taken; PLEAT_E_STATE: after begin; PLEAT_E_TOOBIG: more than 1 GiB; PLEAT_E_NOMEM. */
int pleat_value_register(struct pleat_session *session, const char *name, void *ptr, size_t bytes,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* An array of `rows` rows of `row_bytes` bytes each, spread over the ranks in contiguous blocks,
 * the first rows % size ranks one row longer; a rank may have none. Each local block has `halo`
 * rows before and behind it for copies of the neighbours' rows: they are zero at the start and
 * after each resize, and never moved. The library owns the memory: rows start zeroed and lie at the
 * same address for ever, so that rows which stay on a rank are not copied at a resize. Only local
 * rows and their halo may be touched; anything else of the array may fault. Each rank reserves
 * address space (not memory) for the whole array. Before begin. The handle belongs to the session.
 * PLEAT_E_INVALID, PLEAT_E_EXISTS, PLEAT_E_STATE; PLEAT_E_NOMEM: no memory, or a limit on address
 * space (ulimit -v) below the size of the array. */
int pleat_rows_create(struct pleat_session *session, const char *name, int64_t rows,
                      size_t row_bytes, int halo, struct pleat_rows **handle,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* The first local row (its halo rows are just before it). Ask again after every resize. */
void *pleat_rows_data(const struct pleat_rows *handle);
/* The global index of the first local row, and how many are local. */
int64_t pleat_rows_first(const struct pleat_rows *handle);
int64_t pleat_rows_count(const struct pleat_rows *handle);

/* ---- which library, which MPI ---- */

/* MPI implementations differ in their handles, so each has its own libpleat. What the program was
 * compiled with is passed along, and a library for another MPI refuses (PLEAT_E_UNSUPPORTED). */
#if defined(OPEN_MPI)
#define PLEAT_MPI_KIND 1
#elif defined(MPICH_VERSION)
#define PLEAT_MPI_KIND 2
#else
#define PLEAT_MPI_KIND 0
#endif

/* What the inline function calls; for languages that cannot use this header: api_version 1,
 * mpi_kind 1 for Open MPI, 2 for MPICH. */
int pleat_session_create_for(struct pleat_session **session, int api_version, int mpi_kind,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

static inline int pleat_session_create(struct pleat_session **session, struct pleat_error *err)
{
    return pleat_session_create_for(session, PLEAT_API_VERSION, PLEAT_MPI_KIND, err);
}

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
