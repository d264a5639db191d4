/* wrap.h - what the parts of libpleat-fold that know MPI tell one another.
 *
 *   calls.def  the MPI calls and what they mean     real.c   the functions behind them
 *   wrap.c     the wrappers, made from the table    life.c   MPI_Init to MPI_Finalize, fork
 *   hint.c     what they tell turn.h                peer.c   ranks of communicators
 *   request.c  requests that receive                thread.c the threads that a program starts
 *   fold-openmpi.c, fold-mpich.c   how each MPI waits
 *
 * Everything here but fold_enter, fold_leave_untold, fold_takes_part, fold_idle and
 * fold_comm_is_freed is for the thread that called MPI_Init, between fold_enter (FOLD_TOLD) and
 * fold_leave.
 */
#ifndef PLEAT_FOLD_WRAP_H
#define PLEAT_FOLD_WRAP_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "fold/turn.h"

#define FOLD_EXPORT __attribute__((visibility("default")))

/* ---- the calling thread ---- */

struct fold_self {
    bool mine;         /* it called MPI_Init, and the process is folded */
    bool test;         /* the call looks and does not wait */
    bool waited;       /* the call has given the processor away */
    uint32_t vain;     /* calls that looked, one soon after the other, and found nothing */
    uint32_t empty;    /* polls of the MPI's own that found nothing */
    int64_t tested_ns; /* when the last call that looked was over */
    uintptr_t frame;   /* of the outermost MPI call; 0: outside. Calls made by MPI itself lie below;
                        * one left by longjmp is forgotten by the next above it */
};

/* The library is loaded with the program, never later, so there is room for it at a fixed place. */
extern _Thread_local struct fold_self fold_self __attribute__((tls_model("initial-exec")));

enum fold_entered {
    FOLD_UNTOLD, /* nothing has to be told: not folded, or MPI calls itself */
    FOLD_TOLD,
    FOLD_BESIDE /* of another thread is told only that it called */
};

enum fold_entered fold_enter_call(bool looks);
/* Of a call that `looks` whether something has come, and does not wait, has to be told wherever
 * waiting has. */
static inline enum fold_entered fold_enter(bool looks)
{
    return (looks ? turn_is_on() : turn_is_told()) ? fold_enter_call(looks) : FOLD_UNTOLD;
}
void fold_leave(void);
/* Instead of fold_leave at the end of a call of which nothing was told, or only that it was. */
void fold_leave_waited(void);
void fold_leave_beside(void);
static inline void fold_leave_untold(enum fold_entered entered)
{
    if (__builtin_expect(entered == FOLD_BESIDE, 0))
        fold_leave_beside();
    else if (__builtin_expect(fold_self.waited, 0))
        fold_leave_waited();
}

/* Whether the calling thread takes part in turns. */
static inline bool fold_takes_part(void)
{
    return fold_self.mine || turn_is_for_all();
}

/* The MPI has polled in vain, in any thread: true when the processor was handed on or need not be;
 * false: as without this library. */
bool fold_idle(void);

/* ---- what MPI calls mean (hint.c) ---- */

void fold_call(void);
void fold_test_begins(void);
void fold_test_ends(bool found);

/* Blocking: whether the receiver was known before the call; else fold_sent tells it afterwards. */
bool fold_send_begins(MPI_Comm comm, int rank);
void fold_sent(MPI_Comm comm, int rank);
void fold_received(MPI_Comm comm, int rank, const MPI_Status *status);

/* ---- requests (request.c) ---- */

enum fold_request_kind { FOLD_RECEIVES, FOLD_PREPARED_RECEIVE, FOLD_PREPARED_SEND };

void fold_request_add(MPI_Request request, enum fold_request_kind kind, MPI_Comm comm, int rank);
void fold_request_add_matched(MPI_Request request); /* a message that was probed for */
void fold_request_start(MPI_Request request);
void fold_request_forget(MPI_Request request);
void fold_request_cancel(MPI_Request request);
/* What is waited for, or looked for: the MPI overwrites the requests. With `waits` their sender is
 * told, where it is one. */
void fold_requests_begin(int count, const MPI_Request *requests, bool waits);
void fold_request_done(int index); /* of those */
void fold_requests_done_all(void);
void fold_requests_done_some(int count, const int *indices);

/* ---- communicators (peer.c) ---- */

/* The index on this node of a rank of comm (of its remote group, if it has one); TURN_NOBODY;
 * TURN_ANYBODY for MPI_ANY_SOURCE. Only with `ask` it calls MPI for it, which needs a comm that MPI
 * has accepted. */
int32_t fold_peer(MPI_Comm comm, int rank, bool ask);
bool fold_comm_known(MPI_Comm comm);
/* A handle is no longer, or will soon not be, what it was. */
void fold_comm_is_freed(void);

/* The processes of MPI_COMM_WORLD, or 0 where there is none to tell (sessions). */
int fold_peers_begin(int size);
void fold_peers_end(void);

/* ---- MPI itself (life.c) ---- */

/* Set before the process is folded. */
struct fold_mpi {
    int (*get_library_version)(char *text, int *length);
    int (*comm_rank)(MPI_Comm comm, int *rank);
    int (*comm_size)(MPI_Comm comm, int *size);
    int (*comm_test_inter)(MPI_Comm comm, int *inter);
    int (*comm_group)(MPI_Comm comm, MPI_Group *group);
    int (*comm_remote_group)(MPI_Comm comm, MPI_Group *group);
    int (*comm_get_parent)(MPI_Comm *parent);
    int (*query_thread)(int *level);
    int (*group_size)(MPI_Group group, int *size);
    int (*group_translate_ranks)(MPI_Group from, int count, const int *ranks, MPI_Group to,
                                 int *translated);
    int (*group_free)(MPI_Group *group);
    MPI_Comm world, no_comm;
};
extern struct fold_mpi fold_mpi;

/* ---- per MPI (fold-openmpi.c, fold-mpich.c) ---- */

extern const char fold_mpi_name[]; /* as at the beginning of MPI_Get_library_version's text */
/* Environment variables in which launchers say which process of the node this one is; ends with
 * NULL. */
extern const char *const fold_local_rank_variables[];
/* fold_mpi.world and .no_comm; false: not to be found. */
bool fold_mpi_find_handles(void);
/* Before and after the process takes its place. */
void fold_mpi_prepare(void);
void fold_mpi_begin(void);

/* Attaches after the initialization of MPI, and leaves before its end. False: is not folded, or was
 * already. */
bool fold_begin(bool world);
void fold_end(void);
/* Between the beginning of MPI_Init or MPI_Finalize and its end, in a process to be folded. */
extern bool fold_starts_or_ends;

#endif
