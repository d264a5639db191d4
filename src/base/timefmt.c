#include "base/timefmt.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

char *pleat_time_span(double seconds, char *buffer)
{
    const char *sign = seconds < 0 ? "-" : "";
    double s = fabs(seconds);
    if (!isfinite(s) || s > 1e10) {
        snprintf(buffer, PLEAT_TIME_SIZE, "-");
    } else if (s < 0.9995) {
        snprintf(buffer, PLEAT_TIME_SIZE, "%s%.0f ms", sign, s * 1000);
    } else if (s < 59.95) {
        snprintf(buffer, PLEAT_TIME_SIZE, "%s%.1f s", sign, s);
    } else {
        long whole = lround(s), minutes = whole / 60, hours = minutes / 60, days = hours / 24;
        if (hours == 0)
            snprintf(buffer, PLEAT_TIME_SIZE, "%s%ldm%02lds", sign, minutes, whole % 60);
        else if (days == 0)
            snprintf(buffer, PLEAT_TIME_SIZE, "%s%ldh%02ldm", sign, hours, minutes % 60);
        else
            snprintf(buffer, PLEAT_TIME_SIZE, "%s%ldd%02ldh", sign, days, hours % 24);
    }
    return buffer;
}

char *pleat_time_moment(double seconds, char *buffer)
{
    time_t then = isfinite(seconds) && fabs(seconds) < 1e11 ? (time_t)seconds : 0;
    time_t now = time(NULL);
    struct tm then_tm, now_tm;
    if (!isfinite(seconds) || !localtime_r(&then, &then_tm) || !localtime_r(&now, &now_tm)) {
        snprintf(buffer, PLEAT_TIME_SIZE, "-");
        return buffer;
    }
    if (then_tm.tm_yday == now_tm.tm_yday && then_tm.tm_year == now_tm.tm_year)
        strftime(buffer, PLEAT_TIME_SIZE, "%H:%M:%S", &then_tm);
    else
        strftime(buffer, PLEAT_TIME_SIZE, "%Y-%m-%d %H:%M", &then_tm);
    return buffer;
}
