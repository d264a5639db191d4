/* The agent's side of the memory for a state: makes the files, and looks into them. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/state-file.h"

#define FILES PLEAT_STATE_FILES
#define DATA PLEAT_STATE_DATA
/* The data file has this size from the start, as ranks must not change it. Only pages that were
 * written take memory. */
#define DATA_SIZE (PLEAT_STATE_OFFSET + PLEAT_STATE_BYTES_MAX)

/* The data file; -1: it cannot be made. */
static int make_data(void)
{
    int fd =
        pleat_state_file_within_limit(DATA_SIZE) ? memfd_create("pleat-data", MFD_CLOEXEC) : -1;
    if (fd >= 0 && ftruncate(fd, (off_t)DATA_SIZE)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int pleat_state_store_init(struct pleat_state_store *store, struct pleat_error *err)
{
    store->fd[0] = memfd_create("pleat-state", MFD_CLOEXEC);
    store->fd[1] = store->fd[0] < 0 ? -1 : memfd_create("pleat-state", MFD_CLOEXEC);
    store->fd[DATA] = store->fd[1] < 0 ? -1 : make_data();
    if (store->fd[1] >= 0)
        return 0;
    int code = pleat_error_sys(err, errno, "cannot make memory for the state of an application");
    pleat_state_store_finish(store);
    return code;
}

void pleat_state_store_finish(struct pleat_state_store *store)
{
    for (int i = 0; i < FILES; i++) {
        if (store->fd[i] < 0)
            continue;
        /* Processes that still have a slot open must not keep its memory. One that still maps the
         * data file would get a signal. */
        if (i != DATA)
            pleat_state_file_empty(store->fd[i]);
        close(store->fd[i]);
        store->fd[i] = -1;
    }
}

void pleat_state_store_paths(const struct pleat_state_store *store,
                             char paths[PLEAT_STATE_PATHS_SIZE])
{
    int length = 0;
    paths[0] = '\0';
    for (int i = 0; i < FILES && store->fd[i] >= 0; i++)
        length += snprintf(paths + length, (size_t)(PLEAT_STATE_PATHS_SIZE - length),
                           "%s/proc/%d/fd/%d", i ? ":" : "", (int)getpid(), store->fd[i]);
}

int pleat_state_store_held(const struct pleat_state_store *store, struct pleat_state_header *header)
{
    uint64_t latest;
    return pleat_state_file_find(store->fd, header, &latest) < 0 ? PLEAT_E_NOTFOUND : 0;
}
