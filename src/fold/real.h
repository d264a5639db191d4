/* real.h - the functions behind the wrappers: what the program would have called without this
 * library, its MPI's or those of a tool that stands before MPI, too.
 */
#ifndef PLEAT_FOLD_REAL_H
#define PLEAT_FOLD_REAL_H

#include <stdatomic.h>
#include <stdbool.h>

enum fold_call {
#define CALL(name, ...) FOLD_##name,
#define OWN(name, ...) FOLD_##name,
#include "fold/calls.def"
#undef CALL
#undef OWN
    FOLD_CALLS
};

extern void *_Atomic fold_reals[FOLD_CALLS][2];

/* NULL: nobody has it, which a program that has its MPI never sees. */
void *fold_real_find(enum fold_call call, bool profiling);
/* Any function of that name behind this library; NULL. */
void *fold_real_symbol(const char *name);
/* An object of that name, which for a program that names it itself is in the program; NULL. */
void *fold_real_object(const char *name);

/* MPI_X, or PMPI_X when profiling. */
static inline void *fold_real(enum fold_call call, bool profiling)
{
    void *real = atomic_load_explicit(&fold_reals[call][profiling], memory_order_relaxed);
    return real ? real : fold_real_find(call, profiling);
}

#endif
