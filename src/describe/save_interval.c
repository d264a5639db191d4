/* save_interval.c - how often a program saves a copy of its data: a time, or a number of
 * iterations. */
#include <stdio.h>
#include <string.h>

#include "describe/values.h"

int pleat_parse_save(const char *what, const char *text, int64_t *iterations, double *seconds,
                     struct pleat_error *err)
{
    char number[24];
    size_t length = strlen(text);
    *iterations = 0;
    *seconds = 0;
    if (length > 2 && length < sizeof(number) && !strcmp(text + length - 2, "it")) {
        memcpy(number, text, length - 2);
        number[length - 2] = '\0';
        return pleat_parse_int(what, number, 1, 1000000000, iterations, err);
    }
    double plain;
    if (!pleat_parse_int("", text, 1, 1000000000, iterations, NULL)) {
        *iterations = 0;
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: %s what? Say %sit for iterations, or for a time %ss, %smin, "
                               "%sh or %sd",
                               what, text, text, text, text, text, text);
    }
    bool is_time = !pleat_parse_duration(what, text, seconds, NULL);
    /* other words for what could be meant are there where it is a question which time that is */
    if (!is_time && (strchr(text, ':') || !pleat_parse_seconds("", text, 0, 1e9, &plain, NULL)))
        return pleat_parse_duration(what, text, seconds, err);
    if (is_time && *seconds >= 0.001)
        return 0;
    *seconds = 0;
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "%s: '%s' is neither a time such as 90s, 5min or 1h30m, of at least a "
                           "millisecond, nor a number of iterations such as 100it",
                           what, text);
}

int pleat_save_text(const char *what, const char *text, char *out, size_t size,
                    struct pleat_error *err)
{
    int64_t iterations;
    double seconds;
    int code = pleat_parse_save(what, text, &iterations, &seconds, err);
    if (!code && iterations)
        snprintf(out, size, "%lldit", (long long)iterations);
    else if (!code)
        snprintf(out, size, "%.3fs", seconds);
    return code;
}
