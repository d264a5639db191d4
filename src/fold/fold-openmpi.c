/* fold-openmpi.c - how Open MPI waits: it polls, and after each pass in which nothing came it calls
 * sched_yield, if it was told to yield when idle.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fold/hint.h"
#include "fold/real.h"
#include "fold/which.h"
#include "shm/fold.h"

const char fold_mpi_name[] = "Open MPI";
const char *const fold_local_rank_variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID",
                                                 NULL};

bool fold_mpi_find_handles(void)
{
    fold_mpi.world = (MPI_Comm)fold_real_object("ompi_mpi_comm_world");
    fold_mpi.no_comm = (MPI_Comm)fold_real_object("ompi_mpi_comm_null");
    return fold_mpi.world && fold_mpi.no_comm;
}

void fold_mpi_prepare(void)
{
    turn_prefer(PLEAT_FOLD_WAIT_YIELD, PLEAT_FOLD_WAIT_IMMEDIATE);
}

/* Has Open MPI yield when idle. By itself it does so only if its launcher knows of more processes
 * than processors, and the launcher knows nothing of partitions. */
void fold_mpi_begin(void)
{
    bool (*yield_when_idle)(bool yield);
    *(void **)&yield_when_idle = fold_real_symbol("opal_progress_set_yield_when_idle");
    if (yield_when_idle)
        (void)yield_when_idle(true);
}

/* Whether the code at `address` is Open MPI's. opal_progress ends with a jump to sched_yield, so
 * the address is that of its caller, in any of Open MPI's libraries. */
static bool is_mpi(const void *address)
{
    static const char *const names[] = {"libmpi", "libopen-", "mca_", "libmca_"};
    Dl_info found;
    if (!dladdr(address, &found) || !found.dli_fname)
        return false;
    const char *slash = strrchr(found.dli_fname, '/');
    const char *file = slash ? slash + 1 : found.dli_fname;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strncmp(file, names[i], strlen(names[i])))
            return true;
    return false;
}

/* The same, remembered, since it is asked at every poll, and there are few such callers. Threads
 * ask at the same time, so a caller and the answer are one word: its lowest bit is the answer. */
static bool is_mpi_polling(const void *caller)
{
    static _Atomic uintptr_t known[16];
    uintptr_t key = (uintptr_t)caller << 1;
    _Atomic uintptr_t *entry = &known[(uintptr_t)caller / 4 % (sizeof(known) / sizeof(known[0]))];
    uintptr_t found = atomic_load_explicit(entry, memory_order_relaxed);
    if ((found & ~(uintptr_t)1) != key) {
        found = key | is_mpi(caller);
        atomic_store_explicit(entry, found, memory_order_relaxed);
    }
    return found & 1;
}

/* Handles only Open MPI's own polling, in threads that take part; other callers yield. */
FOLD_EXPORT int sched_yield(void)
{
    if (fold_takes_part() && is_mpi_polling(__builtin_return_address(0)) &&
        (turn_is_on() ? fold_idle() : turn_polls_alone()))
        return 0;
    return (int)syscall(SYS_sched_yield);
}
