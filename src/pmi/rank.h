/* rank.h - stands between MPICH's hydra and one of the processes that it starts on several nodes.
 *
 * hydra notices a process that a signal ends. It takes no notice of a process that ends with
 * another exit code than 0 before MPI_Init or without MPI_Finalize, and the other processes wait
 * for that one for ever (MPICH 4.0). So each process has a parent that waits for it, sees what it
 * says to hydra, and then tells hydra on its behalf to end the program (PMI's "abort").
 */
#ifndef PLEAT_PMI_RANK_H
#define PLEAT_PMI_RANK_H

/* Starts the program, and ends as it does. preload: its LD_PRELOAD; NULL: that of this process.
 * This process must have one thread. Returns the exit code if it does not end by a signal. */
int pleat_pmi_rank(char **argv, const char *preload);

#endif
