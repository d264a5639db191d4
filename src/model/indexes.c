#include "model/indexes.h"

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

struct range {
    int32_t first, step, count;
};

/* A list that is being read: its text, the place there, how many indexes it had, and the last. */
struct reading {
    const char *text, *at;
    int32_t count, last;
};

/* "3", "0-9", "0-9:2". */
static int read_range(struct reading *reading, struct range *range, struct pleat_error *err)
{
    int32_t first = read_number(&reading->at, PLEAT_INDEX_MAX), last = first, step = 1;
    if (first >= 0 && *reading->at == '-') {
        reading->at++;
        last = read_number(&reading->at, PLEAT_INDEX_MAX);
        if (last >= 0 && *reading->at == ':') {
            reading->at++;
            step = read_number(&reading->at, PLEAT_INDEX_MAX);
        }
    }
    if (first < 0 || last < first || step < 1 || (reading->count && first <= reading->last))
        return wrong(reading->text, err);
    *range = (struct range){first, step, (last - first) / step + 1};
    reading->count += range->count;
    reading->last = first + (range->count - 1) * step;
    if (reading->count > PLEAT_TASKS_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "an array has at most %d tasks",
                               PLEAT_TASKS_MAX);
    return 0;
}

/* 1: there is another range; 0: there is none, and the limit is read; or an error. */
static int next_range(struct reading *reading, struct range *range, int32_t *limit,
                      struct pleat_error *err)
{
    if (!reading->count || *reading->at == ',') {
        reading->at += reading->count > 0;
        int rc = read_range(reading, range, err);
        return rc ? rc : 1;
    }
    *limit = 0;
    if (*reading->at == '%') {
        reading->at++;
        *limit = read_number(&reading->at, PLEAT_INDEX_MAX);
        if (*limit < 1)
            return wrong(reading->text, err);
    }
    return *reading->at ? wrong(reading->text, err) : 0;
}

int pleat_indexes_parse(const char *text, struct pleat_index_list *list, int32_t *limit,
                        struct pleat_error *err)
{
    struct reading reading = {.text = text, .at = text};
    struct range range = {0};
    int rc;
    *limit = 0;
    while ((rc = next_range(&reading, &range, limit, err)) > 0)
        for (int32_t i = 0; i < range.count; i++)
            if (pleat_array_push(list, range.first + i * range.step))
                return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return rc;
}

int pleat_indexes_describe(const char *text, int32_t index, struct pleat_indexes *indexes,
                           struct pleat_error *err)
{
    struct reading reading = {.text = text, .at = text};
    struct range range = {0};
    int rc;
    *indexes = (struct pleat_indexes){.place = -1, .step = 1};
    while ((rc = next_range(&reading, &range, &indexes->limit, err)) > 0) {
        int32_t above = index - range.first;
        if (above >= 0 && above % range.step == 0 && above / range.step < range.count)
            indexes->place = indexes->count + above / range.step;
        if (indexes->count == 0)
            indexes->least = range.first;
        if (indexes->count == 0 && range.count > 1)
            indexes->step = range.step;
        else if (indexes->count == 1)
            indexes->step = range.first - indexes->least;
        indexes->count = reading.count;
        indexes->most = reading.last;
    }
    return rc;
}
