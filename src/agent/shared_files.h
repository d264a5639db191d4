/* shared_files.h - files that MPICH and UCX make in shared memory, by names of their own choice.
 * They remove them themselves, but for those of processes that are killed.
 */
#ifndef PLEAT_AGENT_SHARED_FILES_H
#define PLEAT_AGENT_SHARED_FILES_H

#include <stdint.h>

#define PLEAT_SHARED_MEMORY "/dev/shm"

/* Removes those in `folder` that are this user's, were made at `since_s` (since 1970) or later, and
 * that no process has open or mapped: no process can come to use them any more. Reads /proc where
 * there are any; returns how many it removed. */
uint32_t pleat_shared_files_sweep(const char *folder, int64_t since_s);

#endif
