/* fold-mpich.c - how MPICH waits: it polls, and never yields. Each pass of its loop polls shared
 * memory, and then asks UCX. Whether something came through shared memory cannot be seen, so one
 * pass in which UCX had nothing does not mean that it waits; several of them in one call do.
 */
#include <sched.h>
#include <stddef.h>

#include "fold/hint.h"
#include "fold/real.h"
#include "fold/which.h"
#include "shm/fold.h"

#define PASSES_IN_VAIN 4

const char fold_mpi_name[] = "MPICH";
const char *const fold_local_rank_variables[] = {"MPI_LOCALRANKID", "SLURM_LOCALID", NULL};

bool fold_mpi_find_handles(void)
{
    fold_mpi.world = MPI_COMM_WORLD;
    fold_mpi.no_comm = MPI_COMM_NULL;
    return true;
}

void fold_mpi_prepare(void)
{
    turn_prefer(PLEAT_FOLD_WAIT_IMMEDIATE, PLEAT_FOLD_WAIT_IMMEDIATE);
}

void fold_mpi_begin(void)
{
}

typedef unsigned progress_call(void *worker);

static progress_call *real_progress(void)
{
    static void *_Atomic known;
    void *found = atomic_load_explicit(&known, memory_order_relaxed);
    if (!found) {
        found = fold_real_symbol("ucp_worker_progress");
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return (progress_call *)found;
}

static void found_nothing(void)
{
    bool on = turn_is_on();
    if (!on && fold_self.mine)
        (void)turn_polls_alone();
    if ((!on && !fold_starts_or_ends) || ++fold_self.empty < PASSES_IN_VAIN)
        return;
    fold_self.empty = 0;
    /* Threads that do not take part yield, and so do all while MPI starts or ends, when each waits
     * for all others. */
    if (!on || !fold_takes_part())
        (void)sched_yield();
    else
        (void)fold_idle();
}

FOLD_EXPORT progress_call fold_progress __asm__("ucp_worker_progress");

unsigned fold_progress(void *worker)
{
    progress_call *real = real_progress();
    unsigned events = real ? real(worker) : 0;
    if (!events) {
        found_nothing();
    } else if (fold_self.empty) {
        fold_self.empty = 0;
        if (fold_self.mine && turn_is_on())
            turn_progressed();
    }
    return events;
}
