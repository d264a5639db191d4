#include "agent/rate.h"

#include <math.h>

#define NEWS 0.02 /* a change of the rate by a smaller share is not told */
/* A rate below this is not believed: the program does next to nothing. */
#define LEAST 1e-3

static void begin(struct pleat_rate *rate, int64_t now_us, uint64_t useful_ns)
{
    rate->running = true;
    rate->settled = false;
    rate->begun_us = now_us;
    rate->begun_ns = useful_ns;
}

/* Work in the time of settling belongs to the cost of the last change of processors, whatever else
 * changes soon after that. */
static void count(struct pleat_rate *rate, int64_t now_us, uint64_t useful_ns)
{
    if (rate->counted || now_us < rate->begun_us || useful_ns < rate->begun_ns)
        return;
    rate->settle_us += now_us - rate->begun_us;
    rate->settle_ns += useful_ns - rate->begun_ns;
}

void pleat_rate_moved(struct pleat_rate *rate, int64_t now_us, uint64_t useful_ns, int64_t cost_us)
{
    rate->settle_us = 0;
    rate->settle_ns = 0;
    rate->counted = false;
    rate->moved = rate->running; /* while no process has attached a change costs nothing */
    rate->cost_us = cost_us > 0 ? cost_us : 0;
    rate->rate = -1;
    rate->change_us = -1;
    if (rate->running)
        begin(rate, now_us, useful_ns);
}

void pleat_rate_restart(struct pleat_rate *rate, int64_t now_us, uint64_t useful_ns)
{
    if (!rate->running) {
        rate->rate = -1;
        rate->change_us = -1;
        rate->moved = false;
    } else if (!rate->settled) {
        count(rate, now_us, useful_ns);
    }
    begin(rate, now_us, useful_ns);
}

void pleat_rate_stop(struct pleat_rate *rate)
{
    rate->running = false;
}

static void settle(struct pleat_rate *rate, int64_t now_us, uint64_t useful_ns)
{
    rate->settled = true;
    count(rate, now_us, useful_ns);
    rate->counted = true;
    rate->from_us = now_us;
    rate->from_ns = useful_ns;
}

/* The time that the work missing while it settled would have taken. */
static int64_t lost_us(const struct pleat_rate *rate)
{
    double lost = (double)rate->settle_us - (double)rate->settle_ns / 1e3 / rate->rate;
    return lost > 0 ? (int64_t)lost : 0;
}

void pleat_rate_look(struct pleat_rate *rate, int64_t now_us, uint64_t useful_ns)
{
    if (!rate->running)
        return;
    if (now_us < rate->begun_us || useful_ns < (rate->settled ? rate->from_ns : rate->begun_ns)) {
        /* a number that goes back is wrong: the measurement begins anew */
        pleat_rate_restart(rate, now_us, useful_ns);
        return;
    }
    if (!rate->settled) {
        if (now_us - rate->begun_us >= PLEAT_RATE_SETTLE_US)
            settle(rate, now_us, useful_ns);
        return;
    }
    if (now_us - rate->from_us < PLEAT_RATE_WINDOW_US)
        return;
    double now = (double)(useful_ns - rate->from_ns) / 1e3 / (double)(now_us - rate->from_us);
    if (now < LEAST || (rate->rate > 0 && fabs(now - rate->rate) < NEWS * rate->rate))
        return;
    rate->rate = now;
    if (rate->moved && rate->change_us < 0)
        rate->change_us = rate->cost_us + lost_us(rate);
}
