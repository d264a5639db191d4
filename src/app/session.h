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

    PLEAT_ARRAY(pleat_values, struct pleat_value) values;
    size_t values_bytes;
    unsigned char *packed; /* values on their way, during a resize */
    struct pleat_object *objects;

    int64_t last_ns; /* end of the last adaptation point */
    uint64_t busy_ns;
    uint64_t busy_count;

    pleat_offer_callback on_offer;
    void *on_offer_arg;
    struct pleat_error failure;
};

/* ---- mpi.c ---- */

/* 0, or PLEAT_E_MPI with MPI's words about what failed. */
int pleat_mpi_check(int result, const char *what, struct pleat_error *err) PLEAT_MUST_CHECK;
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
/* A hash of everything registered, in order. */
uint64_t pleat_session_shape(const struct pleat_session *session);

/* ---- resize.c ---- */

/* All ranks are inside: does what was posted. An enum pleat_adapt or a negative code. */
int pleat_resize_enter(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* A joiner's part of the growth. 0, or a negative code: it was not let in. */
int pleat_resize_join(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* For a joiner that cannot take part, for the reason `code`: tells the others, who wait for it, so
 * that they go on without the new ranks. */
void pleat_resize_refuse(struct pleat_session *session, int code);

#endif
