/* store_bytes.h - how much memory the files of an application's state take. */
#ifndef PLEAT_TESTS_SUPPORT_STORE_BYTES_H
#define PLEAT_TESTS_SUPPORT_STORE_BYTES_H

#include <sys/stat.h>

#include "shm/state.h"

/* The memory that all files take, in bytes. */
static inline uint64_t store_bytes(const struct pleat_state_store *store)
{
    uint64_t bytes = 0;
    struct stat st;
    for (int i = 0; i < PLEAT_STATE_FILES; i++)
        if (store->fd[i] >= 0 && fstat(store->fd[i], &st) == 0)
            bytes += (uint64_t)st.st_blocks * 512;
    return bytes;
}

#endif
