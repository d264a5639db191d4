#include "describe/moment.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "describe/values.h"

/* Reads a text that is "10:30" or "10:30:15" as a whole into *tm. */
static bool read_time(const char *text, struct tm *tm)
{
    tm->tm_sec = 0;
    const char *end = strptime(text, strlen(text) > 5 ? "%H:%M:%S" : "%H:%M", tm);
    return end && !*end;
}

static bool read_day(const char *text, struct tm *tm)
{
    const char *end = strptime(text, "%Y-%m-%d", tm);
    tm->tm_hour = tm->tm_min = tm->tm_sec = 0;
    return end && (!*end || ((*end == ' ' || *end == 'T') && read_time(end + 1, tm)));
}

static double seconds_of(struct tm tm)
{
    tm.tm_isdst = -1;
    return (double)mktime(&tm);
}

static bool read_clock(const char *text, double now_s, double *at_s)
{
    time_t now = (time_t)now_s;
    struct tm tm, empty = {0};
    if (!localtime_r(&now, &tm))
        return false;
    if (strchr(text, '-')) {
        if (!read_day(text, &empty))
            return false;
        *at_s = seconds_of(empty);
        return true;
    }
    if (!strchr(text, ':') || !read_time(text, &tm))
        return false;
    *at_s = seconds_of(tm);
    if (*at_s > now_s) {
        tm.tm_mday--;
        *at_s = seconds_of(tm);
    }
    return true;
}

/* Refuses a text that is no moment. For a number without a unit it asks for the unit. */
static int refuse(const char *what, const char *text, struct pleat_error *err)
{
    const char *number = text + (*text == '-');
    double seconds;
    if (!pleat_parse_seconds("", number, 0, 1e9, &seconds, NULL))
        return pleat_parse_duration(what, number, &seconds, err);
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "%s: '%s' is not a time such as 10:30, -2h, '2026-11-21 10:00', 90s or "
                           "now",
                           what, text);
}

int pleat_parse_moment(const char *what, const char *text, double now_s,
                       struct pleat_moment *moment, struct pleat_error *err)
{
    double value;
    *moment = (struct pleat_moment){0};
    if (!strcmp(text, "now")) {
        moment->at_s = now_s;
    } else if (*text == '@' && !pleat_parse_seconds(what, text + 1, 0, 1e11, &value, NULL)) {
        moment->at_s = value;
    } else if (*text == '-' && !pleat_parse_duration(what, text + 1, &value, NULL)) {
        moment->at_s = now_s - value;
    } else if (read_clock(text, now_s, &moment->at_s)) {
        return 0;
    } else if (!strpbrk(text, ":-") && !pleat_parse_duration(what, text, &value, NULL)) {
        /* not with '-': the incomplete date "2026-11" would be read as days and hours */
        moment->at_s = value;
        moment->is_duration = true;
    } else {
        return refuse(what, text, err);
    }
    return 0;
}

int pleat_parse_past(const char *what, const char *text, double now_s, double *at_s,
                     struct pleat_error *err)
{
    struct pleat_moment moment;
    int rc = pleat_parse_moment(what, text, now_s, &moment, err);
    if (!rc)
        *at_s = moment.is_duration ? now_s - moment.at_s : moment.at_s;
    return rc;
}

int pleat_parse_when(const char *what, const char *text, double *seconds, struct pleat_error *err)
{
    time_t now = time(NULL);
    struct tm day;
    const char *end = NULL;
    if (!strchr(text, ':')) {
        int status = pleat_parse_duration(what, text, seconds, err);
        if (!status && *seconds <= 0)
            status = pleat_error_set(err, PLEAT_E_INVALID, "%s: it must be in the future", what);
        return status;
    }
    if (localtime_r(&now, &day)) {
        day.tm_sec = 0;
        end = strptime(text, strlen(text) > 5 ? "%H:%M:%S" : "%H:%M", &day);
    }
    if (!end || *end)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: '%s' is not a time of the day such as 14:30", what, text);
    day.tm_isdst = -1;
    time_t then = mktime(&day);
    if (then <= now) {
        day.tm_mday++;
        day.tm_isdst = -1;
        then = mktime(&day);
    }
    *seconds = (double)(then - now);
    return 0;
}
