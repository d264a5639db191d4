/* session.h - the inside of a session, shared by the files of libpleat. */
#ifndef PLEAT_APP_SESSION_H
#define PLEAT_APP_SESSION_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/object.h"
#include "base/array.h"
#include "pleat.h"
#include "shm/mailbox-rank.h"
#include "shm/state.h"

/* A value registered: the same on all ranks. */
struct pleat_value {
    char name[PLEAT_NAME_SIZE];
    void *ptr;
    size_t bytes;
};

enum pleat_session_state {
    PLEAT_SESSION_OPEN,    /* values and rows may be registered */
    PLEAT_SESSION_RUNNING, /* begun */
    PLEAT_SESSION_LEAVING, /* this rank was released */
    PLEAT_SESSION_BROKEN   /* a communication failed half-way, or the rank was not let in */
};

struct pleat_session {
    enum pleat_session_state state;
    bool joiner;               /* spawned in a growth; while OPEN the others wait for its begin */
    struct pleat_error excuse; /* why a joiner cannot take part; said in begin */
    MPI_Comm comm;
    int rank;
    int size;

    struct pleat_mailbox *mailbox; /* NULL: not under Pleat */
    struct pleat_mailbox_rank self;
    int doorbell;
    struct pleat_state *saved;     /* NULL: nobody holds a state for us */
    struct pleat_state_header own; /* launch, program and name: whose states are loaded */
    struct pleat_state_header held;
    bool resumed; /* started again, from the state `held` */

    PLEAT_ARRAY(pleat_values, struct pleat_value) values;
    size_t values_bytes;
    unsigned char *packed; /* values on their way, during a resize */
    struct pleat_object *objects;

    int64_t last_ns; /* end of the last adaptation point */
    uint64_t busy_ns;
    uint64_t busy_count;

    bool announces;
    pleat_offer_callback on_offer;
    void *on_offer_arg;
    struct pleat_error failure;
};

/* ---- mpi.c ---- */

/* 0, or PLEAT_E_MPI with MPI's words about what failed. */
int pleat_mpi_check(int result, const char *what, struct pleat_error *err) PLEAT_MUST_CHECK;
/* For the time of a library call errors on comm are returned, not fatal; *before gets the handler
 * that quiet_end sets again (on `comm`, which may be another one by then, or MPI_COMM_NULL). */
int pleat_mpi_quiet_begin(MPI_Comm comm, MPI_Errhandler *before,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_mpi_quiet_end(MPI_Comm comm, MPI_Errhandler *before);
/* True: this MPI can start processes at run time. */
bool pleat_mpi_spawns(void);
/* The smallest of all ranks' codes in *agreed: the same outcome everywhere. */
int pleat_mpi_agree(MPI_Comm comm, int code, int *agreed, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Starts `count` more ranks of this program, with its arguments and directory; collective over
 * comm. *children is the intercommunicator. *refused: it failed before anything was started, on all
 * ranks; any other failure leaves the ranks in disagreement. */
int pleat_mpi_spawn(MPI_Comm comm, int rank, int count, MPI_Comm *children, bool *refused,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* An intercommunicator to one communicator, the old ranks first; the former is released. */
int pleat_mpi_merge(MPI_Comm *inter, bool joiner, MPI_Comm *merged,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- session.c ---- */

int pleat_session_add(struct pleat_session *session, struct pleat_object *object, const char *name,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- identity.c ---- */

/* Which program this is: fills own's launch, program and name. */
void pleat_session_identify(struct pleat_state_header *own);
/* A hash of everything registered, in order. */
uint64_t pleat_session_shape(const struct pleat_session *session);
uint64_t pleat_session_hash(uint64_t hash, const void *bytes, size_t count);

/* ---- saving.c ---- */

/* Bytes of a saved state of what is registered. */
uint64_t pleat_session_bytes(const struct pleat_session *session);

/* What rank 0 says of a save to the others. */
struct pleat_save_order {
    uint64_t generation;
    int code; /* 0; or why rank 0 could not begin; 1: there is nowhere to save to */
};

/* Rank 0: prepares a save of what is registered. */
void pleat_save_begin(struct pleat_session *session, struct pleat_save_order *order,
                      struct pleat_error *err);
/* All ranks, with rank 0's order; collective, as it agrees on the outcome, and when it returns
 * every rank is inside the resize. 0: it is the state that is held from now on. PLEAT_SAVE_NOT: it
 * is not, on no rank, and *err says why (empty where there is nowhere to save to). Negative: the
 * session is broken. */
#define PLEAT_SAVE_NOT 1
int pleat_save_all(struct pleat_session *session, const struct pleat_save_order *order,
                   struct pleat_error *err) PLEAT_MUST_CHECK;
/* Collective: loads the state `held`, and tells the agent. Negative on all ranks or on none; *err
 * must not be NULL. */
int pleat_load_all(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- resize.c ---- */

/* All ranks are inside: does what was posted. An enum pleat_adapt or a negative code. */
int pleat_resize_enter(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* A joiner's part of the growth. 0, or a negative code: it was not let in. */
int pleat_resize_join(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* For a joiner that cannot take part, for the reason `code`: tells the others, who wait for it, so
 * that they go on without the new ranks. */
void pleat_resize_refuse(struct pleat_session *session, int code);

#endif
