#include "steady.h"

#include <math.h>
#include <stdio.h>

#include "machine.h"

static struct steady_counts counts;
static int most_again = STEADY_AGAIN;

void steady_begin(void)
{
    machine_watch_begin();
}

bool steady_again(const char *name, int *again)
{
    double late_s = machine_watch_end();
    if (late_s > STEADY_STALL_S && *again < most_again) {
        fprintf(stderr, "%s: the machine stood still for %.1f s; it is run again\n", name, late_s);
        counts.again++;
        (*again)++;
        return true;
    }
    counts.runs++;
    if (late_s > STEADY_STALL_S)
        counts.stalled++;
    else
        counts.latest_s = fmax(counts.latest_s, late_s);
    return false;
}

void steady_accept(void)
{
    most_again = 0;
}

struct steady_counts *steady_counts(void)
{
    return &counts;
}
