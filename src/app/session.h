/* session.h - the session's members, and functions shared by the files of libpleat. */
#ifndef PLEAT_APP_SESSION_H
#define PLEAT_APP_SESSION_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/freeing.h"
#include "app/object.h"
#include "base/array.h"
#include "model/sizes.h"
#include "pleat.h"
#include "shm/mailbox-rank.h"
#include "shm/state.h"

/* A registered value, which is the same on all ranks. */
struct pleat_value {
    char name[PLEAT_NAME_SIZE];
    void *ptr;
    size_t bytes;
};

/* An action of the program's (actions.c). */
struct pleat_own_action {
    char name[PLEAT_NAME_SIZE];
    pleat_action call;
    void *arg;
};

/* Which numbers of ranks the program can use, as it says itself. */
struct pleat_own_limits {
    bool said; /* with pleat_session_limits: the start obeys them, too */
    int least; /* at least 1 once said */
    int most;  /* 0: any number */
    struct pleat_sizes sizes;
    struct pleat_size_list list; /* the list into which `sizes` may point */
};

/* An adaptation point with a name (points.c). */
struct pleat_own_point {
    char name[PLEAT_NAME_SIZE];
    bool resizes;  /* whether the program may be resized there */
    uint64_t here; /* passages at this size */
};

/* What ranks that join or are started again must know of points: a value that is registered with
 * the first one. Rank 0's counts. */
struct pleat_point_state {
    int64_t at; /* the point of the last change; -1: there was none */
    uint64_t passed[PLEAT_POINTS];
};

enum pleat_session_state {
    PLEAT_SESSION_OPEN,    /* values, rows and arrays may be registered */
    PLEAT_SESSION_RUNNING, /* after pleat_session_begin */
    PLEAT_SESSION_LEAVING, /* this rank was released by a shrink or a relaunch */
    PLEAT_SESSION_BROKEN   /* a communication failed half-way, or this rank was refused */
};

/* Environment variable of the program's user. "resize": at each resize a copy is saved, and kept
 * until the next one; not set: the registered arrays are in the data file, and no copy is saved. */
#define PLEAT_SAVE_ENV "PLEAT_SAVE"
/* Environment variable that Pleat sets: between resizes a copy is saved each time that this has
 * passed: seconds ("300s") or iterations ("100it"). */
#define PLEAT_SAVE_EVERY_ENV "PLEAT_SAVE_EVERY"

/* When copies are saved between resizes (interval.c). All ranks have the same `first`,
 * `next` and `later`, the rest is rank 0's. */
struct pleat_save_interval {
    uint64_t first; /* iterations to the first meeting; 0: none is saved */
    uint64_t next;  /* the adaptation point where the ranks meet; UINT64_MAX: none */
    uint64_t later; /* iterations by which the meeting was put off last; 0: it was not */
    uint64_t iterations;
    int64_t ns;   /* 0: `iterations` counts */
    uint64_t met; /* the last meeting: adaptation point and time */
    int64_t met_ns;
    int64_t saved_ns; /* when the last copy was saved, or the program began */
};

/* Environment variable of the program's author. "sums": at each move of data that the program packs
 * and unpacks, sums before and after are compared; not set: they are not. */
#define PLEAT_CHECK_ENV "PLEAT_CHECK"

struct pleat_from;  /* checkpointing.c */
struct pleat_nodes; /* nodes.h */

struct pleat_session {
    enum pleat_session_state state;
    unsigned number;           /* number of the session, of those that this process has created,
                                * from 1 */
    bool joiner;               /* spawned by a growth; the running ranks wait for its begin */
    struct pleat_error excuse; /* why a joiner cannot take part; reported in begin */
    MPI_Comm comm;
    int rank;
    int size;

    struct pleat_mailbox *mailbox; /* NULL: not under Pleat */
    struct pleat_mailbox_rank self;
    int doorbell;
    struct pleat_state *saved;     /* NULL: no agent holds states for this program */
    struct pleat_state_header own; /* launch, program, name: identify its states */
    struct pleat_state_header held;
    /* the program goes on from the state `held`, or from a checkpoint; */
    bool resumed;
    bool meets;  /* all ranks are attached to the mailbox, and may meet there (together.c) */
    bool waits;  /* the state is not there yet: the processes before this one still compute */
    bool checks; /* sums are compared at each move (PLEAT_CHECK_ENV), the same on all ranks */
    struct pleat_save_interval interval;
    struct pleat_from *from; /* the checkpoint from which the program goes on; NULL: none */
    bool in_data;            /* objects are in the data file (shm/state.h), the same on all ranks */
    struct pleat_nodes *nodes; /* NULL: all ranks are on one node */

    PLEAT_ARRAY(pleat_values, struct pleat_value) values;
    size_t values_bytes;
    unsigned char *packed; /* buffer for values during a resize */
    struct pleat_object *objects;
    struct pleat_freeing freeing; /* memory that a resize has left, to be freed */
    unsigned windows;             /* number of windows of arrays in the data file */
    uint64_t objects_bytes;       /* where the last object ends in a state */

    int64_t last_ns; /* time at the end of the last adaptation point */
    uint64_t busy_ns;
    uint64_t busy_count;
    uint64_t grid;       /* rank 0: the process grid of these iterations (base/grid.h); 0: none */
    uint64_t counted_ns; /* the part of busy_ns that is in busy_squares */
    double busy_squares; /* of the microseconds of each of these iterations */

    int sections; /* in which nothing may change, one within the other; 0: this rank is in none */
    struct pleat_own_point points[PLEAT_POINTS];
    int point_count;
    struct pleat_point_state point;

    struct pleat_own_limits limits;
    int most;    /* pleat_session_limit; 0: any number */
    int surplus; /* ranks that left when the program began: the job may still count their
                  * processors */
    bool announces;
    bool lacks; /* the program has said that it needs more ranks, and asks for them */
    bool asks;  /* its last ask was for something */
    pleat_offer_callback on_offer;
    void *on_offer_arg;
    struct pleat_offer offer; /* `to` 0: there was none */
    struct pleat_own_action actions[PLEAT_ACTIONS];
    int action_count;
    int begun[PLEAT_ACTIONS]; /* actions whose BEFORE was called, in that order */
    int begun_count;
    pleat_plan_callback on_plan;
    void *on_plan_arg;
    pleat_grid_callback on_grid;
    void *on_grid_arg;
    struct pleat_error failure;
};

/* ---- nodes.c ---- */

/* Whether this rank is the first of its node, as rank 0 is, too: it speaks with the agent there. */
bool pleat_session_leads(const struct pleat_session *session);

/* ---- mpi.c ---- */

/* 0, or PLEAT_E_MPI with `what` and MPI's text. */
int pleat_mpi_check(int result, const char *what, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Until pleat_mpi_quiet_end, errors on comm are returned and not fatal. *before: the previous
 * handler, which quiet_end sets on its `comm` (it may be another communicator by then, or
 * MPI_COMM_NULL). */
int pleat_mpi_quiet_begin(MPI_Comm comm, MPI_Errhandler *before,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_mpi_quiet_end(MPI_Comm comm, MPI_Errhandler *before);
/* Whether this MPI can start processes at run time. */
bool pleat_mpi_spawns(void);
/* *agreed: the smallest of all ranks' codes, so that all have the same outcome. Collective. */
int pleat_mpi_agree(MPI_Comm comm, int code, int *agreed, struct pleat_error *err) PLEAT_MUST_CHECK;
/* All ranks get the error of the first one that has one. Collective. Negative: MPI failed. */
int pleat_mpi_share_error(MPI_Comm comm, struct pleat_error *error,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same as pleat_mpi_agree, and *err says if the ranks' hashes differ though no code is
 * negative: then *agreed is PLEAT_E_INVALID. */
int pleat_mpi_agree_on(MPI_Comm comm, int code, uint64_t hash, int *agreed,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* *same: whether all ranks have the same hash, but for those that are excused. Collective. */
int pleat_mpi_same(MPI_Comm comm, uint64_t hash, bool excused, bool *same,
                   struct pleat_error *err) PLEAT_MUST_CHECK;
/* Starts `count` more ranks of this program, with its arguments and directory. Collective over
 * comm. *children: the intercommunicator. *refused: it failed on all ranks before anything was
 * started; after any other failure the ranks disagree. */
int pleat_mpi_spawn(MPI_Comm comm, int rank, int count, MPI_Comm *children, bool *refused,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* Merges an intercommunicator into one communicator, the old ranks first, and releases it. */
int pleat_mpi_merge(MPI_Comm *inter, bool joiner, MPI_Comm *merged,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- queries.c ---- */

/* PLEAT_E_STATE: the program is not between begin and end, where `function` belongs. */
int pleat_session_check_running(const struct pleat_session *session, const char *function,
                                struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- grids.c ---- */

/* Nothing is known of iterations at a new size, or on another process grid. */
void pleat_session_count_anew(struct pleat_session *session);
/* Rank 0 tells the agent the process grid of the present size, as far as objects have one. */
void pleat_session_tell_grid(struct pleat_session *session);

/* ---- together.c ---- */

/* Both are collective over the session's ranks, with what is said of the functions for MPI above.
 * *agreed: the smallest of all ranks' codes, of which none is positive. */
int pleat_session_agree(struct pleat_session *session, int code, int *agreed,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* All ranks get the contents of rank 0's `data`. what: its name in the error. */
int pleat_session_tell(struct pleat_session *session, void *data, size_t bytes, const char *what,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- resume.c ---- */

/* Attaches this rank to the mailbox. */
int pleat_session_attach(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether this rank could map the data file. */
bool pleat_session_has_data(const struct pleat_session *session);
/* Rank 0: whether the state to go on from is still being computed. */
int pleat_session_claim_state(struct pleat_session *session,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* Finds the state to go on from, and whether the objects are in the data file. What rank 0 finds
 * counts, and the others must find the same. *code: this rank's error. Collective. */
int pleat_session_find_state(struct pleat_session *session, int *code,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* Goes on from the state that was found, once it is there, or from the checkpoint. Collective.
 * Negative: the session is broken. */
int pleat_session_resume(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- usable.c ---- */

/* The largest number of ranks up to `ranks` that the program can use; 0: none. */
int pleat_own_limits_floor(const struct pleat_own_limits *limits, int ranks);
/* The same with regard to registered objects: parts are not narrower than their halos. */
int pleat_session_floor(const struct pleat_session *session, int ranks);
/* PLEAT_E_INVALID: with that many ranks parts of a registered object are narrower than its
 * halos. */
int pleat_session_halos(const struct pleat_session *session, int ranks,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* The limits as people read them: "at least 2, at most 8, sizes powers". */
void pleat_own_limits_text(const struct pleat_own_limits *limits, char *text, size_t size);
void pleat_own_limits_finish(struct pleat_own_limits *limits);

/* Before the ranks begin: finds how many of them the program can use. Collective. *fits: that
 * number. PLEAT_E_TOOBIG on all ranks: there are fewer than it can use. PLEAT_LEAVE on all ranks:
 * there are fewer, and Pleat starts more in their place. Waits, asleep, until Pleat has decided
 * that. */
int pleat_session_fit(struct pleat_session *session, int *fits,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- identity.c ---- */

/* Fills launch, program and name of *own for this program. */
void pleat_session_identify(struct pleat_state_header *own);
/* A hash of everything registered, in order. */
uint64_t pleat_session_shape(const struct pleat_session *session);
uint64_t pleat_session_hash(uint64_t hash, const void *bytes, size_t count);

/* A hash of the process grids of all objects. */
uint64_t pleat_session_grids(const struct pleat_session *session);

/* ---- registry.c ---- */

/* Frees the communicators of all objects. Collective over the session's ranks. */
void pleat_registry_release(struct pleat_session *session);

/* Appends an object, whose offset is that of pleat_session_room. */
int pleat_session_add(struct pleat_session *session, struct pleat_object *object, const char *name,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Compares what the ranks have registered, by a hash of it. *differs: 0, or, on all ranks,
 * PLEAT_E_INVALID with a text that names the first difference (or PLEAT_E_NOMEM). excused: this
 * rank takes part, but what it has registered does not count. Collective over comm. */
int pleat_registry_check(struct pleat_session *session, MPI_Comm comm, uint64_t hash, bool excused,
                         int *differs, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- places.c ---- */

/* Offset in a state for the next object. */
uint64_t pleat_session_room(const struct pleat_session *session);
/* *window: offset in the data file of a window (PLEAT_STATE_WINDOW_HALF) for one more array.
 * PLEAT_E_TOOBIG: there is none left. */
int pleat_session_window(struct pleat_session *session, uint64_t *window,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* Offsets in a state of the values, and of the tail. */
uint64_t pleat_session_values_at(const struct pleat_session *session);
uint64_t pleat_session_tail_at(const struct pleat_session *session);
/* Size of a saved state of what is registered, in bytes. */
uint64_t pleat_session_bytes(const struct pleat_session *session);
/* Whether there are objects whose size changes. */
bool pleat_session_has_tail(const struct pleat_session *session);

/* ---- saving.c ---- */

/* What rank 0 tells the other ranks about a save. */
struct pleat_save_order {
    uint64_t generation;
    uint64_t save; /* a number that no other save has */
    bool in_data;  /* the data file becomes the state, instead of a copy */
    bool leaves;   /* ranks may leave nodes (nodes.h) */
    int code;      /* 0; a negative code: rank 0 could not begin; 1: no agent holds states */
};

/* All ranks, before rank 0 prepares a save: finds out how large the state is. Collective. Negative:
 * the session is broken. */
int pleat_save_measure(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether what the order has saved can be loaded, and saved again, on several nodes: a program must
 * not get to several nodes if it could not leave them again. */
int pleat_save_check_nodes(const struct pleat_session *session,
                           const struct pleat_save_order *order,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Why nothing is saved in a session that is not the process's first. Returns a negative code. */
int pleat_save_later_session(struct pleat_error *err);
/* Rank 0 prepares a save of what is registered: a copy, or, where the objects are in the data file
 * and `copy` is false, there. */
void pleat_save_begin(struct pleat_session *session, bool copy, struct pleat_save_order *order,
                      struct pleat_error *err);
/* Saves with rank 0's order. Collective: when it returns, every rank is inside the resize. 0: the
 * saved state is the one held from now on. PLEAT_SAVE_NOT: it is not, on any rank, and *err says
 * why (empty: no agent holds states). Negative: the session is broken. */
#define PLEAT_SAVE_NOT 1
int pleat_save_all(struct pleat_session *session, const struct pleat_save_order *order,
                   struct pleat_error *err) PLEAT_MUST_CHECK;
/* Ends the time in which the data file is the state: to be called before any rank computes again.
 * Collective. Negative: the session is broken. */
int pleat_save_end(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Loads the state `held`, and tells the agent. Collective; negative on all ranks or on none. *err
 * must not be NULL. */
int pleat_load_all(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* After tails were loaded (object.h): gives their parts to the ranks that are to have them.
 * Collective; *code: the outcome on this rank. Negative: the ranks disagree. */
int pleat_load_arrange(struct pleat_session *session, int *code,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- sums.c ---- */

/* Reads the environment variable. PLEAT_E_INVALID: its value is unknown. */
int pleat_sums_wanted(bool *wanted, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Notes the sums of what this rank has, if they are wanted. Collective. Negative, on all ranks:
 * PLEAT_E_CORRUPT: a packing function does not write all bytes that it says; PLEAT_E_NOMEM. */
int pleat_sums_note(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same in a rank that has no data yet. */
void pleat_sums_expect(struct pleat_session *session);
/* After a move: compares the sums of all ranks' data with the noted ones. Collective. has_any: this
 * rank has a part of the data now. PLEAT_E_CORRUPT: the text names what differs; all ranks get an
 * error, or none. */
int pleat_sums_compare(struct pleat_session *session, MPI_Comm comm, bool has_any,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* The resize was refused, and nothing has changed. Negative codes mean that the session is
 * broken. */
#define PLEAT_RESIZE_REFUSED 1

/* ---- actions.c ---- */

/* A hash of the names of all actions, in order, after `hash`. */
uint64_t pleat_actions_hash(const struct pleat_session *session, uint64_t hash);
/* Calls the actions BEFORE a change, which rank 0 knows: *offer, with `to` 0 where nothing changes.
 * Collective. Returns 0, PLEAT_RESIZE_REFUSED or a negative code. */
int pleat_actions_before(struct pleat_session *session, const struct pleat_offer *offer,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Calls the actions AFTER that change, in ranks that join, too. Collective over the new
 * communicator. Negative on all ranks or on none. */
int pleat_actions_after(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Tells the actions that the change was not made. Collective; likewise. */
int pleat_actions_undo(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same as pleat_actions_after where all ranks were started again. Rank 0 tells the agent if it
 * fails. */
int pleat_actions_resumed(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- points.c ---- */

/* A hash of all points, in order, after `hash`. */
uint64_t pleat_points_hash(const struct pleat_session *session, uint64_t hash);
/* Rank 0, before the ranks begin: tells the agent the names of the points. */
void pleat_points_tell(struct pleat_session *session);
/* The ranks have taken over from those before them: tells the agent how often points were
 * passed. */
void pleat_points_resumed(struct pleat_session *session);
/* The size has changed: passages at this size are counted anew. */
void pleat_points_restart(struct pleat_session *session);
/* Where the ranks have met. */
enum pleat_meeting {
    PLEAT_MET = 0,
    PLEAT_MET_APART = 1,  /* at different points: *err names two of them */
    PLEAT_MET_NOT_NOW = 2 /* some rank is in a section in which nothing may change */
};
/* Whether all ranks are at the same point, that of session->point, and in no section. Collective.
 * An enum pleat_meeting, the same on all ranks, or a negative code. */
int pleat_points_meet(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Counts a passage of a point, from 1 on. */
static inline void pleat_points_count(struct pleat_session *session, int point)
{
    struct pleat_own_point *own = &session->points[point - 1];
    uint64_t *passed = &session->point.passed[point - 1];
    ++own->here;
    ++*passed;
    if (session->rank == 0)
        pleat_mailbox_passed(&session->self, (unsigned)(point - 1), *passed, own->here,
                             session->busy_ns);
}

/* ---- moving.c ---- */

/* Moves everything that is registered. `code`: an earlier error of this rank. Collective over
 * change->comm. Returns 0, PLEAT_RESIZE_REFUSED or a negative code. */
int pleat_move_all(struct pleat_session *session, const struct pleat_change *change, int code,
                   struct pleat_error *err) PLEAT_MUST_CHECK;
/* Bytes that this rank moved to other ranks in the change. */
uint64_t pleat_moved_bytes(const struct pleat_session *session, const struct pleat_change *change);

/* ---- asked.c ---- */

/* Environment variable that Pleat sets: the number of the signal that asks for a checkpoint. */
#define PLEAT_CHECKPOINT_SIGNAL_ENV "PLEAT_CHECKPOINT_SIGNAL"
/* 1: this process got that signal. */
extern atomic_int pleat_asked_for_checkpoint;
/* Handles the signal from now on; a handler that the program has is called, too. */
void pleat_asked_begin(const struct pleat_session *session);
/* Tells the agent if the signal has come. */
void pleat_asked_tell(struct pleat_session *session);
/* Every rank, before it begins to write a checkpoint: a signal that came until now asked for this
 * one, a later one asks for another. Returns whether one came. */
bool pleat_asked_take(void);
/* The checkpoint could not be written: the signal still asks for one. */
void pleat_asked_again(bool taken);
/* The signal is handled as before. A rank that leaves tells the agent of a signal that came after
 * its last adaptation point: the ranks that go on write the checkpoint. */
void pleat_asked_finish(struct pleat_session *session);

/* ---- interval.c ---- */

/* Rank 0: reads what is wanted. *first: for session->interval.first of all ranks. PLEAT_E_INVALID.
 */
int pleat_interval_read(struct pleat_session *session, uint64_t *first,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* The ranks begin to compute. */
void pleat_interval_begin(struct pleat_session *session);
/* For session->interval.next after a resize at this adaptation point: no rank saves at this one. */
uint64_t pleat_interval_after(const struct pleat_session *session);
/* All ranks are at the adaptation point interval.next: saves a copy, or agrees on a later point.
 * Collective. A copy that cannot be saved is session->failure. Negative: the session is broken. */
int pleat_interval_save(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- resize.c ---- */

/* Carries out the posted request, once all ranks are inside. Returns an enum pleat_adapt or a
 * negative code. */
int pleat_resize_enter(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Before the ranks begin: those from `fits` on leave. Collective. Returns PLEAT_LEAVE in those, 0
 * in the others, or a negative code: the session is broken. */
int pleat_resize_fit(struct pleat_session *session, int fits,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Before the ranks begin: all leave. Collective. */
void pleat_resize_leave(struct pleat_session *session);

/* ---- asking.c ---- */

/* The program wants to have `ranks` ranks in all; 0: its last ask is withdrawn. Rank 0's call
 * counts. */
void pleat_session_want(struct pleat_session *session, int ranks, bool mandatory);

/* ---- join.c ---- */

struct pleat_change pleat_change_to(const struct pleat_session *session, MPI_Comm comm,
                                    int old_size, int new_size);
/* The old ranks tell the new ones of the change. Collective over change->comm. */
int pleat_hello_say(struct pleat_session *session, const struct pleat_change *change,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* Old and new ranks compare what they have registered. *code: this rank's error so far, and after
 * it. Collective. */
int pleat_hello_compare(struct pleat_session *session, const struct pleat_change *change, int *code,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* A joiner's part of a growth. PLEAT_LEAVE: it was not let in, err says why. */
int pleat_resize_join(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Called by a joiner that cannot take part, for the reason `code`: tells the ranks that wait for
 * it, so that they go on without the new ranks. */
void pleat_resize_refuse(struct pleat_session *session, int code);

#endif
