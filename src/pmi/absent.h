/* absent.h - a process of MPICH's hydra that has ended well, but before MPI_Init: do the others
 * wait for it?
 *
 * hydra takes no notice, and the others do wait, in the barrier of PMI with which MPI_Init begins
 * (MPICH 4.0). If they do not use MPI either, all is well. Which it is cannot be told from a time:
 * they may call MPI_Init hours later.
 *
 * So the parent of that process comes to the barrier in its place, and says before that it does.
 * All get out of it when the last of them has come, by itself or by its parent. Then each parent
 * asks whether the next rank has said the same. If none of them uses MPI, all have. If some do,
 * there is one that comes next after one that does not.
 */
#ifndef PLEAT_PMI_ABSENT_H
#define PLEAT_PMI_ABSENT_H

#include <stdbool.h>

/* Blocks until all processes of the program have called MPI_Init or ended, or until the program is
 * ended. hydra: the stream to hydra, on which nothing was said yet. signals: a signalfd; any signal
 * but SIGCHLD ends this. True: the next rank waits for this one in MPI_Init. */
bool pleat_pmi_is_missed(int hydra, int signals);

#endif
