/* which.h - what differs from MPI to MPI: fold-openmpi.c, fold-mpich.c. */
#ifndef PLEAT_FOLD_WHICH_H
#define PLEAT_FOLD_WHICH_H

#include <stdbool.h>

extern const char fold_mpi_name[]; /* the beginning of MPI_Get_library_version's text */
/* Environment variables with the process's rank on its node, as launchers set them; NULL at the
 * end. */
extern const char *const fold_local_rank_variables[];
/* Sets fold_mpi.world and .no_comm; false: they are not found. */
bool fold_mpi_find_handles(void);
/* prepare: before the process takes its place; begin: after that. */
void fold_mpi_prepare(void);
void fold_mpi_begin(void);

#endif
