/* detector.h - the load-balance detector: is a folded program balanced (local queues) or not (a
 * global queue)? Utrera 2010, 4.3.3, 4.4.3, 4.4.4.
 *
 * Two steps. While a program starts, its processes switch irregularly. So the coefficient of
 * variation of their context switches (equation 4.1) is watched until it stays the same: here that
 * means that over `samples` samples it moves by at most `epsilon`, while every process switches
 * once on average. Then the idleness percentage, 1 - sum(u) / (n max u) of the useful times u since
 * that moment (figure 4.3 shows its complement), is compared with a threshold of 10 %.
 *
 * The detector differs from the one of Utrera 2010 in this: a program also counts as balanced where
 * a global queue could gain nothing. That is so where no other distribution of its processes over
 * the processors would let the fullest processor end sooner, by the same threshold. For example,
 * heavy processes may stand in all queues alike; and 8 equal processes on 3 processors take three
 * turns from any queue.
 *
 * Useful time is reported in steps: a process that computes for 50 ms between two waits reports
 * these 50 ms at once. So the largest step, as a share of max u, bounds the error of the
 * percentage. A window ends as soon as that error no longer matters, or when the window is
 * `window_max_us` old.
 *
 * The detector goes on looking after a verdict, so that a program with phases is judged again
 * (Utrera 2010, 4.4.4, leaves that open). Three rules keep the verdict from flapping. It changes
 * only for an idleness beyond the threshold by `hysteresis`, in `confirm` windows in a row. After
 * each change twice as many windows are wanted. And it changes only when the cost of the last
 * change is at most a hundredth of the time since.
 *
 * Pure: numbers in, a verdict out; the caller brings the time.
 */
#ifndef PLEAT_AGENT_DETECTOR_H
#define PLEAT_AGENT_DETECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum pleat_balance {
    PLEAT_BALANCE_UNKNOWN, /* nothing has been seen */
    PLEAT_BALANCE_STARTING,
    PLEAT_BALANCE_BALANCED,
    PLEAT_BALANCE_IMBALANCED
};

struct pleat_detector_settings {
    double threshold; /* idleness above which a program is imbalanced */
    double hysteresis;
    double epsilon;
    uint32_t samples;  /* 2 .. PLEAT_DETECTOR_SAMPLES_MAX */
    uint32_t confirm;  /* from 1 */
    int64_t sample_us; /* between two samples while the program starts */
    int64_t watch_us;  /* between two samples when there is a verdict */
    /* from this age of a phase on the program counts as started, constant or not */
    int64_t starting_max_us;
    int64_t first_window_us; /* the least length of the first window */
    /* the least length of later windows; the most of any window */
    int64_t window_us, window_max_us;
};

#define PLEAT_DETECTOR_SAMPLES_MAX 64

/* What a process has done so far. */
struct pleat_detector_process {
    uint64_t switches, useful_ns;
    uint32_t queue; /* the local queue in which it stands, or would stand: from 0 */
};

struct pleat_detector {
    struct pleat_detector_settings settings;
    uint32_t processes;
    /* counters at the start: switches of the phase, useful time of the window */
    struct pleat_detector_process *begin;
    uint64_t *last;         /* useful time in the last sample */
    uint64_t *loads, *used; /* loads of queues, of processes; scratch space */
    enum pleat_balance balance;
    bool judging; /* the program has started: a window is open */
    bool reopen;  /* the window is to be opened again: what it holds does not count */

    int64_t phase_us;  /* when the phase of starting began */
    int64_t window_us; /* when the window was opened */
    double ring[PLEAT_DETECTOR_SAMPLES_MAX], switched[PLEAT_DETECTOR_SAMPLES_MAX];
    uint32_t ringed; /* samples kept since the phase began */
    uint64_t step;   /* the largest step of useful time in the window */

    uint32_t against; /* windows in a row that contradict the verdict */
    uint32_t confirm; /* windows in a row that must agree, at present */
    int64_t quiet_until_us;

    double cvcs, idleness; /* at the last judgement; below 0: none yet */
    double gain;           /* of the time of the fullest queue; as idleness */
    uint32_t changes;      /* of the verdict, after the first one */
};

/* Utrera's period of 10 ms and threshold of 10 %; the other values, with reasons, are in
 * detector.c. */
void pleat_detector_defaults(struct pleat_detector_settings *settings);
int pleat_detector_init(struct pleat_detector *detector, uint32_t processes,
                        const struct pleat_detector_settings *settings,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts a zeroed detector. */
void pleat_detector_finish(struct pleat_detector *detector);

/* The program starts (again): earlier measurements are dropped. */
void pleat_detector_restart(struct pleat_detector *detector);
/* Measures anew from the next look on. To be called when processes were moved (for the verdict, or
 * because the partition changed), which took cost_us, and when they were not watched for a while.
 */
void pleat_detector_moved(struct pleat_detector *detector, int64_t now_us, int64_t cost_us);
/* Takes one sample of all processes (items[processes]). Where a counter goes back, the phase begins
 * again. Returns whether the verdict has changed. */
bool pleat_detector_look(struct pleat_detector *detector, int64_t now_us,
                         const struct pleat_detector_process *items);
/* The time until the next look is worth its cost. */
int64_t pleat_detector_interval_us(const struct pleat_detector *detector, int64_t now_us);

/* "unknown", "starting", "balanced", "imbalanced". */
const char *pleat_balance_name(enum pleat_balance balance);

#endif
