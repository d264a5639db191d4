/* A state on several nodes: which parts of it a file has, and what is brought from other nodes. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/state-file.h"

#define DATA PLEAT_STATE_DATA
#define PAGE ((uint64_t)4096)

uint64_t pleat_state_latest(const struct pleat_state *state)
{
    struct pleat_state_header found;
    uint64_t latest;
    (void)pleat_state_file_find(state->fd, &found, &latest);
    return latest;
}

/* ---- the table ---- */

/* Where the table is in a file: on the next page behind the state. */
static uint64_t table_at(uint64_t bytes)
{
    return (PLEAT_STATE_OFFSET + bytes + PAGE - 1) / PAGE * PAGE;
}

/* Makes a slot at least `bytes` long. */
static int make_room(int fd, int file, uint64_t end, struct pleat_error *err)
{
    struct stat st;
    int code = pleat_state_file_check_limit(file, end, err);
    if (!code && file != DATA && (fstat(fd, &st) || (uint64_t)st.st_size < end) &&
        ftruncate(fd, (off_t)end))
        code = pleat_state_file_no_room(err, end, strerror(errno));
    return code;
}

int pleat_state_set_parts(struct pleat_state *state, const struct pleat_state_part *parts,
                          size_t count, struct pleat_error *err)
{
    struct pleat_state_header header;
    if (state->file < 0 || !state->writing || !state->first)
        return pleat_error_set(err, PLEAT_E_STATE, "no state is being saved");
    if (count > PLEAT_STATE_PARTS_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "a node cannot have %zu parts of a state",
                               count);
    const int fd = state->fd[state->file];
    const uint64_t at = table_at(state->bytes);
    const size_t bytes = count * sizeof(*parts);
    if (!pleat_state_file_header(fd, &header) || header.generation != state->generation)
        return pleat_error_set(err, PLEAT_E_CORRUPT, "the header of the state is damaged");
    header.parts = count;
    header.parts_sum = pleat_state_file_parts_sum(parts, count);
    header.checksum = pleat_state_file_checksum(&header);
    int code = make_room(fd, state->file, at + bytes, err);
    if (!code && bytes)
        code = state->file == DATA ? pleat_state_put(fd, at - PLEAT_STATE_OFFSET, parts, bytes, err)
                                   : pleat_state_file_write(fd, at, parts, bytes, err);
    return code ? code : pleat_state_file_write(fd, 0, &header, sizeof(header), err);
}

int pleat_state_get_parts(const struct pleat_state *state, const struct pleat_state_header *header,
                          struct pleat_state_part **parts, struct pleat_error *err)
{
    const size_t count = (size_t)header->parts;
    if (state->file < 0 || header->parts > PLEAT_STATE_PARTS_MAX)
        return pleat_error_set(err, PLEAT_E_STATE, "no state with parts was found");
    struct pleat_state_part *read = calloc(count ? count : 1, sizeof(*read));
    if (!read)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the parts of a state");
    int code =
        pleat_state_read_data(state->fd[state->file], table_at(header->bytes) - PLEAT_STATE_OFFSET,
                              read, count * sizeof(*read), err);
    bool good = !code && pleat_state_file_parts_sum(read, count) == header->parts_sum;
    for (size_t i = 0; i < count && good; i++)
        good = read[i].first < read[i].end;
    if (!good) {
        free(read);
        return code ? code
                    : pleat_error_set(err, PLEAT_E_CORRUPT,
                                      "the table of the parts of the state is damaged");
    }
    *parts = read;
    return 0;
}

/* ---- files ---- */

int pleat_state_find_generation(struct pleat_state *state, uint64_t generation,
                                struct pleat_state_header *header, struct pleat_error *err)
{
    const int file = pleat_state_file_with(state->fd, generation, header);
    if (file < 0)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no part of the state is held here");
    state->file = file;
    state->writing = false;
    state->generation = header->generation;
    state->bytes = header->bytes;
    return 0;
}

int pleat_state_find_same(struct pleat_state *state, const struct pleat_state_header *wanted,
                          struct pleat_state_header *header, struct pleat_error *err)
{
    int code = pleat_state_find_generation(state, wanted->generation, header, err);
    if (!code && header->save != wanted->save)
        code = pleat_error_set(err, PLEAT_E_NOTFOUND, "no part of the state is held here");
    if (code)
        return code;
    if (header->shape != wanted->shape || header->iteration != wanted->iteration ||
        header->bytes != wanted->bytes || header->launch != wanted->launch ||
        header->program != wanted->program || header->nodes != wanted->nodes)
        return pleat_error_set(err, PLEAT_E_CORRUPT,
                               "this node has another state of that number than the first node");
    return 0;
}

int pleat_state_choose(struct pleat_state *state, const struct pleat_state_header *wanted,
                       bool in_data, bool first, struct pleat_error *err)
{
    const int file = in_data ? DATA : pleat_state_file_other(state->fd);
    if (state->fd[file] < 0)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "there is no memory for the data themselves");
    const uint64_t not_complete = 0;
    int code =
        first ? make_room(state->fd[file], file, PLEAT_STATE_OFFSET + wanted->bytes, err) : 0;
    if (!code && first) /* a state that was there has lost its data */
        code =
            pleat_state_file_write(state->fd[file], offsetof(struct pleat_state_header, complete),
                                   &not_complete, sizeof(not_complete), err);
    if (code)
        return code;
    state->file = file;
    state->writing = false;
    state->generation = wanted->generation;
    state->bytes = wanted->bytes;
    return 0;
}

int pleat_state_take(const struct pleat_state *state, uint64_t offset, void *data, size_t bytes,
                     struct pleat_error *err)
{
    if (state->file < 0)
        return pleat_error_set(err, PLEAT_E_STATE, "no state is there to read from");
    return pleat_state_read_data(state->fd[state->file], offset, data, bytes, err);
}

int pleat_state_fill(const struct pleat_state *state, uint64_t offset, const void *data,
                     size_t bytes, struct pleat_error *err)
{
    if (state->file < 0)
        return pleat_error_set(err, PLEAT_E_STATE, "no state is there to write to");
    const int fd = state->fd[state->file];
    if (state->file == DATA)
        return pleat_state_put(fd, offset, data, bytes, err);
    int code = pleat_state_file_check_limit(state->file, offset + bytes, err);
    return code ? code : pleat_state_file_write(fd, PLEAT_STATE_OFFSET + offset, data, bytes, err);
}

void pleat_state_free_part(const struct pleat_state *state, uint64_t first, uint64_t end)
{
    const uint64_t from = (PLEAT_STATE_OFFSET + first + PAGE - 1) / PAGE * PAGE;
    const uint64_t to = (PLEAT_STATE_OFFSET + end) / PAGE * PAGE;
    if (state->fd[DATA] >= 0 && from < to)
        (void)fallocate(state->fd[DATA], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                        (off_t)(to - from));
}
