#include "cli/table.h"

#include <libsmartcols/libsmartcols.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/term.h"
#include "cli/timefmt.h"

struct pleat_table {
    struct libscols_table *scols;
    struct libscols_line *line;
    struct pleat_term term;
    bool failed;
};

static int flags_of(enum pleat_column_kind kind)
{
    switch (kind) {
    case PLEAT_COLUMN_NUMBER:
        return SCOLS_FL_RIGHT;
    case PLEAT_COLUMN_CUT:
        return SCOLS_FL_TRUNC;
    case PLEAT_COLUMN_WRAP:
        return SCOLS_FL_WRAP;
    default:
        return 0;
    }
}

struct pleat_table *pleat_table_create(const struct pleat_column *columns, size_t count)
{
    struct pleat_table *table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    pleat_term_init(&table->term);
    table->scols = scols_new_table();
    if (!table->scols) {
        free(table);
        return NULL;
    }
    for (size_t i = 0; i < count && !table->failed; i++) {
        int flags = flags_of(columns[i].kind);
        if (!table->term.limited)
            flags &= SCOLS_FL_RIGHT; /* in a pipe nothing is cut */
        struct libscols_column *column =
            scols_table_new_column(table->scols, columns[i].title, 0, flags);
        table->failed = !column;
        if (column && flags & SCOLS_FL_WRAP) {
            scols_column_set_safechars(column, "\n");
            scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
        }
    }
    scols_table_enable_colors(table->scols, table->term.colour);
    scols_table_enable_ascii(table->scols, !table->term.utf8);
    if (table->term.limited) {
        scols_table_set_termforce(table->scols, SCOLS_TERMFORCE_ALWAYS);
        scols_table_set_termwidth(table->scols, (size_t)table->term.width);
    } else {
        scols_table_set_termforce(table->scols, SCOLS_TERMFORCE_NEVER);
    }
    return table;
}

void pleat_table_destroy(struct pleat_table *table)
{
    if (!table)
        return;
    scols_unref_table(table->scols);
    free(table);
}

void pleat_table_row(struct pleat_table *table)
{
    if (!table || table->failed)
        return;
    table->line = scols_table_new_line(table->scols, NULL);
    table->failed = !table->line;
}

/* Breaks lines between words, after at most `width` characters where a word allows it. */
static void wrap(char *text, int width)
{
    char *line = text, *space = NULL;
    for (char *at = text; *at; at++) {
        if (*at == ' ')
            space = at;
        if (space && at - line >= width) {
            *space = '\n';
            line = space + 1;
            space = NULL;
        }
    }
}

void pleat_table_set(struct pleat_table *table, size_t column, const char *text)
{
    if (!table || table->failed)
        return;
    struct pleat_string clean = {0};
    pleat_term_add(&table->term, &clean, text && *text ? text : "-", 0);
    struct libscols_column *about = scols_table_get_column(table->scols, column);
    if (about && scols_column_is_wrap(about) && clean.text)
        wrap(clean.text, table->term.width * 2 / 5);
    table->failed = clean.failed || scols_line_set_data(table->line, column, clean.text) != 0;
    pleat_string_finish(&clean);
}

void pleat_table_setf(struct pleat_table *table, size_t column, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    pleat_table_set(table, column, text);
}

void pleat_table_set_span(struct pleat_table *table, size_t column, double seconds)
{
    char buffer[PLEAT_TIME_SIZE];
    pleat_table_set(table, column, pleat_time_span(seconds, buffer));
}

void pleat_table_colour(struct pleat_table *table, size_t column, const char *colour)
{
    if (!table || table->failed || !table->term.colour)
        return;
    struct libscols_cell *cell = scols_line_get_cell(table->line, column);
    if (cell && scols_cell_set_color(cell, colour))
        table->failed = true;
}

int pleat_table_print(struct pleat_table *table)
{
    if (!table || table->failed || (fflush(stdout), scols_print_table(table->scols)) != 0) {
        struct pleat_error err;
        pleat_error_set(&err, PLEAT_E_NOMEM, "cannot print the table: out of memory");
        return pleat_fail(&err);
    }
    return 0;
}
