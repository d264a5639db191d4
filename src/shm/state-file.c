#include "shm/state-file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES PLEAT_STATE_FILES
#define DATA PLEAT_STATE_DATA

/* FNV-1a: it protects against damage, not against intent. */
static uint64_t sum_words(const uint64_t *words, size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        for (unsigned shift = 0; shift < 64; shift += 8)
            hash = (hash ^ (words[i] >> shift & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t pleat_state_file_checksum(const struct pleat_state_header *header)
{
    enum { NUMBERS = 11 };
    uint64_t members[NUMBERS + PLEAT_STATE_NAME / 8] = {
        header->magic, header->generation, header->shape,   header->iteration,
        header->bytes, header->launch,     header->program, header->nodes,
        header->parts, header->parts_sum,  header->save};
    memcpy(members + NUMBERS, header->name, PLEAT_STATE_NAME);
    return sum_words(members, sizeof(members) / sizeof(members[0]));
}

uint64_t pleat_state_file_parts_sum(const struct pleat_state_part *parts, size_t count)
{
    uint64_t sum = count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t words[3] = {sum, parts[i].first, parts[i].end};
        sum = sum_words(words, 3);
    }
    return sum;
}

bool pleat_state_file_header(int fd, struct pleat_state_header *header)
{
    struct stat st;
    return pread(fd, header, sizeof(*header), 0) == (ssize_t)sizeof(*header) &&
           header->magic == PLEAT_STATE_MAGIC &&
           header->checksum == pleat_state_file_checksum(header) && header->generation >= 1 &&
           header->generation <= PLEAT_STATE_GENERATION_MAX && header->nodes >= 1 &&
           header->parts <= PLEAT_STATE_PARTS_MAX && (header->nodes > 1 || !header->parts) &&
           header->bytes <= PLEAT_STATE_BYTES_MAX && !header->name[PLEAT_STATE_NAME - 1] &&
           fstat(fd, &st) == 0 && (uint64_t)st.st_size >= PLEAT_STATE_OFFSET + header->bytes;
}

/* Which of the first `count` files has the state; -1: none has. *latest: the highest generation in
 * them, complete or not. */
static int find_among(const int *fd, int count, struct pleat_state_header *found, uint64_t *latest)
{
    int best = -1;
    *latest = 0;
    for (int i = 0; i < count; i++) {
        struct pleat_state_header header = {0};
        if (fd[i] < 0 || !pleat_state_file_header(fd[i], &header))
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

int pleat_state_file_find(const int fd[FILES], struct pleat_state_header *found, uint64_t *latest)
{
    return find_among(fd, FILES, found, latest);
}

int pleat_state_file_with(const int fd[FILES], uint64_t generation,
                          struct pleat_state_header *found)
{
    for (int i = 0; i < FILES; i++)
        if (fd[i] >= 0 && pleat_state_file_header(fd[i], found) &&
            found->generation == generation && found->complete == generation)
            return i;
    return -1;
}

int pleat_state_file_other(const int fd[FILES])
{
    struct pleat_state_header copy = {0};
    uint64_t latest;
    return find_among(fd, DATA, &copy, &latest) == 0 ? 1 : 0;
}

uint64_t pleat_state_file_memory(int fd)
{
    struct stat st;
    return fstat(fd, &st) ? 0 : (uint64_t)st.st_blocks * 512;
}

void pleat_state_file_empty(int fd)
{
    /* Shortening a file in memory cannot fail, but the result must be looked at. */
    if (ftruncate(fd, 0))
        return;
}

void pleat_state_file_free(int fd)
{
    struct stat st;
    if (fstat(fd, &st) || !st.st_size)
        return;
    off_t page = (off_t)sysconf(_SC_PAGESIZE);
    /* whole pages, as a part of the last page would only be zeroed */
    off_t whole = (st.st_size + page - 1) / page * page;
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, whole))
        pleat_state_file_empty(fd);
}

bool pleat_state_file_within_limit(uint64_t end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
           end <= limit.rlim_cur;
}

int pleat_state_file_no_room(struct pleat_error *err, uint64_t bytes, const char *why)
{
    return pleat_error_set(err, PLEAT_E_NOMEM, "no room to save %" PRIu64 " bytes of state: %s",
                           bytes, why);
}

int pleat_state_file_check_limit(int file, uint64_t bytes, struct pleat_error *err)
{
    /* In the data file only the header must be written; the rest can be mapped. */
    if (!pleat_state_file_within_limit(PLEAT_STATE_OFFSET + (file == DATA ? 0 : bytes)))
        return pleat_state_file_no_room(err, bytes, "the size of files is limited (ulimit -f)");
    return 0;
}

int pleat_state_file_write(int fd, uint64_t offset, const void *data, size_t bytes,
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
                return pleat_state_file_no_room(err, bytes, strerror(reason));
            return pleat_error_sys(err, reason, "cannot save %zu bytes of state", bytes);
        }
        at += wrote;
        offset += (uint64_t)wrote;
        left -= (size_t)wrote;
    }
    return 0;
}

/* For pages that exist already a copy through a mapping takes two thirds of the time of a pwrite.
 */
bool pleat_state_file_write_mapped(int fd, uint64_t offset, const void *data, size_t bytes,
                                   int populate)
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

int pleat_state_file_too_short(struct pleat_error *err, uint64_t offset, size_t bytes)
{
    return pleat_error_set(err, PLEAT_E_CORRUPT,
                           "the state that is held has not the %zu bytes at %" PRIu64, bytes,
                           offset);
}
