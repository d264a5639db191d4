/* history_print.c - prints rows as a table for people, or as CSV for programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timefmt.h"
#include "cli/common/cli.h"
#include "cli/common/reply.h"
#include "cli/common/table.h"
#include "cli/jobs/history.h"

enum { COLUMNS_MAX = 24 };

/* Processor-seconds in a unit for people. */
static void format_work(double work, char *text, size_t size)
{
    if (!isfinite(work))
        snprintf(text, size, "-");
    else if (work < 1000)
        snprintf(text, size, "%.1f s", work);
    else
        snprintf(text, size, "%.2f h", work / 3600);
}

void pleat_history_memory(double kib, char *text, size_t size)
{
    if (!isfinite(kib))
        snprintf(text, size, "-");
    else if (kib < 1024)
        snprintf(text, size, "%.0f KiB", kib);
    else if (kib < 1024 * 1024)
        snprintf(text, size, "%.1f MiB", kib / 1024);
    else
        snprintf(text, size, "%.2f GiB", kib / 1024 / 1024);
}

static void set_cell(struct pleat_table *table, size_t at, const json_t *row,
                     const struct pleat_history_column *column)
{
    char text[64];
    double value = pleat_reply_real(row, column->member);
    switch (column->kind) {
    case PLEAT_HISTORY_TEXT:
        pleat_table_set(table, at, pleat_reply_text(row, column->member, NULL));
        break;
    case PLEAT_HISTORY_COUNT:
        pleat_table_setf(table, at, isfinite(value) ? "%.0f" : "-", value);
        break;
    case PLEAT_HISTORY_SPAN:
        pleat_table_set_span(table, at, value);
        break;
    case PLEAT_HISTORY_WORK:
        format_work(value, text, sizeof(text));
        pleat_table_set(table, at, text);
        break;
    case PLEAT_HISTORY_MEMORY:
        pleat_history_memory(value, text, sizeof(text));
        pleat_table_set(table, at, text);
        break;
    case PLEAT_HISTORY_MOMENT:
        pleat_table_set(table, at, pleat_time_moment(value, text));
        break;
    case PLEAT_HISTORY_SHARE:
    case PLEAT_HISTORY_PART:
        pleat_table_setf(table, at, isfinite(value) ? "%.1f %%" : "-", 100 * value);
        break;
    }
}

/* Is the column in the table? */
static bool is_shown(const struct pleat_history_column *column, const json_t *rows, bool chosen)
{
    size_t i;
    const json_t *row;
    if (!column->title || chosen || column->kind != PLEAT_HISTORY_PART)
        return column->title != NULL;
    json_array_foreach(rows, i, row)
    {
        if (json_is_number(json_object_get(row, column->member)))
            return true;
    }
    return false;
}

int pleat_history_table(const json_t *rows, const struct pleat_history_column *columns, bool chosen)
{
    struct pleat_column shown[COLUMNS_MAX];
    const struct pleat_history_column *from[COLUMNS_MAX];
    size_t count = 0, i;
    json_t *row;
    for (const struct pleat_history_column *c = columns; c->member && count < COLUMNS_MAX; c++) {
        if (!is_shown(c, rows, chosen))
            continue;
        from[count] = c;
        shown[count++] = (struct pleat_column){
            c->title, c->kind == PLEAT_HISTORY_TEXT ? PLEAT_COLUMN_CUT : PLEAT_COLUMN_NUMBER};
    }
    struct pleat_table *table = pleat_table_create(shown, count);
    if (chosen)
        pleat_table_keep_rows(table);
    json_array_foreach(rows, i, row)
    {
        pleat_table_row(table);
        for (size_t at = 0; at < count; at++)
            set_cell(table, at, row, from[at]);
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

/* Prints a value of CSV by RFC 4180: quoted where needed. */
static void print_text(const char *text)
{
    if (!strpbrk(text, "\",\r\n")) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text; text++)
        printf(*text == '"' ? "\"\"" : "%c", *text);
    putchar('"');
}

static void print_value(const json_t *value)
{
    if (json_is_string(value))
        print_text(json_string_value(value));
    else if (json_is_integer(value))
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        printf("%.6f", json_real_value(value));
}

int pleat_history_csv(const json_t *rows, const struct pleat_history_column *columns)
{
    size_t i;
    json_t *row;
    for (const struct pleat_history_column *c = columns; c->member; c++)
        printf("%s%s", c == columns ? "" : ",", c->member);
    putchar('\n');
    json_array_foreach(rows, i, row)
    {
        for (const struct pleat_history_column *c = columns; c->member; c++) {
            if (c != columns)
                putchar(',');
            print_value(json_object_get(row, c->member));
        }
        putchar('\n');
    }
    return PLEAT_EXIT_OK;
}
