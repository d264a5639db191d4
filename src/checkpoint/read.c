#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/checkpoint.h"
#include "checkpoint/hash.h"

int pleat_checkpoint_read(int fd, uint64_t offset, void *data, size_t bytes,
                          struct pleat_error *err)
{
    char *at = data;
    while (bytes) {
        ssize_t got = pread(fd, at, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pleat_error_sys(err, errno, "cannot be read at byte %" PRIu64, offset);
        if (got == 0)
            return pleat_error_set(err, PLEAT_E_CORRUPT, "damaged: it ends at byte %" PRIu64,
                                   offset);
        at += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return 0;
}

static int read_head(int fd, uint64_t file_bytes, struct pleat_checkpoint *checkpoint,
                     struct pleat_error *err)
{
    _Alignas(8) unsigned char first[PLEAT_CHECKPOINT_FIRST];
    uint64_t head_bytes = 0;
    if (file_bytes < sizeof(first))
        return pleat_error_set(err, PLEAT_E_CORRUPT, "not a checkpoint of Pleat");
    int code = pleat_checkpoint_read(fd, 0, first, sizeof(first), err);
    if (!code)
        code = pleat_checkpoint_measure(first, file_bytes, &head_bytes, err);
    if (code)
        return code;
    void *head = malloc(head_bytes);
    if (!head)
        return pleat_error_set(err, PLEAT_E_NOMEM, "cannot be read: no memory for its head");
    code = pleat_checkpoint_read(fd, 0, head, head_bytes, err);
    if (!code)
        code = pleat_checkpoint_decode(head, head_bytes, file_bytes, checkpoint, err);
    free(head);
    return code;
}

int pleat_checkpoint_open(const char *path, struct pleat_checkpoint *checkpoint, int *fd,
                          struct pleat_error *err)
{
    struct stat st;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && errno == ENOENT)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "there is no checkpoint %s", path);
    if (file < 0)
        return pleat_error_sys(err, errno, "cannot open the checkpoint %s", path);
    int code = 0;
    if (fstat(file, &st) || !S_ISREG(st.st_mode))
        code = pleat_error_set(err, PLEAT_E_CORRUPT, "not a file");
    if (!code)
        code = read_head(file, (uint64_t)st.st_size, checkpoint, err);
    if (code) {
        pleat_error_prefix(err, code, "%s", path);
        close(file);
        return code;
    }
    *fd = file;
    return 0;
}

void pleat_checkpoint_share(const struct pleat_checkpoint *checkpoint, uint32_t part,
                            uint32_t parts, uint64_t *first, uint64_t *count)
{
    uint64_t each = checkpoint->pieces / parts;
    uint64_t more = checkpoint->pieces % parts;
    *first = each * part + (part < more ? part : more);
    *count = each + (part < more ? 1 : 0);
}

/* The entry that has this piece. */
static const struct pleat_checkpoint_entry *entry_of(const struct pleat_checkpoint *checkpoint,
                                                     uint64_t piece)
{
    uint32_t low = 0;
    uint32_t high = checkpoint->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (checkpoint->entries[middle].first_piece <= piece)
            low = middle;
        else
            high = middle;
    }
    return &checkpoint->entries[low];
}

/* Where a piece lies in its entry. */
static uint64_t piece_at(const struct pleat_checkpoint_entry *entry, uint64_t piece, size_t *bytes)
{
    uint64_t at = (piece - entry->first_piece) * PLEAT_CHECKPOINT_PIECE;
    uint64_t left = entry->bytes - at;
    *bytes = (size_t)(left < PLEAT_CHECKPOINT_PIECE ? left : PLEAT_CHECKPOINT_PIECE);
    return at;
}

int pleat_checkpoint_sum(int fd, const struct pleat_checkpoint *checkpoint, uint64_t first,
                         uint64_t count, uint64_t *sums, struct pleat_error *err)
{
    if (!count)
        return 0;
    void *buffer = malloc(PLEAT_CHECKPOINT_PIECE);
    if (!buffer)
        return pleat_error_set(err, PLEAT_E_NOMEM, "cannot be checked: no memory for a piece");
    int code = 0;
    for (uint64_t i = 0; i < count && !code; i++) {
        const struct pleat_checkpoint_entry *entry = entry_of(checkpoint, first + i);
        size_t bytes;
        uint64_t at = piece_at(entry, first + i, &bytes);
        code = pleat_checkpoint_read(fd, entry->offset + at, buffer, bytes, err);
        if (!code)
            sums[i] = pleat_checkpoint_hash(buffer, bytes);
    }
    free(buffer);
    return code;
}

int pleat_checkpoint_verify(int fd, const struct pleat_checkpoint *checkpoint, uint32_t part,
                            uint32_t parts, struct pleat_error *err)
{
    uint64_t first, count;
    pleat_checkpoint_share(checkpoint, part, parts, &first, &count);
    if (!count)
        return 0;
    uint64_t *sums = calloc(count, sizeof(*sums));
    if (!sums)
        return pleat_error_set(err, PLEAT_E_NOMEM, "cannot be checked: no memory for its sums");
    int code = pleat_checkpoint_sum(fd, checkpoint, first, count, sums, err);
    for (uint64_t i = 0; i < count && !code; i++) {
        if (sums[i] == checkpoint->sums[first + i])
            continue;
        const struct pleat_checkpoint_entry *entry = entry_of(checkpoint, first + i);
        size_t bytes;
        uint64_t at = piece_at(entry, first + i, &bytes);
        code = pleat_error_set(err, PLEAT_E_CORRUPT,
                               "damaged: the checksum of '%s', bytes %" PRIu64 " to %" PRIu64
                               " of it, is wrong",
                               entry->name, at, at + bytes - 1);
    }
    free(sums);
    return code;
}
