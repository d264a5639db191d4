/* watch.h - serves the processes of one program until they have ended. */
#ifndef PLEAT_PMI_WATCH_H
#define PLEAT_PMI_WATCH_H

#include "pmi/process.h"

/* Starts the program's processes, serves them, passes on what they write, and waits for their end.
 * If one dies, ends between MPI_Init and MPI_Finalize, or calls MPI_Abort, all are ended: SIGTERM,
 * 1 s later SIGKILL. INT, TERM, HUP, QUIT, USR1, USR2 and stopping are passed on to them; a second
 * one of the first four kills them. The reason of a failure is printed on standard error, unless
 * the processes were told to end. Returns the exit code for the whole: that of the process that
 * failed first, or 128 + N if signal N ended it; the code of MPI_Abort; 0 if all ended well. Sets
 * `report`, `signals` and `on_pipe` of *program. */
int pleat_pmi_watch(struct pleat_pmi_program *program);

#endif
