/* The data file, in which the registered arrays are while the ranks compute. */
#include <errno.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/state-file.h"

#define DATA PLEAT_STATE_DATA

int pleat_state_data(const struct pleat_state *state)
{
    return state->fd[DATA];
}

int pleat_state_take_data(struct pleat_state *state, bool keep, struct pleat_error *err)
{
    if (state->fd[DATA] < 0)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "there is no memory for the data themselves");
    int code = pleat_state_file_check_limit(DATA, 0, err);
    if (code)
        return code;
    /* The lock is gone when this process is, or has closed the file. */
    if (flock(state->fd[DATA], LOCK_EX | LOCK_NB))
        return pleat_error_set(err, PLEAT_E_BUSY,
                               "another program of this run has its data in the memory for them");
    if (!keep)
        pleat_state_file_free(state->fd[DATA]);
    return 0;
}

void pleat_state_release_data(struct pleat_state *state)
{
    if (state->fd[DATA] >= 0)
        (void)flock(state->fd[DATA], LOCK_UN);
}

bool pleat_state_is_data(const struct pleat_state *state)
{
    return state->file == DATA;
}

int pleat_state_go_on(struct pleat_state *state, struct pleat_error *err)
{
    const uint64_t not_complete = 0;
    int code = pleat_state_file_check_limit(DATA, 0, err);
    return code ? code
                : pleat_state_file_write(state->fd[DATA],
                                         offsetof(struct pleat_state_header, complete),
                                         &not_complete, sizeof(not_complete), err);
}

int pleat_state_read_data(int fd, uint64_t offset, void *data, size_t bytes,
                          struct pleat_error *err)
{
    char *at = data;
    size_t left = bytes;
    uint64_t from = PLEAT_STATE_OFFSET + offset;
    while (left) {
        ssize_t got = pread(fd, at, left, (off_t)from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pleat_error_sys(err, errno, "cannot read the state that is held");
        if (got == 0)
            return pleat_state_file_too_short(err, offset, bytes);
        at += got;
        from += (uint64_t)got;
        left -= (size_t)got;
    }
    return 0;
}

uint64_t pleat_state_data_missing(int fd, uint64_t offset, uint64_t bytes, uint64_t most)
{
    const off_t end = (off_t)(PLEAT_STATE_OFFSET + offset + bytes);
    off_t at = (off_t)(PLEAT_STATE_OFFSET + offset);
    uint64_t missing = 0;
    while (at < end && missing <= most) {
        off_t data = lseek(fd, at, SEEK_DATA); /* fails where no data follow */
        if (data < 0 || data > end)
            data = end;
        missing += (uint64_t)(data - at);
        at = data < end ? lseek(fd, data, SEEK_HOLE) : end;
        if (at < data)
            break; /* not possible */
    }
    return missing;
}

uint64_t pleat_state_data_filled(int fd, uint64_t offset, uint64_t most)
{
    const off_t at = (off_t)(PLEAT_STATE_OFFSET + offset);
    const off_t end = lseek(fd, at, SEEK_DATA) == at ? lseek(fd, at, SEEK_HOLE) : at;
    const uint64_t bytes = end > at ? (uint64_t)(end - at) : 0;
    return bytes < most ? bytes : most;
}

int pleat_state_put(int fd, uint64_t offset, const void *data, size_t bytes,
                    struct pleat_error *err)
{
    if (pleat_state_file_write_mapped(fd, PLEAT_STATE_OFFSET + offset, data, bytes,
                                      MADV_POPULATE_WRITE))
        return 0;
    return pleat_state_file_no_room(err, bytes, "no memory can be mapped");
}
