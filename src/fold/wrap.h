/* wrap.h - the interface between the parts of libpleat-fold that know MPI.
 *
 *   calls.def  the MPI calls and what they mean     real.c   the functions behind them
 *   wrap.c     the wrappers, made from the table    life.c   MPI_Init to MPI_Finalize, fork
 *   hint.c     what they tell turn.h                peer.c   ranks of communicators
 *   request.c  requests that receive                thread.c the threads that a program starts
 *   fold-openmpi.c, fold-mpich.c   how each MPI waits
 *
 * All functions are for the thread that called MPI_Init, between fold_enter (FOLD_TOLD) and
 * fold_leave; but fold_enter, fold_leave_untold, fold_takes_part, fold_idle and fold_comm_is_freed
 * are for any thread.
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
    bool mine;         /* this thread called MPI_Init, and the process is folded */
    bool test;         /* the call looks for messages, and does not wait */
    bool waited;       /* the call has given the processor away */
    uint32_t vain;     /* looks in a row, soon after one another, that found nothing */
    uint32_t empty;    /* polls of the MPI in this call that found nothing */
    int64_t tested_ns; /* when the last look ended */
    /* stack frame of the outermost MPI call; 0: outside of MPI. Calls by MPI itself have lower
     * frames; a frame that longjmp left is forgotten at the next call above it */
    uintptr_t frame;
};

/* The library is loaded with the program, so the initial-exec model has room for it. */
extern _Thread_local struct fold_self fold_self __attribute__((tls_model("initial-exec")));

enum fold_entered {
    FOLD_UNTOLD, /* nothing is told: not folded, or MPI calls itself */
    FOLD_TOLD,
    FOLD_BESIDE /* another thread: only the call itself is told */
};

enum fold_entered fold_enter_call(bool looks);
/* looks: the call looks for messages and does not wait; such a call is told whenever waits are. */
static inline enum fold_entered fold_enter(bool looks)
{
    return (looks ? turn_is_on() : turn_is_told()) ? fold_enter_call(looks) : FOLD_UNTOLD;
}
void fold_leave(void);
/* Instead of fold_leave, after a call that was not told, or of another thread. */
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

/* The MPI has polled in vain, in any thread. True: the processor was handed on, or need not be.
 * False: the MPI should do what it does without this library. */
bool fold_idle(void);

/* ---- what MPI calls mean (hint.c) ---- */

void fold_call(void);
void fold_test_begins(void);
void fold_test_ends(bool found);

/* For a blocking send: whether the receiver was told before the call; else fold_sent tells it
 * afterwards. */
bool fold_send_begins(MPI_Comm comm, int rank);
void fold_sent(MPI_Comm comm, int rank);
void fold_received(MPI_Comm comm, int rank, const MPI_Status *status);

/* ---- requests (request.c) ---- */

enum fold_request_kind { FOLD_RECEIVES, FOLD_PREPARED_RECEIVE, FOLD_PREPARED_SEND };

void fold_request_add(MPI_Request request, enum fold_request_kind kind, MPI_Comm comm, int rank);
void fold_request_add_matched(MPI_Request request); /* receives a message found by a probe */
void fold_request_start(MPI_Request request);
void fold_request_forget(MPI_Request request);
void fold_request_cancel(MPI_Request request);
/* Begins a call that waits or looks for these requests, which the MPI will overwrite. waits: also
 * tells from which process it waits, if that is a single one. */
void fold_requests_begin(int count, const MPI_Request *requests, bool waits);
void fold_request_done(int index); /* index among these requests */
void fold_requests_done_all(void);
void fold_requests_done_some(int count, const int *indices);

/* ---- communicators (peer.c) ---- */

/* The index on this node of a rank of comm (for an intercommunicator, of its remote group).
 * TURN_NOBODY: it is not on this node or not known; TURN_ANYBODY: MPI_ANY_SOURCE. Only with `ask`
 * it calls MPI, which needs a valid comm. */
int32_t fold_peer(MPI_Comm comm, int rank, bool ask);
bool fold_comm_known(MPI_Comm comm);
/* A handle is being freed, and may come to mean another communicator. */
void fold_comm_is_freed(void);

/* size: number of processes of MPI_COMM_WORLD; 0: there is none (sessions). */
int fold_peers_begin(int size);
void fold_peers_end(void);

/* ---- MPI itself (life.c) ---- */

/* MPI's functions; set before the process is folded. */
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

/* ---- for each MPI (fold-openmpi.c, fold-mpich.c) ---- */

extern const char fold_mpi_name[]; /* the beginning of MPI_Get_library_version's text */
/* Environment variables with the process's rank on its node, as launchers set them; NULL at the
 * end. */
extern const char *const fold_local_rank_variables[];
/* Sets fold_mpi.world and .no_comm; false: they are not found. */
bool fold_mpi_find_handles(void);
/* prepare: before the process takes its place; begin: after that. */
void fold_mpi_prepare(void);
void fold_mpi_begin(void);

/* fold_begin attaches the process once MPI is initialized; fold_end leaves before MPI ends. False:
 * the process is not folded, or was already. world: MPI_COMM_WORLD exists (not with sessions). */
bool fold_begin(bool world);
void fold_end(void);
/* Between begin and end of MPI_Init or MPI_Finalize, in a process to be folded. */
extern bool fold_starts_or_ends;

#endif
