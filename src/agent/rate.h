/* rate.h - how fast a folded run gets its work done on the processors that it has, and what coming
 * to them has cost: so that policies can learn what a program makes of each number of processors
 * (Utrera 2010, 7.3).
 *
 * The rate is useful time per elapsed time (processor time of all processes that they did not spend
 * waiting for messages): on n processors at most n. It is the mean since the last change, from a
 * fifth of a second after it, when processes have found their places, and is said when it covers a
 * second. What a change cost is what the agent needed for it, and what was not done in that fifth
 * of a second, in terms of the rate that came of it.
 *
 * Pure: numbers in, numbers out; the caller brings the time.
 */
#ifndef PLEAT_AGENT_RATE_H
#define PLEAT_AGENT_RATE_H

#include <stdbool.h>
#include <stdint.h>

#define PLEAT_RATE_SETTLE_US INT64_C(200000)
#define PLEAT_RATE_WINDOW_US INT64_C(1000000)

/* A zeroed one measures nothing. */
struct pleat_rate {
    bool running, settled;
    bool moved; /* it began with a change of processors, which cost something */
    int64_t begun_us, from_us;
    uint64_t begun_ns, from_ns; /* useful time then */
    int64_t cost_us;            /* what the agent needed for the change */
    int64_t settle_us;          /* the time that it took to settle after that */
    uint64_t settle_ns;         /* ... and the work done meanwhile */
    bool counted;               /* these two are all of it */

    double rate;       /* on the present processors, as said; below 0: not known */
    int64_t change_us; /* what the change to them cost; below 0: not known */
};

/* The processors were changed, which took `cost_us`: what is known is of others. */
void pleat_rate_moved(struct pleat_rate *rate, int64_t now_us, uint64_t useful_ns, int64_t cost_us);
/* Something else was (who takes part, from which queues they take turns): from now on on the same
 * processors, of which what is known stands until there is news. */
void pleat_rate_restart(struct pleat_rate *rate, int64_t now_us, uint64_t useful_ns);
/* Nobody is there. */
void pleat_rate_stop(struct pleat_rate *rate);
/* What has been done until now. `rate` follows where it differs from what was said by 2 %. */
void pleat_rate_look(struct pleat_rate *rate, int64_t now_us, uint64_t useful_ns);

#endif
