/* rows.h - rows in contiguous blocks, in memory (memory.h) in which each has its place: what
 * pleat_rows_create makes, and what arrays are that are cut in their slowest dimension only
 * (array-slab.c).
 */
#ifndef PLEAT_APP_ROWS_H
#define PLEAT_APP_ROWS_H

#include "app/blocks.h"
#include "app/memory.h"
#include "app/session.h"

struct pleat_rows {
    struct pleat_object object;
    struct pleat_memory memory;
    struct pleat_memory_ahead ahead; /* between foresee and load */
    int64_t rows;
    size_t row_bytes;
    int64_t halo;   /* rows before and behind the local ones */
    size_t padding; /* bytes in front of the first halo row, so that row 0 begins a page */
    /* How many ranks have rows when there are `size`, the first ones; the same on all of them.
     * NULL: all. */
    int (*ranks)(const void *arg, int size);
    const void *arg;
    struct pleat_block local;
    struct pleat_block coming; /* the block being prepared, if the memory is a file's */
    MPI_Request *requests;     /* only during a resize */
};

extern const struct pleat_object_ops pleat_rows_ops;

/* Takes address space for all rows, and memory for this rank's at the start. object.name and
 * object.offset, rows, row_bytes, halo, ranks and arg are set before; all else is zero. The caller
 * has to call pleat_rows_close, also after an error. PLEAT_E_INVALID, PLEAT_E_NOMEM. */
int pleat_rows_open(struct pleat_session *session, struct pleat_rows *rows,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* Frees all memory of the rows. */
void pleat_rows_close(struct pleat_rows *rows);
/* Whether an array of `count` rows of such a size can exist. */
bool pleat_rows_fit(int64_t count, size_t row_bytes, int64_t halo);
/* Address of the first of `before` rows in front of the local ones; NULL: there are no local ones.
 */
void *pleat_rows_from(const struct pleat_rows *rows, int64_t before);

#endif
