/* table_layout.h - how wide the columns of a table are where its room is limited. Widths are
 * in characters of the terminal; one stands between two columns. */
#ifndef PLEAT_CLI_COMMON_TABLE_LAYOUT_H
#define PLEAT_CLI_COMMON_TABLE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

/* A text that would get less stands below its row instead. */
#define PLEAT_LAYOUT_TEXT 24

struct pleat_layout_column {
    int natural; /* its widest cell, or its title */
    int least;   /* it cannot be narrower; at most natural */
    bool text;   /* may stand below its row */
    bool below;  /* out: it does */
    int width;   /* out, of pleat_layout_fit */
};

/* Decides which texts stand below their rows: all, where the table is too wide otherwise. The first
 * column never does: it says what the row is about. */
void pleat_layout_texts(struct pleat_layout_column *columns, size_t count, int width);
/* How far the part goes that begins with column `from` (at least 1): up to the end, or before the
 * column that has no room beside the first one and those from `from` on. At least one column. */
size_t pleat_layout_part(const struct pleat_layout_column *columns, size_t from, size_t count,
                         int width);
/* Sets the widths of the first column and those from `from` up to `to`: as wide as they would be,
 * or the widest ones narrower, all alike, until the part fits or nothing can give way. */
void pleat_layout_fit(struct pleat_layout_column *columns, size_t from, size_t to, int width);

#endif
