/* The mark in an array's window, which says where the array is. */
#include <string.h>

#include "app/array-part.h"

#define MARK_MAGIC UINT64_C(0x31796172726c70)
#define HASH_SEED UINT64_C(0xcbf29ce484222325)

/* What the window says about the array in it. There is a place for a mark of each half; the good
 * one with the highest number counts. So a rank that dies while it writes one does no harm. */
struct mark {
    uint64_t magic;
    uint64_t number;
    uint64_t shape;
    int32_t ranks;
    int32_t processes[PLEAT_DIST_DIMS];
    uint32_t unused;
    uint64_t checksum; /* of the members above */
};

_Static_assert(sizeof(struct mark) == 56, "a mark has no padding");
_Static_assert(2 * sizeof(struct mark) == PLEAT_MARKS_BYTES, "the window begins with two");

static uint64_t checksum_of(const struct mark *mark)
{
    return pleat_session_hash(HASH_SEED, mark, offsetof(struct mark, checksum));
}

/* *half: whose mark counts; -1: there is none. */
static int read_marks(const struct pleat_array *array, struct mark marks[2], int *half,
                      struct pleat_error *err)
{
    int code = pleat_state_read_data(array->fd, array->window, marks, 2 * sizeof(struct mark), err);
    *half = -1;
    for (int i = 0; i < 2 && !code; i++) {
        bool good = marks[i].magic == MARK_MAGIC && marks[i].checksum == checksum_of(&marks[i]);
        if (good && (*half < 0 || marks[i].number > marks[*half].number))
            *half = i;
    }
    return code;
}

int pleat_mark_write(const struct pleat_array *array, const struct pleat_array_part *part,
                     struct pleat_error *err)
{
    struct mark there[2];
    struct mark mark;
    int half;
    int code = read_marks(array, there, &half, err);
    if (code)
        return code;
    memset(&mark, 0, sizeof(mark));
    mark.magic = MARK_MAGIC;
    mark.number = half >= 0 ? there[half].number : 1;
    mark.shape = array->object.ops->shape(&array->object);
    mark.ranks = part->dist.ranks;
    for (int d = 0; d < part->dist.dims; d++)
        mark.processes[d] = part->dist.dim[d].processes;
    mark.checksum = checksum_of(&mark);
    if (half == (int)part->half && !memcmp(&mark, &there[half], sizeof(mark)))
        return 0;
    mark.number += half >= 0;
    mark.checksum = checksum_of(&mark);
    return pleat_state_put(array->fd, array->window + part->half * sizeof(mark), &mark,
                           sizeof(mark), err);
}

int pleat_mark_read(const struct pleat_array *array, int rank, struct pleat_array_part *part,
                    struct pleat_error *err)
{
    struct mark marks[2];
    int half;
    int code = read_marks(array, marks, &half, err);
    if (code)
        return code;
    const struct mark *mark = half >= 0 ? &marks[half] : NULL;
    bool good = mark && mark->shape == array->object.ops->shape(&array->object) &&
                mark->ranks >= 1 &&
                !pleat_array_part_describe(array, mark->ranks, rank, mark->processes, part, NULL) &&
                pleat_array_part_fits_window(&part->dist);
    if (!good)
        return pleat_error_set(err, PLEAT_E_CORRUPT, "the memory of array '%s' is damaged",
                               array->object.name);
    part->half = (unsigned)half;
    return 0;
}
