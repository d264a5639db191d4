#include "model/indexes.h"

#include <stdbool.h>
#include <stdlib.h>

/* Reads a number at *at, and moves *at behind it; -1: there is none, or it is too large. */
static int32_t read_number(const char **at, int32_t most)
{
    if (**at < '0' || **at > '9')
        return -1;
    char *end;
    long long value = strtoll(*at, &end, 10);
    *at = end;
    return value > most ? -1 : (int32_t)value;
}

static int wrong(const char *text, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "'%.60s' is no list of indexes such as 0-9, 1-99:2 (every second), "
                           "1,4,7-8, increasing, up to %d; %%4 behind it: 4 at one time",
                           text, PLEAT_INDEX_MAX);
}

/* "3", "0-9", "0-9:2". */
static int read_range(const char **at, const char *text, struct pleat_index_list *list,
                      struct pleat_error *err)
{
    int32_t first = read_number(at, PLEAT_INDEX_MAX), last = first, step = 1;
    if (first >= 0 && **at == '-') {
        ++*at;
        last = read_number(at, PLEAT_INDEX_MAX);
        if (last >= 0 && **at == ':') {
            ++*at;
            step = read_number(at, PLEAT_INDEX_MAX);
        }
    }
    bool increases = !list->count || first > list->items[list->count - 1];
    if (first < 0 || last < first || step < 1 || !increases)
        return wrong(text, err);
    for (int32_t index = first; index <= last; index += step) {
        if (list->count >= PLEAT_TASKS_MAX)
            return pleat_error_set(err, PLEAT_E_TOOBIG, "an array has at most %d tasks",
                                   PLEAT_TASKS_MAX);
        if (pleat_array_push(list, index))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    return 0;
}

int pleat_indexes_parse(const char *text, struct pleat_index_list *list, int32_t *limit,
                        struct pleat_error *err)
{
    const char *at = text;
    *limit = 0;
    for (;; at++) {
        int rc = read_range(&at, text, list, err);
        if (rc)
            return rc;
        if (*at != ',')
            break;
    }
    if (*at == '%') {
        at++;
        *limit = read_number(&at, PLEAT_INDEX_MAX);
        if (*limit < 1)
            return wrong(text, err);
    }
    return *at ? wrong(text, err) : 0;
}
