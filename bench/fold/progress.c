#include "progress.h"

#include <stdint.h>
#include <stdio.h>

#include "base/clock.h"

#define EVERY_US (10 * PLEAT_US_PER_S)

static int steps, done;
static bool quiet;
static int64_t begun_us, told_us;

void progress_begin(int count, bool be_quiet)
{
    steps = count;
    done = 0;
    quiet = be_quiet;
    begun_us = told_us = pleat_clock_monotonic_us();
    if (!quiet)
        fprintf(stderr, "%d runs\n", steps);
}

void progress_step(const char *what, const char *which)
{
    int64_t now_us = pleat_clock_monotonic_us();
    done++;
    if (quiet || now_us - told_us < EVERY_US)
        return;
    double left_s = (double)(now_us - begun_us) / 1e6 / (done - 1) * (steps - done + 1);
    told_us = now_us;
    fprintf(stderr, "run %d of %d, about %.0f s left: %s, %s\n", done, steps, left_s, what, which);
}

bool progress_goes_on(double minutes)
{
    double passed_s = (double)(pleat_clock_monotonic_us() - begun_us) / 1e6;
    return minutes <= 0 || passed_s < 60 * minutes;
}

void progress_end(void)
{
    if (!quiet)
        fprintf(stderr, "%d runs in %.0f s\n", done,
                (double)(pleat_clock_monotonic_us() - begun_us) / 1e6);
}
