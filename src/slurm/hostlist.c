#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "slurm/system.h"

enum { NAMES_MAX = 1000000, NAME_MAX_BYTES = 255, WIDTH_MAX = 9 };

static int no_list(const char *text, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_PROTOCOL, "not a list of nodes: '%.100s'", text);
}

/* A number and how many digits it was written with; NULL: there is none. */
static const char *read_number(const char *text, unsigned long *number, int *width)
{
    *number = 0;
    *width = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (++*width > WIDTH_MAX)
            return NULL;
        *number = *number * 10 + (unsigned long)(*text - '0');
    }
    return *width ? text : NULL;
}

static int expand(const char *head, const char *rest, size_t rest_length, json_t *names);

/* "1-3,07" and what is behind it; `rest` begins behind the '['. */
static int expand_ranges(const char *head, const char *rest, size_t length, json_t *names)
{
    const char *close = memchr(rest, ']', length);
    if (!close)
        return PLEAT_E_PROTOCOL;
    const char *tail = close + 1;
    size_t tail_length = length - (size_t)(tail - rest);
    for (const char *at = rest;; at++) {
        unsigned long first, last;
        int width, last_width;
        at = read_number(at, &first, &width);
        if (!at)
            return PLEAT_E_PROTOCOL;
        last = first;
        if (*at == '-')
            at = read_number(at + 1, &last, &last_width);
        if (!at || last < first || last - first >= NAMES_MAX || (*at != ',' && at != close))
            return PLEAT_E_PROTOCOL;
        for (unsigned long number = first; number <= last; number++) {
            char name[NAME_MAX_BYTES + 1];
            int size = snprintf(name, sizeof(name), "%s%0*lu", head, width, number);
            if (size < 0 || (size_t)size >= sizeof(name))
                return PLEAT_E_PROTOCOL;
            int failure = expand(name, tail, tail_length, names);
            if (failure)
                return failure;
        }
        if (at == close)
            return 0;
    }
}

/* All names that begin with `head` and go on as `rest` says, in which there is no comma outside of
 * brackets. */
static int expand(const char *head, const char *rest, size_t rest_length, json_t *names)
{
    const char *open = memchr(rest, '[', rest_length);
    size_t plain = open ? (size_t)(open - rest) : rest_length;
    char name[NAME_MAX_BYTES + 1];
    int size = snprintf(name, sizeof(name), "%s%.*s", head, (int)plain, rest);
    if (plain > NAME_MAX_BYTES || size < 0 || (size_t)size >= sizeof(name))
        return PLEAT_E_PROTOCOL;
    if (open)
        return expand_ranges(name, open + 1, rest_length - plain - 1, names);
    if (json_array_size(names) >= NAMES_MAX || strpbrk(name, "],") ||
        !pleat_adapter_is_word(name, NAME_MAX_BYTES))
        return PLEAT_E_PROTOCOL;
    json_t *item = json_string(name);
    /* not UTF-8, or out of memory */
    return !item || json_array_append_new(names, item) ? PLEAT_E_PROTOCOL : 0;
}

int pleat_slurm_hostlist(const char *text, json_t **names, struct pleat_error *err)
{
    *names = json_array();
    if (!*names)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a list of nodes");
    for (const char *at = text; *at;) {
        size_t length = 0;
        for (bool inside = false; at[length] && (inside || at[length] != ','); length++)
            inside = at[length] == '[' || (inside && at[length] != ']');
        if (length == 0 || expand("", at, length, *names)) {
            json_decref(*names);
            *names = NULL;
            return no_list(text, err);
        }
        at += length;
        if (*at == ',' && !*++at) {
            json_decref(*names);
            *names = NULL;
            return no_list(text, err);
        }
    }
    return 0;
}
