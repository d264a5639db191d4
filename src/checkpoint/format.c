#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/checkpoint.h"
#include "checkpoint/hash.h"

#define MAGIC UINT64_C(0x31746b6374616c70) /* "platckt1" */
#define VERSION 1u
#define PAGE 4096u
#define BYTES_MAX ((uint64_t)1 << 60)
#define HEAD_MAX ((uint64_t)1 << 36)

/* The beginning of a file. Entries follow, then the sums of pieces. */
struct first {
    uint64_t magic;
    uint32_t version;
    uint32_t entries;
    uint64_t head_bytes; /* a multiple of the page */
    uint64_t file_bytes;
    uint64_t pieces;
    uint64_t checksum; /* of the head with zero in this place */
    uint64_t iteration;
    int64_t created_us;
    uint64_t launch;
    uint32_t ranks;
    uint32_t reserved;
    char program[PLEAT_CHECKPOINT_NAME];
    char mpi[PLEAT_CHECKPOINT_KIND];
    unsigned char unused[96];
};

_Static_assert(sizeof(struct first) == PLEAT_CHECKPOINT_FIRST, "the head's first part");
_Static_assert(sizeof(struct pleat_checkpoint_entry) == 184, "an entry has no gaps");

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

uint64_t pleat_checkpoint_pieces(const struct pleat_checkpoint_entry *entry)
{
    return (entry->bytes + PLEAT_CHECKPOINT_PIECE - 1) / PLEAT_CHECKPOINT_PIECE;
}

static uint64_t head_size(uint64_t entries, uint64_t pieces)
{
    return round_up(sizeof(struct first) + entries * sizeof(struct pleat_checkpoint_entry) +
                        pieces * sizeof(uint64_t),
                    PAGE);
}

const struct pleat_checkpoint_entry *
pleat_checkpoint_find(const struct pleat_checkpoint *checkpoint, const char *name)
{
    for (uint32_t i = 0; i < checkpoint->count; i++)
        if (!strcmp(checkpoint->entries[i].name, name))
            return &checkpoint->entries[i];
    return NULL;
}

void pleat_checkpoint_finish(struct pleat_checkpoint *checkpoint)
{
    free(checkpoint->entries);
    free(checkpoint->sums);
    memset(checkpoint, 0, sizeof(*checkpoint));
}

/* ---- what an entry may be ---- */

/* Ends with NUL, has nothing behind it, and can be shown. */
static bool is_text(const char *text, size_t room, bool may_be_empty)
{
    size_t length = strnlen(text, room);
    if (length == room || (!length && !may_be_empty))
        return false;
    for (size_t i = 0; i < room; i++)
        if (i < length ? (unsigned char)text[i] < 0x20 || text[i] == 0x7f : text[i] != 0)
            return false;
    return true;
}

/* *bytes: the size of an entry of that shape. */
static bool shape_bytes(const struct pleat_checkpoint_entry *entry, uint64_t *bytes)
{
    uint64_t count = 1;
    if (entry->dimensions < 1 || entry->dimensions > PLEAT_CHECKPOINT_DIMENSIONS ||
        !entry->element_bytes)
        return false;
    for (uint64_t i = 0; i < PLEAT_CHECKPOINT_DIMENSIONS; i++) {
        if (entry->shape[i] < 0 || (i >= entry->dimensions && entry->shape[i]))
            return false;
        if (i < entry->dimensions &&
            __builtin_mul_overflow(count, (uint64_t)entry->shape[i], &count))
            return false;
    }
    return !__builtin_mul_overflow(count, entry->element_bytes, bytes) && *bytes <= BYTES_MAX;
}

static bool are_names_unique(const struct pleat_checkpoint *checkpoint)
{
    for (uint32_t i = 0; i < checkpoint->count; i++)
        if (pleat_checkpoint_find(checkpoint, checkpoint->entries[i].name) !=
            &checkpoint->entries[i])
            return false;
    return true;
}

/* ---- making ---- */

/* Arrays begin a page, so that they can be mapped. */
static int place(struct pleat_checkpoint *plan, struct pleat_error *err)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        struct pleat_checkpoint_entry *entry = &plan->entries[i];
        if (!is_text(entry->name, sizeof(entry->name), false) ||
            !is_text(entry->kind, sizeof(entry->kind), false))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "the name of number %u in a checkpoint is none that can be "
                                   "shown",
                                   i + 1);
        if (!shape_bytes(entry, &entry->bytes))
            return pleat_error_set(err, PLEAT_E_TOOBIG, "'%s' is beyond any file", entry->name);
        entry->first_piece = plan->pieces;
        plan->pieces += pleat_checkpoint_pieces(entry);
    }
    if (!are_names_unique(plan))
        return pleat_error_set(err, PLEAT_E_INVALID, "a name is twice in a checkpoint");
    plan->head_bytes = head_size(plan->count, plan->pieces);
    uint64_t end = plan->head_bytes;
    for (uint32_t i = 0; i < plan->count; i++) {
        struct pleat_checkpoint_entry *entry = &plan->entries[i];
        entry->offset = round_up(end, strcmp(entry->kind, "value") ? PAGE : 16);
        end = entry->offset + entry->bytes;
        if (end > BYTES_MAX)
            return pleat_error_set(err, PLEAT_E_TOOBIG, "'%s' is beyond any file", entry->name);
    }
    plan->file_bytes = end;
    return 0;
}

int pleat_checkpoint_plan(struct pleat_checkpoint *plan,
                          const struct pleat_checkpoint_entry *entries, uint32_t count,
                          const struct pleat_checkpoint_origin *origin, struct pleat_error *err)
{
    memset(plan, 0, sizeof(*plan));
    if (count > PLEAT_CHECKPOINT_ENTRIES_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "a checkpoint has at most %u values and arrays",
                               PLEAT_CHECKPOINT_ENTRIES_MAX);
    plan->origin = *origin;
    plan->count = count;
    plan->entries = calloc(count ? count : 1, sizeof(*plan->entries));
    if (plan->entries && count)
        memcpy(plan->entries, entries, count * sizeof(*entries));
    int code = plan->entries ? place(plan, err) : PLEAT_E_NOMEM;
    if (!code)
        plan->sums = calloc(plan->pieces ? plan->pieces : 1, sizeof(*plan->sums));
    if (!code && !plan->sums)
        code = PLEAT_E_NOMEM;
    if (code)
        pleat_checkpoint_finish(plan);
    if (code == PLEAT_E_NOMEM)
        pleat_error_set(err, code, "no memory for the head of a checkpoint");
    return code;
}

/* ---- the head as bytes ---- */

void pleat_checkpoint_seal(void *head, uint64_t head_bytes)
{
    char *place = (char *)head + offsetof(struct first, checksum);
    uint64_t checksum = 0;
    memcpy(place, &checksum, sizeof(checksum));
    checksum = pleat_checkpoint_hash(head, head_bytes);
    memcpy(place, &checksum, sizeof(checksum));
}

void pleat_checkpoint_encode(const struct pleat_checkpoint *checkpoint, void *head)
{
    const struct pleat_checkpoint_origin *origin = &checkpoint->origin;
    struct first first = {.magic = MAGIC,
                          .version = VERSION,
                          .entries = checkpoint->count,
                          .head_bytes = checkpoint->head_bytes,
                          .file_bytes = checkpoint->file_bytes,
                          .pieces = checkpoint->pieces,
                          .iteration = origin->iteration,
                          .created_us = origin->created_us,
                          .launch = origin->launch,
                          .ranks = origin->ranks};
    char *at = head;
    const size_t entries = checkpoint->count * sizeof(*checkpoint->entries);
    memcpy(first.program, origin->program, sizeof(first.program));
    memcpy(first.mpi, origin->mpi, sizeof(first.mpi));
    memset(at, 0, checkpoint->head_bytes);
    memcpy(at, &first, sizeof(first));
    memcpy(at + sizeof(first), checkpoint->entries, entries);
    memcpy(at + sizeof(first) + entries, checkpoint->sums,
           checkpoint->pieces * sizeof(*checkpoint->sums));
    pleat_checkpoint_seal(head, checkpoint->head_bytes);
}

int pleat_checkpoint_measure(const void *bytes, uint64_t file_bytes, uint64_t *head_bytes,
                             struct pleat_error *err)
{
    struct first first;
    memcpy(&first, bytes, sizeof(first));
    if (first.magic == __builtin_bswap64(MAGIC))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "written on a machine with another order of bytes");
    if (first.magic != MAGIC)
        return pleat_error_set(err, PLEAT_E_CORRUPT, "not a checkpoint of Pleat");
    if (first.version != VERSION)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "of version %" PRIu32 ", this Pleat reads version %u: use a "
                               "newer Pleat",
                               first.version, VERSION);
    if (first.file_bytes != file_bytes)
        return pleat_error_set(err, PLEAT_E_CORRUPT,
                               "damaged: it has %" PRIu64 " bytes and should have %" PRIu64 "%s",
                               file_bytes, first.file_bytes,
                               file_bytes < first.file_bytes ? " (its end is missing)" : "");
    if (first.entries > PLEAT_CHECKPOINT_ENTRIES_MAX ||
        first.pieces > HEAD_MAX / sizeof(uint64_t) || first.head_bytes > file_bytes ||
        first.head_bytes != head_size(first.entries, first.pieces))
        return pleat_error_set(err, PLEAT_E_CORRUPT, "damaged: its head contradicts itself");
    *head_bytes = first.head_bytes;
    return 0;
}

/* Entries are in the order of the file, do not overlap, and have all pieces. */
static bool are_entries_good(const struct pleat_checkpoint *checkpoint)
{
    uint64_t end = checkpoint->head_bytes;
    uint64_t pieces = 0;
    for (uint32_t i = 0; i < checkpoint->count; i++) {
        const struct pleat_checkpoint_entry *entry = &checkpoint->entries[i];
        uint64_t bytes;
        if (!is_text(entry->name, sizeof(entry->name), false) ||
            !is_text(entry->kind, sizeof(entry->kind), false) || !shape_bytes(entry, &bytes) ||
            bytes != entry->bytes || entry->offset < end || entry->offset > BYTES_MAX ||
            entry->first_piece != pieces)
            return false;
        end = entry->offset + entry->bytes;
        pieces += pleat_checkpoint_pieces(entry);
    }
    return end == checkpoint->file_bytes && pieces == checkpoint->pieces &&
           are_names_unique(checkpoint);
}

static bool is_sealed(const void *head, const struct first *first)
{
    /* The checksum was made with zero in its own place: hashed in three parts. */
    const char *bytes = head;
    const size_t before = offsetof(struct first, checksum);
    const uint64_t zero = 0;
    struct pleat_checkpoint_hashing hashing;
    pleat_checkpoint_hash_begin(&hashing);
    pleat_checkpoint_hash_add(&hashing, bytes, before);
    pleat_checkpoint_hash_add(&hashing, &zero, sizeof(zero));
    pleat_checkpoint_hash_add(&hashing, bytes + before + sizeof(zero),
                              first->head_bytes - before - sizeof(zero));
    return pleat_checkpoint_hash_end(&hashing) == first->checksum;
}

static int copy_head(const void *head, const struct first *first, struct pleat_checkpoint *made)
{
    const char *at = (const char *)head + sizeof(*first);
    const size_t entries = first->entries * sizeof(*made->entries);
    made->origin = (struct pleat_checkpoint_origin){.iteration = first->iteration,
                                                    .created_us = first->created_us,
                                                    .launch = first->launch,
                                                    .ranks = first->ranks};
    memcpy(made->origin.program, first->program, sizeof(first->program));
    memcpy(made->origin.mpi, first->mpi, sizeof(first->mpi));
    made->count = first->entries;
    made->pieces = first->pieces;
    made->head_bytes = first->head_bytes;
    made->file_bytes = first->file_bytes;
    made->entries = malloc(entries ? entries : 1);
    made->sums = malloc(first->pieces ? first->pieces * sizeof(*made->sums) : 1);
    if (!made->entries || !made->sums)
        return PLEAT_E_NOMEM;
    memcpy(made->entries, at, entries);
    memcpy(made->sums, at + entries, first->pieces * sizeof(*made->sums));
    return 0;
}

int pleat_checkpoint_decode(const void *head, uint64_t head_bytes, uint64_t file_bytes,
                            struct pleat_checkpoint *checkpoint, struct pleat_error *err)
{
    struct first first;
    uint64_t wanted = 0;
    memset(checkpoint, 0, sizeof(*checkpoint));
    if (head_bytes < sizeof(first))
        return pleat_error_set(err, PLEAT_E_CORRUPT, "not a checkpoint of Pleat");
    int code = pleat_checkpoint_measure(head, file_bytes, &wanted, err);
    if (code)
        return code;
    memcpy(&first, head, sizeof(first));
    if (wanted != head_bytes || !is_sealed(head, &first))
        return pleat_error_set(err, PLEAT_E_CORRUPT, "damaged: the checksum of its head is wrong");
    code = copy_head(head, &first, checkpoint);
    if (code)
        pleat_error_set(err, code, "cannot be read: no memory for its head");
    else if (!are_entries_good(checkpoint) ||
             !is_text(first.program, sizeof(first.program), true) ||
             !is_text(first.mpi, sizeof(first.mpi), true))
        code = pleat_error_set(err, PLEAT_E_CORRUPT, "damaged: its head contradicts itself");
    if (code)
        pleat_checkpoint_finish(checkpoint);
    return code;
}

/* ---- comparing ---- */

/* "8 x 100 of 8 bytes" */
static void describe(const struct pleat_checkpoint_entry *entry, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "%s of ", entry->kind);
    for (uint64_t i = 0; i < entry->dimensions && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%" PRId64, i ? " x " : "",
                                   entry->shape[i]);
    if (length < size)
        snprintf(text + length, size - length, " times %" PRIu64 " bytes", entry->element_bytes);
}

static int compare_entry(const struct pleat_checkpoint_entry *has,
                         const struct pleat_checkpoint_entry *wants, struct pleat_error *err)
{
    char here[160], there[160];
    bool changing = !strcmp(has->kind, PLEAT_CHECKPOINT_CHANGING);
    if (!strcmp(has->kind, wants->kind) && changing)
        return 0;
    if (!strcmp(has->kind, wants->kind) && has->element_bytes == wants->element_bytes &&
        has->dimensions == wants->dimensions &&
        !memcmp(has->shape, wants->shape, sizeof(has->shape)))
        return 0;
    describe(has, there, sizeof(there));
    describe(wants, here, sizeof(here));
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "of another program or problem: '%s' is %s there, and %s in this "
                           "program",
                           wants->name, there, here);
}

int pleat_checkpoint_compare(const struct pleat_checkpoint *found,
                             const struct pleat_checkpoint *wanted, struct pleat_error *err)
{
    for (uint32_t i = 0; i < wanted->count; i++) {
        const struct pleat_checkpoint_entry *entry =
            pleat_checkpoint_find(found, wanted->entries[i].name);
        if (!entry)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "of another program (%s): it has no '%s', which this program "
                                   "registers",
                                   found->origin.program, wanted->entries[i].name);
        int code = compare_entry(entry, &wanted->entries[i], err);
        if (code)
            return code;
    }
    for (uint32_t i = 0; i < found->count; i++)
        if (!pleat_checkpoint_find(wanted, found->entries[i].name))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "of another program (%s): it has '%s', which this program "
                                   "does not register",
                                   found->origin.program, found->entries[i].name);
    return 0;
}
