/* duration.c - reads durations. One rule for all commands: a duration must say its unit, and is
 * refused with a question where it does not. A plain number means seconds to some users, minutes to
 * users of sbatch, and days to a user who writes `clean --older-than 30`. A wrong guess would end a
 * job, or remove a month of data. */
#include <stdio.h>
#include <string.h>

#include "describe/values.h"

#define LONGEST_S 1e9

/* Takes one number and its unit, and moves *text behind them. */
static bool take_part(const char **text, double *seconds)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    char number[32];
    size_t digits = strspn(*text, "+-.0123456789eE");
    size_t letters = strspn(*text + digits, "abcdefghijklmnopqrstuvwxyz");
    double count = 0;
    snprintf(number, sizeof(number), "%.*s", (int)(digits < 31 ? digits : 31), *text);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) == letters && !strncmp(*text + digits, units[i].name, letters) &&
            !pleat_parse_seconds("", number, 0, LONGEST_S / units[i].seconds, &count, NULL)) {
            *seconds = count * units[i].seconds;
            *text += digits + letters;
            return true;
        }
    }
    return false;
}

static bool read_parts(const char *text, double *seconds)
{
    double sum = 0, part = 0;
    do {
        if (!take_part(&text, &part))
            return false;
        sum += part;
    } while (*text);
    *seconds = sum;
    return true;
}

/* Takes at most six digits, and moves *text behind them. *next: the character that follows. */
static bool take_digits(const char **text, double *value, char *next)
{
    size_t digits = strspn(*text, "0123456789");
    if (digits == 0 || digits > 6)
        return false;
    *value = 0;
    for (size_t i = 0; i < digits; i++)
        *value = *value * 10 + (*text)[i] - '0';
    *text += digits;
    *next = **text;
    *text += *next != '\0';
    return true;
}

/* Reads "1:30:00", "2-12:00:00", "2-12:00", "2-12": forms that cannot mean minutes and seconds. */
static bool read_clock(const char *text, double *seconds)
{
    double days = 0, parts[3] = {0};
    char next;
    int count = 0;
    const char *dash = strchr(text, '-');
    if (dash && (!take_digits(&text, &days, &next) || next != '-'))
        return false;
    do {
        if (count == 3 || !take_digits(&text, &parts[count++], &next))
            return false;
    } while (next == ':');
    if (next || (!dash && count < 3) || parts[1] > 59 || parts[2] > 59)
        return false;
    *seconds = ((days * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2];
    return *seconds <= LONGEST_S;
}

int pleat_parse_duration(const char *what, const char *text, double *seconds,
                         struct pleat_error *err)
{
    double number, minutes;
    const char *rest = text;
    char next;
    if (read_parts(text, seconds) || read_clock(text, seconds))
        return 0;
    if (!pleat_parse_seconds("", text, 0, LONGEST_S, &number, NULL)) {
        *seconds = 0;
        if (number <= 0)
            return 0;
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: %s what? Say %ss, %smin, %sh or %sd (in sbatch a plain number "
                               "is minutes)",
                               what, text, text, text, text, text);
    }
    if (strlen(text) < 8 && take_digits(&rest, &number, &next) && next == ':' &&
        take_digits(&rest, &minutes, &next) && !next)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: is '%s' %gh%gmin or %gmin%gs? Say which, or write all three: "
                               "%g:%02g:00",
                               what, text, number, minutes, number, minutes, number, minutes);
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "%s: '%s' is not a duration such as 90s, 15min, 1h30m, 1d or 1:30:00",
                           what, text);
}
