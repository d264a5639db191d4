/* fold-openmpi.c - how Open MPI waits: it polls, and after each pass in which nothing came calls
 * sched_yield, where it was told to yield when idle. */
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fold/real.h"
#include "fold/wrap.h"
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

/* Its launcher lets it yield only where it knows of more processes than processors, and it knows
 * nothing of partitions. */
void fold_mpi_begin(void)
{
    bool (*yield_when_idle)(bool yield);
    *(void **)&yield_when_idle = fold_real_symbol("opal_progress_set_yield_when_idle");
    if (yield_when_idle)
        (void)yield_when_idle(true);
}

/* Only Open MPI's own polling, in the thread that is folded; whoever else yields does. */
FOLD_EXPORT int sched_yield(void)
{
    if (turn_is_on() && fold_waits_in_mpi() && fold_idle())
        return 0;
    return (int)syscall(SYS_sched_yield);
}
