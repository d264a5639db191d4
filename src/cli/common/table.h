/* table.h - tables on stdout (libsmartcols). One rule for all: a line ends where the terminal does,
 * in a pipe before PLEAT_PIPE_WIDTH. A table that would be wider gives way in this order:
 *   1. texts are broken between words; what may be CUT is cut on a terminal, and broken in a pipe,
 *      where nothing is ever lost;
 *   2. texts stand below their rows, where they would be too narrow beside the rest;
 *   3. columns that still have no room follow in a further table, with the first column again.
 * Numbers, and words, stay whole. Out of memory is remembered and reported by print. */
#ifndef PLEAT_CLI_COMMON_TABLE_H
#define PLEAT_CLI_COMMON_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum pleat_column_kind {
    PLEAT_COLUMN_TEXT,   /* a word, never broken */
    PLEAT_COLUMN_NUMBER, /* aligned to the right */
    PLEAT_COLUMN_CUT,    /* may be cut on a terminal */
    PLEAT_COLUMN_WRAP    /* sentences, which are broken between words */
};

struct pleat_column {
    const char *title; /* borrowed for the life of the table */
    enum pleat_column_kind kind;
};

struct pleat_table;

/* NULL: out of memory, which the other functions accept. The columns are copied. */
struct pleat_table *pleat_table_create(const struct pleat_column *columns, size_t count);
void pleat_table_destroy(struct pleat_table *table);
/* For columns that the user has chosen: in a pipe each row is one line of any length, so that
 * programs can read it. */
void pleat_table_keep_rows(struct pleat_table *table);
void pleat_table_row(struct pleat_table *table);
/* Sets a cell of the last row. NULL and "" are shown as "-". */
void pleat_table_set(struct pleat_table *table, size_t column, const char *text);
void pleat_table_setf(struct pleat_table *table, size_t column, const char *fmt, ...)
    PLEAT_PRINTF(3, 4);
void pleat_table_set_span(struct pleat_table *table, size_t column, double seconds);
/* Colours a cell of the last row ("red", "green", "yellow", "cyan", ...: a literal) where the
 * terminal has colours. */
void pleat_table_colour(struct pleat_table *table, size_t column, const char *colour);
/* Prints the table. A table without rows prints nothing, not even titles. Returns 0; or an exit
 * code, having reported why. */
int pleat_table_print(struct pleat_table *table);

#endif
