#include "agent/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define LINES_PER_SECOND 50

static const char *log_name = "pleat-agent";

void pleat_log_name(const char *name)
{
    log_name = name;
}

static void write_line(const char *text)
{
    char date[40];
    char line[1024];
    int used =
        snprintf(line, sizeof(line), "%s %s: %s\n",
                 pleat_clock_format(pleat_clock_real_us(), date, sizeof(date)), log_name, text);
    if (used < 0)
        return;
    if ((size_t)used >= sizeof(line)) {
        used = sizeof(line) - 1;
        line[used - 1] = '\n';
    }
    /* A log that cannot be written must not stop the agent. */
    if (write(STDERR_FILENO, line, (size_t)used) < 0)
        return;
}

/* Whether one more line may be written in this second. */
static bool may_write(void)
{
    static int64_t second;
    static unsigned lines;
    static unsigned dropped;
    int64_t now = pleat_clock_monotonic_us() / PLEAT_US_PER_S;
    if (now != second) {
        char text[64];
        snprintf(text, sizeof(text), "(%u lines dropped)", dropped);
        if (dropped)
            write_line(text);
        second = now;
        lines = dropped = 0;
    }
    if (++lines <= LINES_PER_SECOND)
        return true;
    dropped++;
    return false;
}

void pleat_log(const char *fmt, ...)
{
    char text[768];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (may_write())
        write_line(text);
}
