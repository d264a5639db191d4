/* fold-mpich.c - how MPICH waits: it polls, and never yields. Each pass of its loop polls shared
 * memory, and then asks UCX. Whether something came through shared memory cannot be seen, so one
 * pass in which UCX had nothing does not mean that it waits; several of them in one call do.
 */
#include <sched.h>
#include <stddef.h>

#include "fold/real.h"
#include "fold/wrap.h"
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

/* ---- sessions (MPI 4), which Open MPI 4.1 does not have ---- */

/* Number of open sessions. Without MPI_COMM_WORLD it is not known who sends to whom, only who
 * waits. */
static _Atomic int sessions;
static bool folded_by_session;
/* with a profiling tool in between, MPI_X calls PMPI_X: that is one call */
static _Thread_local bool in_session_call;

typedef int init_call(uintptr_t info, uintptr_t handler, MPI_Session *session);
typedef int finalize_call(MPI_Session *session);
FOLD_EXPORT init_call fold_MPI_Session_init __asm__("MPI_Session_init");
FOLD_EXPORT init_call fold_PMPI_Session_init __asm__("PMPI_Session_init");
FOLD_EXPORT finalize_call fold_MPI_Session_finalize __asm__("MPI_Session_finalize");
FOLD_EXPORT finalize_call fold_PMPI_Session_finalize __asm__("PMPI_Session_finalize");

static int begin_session(init_call *real, uintptr_t info, uintptr_t handler, MPI_Session *session)
{
    if (!real)
        return MPI_ERR_INTERN;
    if (in_session_call)
        return real(info, handler, session);
    in_session_call = true;
    int code = real(info, handler, session);
    in_session_call = false;
    if (!code && atomic_fetch_add(&sessions, 1) == 0)
        folded_by_session = fold_begin(false);
    return code;
}

static int end_session(finalize_call *real, MPI_Session *session)
{
    if (!real)
        return MPI_ERR_INTERN;
    if (in_session_call)
        return real(session);
    if (atomic_fetch_sub(&sessions, 1) == 1 && folded_by_session)
        fold_end();
    in_session_call = true;
    int code = real(session);
    in_session_call = false;
    return code;
}

int fold_MPI_Session_init(uintptr_t info, uintptr_t handler, MPI_Session *session)
{
    return begin_session((init_call *)fold_real_symbol("MPI_Session_init"), info, handler, session);
}

int fold_PMPI_Session_init(uintptr_t info, uintptr_t handler, MPI_Session *session)
{
    return begin_session((init_call *)fold_real_symbol("PMPI_Session_init"), info, handler,
                         session);
}

int fold_MPI_Session_finalize(MPI_Session *session)
{
    return end_session((finalize_call *)fold_real_symbol("MPI_Session_finalize"), session);
}

int fold_PMPI_Session_finalize(MPI_Session *session)
{
    return end_session((finalize_call *)fold_real_symbol("PMPI_Session_finalize"), session);
}
