/* real.h - the functions behind the wrappers, which the program would call without this library:
 * those of its MPI, or of a tool in front of MPI.
 */
#ifndef PLEAT_FOLD_REAL_H
#define PLEAT_FOLD_REAL_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A function that the program finds instead of its MPI's. */
#define FOLD_EXPORT __attribute__((visibility("default")))

enum fold_call {
#define CALL(name, ...) FOLD_##name,
#define OWN(name, ...) FOLD_##name,
#include "fold/calls.def"
#undef CALL
#undef OWN
    FOLD_CALLS
};

extern void *_Atomic fold_reals[FOLD_CALLS][2];

/* NULL: no library has it; a program that is linked with its MPI never gets that. */
void *fold_real_find(enum fold_call call, bool profiling);
/* Any function of that name behind this library; NULL: there is none. */
void *fold_real_symbol(const char *name);
/* An object of that name; if the program refers to it, it is in the program. NULL: there is none.
 */
void *fold_real_object(const char *name);

/* The function MPI_X; PMPI_X if `profiling`. */
static inline void *fold_real(enum fold_call call, bool profiling)
{
    void *real = atomic_load_explicit(&fold_reals[call][profiling], memory_order_relaxed);
    return real ? real : fold_real_find(call, profiling);
}

/* MPI's functions that this library itself calls; set before the process is folded. */
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

#endif
