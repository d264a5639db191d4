/* table_layout.h - how wide the columns of a table are where its width is limited. Widths are in
 * characters of the terminal; one blank stands between two columns. */
#ifndef PLEAT_CLI_COMMON_TABLE_LAYOUT_H
#define PLEAT_CLI_COMMON_TABLE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

/* A column of texts that would get less than this stands below its row instead. */
#define PLEAT_LAYOUT_TEXT 24

struct pleat_layout_column {
    int natural; /* the width of its widest cell, or of its title */
    int least;   /* the least width that it can have; at most natural */
    bool text;   /* the column may stand below its row */
    bool below;  /* result: it stands there */
    int width;   /* result of pleat_layout_fit */
};

/* Decides whether the columns of texts stand below their rows: all of them do where the table is
 * too wide otherwise. The first column never does, since it names the subject of the row. */
void pleat_layout_texts(struct pleat_layout_column *columns, size_t count, int width);
/* Returns where the part ends that begins with column `from` (at least 1). It ends before the first
 * column that has no room beside the first column and those from `from` on. A part has at least one
 * column. */
size_t pleat_layout_part(const struct pleat_layout_column *columns, size_t from, size_t count,
                         int width);
/* Sets the widths of the first column and of those from `from` up to `to`. Each gets its natural
 * width. Where that is too much, the widest ones are made narrower, all to the same width, until
 * the part fits or none can be narrower. */
void pleat_layout_fit(struct pleat_layout_column *columns, size_t from, size_t to, int width);

#endif
