#include "checkpoint_fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checkpoint/checkpoint.h"
#include "must.h"

unsigned long pleat_fuzz_checkpoint_good;

static void look(int fd, const uint8_t *file, size_t size, const struct pleat_checkpoint *found)
{
    struct pleat_error err = {0};
    uint64_t pieces = 0;
    must(found->file_bytes == size && found->head_bytes <= size);
    for (uint32_t i = 0; i < found->count; i++) {
        const struct pleat_checkpoint_entry *entry = &found->entries[i];
        must(strnlen(entry->name, sizeof(entry->name)) < sizeof(entry->name));
        must(entry->offset >= found->head_bytes && entry->bytes <= size &&
             entry->offset <= size - entry->bytes);
        must(entry->first_piece == pieces);
        must(pleat_checkpoint_find(found, entry->name) == entry);
        pieces += pleat_checkpoint_pieces(entry);
    }
    must(pieces == found->pieces && pleat_checkpoint_compare(found, found, &err) == 0);
    char *again = malloc(found->head_bytes);
    must(again);
    pleat_checkpoint_encode(found, again);
    struct pleat_checkpoint twice;
    must(pleat_checkpoint_decode(again, found->head_bytes, size, &twice, &err) == 0);
    must(twice.count == found->count && twice.pieces == found->pieces);
    must(!found->count ||
         !memcmp(twice.entries, found->entries, found->count * sizeof(*found->entries)));
    pleat_checkpoint_finish(&twice);
    free(again);
    int code = 0;
    for (uint32_t part = 0; part < 3 && !code; part++)
        code = pleat_checkpoint_verify(fd, found, part, 3, &err);
    must(code == 0 || (code == PLEAT_E_CORRUPT && err.text[0]));
    (void)file;
}

void pleat_fuzz_checkpoint(const uint8_t *bytes, size_t size)
{
    struct pleat_checkpoint found;
    struct pleat_error err = {0};
    char path[64];
    int opened = -1;
    if (size < 1)
        return;
    size_t length = size - 1;
    uint8_t *file = malloc(length ? length : 1);
    must(file);
    memcpy(file, bytes + 1, length);
    uint64_t head_bytes = 0;
    if (bytes[0] & 1 && length >= PLEAT_CHECKPOINT_FIRST &&
        pleat_checkpoint_measure(file, length, &head_bytes, NULL) == 0)
        pleat_checkpoint_seal(file, head_bytes);
    int fd = memfd_create("checkpoint", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, file, length) == (ssize_t)length);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int code = pleat_checkpoint_open(path, &found, &opened, &err);
    must(code == 0 || (err.text[0] && opened < 0));
    if (!code) {
        pleat_fuzz_checkpoint_good++;
        look(opened, file, length, &found);
        pleat_checkpoint_finish(&found);
        close(opened);
    }
    close(fd);
    free(file);
}
