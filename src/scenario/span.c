#include "scenario/span.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static const struct {
    const char *name;
    double seconds;
} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"min", 60}, {"h", 3600}, {"d", 86400}};

/* Takes a number and its unit, and moves *at behind them. */
static int take_span(const char **at, int64_t *us)
{
    char *end, unit[8] = "";
    size_t length = 0;
    const char *number = *at + strspn(*at, " ");
    errno = 0;
    if (!*number || !strchr("0123456789.", *number))
        return -1;
    double value = strtod(number, &end);
    if ((size_t)(end - number) > strspn(number, "0123456789.e+-") || end == number || errno ||
        !isfinite(value) || value < 0)
        return -1;
    end += strspn(end, " ");
    while (end[length] >= 'a' && end[length] <= 'z' && length < sizeof(unit) - 1) {
        unit[length] = end[length];
        length++;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(units[i].name, unit) != 0)
            continue;
        if (value * units[i].seconds > 1e10)
            return -1;
        *us = llround(value * units[i].seconds * (double)PLEAT_US_PER_S);
        *at = end + length + strspn(end + length, " ");
        return 0;
    }
    return -1;
}

static int no_span(const char *text, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "'%s' is not a time: a number and s, ms, min, h or d, such as \"5 s\"",
                           text);
}

int pleat_parse_span(const char *text, int64_t *us, struct pleat_error *err)
{
    const char *at = text;
    return take_span(&at, us) || *at ? no_span(text, err) : 0;
}

int pleat_parse_delay(const char *text, struct pleat_delay *delay, struct pleat_error *err)
{
    const char *at = text;
    struct pleat_delay read = {0};
    int failed = take_span(&at, &read.mean_us);
    if (!failed && !strncmp(at, "+-", 2)) {
        at += 2;
        failed = take_span(&at, &read.spread_us);
    }
    if (failed || *at)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%s' is not a delay: a time, or one with its standard deviation, "
                               "such as \"5 s +- 2 s\"",
                               text);
    *delay = read;
    return 0;
}
