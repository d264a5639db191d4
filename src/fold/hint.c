/* hint.c - tells turn.h what an MPI call means. */
#include "fold/hint.h"

#include "base/clock.h"
#include "fold/peer.h"

/* A program that computes between two looks for a message does not wait. It waits when looks follow
 * one another within TIGHT_NS and LOOKS_IN_VAIN of them have found nothing. */
#define TIGHT_NS 5000
#define LOOKS_IN_VAIN 4

_Thread_local struct fold_self fold_self __attribute__((tls_model("initial-exec")));
bool fold_starts_or_ends;

/* What other threads send and wait for is not known. So at the begin and at the end of their calls
 * any process may have got something to do. */
static void begin_beside(bool looks)
{
    if (!looks || pleat_clock_monotonic_ns() - fold_self.tested_ns > TIGHT_NS)
        fold_self.vain = 0;
    fold_self.test = looks;
    if (!fold_self.vain) {
        fold_self.empty = 0;
        turn_activity();
    }
}

__attribute__((noinline)) enum fold_entered fold_enter_call(bool looks)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (!fold_takes_part() || (fold_self.frame && frame < fold_self.frame))
        return FOLD_UNTOLD;
    fold_self.frame = frame;
    if (fold_self.mine)
        return FOLD_TOLD;
    begin_beside(looks);
    return FOLD_BESIDE;
}

__attribute__((noinline)) void fold_leave_beside(void)
{
    fold_self.frame = 0;
    fold_self.waited = false;
    if (!fold_self.test) {
        turn_activity();
        return;
    }
    fold_self.test = false;
    if (fold_self.vain < LOOKS_IN_VAIN)
        fold_self.vain++;
    fold_self.tested_ns = pleat_clock_monotonic_ns();
}

static void waited(void)
{
    fold_self.waited = false;
    if (fold_self.mine)
        turn_progressed();
    else
        turn_activity();
}

void fold_leave(void)
{
    bool looked = fold_self.test;
    fold_self.frame = 0;
    fold_self.test = false; /* the next call may not be told of */
    if (fold_self.waited && !looked)
        waited();
}

__attribute__((noinline)) void fold_leave_waited(void)
{
    if (!fold_self.frame) /* else MPI called itself inside a call that is told of */
        waited();
}

bool fold_idle(void)
{
    if (!fold_takes_part() || !turn_is_on())
        return false;
    if (fold_self.test && fold_self.vain < LOOKS_IN_VAIN)
        return true;
    fold_self.waited = true;
    return turn_wait();
}

void fold_call(void)
{
    fold_self.test = false;
    fold_self.vain = 0;
    fold_self.empty = 0;
    turn_call();
}

void fold_test_begins(void)
{
    fold_self.test = true;
    if (fold_self.vain && pleat_clock_monotonic_ns() - fold_self.tested_ns > TIGHT_NS)
        fold_self.vain = 0;
    if (fold_self.vain)
        return;
    fold_self.empty = 0;
    turn_call();
}

void fold_test_ends(bool found)
{
    if (found) {
        fold_self.vain = 0;
        fold_self.waited = false;
        turn_progressed();
        return;
    }
    if (fold_self.vain < LOOKS_IN_VAIN)
        fold_self.vain++;
    fold_self.tested_ns = pleat_clock_monotonic_ns();
}

/* The hint comes before the call, since the receiver of a long message must fetch it while the
 * sender waits. */
bool fold_send_begins(MPI_Comm comm, int rank)
{
    if (rank < 0 || !fold_comm_known(comm))
        return false;
    turn_sent(fold_peer(comm, rank, false));
    return true;
}

void fold_sent(MPI_Comm comm, int rank)
{
    if (rank >= 0) /* not MPI_PROC_NULL */
        turn_sent(fold_peer(comm, rank, true));
}

void fold_received(MPI_Comm comm, int rank, const MPI_Status *status)
{
    if (rank == MPI_PROC_NULL)
        return;
    if (rank < 0 && status && status != MPI_STATUS_IGNORE)
        rank = status->MPI_SOURCE;
    turn_received(rank < 0 ? TURN_ANYBODY : fold_peer(comm, rank, true));
}
