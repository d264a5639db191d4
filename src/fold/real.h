/* real.h - the functions behind the wrappers, which the program would call without this library:
 * those of its MPI, or of a tool in front of MPI.
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

#endif
