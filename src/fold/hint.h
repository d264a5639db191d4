/* hint.h - what a call of the program's MPI tells turn.h, and the thread that makes it.
 *
 * All functions are for the thread that called MPI_Init, between fold_enter (FOLD_TOLD) and
 * fold_leave; but fold_enter, fold_leave_untold, fold_takes_part and fold_idle are for any thread.
 */
#ifndef PLEAT_FOLD_HINT_H
#define PLEAT_FOLD_HINT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "fold/turn.h"

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

/* Between begin and end of MPI_Init or MPI_Finalize, in a process to be folded. */
extern bool fold_starts_or_ends;

/* ---- what MPI calls mean ---- */

void fold_call(void);
void fold_test_begins(void);
void fold_test_ends(bool found);

/* For a blocking send: whether the receiver was told before the call; else fold_sent tells it
 * afterwards. */
bool fold_send_begins(MPI_Comm comm, int rank);
void fold_sent(MPI_Comm comm, int rank);
void fold_received(MPI_Comm comm, int rank, const MPI_Status *status);

#endif
