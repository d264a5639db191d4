/* values.c - reads numbers, words and moments. */
#include "describe/values.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pleat_parse_int(const char *what, const char *text, int64_t low, int64_t high, int64_t *value,
                    struct pleat_error *err)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool digits = (*text >= '0' && *text <= '9') || (*text == '-' && text[1]);
    if (!digits || *end || errno || number < low || number > high)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: '%s' is not a whole number from %lld to %lld", what, text,
                               (long long)low, (long long)high);
    *value = number;
    return 0;
}

int pleat_parse_seconds(const char *what, const char *text, double low, double high, double *value,
                        struct pleat_error *err)
{
    char *end = NULL;
    errno = 0;
    double number = strtod(text, &end);
    bool digits = strspn(text, "+-.0123456789eE") == strlen(text) && end != text;
    if (!digits || *end || errno || !isfinite(number) || number < low || number > high)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: '%s' is not a number from %g to %g", what,
                               text, low, high);
    *value = number;
    return 0;
}

int pleat_parse_percent(const char *what, const char *text, double *share, struct pleat_error *err)
{
    char number[64];
    size_t length = strlen(text);
    double percent = 0;
    if (length > 0 && text[length - 1] == '%')
        length--;
    snprintf(number, sizeof(number), "%.*s", (int)(length < 60 ? length : 60), text);
    if (pleat_parse_seconds(what, number, 0, 100, &percent, NULL))
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: '%s' is not a percentage from 0 to 100",
                               what, text);
    *share = percent / 100;
    return 0;
}

int pleat_parse_word(const char *what, const char *text, const char *const *words, size_t count,
                     size_t *index, struct pleat_error *err)
{
    char list[200] = "";
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(text, words[i])) {
            *index = i;
            return 0;
        }
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "", words[i]);
    }
    return pleat_error_set(err, PLEAT_E_INVALID, "%s: '%s' is none of %s", what, text, list);
}

int pleat_parse_job(const char *text, int64_t *job, struct pleat_error *err)
{
    if (pleat_parse_int("job", text, 1, INT64_MAX, job, NULL))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%s' is not a job: a job is a number, as 'pleat ps' shows it",
                               text);
    return 0;
}
