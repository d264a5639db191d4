/* rows-block.h - which rows a rank has at a size, and where they are in its memory. */
#ifndef PLEAT_APP_ROWS_BLOCK_H
#define PLEAT_APP_ROWS_BLOCK_H

#include "app/rows.h"

/* The rows of a rank at a size. */
static inline struct pleat_block pleat_rows_block(const struct pleat_rows *rows, int size, int rank)
{
    return pleat_block_of(rows->rows, rows->ranks ? rows->ranks(rows->arg, size) : size, rank);
}

/* Offset of global row `row` in the memory; it may be a halo row before or behind the array. */
static inline size_t pleat_rows_offset(const struct pleat_rows *rows, int64_t row)
{
    return rows->padding + (size_t)(row + rows->halo) * rows->row_bytes;
}

static inline size_t pleat_rows_bytes(const struct pleat_rows *rows, struct pleat_block block)
{
    return (size_t)pleat_block_count(block) * rows->row_bytes;
}

#endif
