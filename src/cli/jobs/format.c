#include "cli/jobs/format.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/common/cli.h"
#include "cli/common/reply.h"

static const struct pleat_history_column *find(const struct pleat_history_column *known,
                                               const char *name, size_t length)
{
    for (; known->member; known++)
        if (strlen(known->member) == length && !strncmp(known->member, name, length))
            return known;
    return NULL;
}

static int unknown(const struct pleat_history_column *known, const char *name, size_t length,
                   struct pleat_error *err)
{
    struct pleat_string names = {0};
    for (const struct pleat_history_column *c = known; c->member; c++)
        pleat_string_addf(&names, "%s%s", c == known ? "" : ", ", c->member);
    int status =
        pleat_error_set(err, PLEAT_E_INVALID, "--format: '%.*s' is none of %s",
                        (int)(length < 40 ? length : 40), name, names.text ? names.text : "");
    pleat_string_finish(&names);
    return status;
}

/* Gives a column without a title one: its name in capitals, without the unit. "start_s" becomes
 * START. */
static void name_column(struct pleat_history_column *column, char *title, size_t size)
{
    if (column->title)
        return;
    size_t length = strlen(column->member);
    if (length > 2 && !strcmp(column->member + length - 2, "_s"))
        length -= 2;
    else if (length > 3 && !strcmp(column->member + length - 3, "_kb"))
        length -= 3;
    for (size_t i = 0; i < length && i + 1 < size; i++) {
        int c = (unsigned char)column->member[i];
        title[i] = (char)(c == '_' ? ' ' : toupper(c));
        title[i + 1] = 0;
    }
    column->title = title;
}

static int read_one(const char *word, size_t length, const struct pleat_history_column *known,
                    struct pleat_format *format, size_t at, struct pleat_error *err)
{
    size_t name = strcspn(word, ":,");
    const struct pleat_history_column *column = find(known, word, name);
    if (!column)
        return unknown(known, word, name, err);
    format->columns[at] = *column;
    name_column(&format->columns[at], format->titles[at], sizeof(format->titles[at]));
    if (name == length)
        return 0;
    char *end;
    long width = strtol(word + name + 1, &end, 10);
    if (!isdigit((unsigned char)word[name + 1]) || end != word + length || width < 1 ||
        width > 1000)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--format: '%.*s': a width is a number from 1 to 1000",
                               (int)(length < 40 ? length : 40), word);
    format->widths[at] = (int)width;
    return 0;
}

int pleat_format_read(const char *list, const struct pleat_history_column *known,
                      struct pleat_format *format, struct pleat_error *err)
{
    *format = (struct pleat_format){0};
    size_t count = 0;
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        if (count == PLEAT_FORMAT_MAX)
            return pleat_error_set(err, PLEAT_E_INVALID, "--format: at most %d columns",
                                   PLEAT_FORMAT_MAX);
        int status = read_one(at, length, known, format, count++, err);
        if (status)
            return status;
        at += length;
        if (!*at)
            return 0;
    }
}

/* The length in bytes of the first `width` characters. In UTF-8 the further bytes of a character
 * are 10xxxxxx. */
static size_t cut(const char *text, int width)
{
    size_t at = 0;
    for (; text[at]; at++)
        if (((unsigned char)text[at] & 0xc0) != 0x80 && width-- == 0)
            break;
    return at;
}

/* The row with its texts cut to the widths of their columns: a new object. */
static json_t *cut_row(const struct pleat_format *format, json_t *row)
{
    json_t *copy = json_copy(row);
    for (size_t i = 0; copy && format->columns[i].member; i++) {
        const char *text = pleat_reply_text(row, format->columns[i].member, NULL);
        if (text && format->widths[i] > 0)
            json_object_set_new(copy, format->columns[i].member,
                                json_stringn(text, cut(text, format->widths[i])));
    }
    return copy;
}

int pleat_format_print(const struct pleat_format *format, const json_t *rows, bool csv)
{
    json_t *shown = json_array(), *row;
    size_t i;
    json_array_foreach(rows, i, row) json_array_append_new(shown, cut_row(format, row));
    int code = csv ? pleat_history_csv(shown, format->columns)
                   : pleat_history_table(shown, format->columns, true);
    json_decref(shown);
    return code;
}
