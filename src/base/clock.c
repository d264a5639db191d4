#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t read_us(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * PLEAT_US_PER_S + ts.tv_nsec / 1000;
}

int64_t pleat_clock_real_us(void)
{
    return read_us(CLOCK_REALTIME);
}

int64_t pleat_clock_monotonic_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

int64_t pleat_clock_monotonic_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

char *pleat_clock_format(int64_t real_us, char *buffer, size_t size)
{
    time_t seconds = (time_t)(real_us / PLEAT_US_PER_S);
    struct tm tm;
    char date[32];
    if (!localtime_r(&seconds, &tm) || !strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm))
        date[0] = '\0';
    snprintf(buffer, size, "%s.%03d", date, (int)(real_us % PLEAT_US_PER_S / 1000));
    return buffer;
}
