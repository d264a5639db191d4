/* life.h - from MPI_Init to MPI_Finalize: whether and when a process is folded. */
#ifndef PLEAT_FOLD_LIFE_H
#define PLEAT_FOLD_LIFE_H

#include <stdbool.h>

/* Attaches the process once MPI is initialized. False: the process is not folded, or was already.
 * world: MPI_COMM_WORLD exists (not with sessions). */
bool fold_begin(bool world);
/* Leaves before MPI ends. */
void fold_end(void);

#endif
