/* blocks.h - which rank has which rows: contiguous blocks, as equal as possible. */
#ifndef PLEAT_APP_BLOCKS_H
#define PLEAT_APP_BLOCKS_H

#include <stdint.h>

/* Rows first to end - 1. */
struct pleat_block {
    int64_t first;
    int64_t end;
};

/* The rows of a rank. The first rows % size ranks have one row more; a rank outside [0, size) has
 * none. */
static inline struct pleat_block pleat_block_of(int64_t rows, int size, int rank)
{
    if (rank < 0 || rank >= size)
        return (struct pleat_block){0, 0};
    int64_t base = rows / size;
    int64_t more = rows % size;
    int64_t first = rank * base + (rank < more ? rank : more);
    return (struct pleat_block){first, first + base + (rank < more ? 1 : 0)};
}

static inline int64_t pleat_block_count(struct pleat_block block)
{
    return block.end - block.first;
}

/* The rows that are in both blocks; {0, 0}: none. */
static inline struct pleat_block pleat_block_common(struct pleat_block a, struct pleat_block b)
{
    int64_t first = a.first > b.first ? a.first : b.first;
    int64_t end = a.end < b.end ? a.end : b.end;
    return first < end ? (struct pleat_block){first, end} : (struct pleat_block){0, 0};
}

#endif
