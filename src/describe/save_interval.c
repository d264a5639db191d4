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
    int code = pleat_parse_duration(what, text, seconds, err);
    if (!code && !(*seconds >= 0.001))
        code = pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: it must be a time such as 5min, or iterations such as 100it",
                               what);
    return code;
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
