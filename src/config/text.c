#include "config/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 8, SIZE_MAX_BYTES = 1024 * 1024 };

static int read_all(const char *path, struct pleat_string *text, struct pleat_error *err)
{
    char part[4096];
    size_t count;
    FILE *file = fopen(path, "re");
    if (!file)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "%s: cannot be read: %s", path,
                               strerror(errno));
    while (text->length <= SIZE_MAX_BYTES && (count = fread(part, 1, sizeof(part), file)) > 0)
        pleat_string_add_bytes(text, part, count);
    int failed = ferror(file) ? errno : 0;
    fclose(file);
    if (failed)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "%s: cannot be read: %s", path,
                               strerror(failed));
    if (text->length > SIZE_MAX_BYTES)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "%s: it has more than %d bytes", path,
                               SIZE_MAX_BYTES);
    pleat_string_add(text, ""); /* an empty file is a text, too */
    if (text->failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (strlen(text->text) != text->length)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: it is not a text", path);
    return 0;
}

/* Blanks a comment that begins at `at`; where it ends, or NULL: it does not. */
static char *blank_comment(char *at)
{
    bool block = at[0] == '/' && at[1] == '*';
    char *end = block ? strstr(at + 2, "*/") : at + strcspn(at, "\n");
    if (!end)
        return NULL;
    if (block)
        end += 2;
    for (; at < end; at++)
        if (*at != '\n')
            *at = ' ';
    return end;
}

/* Past the string that begins at `at`, or NULL: it does not end. */
static char *skip_string(char *at)
{
    char quote = *at++;
    for (; *at && *at != quote; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : NULL;
}

static int line_of(const char *text, const char *at)
{
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

static int unclosed(const char *path, const char *text, const char *from, const char *what,
                    struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_INVALID, "%s:%d: the %s that begins here does not end",
                           path, line_of(text, from), what);
}

int pleat_config_prepare(const char *path, struct pleat_string *text, struct pleat_error *err)
{
    const char *open[DEPTH_MAX];
    size_t depth = 0;
    for (char *at = text->text; *at;) {
        char *from = at;
        if (*at == '#' || (*at == '/' && (at[1] == '/' || at[1] == '*'))) {
            if (!(at = blank_comment(from)))
                return unclosed(path, text->text, from, "comment", err);
        } else if (*at == '"' || *at == '\'') {
            if (!(at = skip_string(from)))
                return unclosed(path, text->text, from, "string", err);
        } else {
            if (*at == '{' && depth < DEPTH_MAX)
                open[depth++] = at;
            else if (*at == '}' && depth > 0)
                depth--;
            at++;
        }
    }
    return depth ? unclosed(path, text->text, open[depth - 1], "section", err) : 0;
}

int pleat_config_read(const char *path, struct pleat_string *text, struct pleat_error *err)
{
    int rc = read_all(path, text, err);
    return rc ? rc : pleat_config_prepare(path, text, err);
}
