#include "shm/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/available.h"

#define MAGIC UINT64_C(0x337473746165706c) /* "lpeatst3" */
#define GENERATION_MAX (UINT64_MAX / 2)
#define FILES PLEAT_STATE_FILES
#define DATA PLEAT_STATE_DATA
/* The data file has this size from the start, as ranks must not change it. Only pages that were
 * written take memory. */
#define DATA_SIZE (PLEAT_STATE_OFFSET + PLEAT_STATE_BYTES_MAX)
/* the old state's memory is kept if this many times the state's size is available */
#define PLENTY 8
#define MAPPED_BYTES ((size_t)1 << 20) /* from this size on mapping pays */

struct pleat_state {
    int fd[FILES]; /* -1: there is no data file */
    int file;      /* index of the file being written or read; -1: none */
    bool writing;
    bool first;  /* this rank began the save */
    bool filled; /* the file has all its memory already, from an earlier state */
    uint64_t generation;
    uint64_t bytes;
};

/* ---- files ---- */

/* FNV-1a: it protects against damage, not against intent. */
static uint64_t checksum_of(const struct pleat_state_header *header)
{
    uint64_t members[7 + PLEAT_STATE_NAME / 8] = {
        header->magic, header->generation, header->shape,  header->iteration,
        header->bytes, header->launch,     header->program};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    memcpy(members + 7, header->name, PLEAT_STATE_NAME);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        for (unsigned shift = 0; shift < 64; shift += 8)
            hash = (hash ^ (members[i] >> shift & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

static bool header_read(int fd, struct pleat_state_header *header)
{
    struct stat st;
    return pread(fd, header, sizeof(*header), 0) == (ssize_t)sizeof(*header) &&
           header->magic == MAGIC && header->checksum == checksum_of(header) &&
           header->generation >= 1 && header->generation <= GENERATION_MAX &&
           header->bytes <= PLEAT_STATE_BYTES_MAX && !header->name[PLEAT_STATE_NAME - 1] &&
           fstat(fd, &st) == 0 && (uint64_t)st.st_size >= PLEAT_STATE_OFFSET + header->bytes;
}

/* The one of the first `count` files that has the state; -1: none has. *latest: the highest
 * generation in them, complete or not. */
static int find_among(const int *fd, int count, struct pleat_state_header *found, uint64_t *latest)
{
    int best = -1;
    *latest = 0;
    for (int i = 0; i < count; i++) {
        struct pleat_state_header header = {0};
        if (fd[i] < 0 || !header_read(fd[i], &header))
            continue;
        if (header.generation > *latest)
            *latest = header.generation;
        if (header.complete != header.generation ||
            (best >= 0 && header.generation <= found->generation))
            continue;
        *found = header;
        best = i;
    }
    return best;
}

static int find_file(const int fd[FILES], struct pleat_state_header *found, uint64_t *latest)
{
    return find_among(fd, FILES, found, latest);
}

/* The slot without the last copy. */
static int free_one(const int fd[FILES])
{
    struct pleat_state_header copy = {0};
    uint64_t latest;
    return find_among(fd, DATA, &copy, &latest) == 0 ? 1 : 0;
}

static uint64_t memory_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) ? 0 : (uint64_t)st.st_blocks * 512;
}

/* Empties a slot that nobody uses. */
static void empty_slot(int fd)
{
    /* Shortening a file in memory cannot fail, but the result must be looked at. */
    if (ftruncate(fd, 0))
        return;
}

/* Frees a slot's memory, but keeps its size: a process that still writes through a mapping must not
 * get a signal. */
static void free_slot(int fd)
{
    struct stat st;
    if (fstat(fd, &st) || !st.st_size)
        return;
    off_t page = (off_t)sysconf(_SC_PAGESIZE);
    /* whole pages, as a part of the last page would only be zeroed */
    off_t whole = (st.st_size + page - 1) / page * page;
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, whole))
        empty_slot(fd);
}

/* ---- the agent's side ---- */

/* A file beyond the limit on the size of files would raise SIGXFSZ, also in memory. */
static bool is_within_limit(uint64_t end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
           end <= limit.rlim_cur;
}

/* The data file; -1: it cannot be made. */
static int make_data(void)
{
    int fd = is_within_limit(DATA_SIZE) ? memfd_create("pleat-data", MFD_CLOEXEC) : -1;
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
            empty_slot(store->fd[i]);
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
    return find_file(store->fd, header, &latest) < 0 ? PLEAT_E_NOTFOUND : 0;
}

uint64_t pleat_state_store_bytes(const struct pleat_state_store *store)
{
    uint64_t bytes = 0;
    for (int i = 0; i < FILES; i++)
        if (store->fd[i] >= 0)
            bytes += memory_of(store->fd[i]);
    return bytes;
}

void pleat_state_store_drop(struct pleat_state_store *store)
{
    for (int i = 0; i < FILES; i++)
        if (store->fd[i] >= 0 && i != DATA)
            empty_slot(store->fd[i]);
        else if (store->fd[i] >= 0)
            free_slot(store->fd[i]);
}

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
    for (int i = 0; i < FILES; i++)
        if (state->fd[i] >= 0)
            close(state->fd[i]);
    free(state);
}

/* ---- room ---- */

static int no_room(struct pleat_error *err, uint64_t bytes, const char *why)
{
    return pleat_error_set(err, PLEAT_E_NOMEM, "no room to save %" PRIu64 " bytes of state: %s",
                           bytes, why);
}

static int check_limit(int file, uint64_t bytes, struct pleat_error *err)
{
    /* In the data file only the header must be written; the rest can be mapped. */
    if (!is_within_limit(PLEAT_STATE_OFFSET + (file == DATA ? 0 : bytes)))
        return no_room(err, bytes, "the size of files is limited (ulimit -f)");
    return 0;
}

/* ---- the data file ---- */

int pleat_state_data(const struct pleat_state *state)
{
    return state->fd[DATA];
}

int pleat_state_take_data(struct pleat_state *state, bool keep, struct pleat_error *err)
{
    if (state->fd[DATA] < 0)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "there is no memory for the data themselves");
    int code = check_limit(DATA, 0, err);
    if (code)
        return code;
    /* The lock is gone when this process is, or has closed the file. */
    if (flock(state->fd[DATA], LOCK_EX | LOCK_NB))
        return pleat_error_set(err, PLEAT_E_BUSY,
                               "another program of this run has its data in the memory for them");
    if (!keep)
        free_slot(state->fd[DATA]);
    return 0;
}

bool pleat_state_is_data(const struct pleat_state *state)
{
    return state->file == DATA;
}

/* ---- saving ---- */

static int check_room(const struct pleat_state *state, int file, uint64_t bytes,
                      struct pleat_error *err)
{
    uint64_t there = memory_of(state->fd[file]);
    if (bytes > PLEAT_STATE_BYTES_MAX)
        return no_room(err, bytes, "that is beyond any memory");
    if (file != DATA && bytes > there && bytes - there > pleat_available_bytes(""))
        return no_room(err, bytes, "less memory than that is available");
    return check_limit(file, bytes, err);
}

/* Writes all bytes. PLEAT_E_NOMEM, PLEAT_E_SYSTEM. */
static int write_at(int fd, uint64_t offset, const void *data, size_t bytes,
                    struct pleat_error *err)
{
    const char *at = data;
    size_t left = bytes;
    while (left) {
        ssize_t wrote = pwrite(fd, at, left, (off_t)offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            int reason = wrote < 0 ? errno : ENOSPC;
            if (reason == ENOSPC || reason == ENOMEM || reason == EFBIG || reason == EDQUOT)
                return no_room(err, bytes, strerror(reason));
            return pleat_error_sys(err, reason, "cannot save %zu bytes of state", bytes);
        }
        at += wrote;
        offset += (uint64_t)wrote;
        left -= (size_t)wrote;
    }
    return 0;
}

/* Copies through a mapping. For pages that exist already that takes two thirds of the time of a
 * pwrite. All pages are mapped before anything is copied, so that a missing page is an error and
 * not a signal. False: nothing was written. */
static bool write_mapped(int fd, uint64_t offset, const void *data, size_t bytes, int populate)
{
    uint64_t before = offset % (uint64_t)sysconf(_SC_PAGESIZE);
    size_t length = (size_t)before + bytes;
    char *at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - before));
    if (at == MAP_FAILED)
        return false;
    bool there = madvise(at, length, populate) == 0;
    if (there)
        memcpy(at + before, data, bytes);
    munmap(at, length);
    return there;
}

int pleat_state_begin(struct pleat_state *state, const struct pleat_state_header *wanted,
                      bool in_data, uint64_t *generation, struct pleat_error *err)
{
    struct pleat_state_header held = {0};
    uint64_t latest;
    (void)find_file(state->fd, &held, &latest);
    int file = in_data ? DATA : free_one(state->fd);
    int fd = state->fd[file];
    struct pleat_state_header header = {.magic = MAGIC,
                                        .generation = latest + 1,
                                        .shape = wanted->shape,
                                        .iteration = wanted->iteration,
                                        .bytes = wanted->bytes,
                                        .launch = wanted->launch,
                                        .program = wanted->program};
    memcpy(header.name, wanted->name, sizeof(header.name) - 1);
    header.checksum = checksum_of(&header);
    int code = check_room(state, file, wanted->bytes, err);
    if (code)
        return code;
    bool filled = memory_of(fd) >= PLEAT_STATE_OFFSET + wanted->bytes;
    /* The header is written first: from now on the file has no state. Its memory is used again. */
    code = write_at(fd, 0, &header, sizeof(header), err);
    if (!code && file != DATA && ftruncate(fd, (off_t)(PLEAT_STATE_OFFSET + wanted->bytes)))
        code = no_room(err, wanted->bytes, strerror(errno));
    if (code) {
        if (file != DATA)
            free_slot(fd);
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
        if (state->fd[i] < 0 || !header_read(state->fd[i], &header) ||
            header.generation != generation || header.complete == generation)
            continue;
        int code = check_limit(i, header.bytes, err);
        if (code)
            return code;
        state->file = i;
        state->writing = true;
        state->first = false;
        state->filled = memory_of(state->fd[i]) >= PLEAT_STATE_OFFSET + header.bytes;
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
        write_mapped(fd, PLEAT_STATE_OFFSET + offset, data, bytes, MADV_POPULATE_READ))
        return 0;
    if (state->file == DATA && !is_within_limit(PLEAT_STATE_OFFSET + offset + bytes))
        return write_mapped(fd, PLEAT_STATE_OFFSET + offset, data, bytes, MADV_POPULATE_WRITE)
                   ? 0
                   : no_room(err, bytes, "no memory can be mapped");
    return write_at(fd, PLEAT_STATE_OFFSET + offset, data, bytes, err);
}

int pleat_state_put(int fd, uint64_t offset, const void *data, size_t bytes,
                    struct pleat_error *err)
{
    if (write_mapped(fd, PLEAT_STATE_OFFSET + offset, data, bytes, MADV_POPULATE_WRITE))
        return 0;
    return no_room(err, bytes, "no memory can be mapped");
}

int pleat_state_map(struct pleat_state *state, uint64_t offset, size_t bytes, bool writing,
                    void **at, struct pleat_error *err)
{
    if (state->file < 0 || state->writing != writing || offset > state->bytes ||
        bytes > state->bytes - offset)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "%zu bytes at %" PRIu64 " are not part of the state", bytes, offset);
    void *mapped = mmap(NULL, bytes, writing ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                        state->fd[state->file], (off_t)(PLEAT_STATE_OFFSET + offset));
    if (mapped == MAP_FAILED)
        return no_room(err, bytes, strerror(errno));
    if (madvise(mapped, bytes, writing ? MADV_POPULATE_WRITE : MADV_POPULATE_READ)) {
        int reason = errno;
        munmap(mapped, bytes);
        return no_room(err, bytes, strerror(reason));
    }
    *at = mapped;
    return 0;
}

int pleat_state_commit(struct pleat_state *state, struct pleat_error *err)
{
    if (state->file < 0 || !state->writing || !state->first)
        return pleat_error_set(err, PLEAT_E_STATE, "no state is being saved");
    int file = state->file;
    int code = write_at(state->fd[file], offsetof(struct pleat_state_header, complete),
                        &state->generation, sizeof(state->generation), err);
    if (code)
        return code;
    /* Getting new memory costs more than the copy, so if there is plenty the old state's is kept
     * for the next save. */
    if (file != DATA && pleat_available_bytes("") / PLENTY < state->bytes)
        free_slot(state->fd[1 - file]);
    state->file = -1;
    state->writing = false;
    return 0;
}

void pleat_state_abandon(struct pleat_state *state)
{
    if (state->file >= 0 && state->file != DATA && state->writing && state->first)
        free_slot(state->fd[state->file]);
    state->file = -1;
    state->writing = false;
}

int pleat_state_go_on(struct pleat_state *state, struct pleat_error *err)
{
    const uint64_t not_complete = 0;
    int code = check_limit(DATA, 0, err);
    return code ? code
                : write_at(state->fd[DATA], offsetof(struct pleat_state_header, complete),
                           &not_complete, sizeof(not_complete), err);
}

/* ---- loading ---- */

int pleat_state_find(struct pleat_state *state, struct pleat_state_header *header,
                     struct pleat_error *err)
{
    uint64_t latest;
    state->file = find_file(state->fd, header, &latest);
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

static int too_short(struct pleat_error *err, uint64_t offset, size_t bytes)
{
    return pleat_error_set(err, PLEAT_E_CORRUPT,
                           "the state that is held has not the %zu bytes at %" PRIu64, bytes,
                           offset);
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
            return too_short(err, offset, bytes);
        at += got;
        from += (uint64_t)got;
        left -= (size_t)got;
    }
    return 0;
}

int pleat_state_read(struct pleat_state *state, uint64_t offset, void *data, size_t bytes,
                     struct pleat_error *err)
{
    if (state->file < 0 || state->writing)
        return pleat_error_set(err, PLEAT_E_STATE, "no state was found to read from");
    if (offset > state->bytes || bytes > state->bytes - offset)
        return too_short(err, offset, bytes);
    return pleat_state_read_data(state->fd[state->file], offset, data, bytes, err);
}
