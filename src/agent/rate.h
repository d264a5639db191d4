/* rate.h - how fast a folded run does its work on its present processors, and what the change to
 * them has cost. With these numbers policies can learn what a program makes of each number of
 * processors (Utrera 2010, 7.3).
 *
 * The rate is useful time per elapsed time: on n processors at most n. Useful time is processor
 * time of all processes that they did not spend waiting for messages. The rate is the mean since
 * the last change. It begins a fifth of a second after the change, when processes have found their
 * places, and is known when it covers a second. The cost of a change is the time that the agent
 * needed for it, and the work that was missing in that fifth of a second, as time at the new rate.
 *
 * Pure: numbers in, numbers out; the caller brings the time.
 */
#ifndef PLEAT_AGENT_RATE_H
#define PLEAT_AGENT_RATE_H

#include <stdbool.h>
#include <stdint.h>

#define PLEAT_RATE_SETTLE_US INT64_C(200000)
#define PLEAT_RATE_WINDOW_US INT64_C(1000000)

/* Zeroed: nothing is measured. */
struct pleat_rate {
    bool running, settled;
    bool moved; /* began with a change of processors, which has a cost */
    int64_t begun_us, from_us;
    uint64_t begun_ns, from_ns; /* useful time at begun_us and at from_us */
    int64_t cost_us;            /* time that the agent needed for the change */
    int64_t settle_us;          /* time of settling after the change */
    uint64_t settle_ns;         /* useful time done while settling */
    bool counted;               /* settle_us and settle_ns are complete */

    double rate;       /* on the present processors; below 0: not known */
    int64_t change_us; /* cost of the change to these processors; below 0: not known */
};

/* The processors were changed, which took `cost_us`. Earlier measurements are dropped: they are
 * about other processors. */
void pleat_rate_moved(struct pleat_rate *rate, int64_t now_us, uint64_t useful_ns, int64_t cost_us);
/* Something else was changed (the processes that take part, the kind of queue). It is measured
 * anew; rate and cost of these processors stay until there are new ones. */
void pleat_rate_restart(struct pleat_rate *rate, int64_t now_us, uint64_t useful_ns);
/* No process is attached any more. */
void pleat_rate_stop(struct pleat_rate *rate);
/* Takes the useful time done until now. `rate` is changed where the measured one differs from it by
 * 2 %. */
void pleat_rate_look(struct pleat_rate *rate, int64_t now_us, uint64_t useful_ns);

#endif
