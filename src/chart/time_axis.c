#include "chart/time_axis.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define MINUTE 60.0
#define HOUR 3600.0
#define DAY 86400.0

struct unit {
    const char *name;
    double seconds;
};

static struct unit unit_for(double span_s)
{
    if (span_s > 3 * DAY)
        return (struct unit){"days", DAY};
    if (span_s > 3 * HOUR)
        return (struct unit){"hours", HOUR};
    if (span_s > 10 * MINUTE)
        return (struct unit){"minutes", MINUTE};
    return (struct unit){"seconds", 1};
}

/* The smallest step not below what is wanted: a usual one of clocks and calendars, or 1, 2 or 5
 * times a power of ten, in seconds or days. */
static double step_for(double wanted_s)
{
    static const double usual[] = {1,           2,           5,          10,         15,
                                   30,          MINUTE,      2 * MINUTE, 5 * MINUTE, 10 * MINUTE,
                                   15 * MINUTE, 30 * MINUTE, HOUR,       2 * HOUR,   3 * HOUR,
                                   6 * HOUR,    12 * HOUR,   DAY};
    static const double factors[] = {1, 2, 5, 10};
    for (size_t i = 0; wanted_s > 0.5 && i < sizeof(usual) / sizeof(usual[0]); i++)
        if (usual[i] >= wanted_s * (1 - 1e-9))
            return usual[i];
    double unit = wanted_s > DAY ? DAY : 1;
    double base = pow(10, floor(log10(fmax(wanted_s / unit, 1e-6))));
    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
        if (factors[i] * base >= wanted_s / unit * (1 - 1e-9))
            return factors[i] * base * unit;
    return 10 * base * unit;
}

/* Seconds by which the local clock is ahead of UTC at a moment. */
static double ahead(double moment_s)
{
    time_t moment = (time_t)floor(moment_s);
    struct tm local;
    return localtime_r(&moment, &local) ? (double)local.tm_gmtoff : 0;
}

static void clock_text(double moment_s, double step_s, bool dated, char *text, size_t size)
{
    time_t moment = (time_t)llround(moment_s);
    struct tm local;
    const char *format = step_s >= DAY      ? "%b %e"
                         : dated            ? "%b %e %H:%M"
                         : step_s >= MINUTE ? "%H:%M"
                                            : "%H:%M:%S";
    if (!localtime_r(&moment, &local) || !strftime(text, size, format, &local))
        snprintf(text, size, "?");
}

void pleat_time_axis(double from_s, double to_s, double clock_s, int most,
                     struct pleat_time_axis *axis)
{
    bool clock = isfinite(clock_s);
    double span = to_s - from_s, step = step_for(span / (most > 0 ? most : 1));
    if (clock && step < 1)
        step = 1;
    struct unit unit = unit_for(span);
    double shift =
        clock ? clock_s + ahead(clock_s + from_s) : 0; /* marks are at whole local times */
    double first = ceil((from_s + shift) / step - 1e-9);
    *axis = (struct pleat_time_axis){.count = 0};
    snprintf(axis->unit, sizeof(axis->unit), "%s",
             !clock       ? unit.name
             : span > DAY ? "date"
                          : "time of day");
    for (size_t i = 0; i < PLEAT_TIME_MARKS_MAX; i++) {
        double at = (first + (double)i) * step - shift;
        if (at > to_s + span * 1e-9)
            break;
        if (fabs(at) < step / 2 * 1e-6)
            at = 0; /* no "-0", no 1e-17 */
        axis->marks[i].at_s = at;
        axis->count = i + 1;
        if (clock)
            clock_text(clock_s + at, step, span > DAY, axis->marks[i].text,
                       sizeof(axis->marks[i].text));
        else
            snprintf(axis->marks[i].text, sizeof(axis->marks[i].text), "%.6g", at / unit.seconds);
    }
}
