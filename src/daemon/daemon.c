/* What every part of pleatd needs: the time, and messages to its log file. */
#include "daemon/daemon.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

int64_t daemon_now_us(struct daemon *d)
{
    /* monotonic time, so that it does not jump; and never before the last record's time */
    int64_t now = d->clock.offset_us + pleat_clock_monotonic_us();
    if (now > d->clock.last_us)
        d->clock.last_us = now;
    return d->clock.last_us;
}

void daemon_log(const char *fmt, ...)
{
    char when[40], text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    pleat_clock_format(pleat_clock_real_us(), when, sizeof(when));
    fprintf(stderr, "%s pleatd[%d]: %s\n", when, (int)getpid(), text);
}
