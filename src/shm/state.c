/* A rank's side of the memory for a state: opening it, saving to it, loading from it. */
#include "shm/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/available.h"
#include "shm/state-file.h"

#define FILES PLEAT_STATE_FILES
#define DATA PLEAT_STATE_DATA
/* the old state's memory is kept if this many times the state's size is available */
#define PLENTY 8
#define MAPPED_BYTES ((size_t)1 << 20) /* from this size on mapping pays */

/* ---- opening ---- */

static int open_file(const char *path, int *fd, struct pleat_error *err)
{
    struct stat st;
    *fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return pleat_error_sys(err, errno,
                               "cannot open the memory for the application's state, %s "
                               "(has its agent ended?)",
                               path);
    if (fstat(*fd, &st) || !S_ISREG(st.st_mode) || fcntl(*fd, F_GET_SEALS) < 0)
        return pleat_error_set(err, PLEAT_E_CORRUPT,
                               "%s is no memory for a state: was " PLEAT_STATE_ENV " set by hand?",
                               path);
    return 0;
}

/* Opens the files whose paths are in `paths`, which it cuts into pieces. */
static int open_files(struct pleat_state *state, char *paths, struct pleat_error *err)
{
    int code = 0;
    char *rest = NULL;
    int count = 0;
    for (char *path = strtok_r(paths, ":", &rest); path && !code; path = strtok_r(NULL, ":", &rest))
        code = open_file(path, &state->fd[count++], err);
    return code;
}

/* Two paths, or three, with single colons between them. */
static bool are_paths(const char *paths)
{
    int count = 1;
    bool empty = !*paths || *paths == ':';
    for (const char *at = paths; *at; at++) {
        if (*at != ':')
            continue;
        count++;
        empty |= !at[1] || at[1] == ':';
    }
    return !empty && count >= DATA && count <= FILES;
}

int pleat_state_open(const char *paths, struct pleat_state **state, struct pleat_error *err)
{
    if (!are_paths(paths))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               PLEAT_STATE_ENV " must be two or three paths with colons between "
                                               "them, not '%s'",
                               paths);
    char *copy = strdup(paths);
    struct pleat_state *made = calloc(1, sizeof(*made));
    int code = 0;
    if (!copy || !made) {
        code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory to open the state");
        free(made);
        free(copy);
        return code;
    }
    made->fd[0] = made->fd[1] = made->fd[DATA] = made->file = -1;
    made->base = PLEAT_STATE_OFFSET;
    code = open_files(made, copy, err);
    free(copy);
    if (code) {
        pleat_state_close(made);
        return code;
    }
    *state = made;
    return 0;
}

void pleat_state_close(struct pleat_state *state)
{
    if (!state)
        return;
    for (int i = 0; i < FILES && !state->borrowed; i++)
        if (state->fd[i] >= 0)
            close(state->fd[i]);
    free(state);
}

int pleat_state_of_file(int fd, bool writing, struct pleat_state **state, struct pleat_error *err)
{
    struct pleat_state *made = calloc(1, sizeof(*made));
    if (!made)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to open a file of a state");
    made->fd[0] = fd;
    made->fd[1] = made->fd[DATA] = -1;
    made->borrowed = true;
    made->writing = writing;
    *state = made;
    return 0;
}

void pleat_state_set_file(struct pleat_state *state, uint64_t base, uint64_t bytes)
{
    state->base = base;
    state->bytes = bytes;
}

/* ---- saving ---- */

static int check_room(const struct pleat_state *state, int file, uint64_t bytes,
                      struct pleat_error *err)
{
    uint64_t there = pleat_state_file_memory(state->fd[file]);
    if (bytes > PLEAT_STATE_BYTES_MAX)
        return pleat_state_file_no_room(err, bytes, "that is beyond any memory");
    if (file != DATA && bytes > there && bytes - there > pleat_available_bytes(""))
        return pleat_state_file_no_room(err, bytes, "less memory than that is available");
    return pleat_state_file_check_limit(file, bytes, err);
}

int pleat_state_begin(struct pleat_state *state, const struct pleat_state_header *wanted,
                      bool in_data, uint64_t *generation, struct pleat_error *err)
{
    struct pleat_state_header held = {0};
    uint64_t latest;
    (void)pleat_state_file_find(state->fd, &held, &latest);
    int file = in_data ? DATA : pleat_state_file_other(state->fd);
    int fd = state->fd[file];
    if (latest + 1 < wanted->generation)
        latest = wanted->generation - 1;
    struct pleat_state_header header = {.magic = PLEAT_STATE_MAGIC,
                                        .generation = latest + 1,
                                        .nodes = wanted->nodes ? wanted->nodes : 1,
                                        .save = wanted->save,
                                        .shape = wanted->shape,
                                        .iteration = wanted->iteration,
                                        .bytes = wanted->bytes,
                                        .launch = wanted->launch,
                                        .program = wanted->program};
    memcpy(header.name, wanted->name, sizeof(header.name) - 1);
    header.checksum = pleat_state_file_checksum(&header);
    int code = check_room(state, file, wanted->bytes, err);
    if (code)
        return code;
    bool filled = pleat_state_file_memory(fd) >= PLEAT_STATE_OFFSET + wanted->bytes;
    /* The header is written first: from now on the file has no state. Its memory is used again. */
    code = pleat_state_file_write(fd, 0, &header, sizeof(header), err);
    if (!code && file != DATA && ftruncate(fd, (off_t)(PLEAT_STATE_OFFSET + wanted->bytes)))
        code = pleat_state_file_no_room(err, wanted->bytes, strerror(errno));
    if (code) {
        if (file != DATA)
            pleat_state_file_free(fd);
        return code;
    }
    state->file = file;
    state->writing = state->first = true;
    state->filled = filled;
    state->generation = *generation = header.generation;
    state->bytes = wanted->bytes;
    return 0;
}

int pleat_state_join(struct pleat_state *state, uint64_t generation, struct pleat_error *err)
{
    for (int i = 0; i < FILES; i++) {
        struct pleat_state_header header = {0};
        if (state->fd[i] < 0 || !pleat_state_file_header(state->fd[i], &header) ||
            header.generation != generation || header.complete == generation)
            continue;
        int code = pleat_state_file_check_limit(i, header.bytes, err);
        if (code)
            return code;
        state->file = i;
        state->writing = true;
        state->first = false;
        state->filled = pleat_state_file_memory(state->fd[i]) >= PLEAT_STATE_OFFSET + header.bytes;
        state->generation = generation;
        state->bytes = header.bytes;
        return 0;
    }
    return pleat_error_set(err, PLEAT_E_CORRUPT,
                           "no state of generation %" PRIu64 " is being saved: was the memory for "
                           "it overwritten?",
                           generation);
}

int pleat_state_write(struct pleat_state *state, uint64_t offset, const void *data, size_t bytes,
                      struct pleat_error *err)
{
    if (state->file < 0 || !state->writing || offset > state->bytes ||
        bytes > state->bytes - offset)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "%zu bytes at %" PRIu64 " are not part of the state being saved",
                               bytes, offset);
    int fd = state->fd[state->file];
    if (state->filled && bytes >= MAPPED_BYTES &&
        pleat_state_file_write_mapped(fd, state->base + offset, data, bytes, MADV_POPULATE_READ))
        return 0;
    if (state->file == DATA && !pleat_state_file_within_limit(state->base + offset + bytes))
        return pleat_state_file_write_mapped(fd, state->base + offset, data, bytes,
                                             MADV_POPULATE_WRITE)
                   ? 0
                   : pleat_state_file_no_room(err, bytes, "no memory can be mapped");
    return pleat_state_file_write(fd, state->base + offset, data, bytes, err);
}

int pleat_state_map(struct pleat_state *state, uint64_t offset, size_t bytes, bool writing,
                    void **at, struct pleat_error *err)
{
    if (state->file < 0 || state->writing != writing || offset > state->bytes ||
        bytes > state->bytes - offset)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "%zu bytes at %" PRIu64 " are not part of the state", bytes, offset);
    void *mapped = mmap(NULL, bytes, writing ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                        state->fd[state->file], (off_t)(state->base + offset));
    if (mapped == MAP_FAILED)
        return pleat_state_file_no_room(err, bytes, strerror(errno));
    if (madvise(mapped, bytes, writing ? MADV_POPULATE_WRITE : MADV_POPULATE_READ)) {
        int reason = errno;
        munmap(mapped, bytes);
        return pleat_state_file_no_room(err, bytes, strerror(reason));
    }
    *at = mapped;
    return 0;
}

int pleat_state_mark(struct pleat_state *state, struct pleat_error *err)
{
    if (state->file < 0 || !state->writing || !state->first)
        return pleat_error_set(err, PLEAT_E_STATE, "no state is being saved");
    return pleat_state_file_write(state->fd[state->file],
                                  offsetof(struct pleat_state_header, complete), &state->generation,
                                  sizeof(state->generation), err);
}

void pleat_state_settle(struct pleat_state *state, bool taken_back)
{
    const int file = state->file;
    if (file < 0 || !state->writing || !state->first)
        return;
    if (taken_back) {
        const uint64_t not_complete = 0;
        /* a few bytes on a page that is there */
        (void)!pleat_state_file_write(state->fd[file],
                                      offsetof(struct pleat_state_header, complete), &not_complete,
                                      sizeof(not_complete), NULL);
        return; /* a slot is freed by pleat_state_abandon */
    }
    /* Getting new memory costs more than the copy, so if there is plenty the old state's is kept
     * for the next save. */
    if (file != DATA && pleat_available_bytes("") / PLENTY < state->bytes)
        pleat_state_file_free(state->fd[1 - file]);
    state->file = -1;
    state->writing = false;
}

int pleat_state_commit(struct pleat_state *state, struct pleat_error *err)
{
    int code = pleat_state_mark(state, err);
    if (!code)
        pleat_state_settle(state, false);
    return code;
}

void pleat_state_abandon(struct pleat_state *state)
{
    if (state->file >= 0 && state->file != DATA && state->writing && state->first)
        pleat_state_file_free(state->fd[state->file]);
    state->file = -1;
    state->writing = false;
}

/* ---- loading ---- */

int pleat_state_find(struct pleat_state *state, struct pleat_state_header *header,
                     struct pleat_error *err)
{
    uint64_t latest;
    state->file = pleat_state_file_find(state->fd, header, &latest);
    state->writing = false;
    if (state->file < 0)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no state of the application is held");
    state->generation = header->generation;
    state->bytes = header->bytes;
    return 0;
}

int pleat_state_check_owner(const struct pleat_state_header *held,
                            const struct pleat_state_header *own, struct pleat_error *err)
{
    if (held->launch == own->launch && held->program == own->program)
        return 0;
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "the state that is held is another program's: of '%s' (launch %" PRIu64
                           "), and this is '%s' (launch %" PRIu64
                           "); the program, its arguments and its MPI must be the same",
                           held->name, held->launch, own->name, own->launch);
}

int pleat_state_read(struct pleat_state *state, uint64_t offset, void *data, size_t bytes,
                     struct pleat_error *err)
{
    if (state->file < 0 || state->writing)
        return pleat_error_set(err, PLEAT_E_STATE, "no state was found to read from");
    if (offset > state->bytes || bytes > state->bytes - offset)
        return pleat_state_file_too_short(err, offset, bytes);
    return pleat_state_read_data(state->fd[state->file], state->base - PLEAT_STATE_OFFSET + offset,
                                 data, bytes, err);
}
