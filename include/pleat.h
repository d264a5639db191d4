/* pleat.h - lets an MPI program grow and shrink while it runs (libpleat).
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
 * Rules. All ranks call these functions in the same order (SPMD), each from one thread. No
 * communication may be pending on the session's communicator at an adaptation point. A function
 * returns 0 or a named positive outcome, or a negative code (pleat-error.h) with the reason in
 * *err, which may be NULL. The library never aborts, never prints (but in pleat_or_abort, which is
 * there for it), never touches signal handling.
 *
 * Started without Pleat, the same program is an ordinary MPI program of constant size.
 */
#ifndef PLEAT_H
#define PLEAT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "pleat-error.h"
#include "pleat-process.h" /* beside MPI; link with pleat-process */

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
    PLEAT_STARTED = 1, /* the rank was there from the start: fill in the initial data */
    /* the rank has just received its values and rows: it joined a running program, or the whole
     * program was started again, at another size or from a checkpoint (then every rank gets this)
     */
    PLEAT_JOINED = 2
    /* or PLEAT_LEAVE: this rank is not needed, or was not let in */
};

/* What an adaptation point did. */
enum pleat_adapt {
    PLEAT_SAME = 0,   /* no change: none was asked for, or it could not be done */
    PLEAT_GREW = 1,   /* there are more ranks; communicator and local rows have changed */
    PLEAT_SHRANK = 2, /* fewer ranks, and this one stays; communicator and rows have changed */
    /* this rank is released: finish the session, call MPI_Finalize, exit with 0. All ranks get this
     * if the program is to be started again at another size, or stops with a checkpoint */
    PLEAT_LEAVE = 3
};

/* ---- the session ---- */

/* Creates the session, after MPI_Init. Collective over MPI_COMM_WORLD. In a rank that joins it is
 * collective with the ranks that run already, so nothing slow should come before it. There can be
 * one session at a time; nothing is saved in a session that is not the process's first, since a
 * program that is started again goes on in its first session. Release it with pleat_session_finish.
 * PLEAT_E_CORRUPT, PLEAT_E_UNSUPPORTED: the mailbox is damaged or of another version, or the
 * program was compiled with another MPI; PLEAT_E_TOOBIG: there are more ranks than the job may
 * have; PLEAT_E_STATE: there is a session already, or MPI is not initialized; PLEAT_E_NOTFOUND,
 * PLEAT_E_INVALID, PLEAT_E_CORRUPT also: the checkpoint that it is to go on from cannot be read;
 * PLEAT_E_MPI, PLEAT_E_NOMEM, PLEAT_E_SYSTEM. */
static inline int pleat_session_create(struct pleat_session **session,
                                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* Begins, when all values and rows are registered. Returns an enum pleat_begin, or PLEAT_LEAVE, or
 * a negative code: then the program cannot run. A rank that gets PLEAT_LEAVE ends as one that was
 * released at an adaptation point: it finishes the session, calls MPI_Finalize and exits with 0
 * (with another exit code mpirun would end all ranks). Either it was to join a running program and
 * was not let in, for example because it had no memory or has registered other data: then *err says
 * why, and the ranks that run already go on without the new ones. Or there are more ranks than the
 * program can use (pleat_session_limits), and err->code is 0; for the others communicator, size and
 * local rows may have changed. Or there are too few ranks for the program: then all ranks get
 * PLEAT_LEAVE, more are started in their place, and err->code is 0. PLEAT_E_TOOBIG: the program has
 * said that it needs more ranks than there are, and it cannot get them; PLEAT_E_INVALID: the ranks
 * have registered different data, and the text has the first difference. */
int pleat_session_begin(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;

/* An adaptation point: a place in the outer loop, passed once in each iteration, where the
 * registered values and rows are the whole state. The ranks need not arrive together. While no
 * resize is asked for it costs well under a microsecond: no system call, no communication. Returns
 * an enum pleat_adapt, or a negative code: then the session is broken (an MPI call failed half-way)
 * and the program should end. A resize that could not be done, but did no harm, is no error:
 * PLEAT_SAME, see pleat_session_failure. */
int pleat_session_adapt(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- errors ---- */

/* For a program that can do nothing about an error but end: around any function of this header that
 * returns an outcome, as in
 *     what = pleat_or_abort(pleat_session_adapt(session, &err), &err);
 * Returns `outcome` where it is not negative. Otherwise a line with the program's name, the rank in
 * MPI_COMM_WORLD and the text of *err (or, without an err, what the code means) goes to standard
 * error, and MPI_Abort with exit code 1 ends all ranks; before MPI_Init and after MPI_Finalize the
 * process ends with 1. */
int pleat_or_abort(int outcome, const struct pleat_error *err);

/* ---- several adaptation points ---- */

/* What a point is for. */
enum pleat_point_use {
    PLEAT_POINT_RESIZE = 1, /* an adaptation point as that of pleat_session_adapt */
    PLEAT_POINT_TIMES = 2   /* nothing is changed there: passages and times are counted, and
                             * shown */
};

#define PLEAT_POINTS 8

/* Names an adaptation point, on all ranks, in the same order, before begin: a program with an inner
 * and an outer loop may have one in each. A name has 1 to 63 bytes. *point: its number, 1 and so
 * on, the same in each start of the program. All ranks pass the points of PLEAT_POINT_RESIZE (and
 * pleat_session_adapt) in the same order, each as often as the others; those of PLEAT_POINT_TIMES a
 * rank may pass as it likes. PLEAT_E_INVALID; PLEAT_E_EXISTS: the name is taken; PLEAT_E_STATE:
 * after begin; PLEAT_E_TOOBIG: there are PLEAT_POINTS already; PLEAT_E_NOMEM. */
int pleat_point_register(struct pleat_session *session, const char *name, enum pleat_point_use use,
                         int *point, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Passes that point; otherwise as pleat_session_adapt. If ranks come to a change at different
 * points it is refused (pleat_session_failure). PLEAT_E_INVALID: there is no such point.
 */
int pleat_point_adapt(struct pleat_session *session, int point,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* The point at which the program was last resized or started again, also from a checkpoint: the
 * program goes on from there. In an action: the point of the change under way. 0: the point of
 * pleat_session_adapt; -1: the program was not resized or started again yet. No communication. */
int pleat_session_point(const struct pleat_session *session);

/* ---- not now ---- */

/* Begins a section in which this program must not be resized, saved or stopped with a checkpoint,
 * for example because its data are in pieces. Its adaptation points are passed as elsewhere, and
 * nothing happens at them. Any rank may begin one by itself, at any time after
 * pleat_session_begin: as long as one rank is in a section nothing changes for all of them, and no
 * rank waits for its end. Voluntary changes are held back until then, and policies want none while
 * a section lasts; mandatory ones wait for it,
 * and where it lasts longer than their notice and grace they are enforced, as with a program that
 * comes to no adaptation point. Sections may contain others. No communication, no system call.
 * PLEAT_E_STATE: not between begin and end of the session. */
int pleat_section_begin(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Ends the section that was begun last on this rank. PLEAT_E_STATE also: there is none. */
int pleat_section_end(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Says that this program calls pleat_session_pending. On all ranks, before pleat_session_begin. The
 * program's resizes then come one adaptation point later than they could. PLEAT_E_STATE: after
 * begin. */
int pleat_session_announce(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;

/* 1: a resize may come at the next adaptation point; 0: none will. No communication. All ranks get
 * the same answer between the same two adaptation points, so they can do collective work for it,
 * such as putting data that the library does not know into what is registered. 1 is no promise: the
 * resize may be withdrawn, or fail. Always 0 before the first adaptation point, and without
 * pleat_session_announce. */
int pleat_session_pending(const struct pleat_session *session);

/* Says that this program can use at most `most` ranks from now on. It is not offered more, and if
 * it has more it is shrunk soon. 0: any number again, as at first. The limit does not raise the
 * maximum that the job's user set, and the program is not shrunk below the user's minimum. May be
 * called any number of times between create and finish. Only rank 0's call counts; no
 * communication. If the whole program is started again it must say it again. PLEAT_E_INVALID: below
 * 0. */
int pleat_session_limit(struct pleat_session *session, int most,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

/* Says which numbers of ranks this program can use: at least `least` (0 or 1: any), at most `most`
 * (0: any), and of these the sizes that the text `sizes` names: "any" (also NULL), "powers" (1, 2,
 * 4, ...), "squares", "grids" (r x r and r x (r+1)), "multiples:N", or a list such as "2,4,6". May
 * be called any number of times between create and finish, by all ranks; rank 0's call counts; no
 * communication. Called before pleat_session_begin, the start obeys it: ranks that are too many
 * leave there, with or without Pleat. Too few wait there until the job has more processors: then
 * all leave, and the program is started again; if it can never have them, begin fails. From then on
 * the program is offered only such sizes, and one that has another size is shrunk soon to the next
 * smaller one. A running program that has fewer than `least` ranks asks for the missing ones by
 * this call, as with pleat_session_ask. The call replaces what was said before with it or with
 * pleat_session_limit. If the whole program is started again it must say it again. PLEAT_E_INVALID:
 * the limits contradict each other; PLEAT_E_TOOBIG: the list is too long (1024 sizes, 1023
 * characters); PLEAT_E_NOMEM. */
int pleat_session_limits(struct pleat_session *session, int least, int most, const char *sizes,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* Returns whether the program can use this number of ranks. */
typedef int (*pleat_size_test)(int ranks, void *arg);

/* As pleat_session_limits, with the list of all sizes that a function accepts. The function is
 * called, before this one returns, for every number from 1 to the number of ranks for which the
 * job's site has processors: so the list also holds when the job's maximum is raised later. */
int pleat_session_limits_if(struct pleat_session *session, pleat_size_test accepts, void *arg,
                            struct pleat_error *err) PLEAT_MUST_CHECK;

/* Asks for `more` ranks than there are now; 0: what was asked for before is not wanted any more. By
 * all ranks or by rank 0 alone, after begin; rank 0's call counts; no communication, nothing waits.
 * The ask is kept as a total number of ranks, so a resize that comes in between counts towards it.
 * One ask at a time: the next one, also by pleat_session_give_back, takes its place. mandatory: 0,
 * and the answer comes soon, yes as far as there are idle processors, or no; not 0: the program
 * cannot go on without them, and the ask stays until all of them are there. The growth happens at
 * an adaptation point, as any other; a program that waits for it goes on passing them.
 * PLEAT_E_INVALID: below 0, or too many; PLEAT_E_STATE: before begin. */
int pleat_session_ask(struct pleat_session *session, int more, int mandatory,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* Asks for `more` ranks without which the program cannot go on, as pleat_session_ask does where
 * mandatory is not 0, but for `seconds` at most: after that time without them the answer is no, and
 * nothing is wanted any more. A growth that has begun by then is waited for. PLEAT_E_INVALID also:
 * 0 ranks, or less than a millisecond. */
int pleat_session_ask_within(struct pleat_session *session, int more, double seconds,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

/* Gives back `fewer` of the ranks that there are now. The ranks leave at an adaptation point, and
 * never below the job's minimum. From then on only the user can grow the program, until it asks for
 * more; pleat_session_ask with 0 lets policies grow it again. Otherwise as pleat_session_ask.
 * PLEAT_E_INVALID: not from 1 to all but one. */
int pleat_session_give_back(struct pleat_session *session, int fewer,
                            struct pleat_error *err) PLEAT_MUST_CHECK;

/* What has become of what the program asked for. */
enum pleat_asked {
    PLEAT_ASKED_NOTHING = 0, /* nothing is wanted; and always on ranks other than 0 */
    PLEAT_ASKED_PENDING = 1, /* the ask is not decided, or not carried out yet */
    PLEAT_ASKED_GRANTED = 2, /* the ask is carried out; with a text in *why: only a part of it */
    PLEAT_ASKED_REFUSED = 3  /* *why says why */
};

/* Returns an enum pleat_asked, on rank 0. No communication. *why, which may be NULL, is emptied
 * where there is nothing to say. A program that was started again, at another size or from a
 * checkpoint, gets what has become of what it asked for before. */
int pleat_session_asked(const struct pleat_session *session, struct pleat_error *why);

/* Says what the program expects, for people, forecasts and what Pleat shows: how many seconds it
 * still computes at its size, or, where that is below 0, how many adaptation points it still passes
 * (of those at which it may be resized; below 0: neither is known); and how many bytes a resize has
 * to move (below 0: what is registered). The latest call counts, and that of rank 0; no
 * communication. It changes no limit of the job, and no policy decides by it unless pleatd is
 * configured so. If the whole program is started again it says it again. PLEAT_E_INVALID: not a
 * number, or too large; PLEAT_E_STATE. */
int pleat_session_expect(struct pleat_session *session, double seconds, int64_t iterations,
                         int64_t bytes, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Says on which process grid the program computes from now on: grid[0] x ... x grid[dims - 1]
 * processes, of dims 1 to 4 and at most 65535 each, not more than there are ranks. So what
 * iterations take is kept for each size and grid. Without it, as with dims 0, the grid is that of
 * the first array that is distributed in at least two dimensions, if there is one. What was said
 * holds until the next resize. The iteration under way counts for the new grid. To be called on
 * rank 0; on others it is only checked. No communication. PLEAT_E_INVALID, PLEAT_E_STATE. */
int pleat_session_grid(struct pleat_session *session, int dims, const int *grid,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* Ends the session and frees its rows, so the local data are gone. Collective over the current
 * ranks; a rank that was told to leave calls it on its own. MPI_Finalize comes after it. Accepts
 * NULL. */
void pleat_session_finish(struct pleat_session *session);

/* The current communicator: borrowed, not to be freed, replaced at a resize (its error handler is
 * carried over). MPI_COMM_NULL in a rank that leaves. */
MPI_Comm pleat_session_comm(const struct pleat_session *session);
/* The same for Fortran, whose communicators are integers (MPI_Comm_c2f). */
MPI_Fint pleat_session_comm_fortran(const struct pleat_session *session);
int pleat_session_rank(const struct pleat_session *session);
int pleat_session_size(const struct pleat_session *session);

/* 1 in a rank that was started to join a running program, 0 in one that was started again together
 * with all others. Valid from create on. */
int pleat_session_joined(const struct pleat_session *session);

/* 1 if the whole program was started again and goes on from its saved state, or from a checkpoint
 * (`pleat run --from`): then files that it wrote before must be continued, not begun. Valid from
 * create on. */
int pleat_session_resumed(const struct pleat_session *session);

/* 1 if the program runs under Pleat and may be resized. */
int pleat_session_malleable(const struct pleat_session *session);

/* Why the last resize could not be done; an empty text: none has failed. Borrowed until finish. */
const struct pleat_error *pleat_session_failure(const struct pleat_session *session);

/* What a change of size is made for. Other numbers may be added. */
enum pleat_occasion {
    PLEAT_OCCASION_UNKNOWN = 0, /* the reason is not known */
    PLEAT_OCCASION_FREE = 1,    /* a growth: processors are free */
    PLEAT_OCCASION_WAITING = 2, /* a shrink: another job waits for the processors */
    PLEAT_OCCASION_USER = 3,    /* its user asked for it */
    PLEAT_OCCASION_LIMITS = 4,  /* a shrink: the user or the program has changed the limits */
    PLEAT_OCCASION_POLICY = 5,  /* a shrink: the processors are divided anew */
    PLEAT_OCCASION_TAKEN = 6    /* a shrink: the cluster takes back what it lent for a time */
};

/* A change of size. Members may be added at the end: the library makes it, programs read it. */
struct pleat_offer {
    int from;      /* number of ranks before the change; 0: not known (the program goes on from a
                    * checkpoint) */
    int to;        /* number of ranks after the change */
    int mandatory; /* 1: the processors will be taken away in any case */
    int relaunch; /* 1: all ranks leave, and the program is started again (not known in on_offer) */
    enum pleat_occasion occasion;
};

/* In the callback of pleat_session_on_offer: the change that is offered. In an action (below): the
 * change that is under way. Else: the last change that was under way; NULL: there was none. The
 * same on all ranks, except in the callback, which is called on rank 0 alone. Borrowed, and valid
 * until the next adaptation point. */
const struct pleat_offer *pleat_session_offer(const struct pleat_session *session);

/* Asks rank 0 which size it accepts: `current` is the number of ranks now, `offered` the offered
 * number, larger or smaller. mandatory: the processors will be taken away in any case. Returns the
 * number of ranks that it accepts. The library limits that number to the range between `current`
 * and `offered`, and ignores it if mandatory. */
typedef int (*pleat_offer_callback)(int current, int offered, int mandatory, void *arg);

/* Sets the callback, which pleat_session_adapt calls. Without one the program accepts every offer.
 */
void pleat_session_on_offer(struct pleat_session *session, pleat_offer_callback callback,
                            void *arg);

/* ---- the program's own actions ---- */

/* When an action is called. */
enum pleat_moment {
    PLEAT_BEFORE = 1,  /* all ranks are inside pleat_session_adapt, nothing has changed yet */
    PLEAT_AFTER = 2,   /* communicator, size and data are new */
    PLEAT_NOT_DONE = 3 /* after PLEAT_BEFORE: the change could not be made, and nothing has
                        * changed */
};

/* An action of the program. Returns 0, or another number: it failed.
 *   BEFORE: on all ranks, inside pleat_session_adapt, before anything is saved or moved. What it
 * writes into registered data moves along. If it fails on any rank the change is refused:
 * pleat_session_adapt returns PLEAT_SAME, and pleat_session_failure names action and rank. (A
 * mandatory shrink that is refused is enforced by Pleat.)
 *   AFTER: on all ranks that go on, at the end of pleat_session_adapt; in ranks that join, and in
 *   all ranks where the program was started again, at the end of pleat_session_begin. Not in a rank
 *   that leaves. If it fails on any rank the program cannot go on: these two functions return a
 *   negative code on all ranks.
 *   NOT_DONE: on all ranks for which BEFORE was called, also where it failed, in the opposite
 * order. If it fails the program cannot go on.
 * An action may communicate on the session's communicator, if all ranks do, and must finish that.
 * It must not call pleat_session_adapt, begin or finish, nor register anything. */
typedef int (*pleat_action)(struct pleat_session *session, enum pleat_moment moment,
                            const struct pleat_offer *change, void *arg);

#define PLEAT_ACTIONS 32

/* Registers an action, on all ranks, before begin. Actions are called in the order in which they
 * were registered, each when the one before it has returned on all ranks. A name has 1 to 63 bytes.
 * PLEAT_E_INVALID; PLEAT_E_EXISTS: the name is taken; PLEAT_E_STATE: after begin; PLEAT_E_TOOBIG:
 * there are PLEAT_ACTIONS already. */
int pleat_action_register(struct pleat_session *session, const char *name, pleat_action action,
                          void *arg, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Plans a change: which actions are called BEFORE or AFTER it, in which order. Asked on rank 0.
 * actions: `count` numbers, of the action that was registered first (0) and so on; the callback
 * changes them, and returns how many of them are to be called, from the first on. No action may be
 * there twice. A number that is none counts as an action that fails. */
typedef int (*pleat_plan_callback)(enum pleat_moment moment, const struct pleat_offer *change,
                                   int *actions, int count, void *arg);

/* Sets the callback, on all ranks, before begin. Without one all actions are called. */
void pleat_session_on_plan(struct pleat_session *session, pleat_plan_callback callback, void *arg);

/* ---- data that follow a resize ---- */

/* Registers a value that is the same on all ranks, such as a loop counter or a parameter: ranks
 * that join get rank 0's. On all ranks, before begin. `ptr` must stay valid until the session is
 * finished. A name has 1 to 63 bytes. PLEAT_E_INVALID, also where another value has some of the
 * same bytes; PLEAT_E_EXISTS: the name is taken;
 * PLEAT_E_STATE: after begin; PLEAT_E_TOOBIG: all values together exceed 1 GiB; PLEAT_E_NOMEM. */
int pleat_value_register(struct pleat_session *session, const char *name, void *ptr, size_t bytes,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* Makes an array of `rows` rows of `row_bytes` bytes each, spread over the ranks in contiguous
 * blocks: the first rows % size ranks have one row more, and a rank may have none. On all ranks,
 * before begin. Each block has `halo` further rows before and behind it for copies of the
 * neighbours' rows; they are zero at the start and after each resize, and are never moved. The
 * program is not run on a number of ranks with which the halo would reach beyond the neighbours.
 * The library owns the memory, and *handle belongs to the session. Rows are zero at first. In a
 * rank a row has the same address for ever. Under Pleat the rows lie in a file in memory which all
 * ranks map, so a resize copies none of them. Only the block and its halo may be touched; access to
 * the rest of the array may fault. Each rank reserves address space (not memory) for the whole
 * array. PLEAT_E_INVALID, PLEAT_E_EXISTS, PLEAT_E_STATE; PLEAT_E_NOMEM: no memory, or a limit on
 * address space (ulimit -v) below the size of the array. */
int pleat_rows_create(struct pleat_session *session, const char *name, int64_t rows,
                      size_t row_bytes, int halo, struct pleat_rows **handle,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* Address of the first local row; its halo rows are just before it. Changes at a resize. */
void *pleat_rows_data(const struct pleat_rows *handle);
/* Global index of the first local row, and number of local rows. Both change at a resize. */
int64_t pleat_rows_first(const struct pleat_rows *handle);
int64_t pleat_rows_count(const struct pleat_rows *handle);

/* ---- distributed arrays ---- */

#define PLEAT_ARRAY_DIMS 4

/* How a dimension is distributed over the processes of its dimension of the grid. */
enum pleat_format {
    PLEAT_COLLAPSED,   /* not at all: every process has all indices */
    PLEAT_BLOCK,       /* contiguous; the first extent % processes have one index more */
    PLEAT_BLOCK_CYCLIC /* blocks dealt out in turn, as in ScaLAPACK; cyclic is block 1 */
};

struct pleat_dimension {
    int64_t extent; /* at least 0 */
    enum pleat_format format;
    int64_t block; /* of PLEAT_BLOCK_CYCLIC */
    /* Copies of neighbours' elements before and behind the local ones; of the contiguous formats.
     * They are zero at the start and after each resize. The program is not run on a number of ranks
     * with which they would reach beyond the neighbours (pleat_session_limits says what follows).
     */
    int halo_low, halo_high;
    int periodic; /* 1: in pleat_array_comm the last process and the first one are neighbours */
};

struct pleat_array;

/* An array over a grid of processes. With all dimensions collapsed it is replicated, and rank 0's
 * counts at a resize. */
struct pleat_array_shape {
    int dims; /* 1 to PLEAT_ARRAY_DIMS */
    struct pleat_dimension dim[PLEAT_ARRAY_DIMS];
    size_t element_bytes;
    int column_major;      /* in memory the first index is the fastest (Fortran, ScaLAPACK) */
    int grid_column_major; /* ranks in the grid likewise (BLACS 'C') */
    /* An array made before, with as many dimensions and the same ones collapsed, whose grid and
     * communicator this one has at any size; NULL: it has its own. */
    struct pleat_array *same_grid_as;
};

/* *bytes: the size of an element of an MPI datatype in an array, which is its extent. The data of
 * the type must begin at 0. PLEAT_E_INVALID: they do not, or the type has no data; PLEAT_E_MPI. */
int pleat_element_bytes(MPI_Datatype type, size_t *bytes, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Fills *shape for the matrix of a descriptor of ScaLAPACK, of which context and leading dimension
 * are ignored: the library sets both. PLEAT_E_INVALID: it contradicts itself; PLEAT_E_UNSUPPORTED:
 * a band matrix, or its first block is not on the first process, which is not there at all
 * sizes. */
int pleat_array_shape_of(const int descriptor[9], size_t element_bytes,
                         struct pleat_array_shape *shape, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Names the process grid of the array `name` for `size` ranks. grid[0] to grid[dims - 1] are what
 * the library proposes, and may be changed: where a dimension is collapsed to 1 only, and with a
 * product of at most `size` (ranks from the product on have no part of the array). The answer must
 * depend on nothing but name and size, as it is asked for on every rank, any number of times. */
typedef void (*pleat_grid_callback)(const char *name, int size, int dims, int *grid, void *arg);

/* Sets the callback, before the arrays are made. A resize to a size for which ranks name different
 * grids, or an invalid one, is refused. */
void pleat_session_on_grid(struct pleat_session *session, pleat_grid_callback callback, void *arg);

/* Makes a distributed array. On all ranks, before begin. If the program names no other process
 * grid, it has all ranks: for dimensions with halos it is the one with the least surface, else the
 * one nearest to a square, with processes(0) <= processes(1). The library owns the memory, which is
 * zero at first, and *handle belongs to the session. An array of which only the slowest dimension
 * is distributed, in blocks, and has halos, is mapped at a resize, as rows are: each rank reserves
 * address space (not memory) for all of it. Of other arrays every element is copied once; memory
 * for the rank's new part of one array is needed in addition. PLEAT_E_INVALID, PLEAT_E_EXISTS,
 * PLEAT_E_STATE, PLEAT_E_TOOBIG, PLEAT_E_NOMEM. */
int pleat_array_create(struct pleat_session *session, const char *name,
                       const struct pleat_array_shape *shape, struct pleat_array **handle,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* The local array, halos included; NULL: this rank has no element. Changes at a resize, as do all
 * the following. */
void *pleat_array_data(const struct pleat_array *handle);
/* Number of indices that this rank owns in a dimension, without halos; if it has no element: 0. */
int64_t pleat_array_count(const struct pleat_array *handle, int dimension);
/* Number of indices with halos: the extent of the local array in memory. */
int64_t pleat_array_extent(const struct pleat_array *handle, int dimension);
/* Global index of a local one, from 0, without halos; -1: it is none. */
int64_t pleat_array_global(const struct pleat_array *handle, int dimension, int64_t local);
/* The grid: number of processes, and this rank's coordinate (-1: it is not in the grid). */
int pleat_array_processes(const struct pleat_array *handle, int dimension);
int pleat_array_coordinate(const struct pleat_array *handle, int dimension);
/* grid[0] to grid[dims - 1]: the grid that the array has, or would have, with `size` ranks. Also
 * before begin, for example to find out which sizes suit (pleat_session_limits_if). No
 * communication. PLEAT_E_INVALID: there is none. */
int pleat_array_grid(const struct pleat_array *handle, int size, int *grid,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* A Cartesian communicator of the array's grid (MPI_Cart_create), for its neighbours:
 * MPI_Cart_shift and neighbourhood collectives. The first call after begin and after a resize is
 * collective over the session's communicator. *comm is borrowed, and freed at the next resize, so
 * that no communication may be pending on it at an adaptation point. Ranks that are not in the grid
 * get MPI_COMM_NULL. PLEAT_E_UNSUPPORTED: the array is replicated; PLEAT_E_STATE: not between begin
 * and end; PLEAT_E_MPI. */
int pleat_array_comm(struct pleat_array *handle, MPI_Comm *comm,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same for Fortran. */
int pleat_array_comm_fortran(struct pleat_array *handle, MPI_Fint *comm,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* A context of the BLACS for a matrix's grid, in which each process has the same place as in the
 * array's grid. The BLACS are the program's own: it must be linked with the ScaLAPACK of its MPI.
 * The first call after begin and after a resize is collective over the session's communicator. The
 * context is the library's, which ends it at the next resize and in pleat_session_finish, so no
 * call to Cblacs_exit may come before that. *context is -1 on ranks that are not in the grid.
 * PLEAT_E_UNSUPPORTED: the program has no BLACS, or the array is no matrix that is distributed;
 * PLEAT_E_STATE: not between begin and end; PLEAT_E_NOMEM, PLEAT_E_MPI. */
int pleat_array_context(struct pleat_array *handle, int *context,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* ScaLAPACK's descriptor of a matrix in a BLACS context whose grid is the array's.
 * PLEAT_E_UNSUPPORTED: ScaLAPACK has no such distribution. */
int pleat_array_descriptor(const struct pleat_array *handle, int context, int descriptor[9],
                           struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- data whose size changes, and data of the program's own ---- */

/* Items: pieces of data of which each rank has a number of its own, which changes as the program
 * goes. Their memory is the program's, and the library reaches them by these functions; `arg` is
 * that of pleat_items_register. They are called inside pleat_session_begin and pleat_session_adapt
 * only, and must not communicate. Items are numbered from 0 on each rank. */
struct pleat_items_ops {
    /* Number of items of this rank. Not called in a rank that has just joined. */
    int64_t (*count)(void *arg);
    /* Number of bytes of an item when it is packed, at least 0, each time the same; NULL: all have
     * item_bytes. Below 0: it cannot be packed, and the program ends with that error on all
     * ranks. */
    int64_t (*bytes)(int64_t item, void *arg);
    /* Writes these bytes to `to`, which is not aligned. */
    void (*pack)(int64_t item, void *to, void *arg);
    /* Makes room for items that will come, `bytes` in all, beside the present ones, which may still
     * be packed. Not 0: there is no room, and the resize is refused. */
    int (*open)(int64_t count, int64_t bytes, void *arg);
    /* Takes the item that has come with this number: 0, 1, ... */
    void (*unpack)(int64_t item, const void *from, int64_t bytes, void *arg);
    /* After open, once. taken: the items that came replace the earlier ones; 0: drop them. */
    void (*close)(int taken, void *arg);
    /* The rank to which an item belongs when there are `size` ranks, each time the same. NULL: the
     * items of all ranks keep their order, and each rank gets as many as the others (the first ones
     * have one more). The items of one rank keep their order in any case. */
    int (*owner)(int64_t item, int size, void *arg);
};

/* Registers items. On all ranks, before begin. At first each rank has a set of its own, which may
 * be empty. *ops is copied. item_bytes: size of each, 1 to 2^31 - 1; 0 if ops->bytes is there. At a
 * resize every item is packed and unpacked once, and a save copies it. PLEAT_E_INVALID,
 * PLEAT_E_EXISTS, PLEAT_E_STATE, PLEAT_E_NOMEM. */
int pleat_items_register(struct pleat_session *session, const char *name,
                         const struct pleat_items_ops *ops, int64_t item_bytes, void *arg,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* Particles: items of one size, in an array that the library owns. Under Pleat it lies in a file in
 * memory, so no save copies them; at a resize each is copied once, and sent where a callback names
 * its rank. */
struct pleat_particles;

/* On all ranks, before begin. There are none at first. *handle belongs to the session. Errors as
 * those of pleat_items_register. */
int pleat_particles_create(struct pleat_session *session, const char *name, size_t particle_bytes,
                           struct pleat_particles **handle,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Changes the number of this rank's particles. The first ones stay, new ones are zero. The array
 * may move. No communication. PLEAT_E_INVALID, PLEAT_E_NOMEM: nothing has changed. */
int pleat_particles_set_count(struct pleat_particles *handle, int64_t count,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* Both change at a resize. */
void *pleat_particles_data(const struct pleat_particles *handle);
int64_t pleat_particles_count(const struct pleat_particles *handle);
/* The rank of a particle when there are `size` ranks, as `owner` of struct pleat_items_ops. */
typedef int (*pleat_particle_owner)(const void *particle, int size, void *arg);
/* Sets the callback, on all ranks. NULL, as at first: particles keep their order, and the ranks get
 * equal numbers. */
void pleat_particles_on_owner(struct pleat_particles *handle, pleat_particle_owner owner,
                              void *arg);

/* A sparse matrix in compressed rows (CSR). Rows are spread as by pleat_rows_create; each has a
 * number of entries of its own. An entry has fields, such as its column and its value, each in an
 * array of its own. The library owns their memory, as that of particles. */
struct pleat_csr;
#define PLEAT_CSR_FIELDS 8

/* On all ranks, before begin. field_bytes: of each of the 1 to 8 fields, at most 65536. There are
 * no entries at first. *handle belongs to the session. Errors as those of pleat_rows_create. */
int pleat_csr_create(struct pleat_session *session, const char *name, int64_t rows,
                     const size_t *field_bytes, int fields, struct pleat_csr **handle,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Gives this rank's rows their numbers of entries. All entries are zero then. lengths: one for each
 * local row; a row has at most 2^31 - 1 bytes. No communication. PLEAT_E_INVALID, PLEAT_E_NOMEM:
 * nothing has changed. */
int pleat_csr_set_lengths(struct pleat_csr *handle, const int64_t *lengths,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Global index of the first local row, and number of local rows. These and the following change at
 * a resize and by pleat_csr_set_lengths. */
int64_t pleat_csr_first(const struct pleat_csr *handle);
int64_t pleat_csr_count(const struct pleat_csr *handle);
/* Where the entries of each local row begin: count + 1 numbers, the first of which is 0. */
const int64_t *pleat_csr_start(const struct pleat_csr *handle);
/* The array of a field; NULL: there is no such field. */
void *pleat_csr_field(const struct pleat_csr *handle, int field);

/* Rows in memory of the program's own, spread as by pleat_rows_create. `arg` is that of
 * pleat_owned_register; for when they are called, see struct pleat_items_ops. */
struct pleat_owned_ops {
    /* The local rows. Not called in a rank that has just joined. */
    const void *(*data)(void *arg);
    /* Memory for the rows that will come, beside the present ones; NULL: there is none, and the
     * resize is refused. */
    void *(*open)(int64_t count, void *arg);
    /* After open, once. taken: what came takes the place of what was there; 0: it is dropped. */
    void (*close)(int taken, void *arg);
};

/* Registers such rows. On all ranks, before begin. *ops is copied. At a resize every row is copied
 * twice and sent, and a save copies it. Errors as those of pleat_items_register. */
int pleat_owned_register(struct pleat_session *session, const char *name, int64_t rows,
                         size_t row_bytes, const struct pleat_owned_ops *ops, void *arg,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* The rows that a rank has when there are `size` ranks. */
void pleat_owned_block(int64_t rows, int size, int rank, int64_t *first, int64_t *count);

/* ---- beside libpleat-process: communicators that grow with added processes ---- */

/* For programs that ask for processes themselves (pleat-process.h, `pleat run --evolving`) and
 * whose processes use MPI. The program is linked with libpleat-process, too. Each process of the
 * run is started by itself, and has an MPI_COMM_WORLD of one rank; these functions make larger
 * communicators of them. Open MPI only (docs/processes.md, "Beside MPI", says why, and what there
 * is else). */

/* The type of messages that pleat_process_mpi_join takes for itself. A process that is to be joined
 * must not take messages of any type (PLEAT_PROCESS_TYPE) from its inviter before. */
#define PLEAT_PROCESS_MPI_TYPE 2147483647

/* Prepares this process, after pleat_processes_begin and before MPI_Init; in all processes, and in
 * process 0 also where it does not use MPI. It sets environment variables of Open MPI's
 * (EVENT_NOEPOLL and some that begin with OMPI_; those that are set stay as they are, but for what
 * it does not work without). In process 0 it starts ompi-server, a child that ends with the thread
 * that calls this, and where the run's processes can be on several nodes joins a group of the run,
 * whose name begins with "ompi-server."; the others wait, half a minute at most, until that is
 * there. Without Pleat it
 * only sets variables. PLEAT_E_UNSUPPORTED: an MPI that cannot do it, the program is linked without
 * libpleat-process, or was started by mpirun, or other nodes cannot reach ompi-server;
 * PLEAT_E_STATE: MPI has been initialized; PLEAT_E_TIMEOUT: process 0 does not call it, or
 * ompi-server does not come up; PLEAT_E_CLOSED: process 0 is gone; PLEAT_E_SYSTEM, PLEAT_E_NOMEM,
 * and those of pleat_process_group_join. */
static inline int pleat_process_mpi_prepare(const struct pleat_processes *processes,
                                            struct pleat_error *err) PLEAT_MUST_CHECK;

/* Joins a process to a communicator. It is called by all ranks of *comm, with the number of the
 * process that is to join; and by that process, which gives MPI_COMM_NULL in *comm, and the number
 * of the process that is rank 0 of the others. Each of them may be there first; the process may
 * also be one that is still coming. On success *comm is a communicator with one rank more, the last
 * one of which is the process that joined. It belongs to the caller; the former one is freed if it
 * is not MPI_COMM_WORLD or MPI_COMM_SELF, and its error handler is carried over. timeout_ms: how
 * long rank 0, and the process that joins, wait for each other: -1: as long as it takes; the other
 * ranks wait for rank 0. If it fails *comm is as it was. The death of a process that joins is
 * noticed until both connect. Where one dies in the milliseconds after that, those that wait for it
 * in MPI end themselves 10 s later, with 1 and a word on standard error, since nothing else ends
 * that call. One that dies later leaves the others waiting in MPI, as a rank of any MPI program
 * that dies: the run has to be cancelled. Rank 0 has to be on the node of process 0 of the run.
 * PLEAT_E_CLOSED: the process is gone; PLEAT_E_TIMEOUT: it did not come in time; PLEAT_E_NOTFOUND:
 * no such number is known; PLEAT_E_STATE: this process was not prepared, is to leave, or MPI does
 * not run; PLEAT_E_UNSUPPORTED as above; PLEAT_E_INVALID, PLEAT_E_MPI, PLEAT_E_SYSTEM,
 * PLEAT_E_NOMEM. All ranks of *comm get the same code. */
int pleat_process_mpi_join(struct pleat_processes *processes, MPI_Comm *comm, int32_t process,
                           int timeout_ms, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Makes a communicator without those ranks that leave, in the order of before. Collective over
 * *comm; leaves: not 0 in the ranks that leave, which get MPI_COMM_NULL. *comm is replaced as in
 * pleat_process_mpi_join. One that has left can call MPI_Finalize and end, or be stopped
 * (pleat_process_stop), or be joined again. PLEAT_E_INVALID, PLEAT_E_MPI. */
int pleat_process_mpi_leave(MPI_Comm *comm, int leaves, struct pleat_error *err) PLEAT_MUST_CHECK;

/* The same for Fortran, whose communicators are integers; and with the number of the MPI for which
 * the program was compiled, for languages that cannot use this header: 1 for Open MPI, 2 for MPICH,
 * 0: not said. */
int pleat_process_mpi_join_fortran(struct pleat_processes *processes, MPI_Fint *comm,
                                   int32_t process, int timeout_ms,
                                   struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_process_mpi_leave_fortran(MPI_Fint *comm, int leaves,
                                    struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_process_mpi_prepare_for(const struct pleat_processes *processes, int mpi_kind,
                                  struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- which library, which MPI ---- */

/* MPI implementations differ in their handles, so each has its own libpleat. The program passes
 * what it was compiled with, and a library for another MPI refuses (PLEAT_E_UNSUPPORTED). */
#if defined(OPEN_MPI)
#define PLEAT_MPI_KIND 1
#elif defined(MPICH_VERSION)
#define PLEAT_MPI_KIND 2
#else
#define PLEAT_MPI_KIND 0
#endif

/* The function that pleat_session_create calls, for languages that cannot use this header.
 * api_version: 1; mpi_kind: 1 for Open MPI, 2 for MPICH. */
int pleat_session_create_for(struct pleat_session **session, int api_version, int mpi_kind,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

static inline int pleat_session_create(struct pleat_session **session, struct pleat_error *err)
{
    return pleat_session_create_for(session, PLEAT_API_VERSION, PLEAT_MPI_KIND, err);
}

static inline int pleat_process_mpi_prepare(const struct pleat_processes *processes,
                                            struct pleat_error *err)
{
    return pleat_process_mpi_prepare_for(processes, PLEAT_MPI_KIND, err);
}

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
