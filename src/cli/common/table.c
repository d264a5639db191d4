#include "cli/common/table.h"

#include <libsmartcols/libsmartcols.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/timefmt.h"
#include "cli/common/cli.h"
#include "cli/common/table_layout.h"
#include "cli/common/term.h"

enum {
    BELOW_INDENT = 4,
    CUT_LEAST = 8 /* characters of a column that may be cut which are always shown */
};

struct cell {
    char *text; /* safe to print; NULL: "-" */
    const char *colour;
};

PLEAT_ARRAY(cells, struct cell);

struct pleat_table {
    struct pleat_column *columns;
    struct pleat_layout_column *layout;
    size_t count;
    struct cells cells; /* row by row; the first row are the titles */
    struct pleat_term term;
    int width;
    bool failed;
};

static struct cell *cell_at(const struct pleat_table *table, size_t row, size_t column)
{
    return &table->cells.items[row * table->count + column];
}

static size_t rows_of(const struct pleat_table *table)
{
    return table->cells.count / table->count;
}

static const char *text_of(const struct cell *cell)
{
    return cell->text ? cell->text : "-";
}

struct pleat_table *pleat_table_create(const struct pleat_column *columns, size_t count)
{
    struct pleat_table *table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    pleat_term_init(&table->term);
    table->width = table->term.limited ? table->term.width : PLEAT_PIPE_WIDTH;
    table->count = count;
    table->columns = malloc(count * sizeof(*columns));
    table->layout = calloc(count, sizeof(*table->layout));
    if (!table->columns || !table->layout) {
        pleat_table_destroy(table);
        return NULL;
    }
    memcpy(table->columns, columns, count * sizeof(*columns));
    pleat_table_row(table);
    for (size_t i = 0; i < count; i++)
        pleat_table_set(table, i, *columns[i].title ? columns[i].title : " ");
    return table;
}

void pleat_table_destroy(struct pleat_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->cells.count; i++)
        free(table->cells.items[i].text);
    pleat_array_finish(&table->cells);
    free(table->columns);
    free(table->layout);
    free(table);
}

void pleat_table_keep_rows(struct pleat_table *table)
{
    if (table && !table->term.limited)
        table->width = INT_MAX;
}

void pleat_table_row(struct pleat_table *table)
{
    if (!table || table->failed)
        return;
    table->failed = pleat_array_reserve(&table->cells, table->count) != 0;
    for (size_t i = 0; !table->failed && i < table->count; i++)
        table->cells.items[table->cells.count++] = (struct cell){0};
}

void pleat_table_set(struct pleat_table *table, size_t column, const char *text)
{
    if (!table || table->failed)
        return;
    struct pleat_string clean = {0};
    struct cell *cell = cell_at(table, rows_of(table) - 1, column);
    pleat_term_add(&table->term, &clean, text && *text ? text : "-", 0);
    table->failed = clean.failed;
    free(cell->text);
    cell->text = clean.text;
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
    if (table && !table->failed && table->term.colour)
        cell_at(table, rows_of(table) - 1, column)->colour = colour;
}

/* ---- how wide ---- */

/* Length in bytes of the next piece of the text after which a line may end: a word with its spaces,
 * or up to a comma. */
static size_t piece(const char *text)
{
    size_t length = strcspn(text, " ,");
    length += text[length] == ',';
    return length + strspn(text + length, " ");
}

static int width_of(const struct pleat_table *table, const char *text, size_t length)
{
    char one[512];
    snprintf(one, sizeof(one), "%.*s", (int)length, text);
    return pleat_term_width(&table->term, one);
}

/* The width of a piece, without its trailing spaces. */
static int piece_width(const struct pleat_table *table, const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return width_of(table, text, length);
}

static int longest_piece(const struct pleat_table *table, const char *text)
{
    int longest = 0;
    for (size_t length; *text; text += length) {
        length = piece(text);
        int width = piece_width(table, text, length);
        longest = width > longest ? width : longest;
    }
    return longest;
}

/* Whether texts of a column are broken. A terminal cuts them where the column allows it. */
static bool breaks(const struct pleat_table *table, size_t column)
{
    return table->columns[column].kind == PLEAT_COLUMN_WRAP ||
           (table->columns[column].kind == PLEAT_COLUMN_CUT && !table->term.limited);
}

static int cut_least(const struct pleat_table *table, size_t column)
{
    int title = pleat_term_width(&table->term, table->columns[column].title);
    return title > CUT_LEAST ? title : CUT_LEAST;
}

static void measure(struct pleat_table *table, size_t column)
{
    struct pleat_layout_column *layout = &table->layout[column];
    enum pleat_column_kind kind = table->columns[column].kind;
    int longest = 0;
    for (size_t row = 0; row < rows_of(table); row++) {
        const char *text = text_of(cell_at(table, row, column));
        int width = pleat_term_width(&table->term, text), word = longest_piece(table, text);
        layout->natural = width > layout->natural ? width : layout->natural;
        longest = word > longest ? word : longest;
    }
    layout->text = kind == PLEAT_COLUMN_WRAP;
    if (breaks(table, column))
        layout->least = layout->text && longest < PLEAT_LAYOUT_TEXT ? PLEAT_LAYOUT_TEXT : longest;
    else
        layout->least = kind == PLEAT_COLUMN_CUT ? cut_least(table, column) : layout->natural;
    if (layout->least > layout->natural)
        layout->least = layout->natural;
}

/* Appends the text in lines of at most this width, as far as its words allow it. */
static void add_broken(const struct pleat_table *table, const char *text, int width,
                       const char *indent, struct pleat_string *out)
{
    int at = 0;
    for (size_t length; *text; text += length) {
        length = piece(text);
        if (at > 0 && at + piece_width(table, text, length) > width) {
            while (out->length > 0 && out->text[out->length - 1] == ' ')
                out->text[--out->length] = 0;
            pleat_string_addf(out, "\n%s", indent);
            at = 0;
        }
        pleat_string_add_bytes(out, text, length);
        at += width_of(table, text, length);
    }
}

/* ---- printing ---- */

/* Every cell is at most as wide as its column, so that libsmartcols has nothing to cut or to break.
 */
static int set_data(const struct pleat_table *table, struct libscols_line *line, size_t at,
                    size_t row, size_t column)
{
    const struct cell *cell = cell_at(table, row, column);
    int width = table->layout[column].width;
    struct pleat_string text = {0};
    if (breaks(table, column))
        add_broken(table, text_of(cell), width, "", &text);
    else
        pleat_term_add(&table->term, &text, text_of(cell), width);
    int status = text.failed || scols_line_set_data(line, at, text.text ? text.text : "");
    if (!status && cell->colour)
        status = scols_cell_set_color(scols_line_get_cell(line, at), cell->colour);
    pleat_string_finish(&text);
    return status;
}

static int add_column(const struct pleat_table *table, struct libscols_table *scols, size_t column)
{
    int flags = table->columns[column].kind == PLEAT_COLUMN_NUMBER ? SCOLS_FL_RIGHT
                : breaks(table, column)                            ? SCOLS_FL_WRAP
                                                                   : 0;
    struct libscols_column *made =
        scols_table_new_column(scols, table->columns[column].title, 0, flags);
    if (!made || !(flags & SCOLS_FL_WRAP))
        return made ? 0 : PLEAT_E_NOMEM;
    scols_column_set_safechars(made, "\n");
    return scols_column_set_wrapfunc(made, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
}

/* Makes a table of the first column and of those of [from, to) that do not stand below their rows.
 * The titles are its first line. */
static struct libscols_table *make_part(const struct pleat_table *table, size_t from, size_t to)
{
    struct libscols_table *scols = scols_new_table();
    int status = !scols || add_column(table, scols, 0), width = table->layout[0].width;
    for (size_t i = from; !status && i < to; i++)
        if (!table->layout[i].below) {
            status = add_column(table, scols, i);
            width += 1 + table->layout[i].width;
        }
    for (size_t row = 0; !status && row < rows_of(table); row++) {
        struct libscols_line *line = scols_table_new_line(scols, NULL);
        size_t at = 0;
        status = !line || set_data(table, line, at++, row, 0);
        for (size_t i = from; !status && i < to; i++)
            status = !table->layout[i].below && set_data(table, line, at++, row, i);
    }
    if (status) {
        scols_unref_table(scols);
        return NULL;
    }
    scols_table_enable_noheadings(scols, 1);
    scols_table_enable_colors(scols, table->term.colour);
    scols_table_enable_ascii(scols, !table->term.utf8);
    scols_table_set_termforce(scols, SCOLS_TERMFORCE_ALWAYS); /* without it cells are not broken */
    scols_table_set_termwidth(scols, (size_t)width);
    return scols;
}

static int print_row(const struct pleat_table *table, struct libscols_table *scols, size_t row)
{
    struct libscols_line *line = scols_table_get_line(scols, row);
    struct pleat_string text = {0};
    char *data = NULL;
    if (!line || scols_table_print_range_to_string(scols, line, line, &data))
        return PLEAT_E_NOMEM;
    printf("%s%s", data, *data && data[strlen(data) - 1] == '\n' ? "" : "\n");
    free(data);
    for (size_t i = 0; i < table->count; i++)
        if (table->layout[i].below) {
            pleat_string_addf(&text, "%*s", BELOW_INDENT, "");
            add_broken(table, text_of(cell_at(table, row, i)), table->width - BELOW_INDENT, "    ",
                       &text);
            pleat_string_add(&text, "\n");
        }
    fputs(text.text ? text.text : "", stdout);
    int status = text.failed ? PLEAT_E_NOMEM : 0;
    pleat_string_finish(&text);
    return status;
}

/* Texts below their rows are printed once, in the last part. */
static int print_part(const struct pleat_table *table, size_t from, size_t to)
{
    bool below = false;
    int status = 0;
    for (size_t i = 0; i < table->count; i++)
        below = below || (to == table->count && table->layout[i].below);
    struct libscols_table *scols = make_part(table, from, to);
    if (!scols)
        return PLEAT_E_NOMEM;
    fflush(stdout);
    if (!below)
        status = scols_print_table(scols);
    for (size_t row = 0; below && !status && row < rows_of(table); row++)
        status = print_row(table, scols, row);
    scols_unref_table(scols);
    return status;
}

static int print(struct pleat_table *table)
{
    if (table->failed)
        return PLEAT_E_NOMEM;
    if (rows_of(table) < 2)
        return 0;
    for (size_t i = 0; i < table->count; i++)
        measure(table, i);
    pleat_layout_texts(table->layout, table->count, table->width);
    for (size_t from = 1;;) {
        size_t to = pleat_layout_part(table->layout, from, table->count, table->width);
        pleat_layout_fit(table->layout, from, to, table->width);
        int status = print_part(table, from, to);
        if (status || to == table->count)
            return status;
        putchar('\n');
        from = to;
    }
}

int pleat_table_print(struct pleat_table *table)
{
    if (!table || print(table)) {
        struct pleat_error err;
        pleat_error_set(&err, PLEAT_E_NOMEM, "cannot print the table: out of memory");
        return pleat_fail(&err);
    }
    return 0;
}
