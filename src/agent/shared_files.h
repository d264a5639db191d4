/* shared_files.h - files in shared memory that MPICH, UCX and Open MPI make, by names of their own
 * choice. They remove these files themselves, unless their processes are killed. */
#ifndef PLEAT_AGENT_SHARED_FILES_H
#define PLEAT_AGENT_SHARED_FILES_H

#include <stdint.h>

#define PLEAT_SHARED_MEMORY "/dev/shm"

/* Removes files of an MPI in `folder` that are this user's, were made at `since_s` (since 1970) or
 * later, and that no process has open or mapped: no process can use them any more. Reads /proc
 * where there are such files. Returns how many it removed. */
uint32_t pleat_shared_files_sweep(const char *folder, int64_t since_s);
/* How many such files there are. Removes none. */
uint32_t pleat_shared_files_left(const char *folder);

#endif
