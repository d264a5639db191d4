/* watch.h - serves the processes of one program until they have ended. */
#ifndef PLEAT_PMI_WATCH_H
#define PLEAT_PMI_WATCH_H

#include "pmi/process.h"

/* Starts the program's processes, serves them, passes on what they write, and waits for their end.
 * One that dies, or that ends between MPI_Init and MPI_Finalize, or calls MPI_Abort, ends them all:
 * SIGTERM, 1 s later SIGKILL. INT, TERM, HUP, QUIT, USR1, USR2 and stopping are passed on to them;
 * a second one of the first four kills them. What went wrong is said on standard error, but not
 * where they were told to end. Returns the exit code for the whole: that of the process that failed
 * first, 128 + N where signal N ended it; the code of MPI_Abort; 0 where all ended well. Sets what
 * the program's processes get of this one: `report`, `signals` and `on_pipe`. */
int pleat_pmi_watch(struct pleat_pmi_program *program);

#endif
