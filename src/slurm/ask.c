#include "slurm/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* days, hours, minutes or seconds of a time of Slurm's; more is no time */
#define MOST_OF_A_TIME 1000000000

int pleat_slurm_ask(const char *const *argv, const char *input, char **said,
                    struct pleat_error *err)
{
    static const struct pleat_adapter_saying known[] = {
        {"nable to contact", PLEAT_E_CLOSED},
        {"timed out", PLEAT_E_CLOSED},
        {"onnection refused", PLEAT_E_CLOSED},
        {"onnect failure", PLEAT_E_CLOSED},
        {"in standby mode", PLEAT_E_CLOSED},
        {"nsane message length", PLEAT_E_CLOSED},
        {"nexpected message", PLEAT_E_CLOSED},
        {"ero Bytes", PLEAT_E_CLOSED},
        {"immediately", PLEAT_E_BUSY},
        {"nodes are busy", PLEAT_E_BUSY},
        {"emporarily un", PLEAT_E_BUSY},
        {"limit reached", PLEAT_E_BUSY},
        {"Job violates accounting", PLEAT_E_BUSY},
        {"nvalid partition", PLEAT_E_INVALID},
        {"nvalid account", PLEAT_E_INVALID},
        {"nvalid qos", PLEAT_E_INVALID},
        {"eservation is invalid", PLEAT_E_INVALID},
        {"nvalid feature", PLEAT_E_INVALID},
        {"nvalid node", PLEAT_E_INVALID},
        {"ode configuration is not available", PLEAT_E_INVALID},
        {"can not be satisfied", PLEAT_E_INVALID},
        {"ore processors requested", PLEAT_E_INVALID},
        {"ode count specification invalid", PLEAT_E_INVALID},
        {"time limit is invalid", PLEAT_E_INVALID},
        {"ermission denied", PLEAT_E_PERMISSION},
        {"ccess denied to requested", PLEAT_E_PERMISSION},
        {"nvalid job id", PLEAT_E_NOTFOUND},
        {"already completing or completed", PLEAT_E_NOTFOUND},
        {NULL, 0},
    };
    return pleat_adapter_ask(argv, input, known, said, err);
}

int pleat_slurm_no_memory(struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for an answer of Slurm");
}

const char *pleat_slurm_value(const char *line, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);
    value[0] = 0;
    for (const char *at = line; (at = strstr(at, key)) != NULL; at += length) {
        if ((at != line && at[-1] != ' ') || at[length] != '=')
            continue;
        at += length + 1;
        snprintf(value, size, "%.*s", (int)strcspn(at, " "), at);
        break;
    }
    return value;
}

int64_t pleat_slurm_number(const char *line, const char *key, int64_t fallback)
{
    char value[64];
    int64_t number;
    return pleat_adapter_is_number(pleat_slurm_value(line, key, value, sizeof(value)), &number)
               ? number
               : fallback;
}

/* Takes a number from a text, with `before` in front of it ('\0': nothing). */
static bool take_number(const char **text, char before, int64_t *number)
{
    const char *at = *text;
    char *end;
    if (before && *at++ != before)
        return false;
    if (*at < '0' || *at > '9')
        return false;
    long long value = strtoll(at, &end, 10);
    if (value > MOST_OF_A_TIME)
        return false;
    *number = value;
    *text = end;
    return true;
}

static int64_t minutes_of(const char *text)
{
    int64_t days = 0, parts[3] = {0, 0, 0};
    int count = 1;
    if (!take_number(&text, '\0', &parts[0]))
        return -1;
    bool has_days = take_number(&text, '-', &parts[1]);
    if (has_days) {
        days = parts[0];
        parts[0] = parts[1];
    }
    while (count < 3 && take_number(&text, ':', &parts[count]))
        count++;
    if (count == 1)
        return -1;
    return has_days || count == 3 ? days * 1440 + parts[0] * 60 + parts[1] : parts[0];
}

int64_t pleat_slurm_minutes(const char *line, const char *key)
{
    char value[64];
    return minutes_of(pleat_slurm_value(line, key, value, sizeof(value)));
}
