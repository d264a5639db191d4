/* table.h - tables on stdout (libsmartcols): columns as wide as needed, cut where the terminal is
 * narrow, nothing cut in a pipe. Out of memory is remembered and reported by print. */
#ifndef PLEAT_CLI_TABLE_H
#define PLEAT_CLI_TABLE_H

#include <stddef.h>

#include "base/error.h"

enum pleat_column_kind {
    PLEAT_COLUMN_TEXT,
    PLEAT_COLUMN_NUMBER,
    PLEAT_COLUMN_CUT,
    PLEAT_COLUMN_WRAP
};

struct pleat_column {
    const char *title;
    enum pleat_column_kind
        kind; /* NUMBER: to the right. CUT, WRAP: gives way on narrow terminals */
};

struct pleat_table;

/* NULL: out of memory; the other calls accept that. */
struct pleat_table *pleat_table_create(const struct pleat_column *columns, size_t count);
void pleat_table_destroy(struct pleat_table *table);
void pleat_table_row(struct pleat_table *table);
/* Sets a cell of the row begun last; NULL and "" are shown as "-". */
void pleat_table_set(struct pleat_table *table, size_t column, const char *text);
void pleat_table_setf(struct pleat_table *table, size_t column, const char *fmt, ...)
    PLEAT_PRINTF(3, 4);
void pleat_table_set_span(struct pleat_table *table, size_t column, double seconds);
/* Colours that cell ("red", "green", "yellow", "cyan", ...) where there is colour. */
void pleat_table_colour(struct pleat_table *table, size_t column, const char *colour);
/* Prints the table, with no title line where it has no rows: then nothing is printed. Returns 0 or
 * an exit code, having said why. */
int pleat_table_print(struct pleat_table *table);

#endif
