/* detector.h - the load-balance detector: is a folded program balanced (local queues) or not (a
 * global queue)? Utrera 2010, 4.3.3, 4.4.3, 4.4.4.
 *
 * Two steps. While the program starts, its processes switch irregularly: the coefficient of
 * variation of their context switches (Equation 4.1) is looked at until it stays the same, which
 * here means that over `samples` samples it moves by at most `epsilon` while every process switches
 * once on average. Then the idleness percentage, 1 - sum(u) / (n max u) of the useful times u since
 * that moment (figure 4.3 shows its complement), is compared with a threshold of 10 %.
 *
 * Unlike there a program also counts as balanced where a global queue could gain nothing: where no
 * other distribution of its processes over the processors would let the fullest one end sooner, by
 * the same threshold. Heavy processes may stand in all queues alike; and 8 equal ones on 3
 * processors take three turns from any queue.
 *
 * What is measured comes in steps: a process that computes for 50 ms between two waits tells of
 * them at once. So the largest step, as a share of max u, is how wrong the percentage can be, and
 * a window ends as soon as that no longer matters, or when it is `window_max_us` old.
 *
 * It goes on looking, so that a program with phases is judged again (4.4.4 leaves that open). So
 * that it does not flap: a verdict changes only for an idleness beyond the threshold by
 * `hysteresis`, in `confirm` windows in a row; after each change twice as many are wanted; and not
 * before what the last change has cost is a hundredth of the time since.
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
    uint32_t samples;                 /* 2 .. PLEAT_DETECTOR_SAMPLES_MAX */
    uint32_t confirm;                 /* from 1 */
    int64_t sample_us;                /* between two samples while it starts */
    int64_t watch_us;                 /* ... and when there is a verdict */
    int64_t starting_max_us;          /* then what is seen counts, constant or not */
    int64_t first_window_us;          /* the least time behind the first verdict */
    int64_t window_us, window_max_us; /* behind later ones; behind any the most */
};

#define PLEAT_DETECTOR_SAMPLES_MAX 64

/* What a process has done so far. */
struct pleat_detector_process {
    uint64_t switches, useful_ns;
    uint32_t queue; /* in which it stands, or would if they were local: from 0 */
};

struct pleat_detector {
    struct pleat_detector_settings settings;
    uint32_t processes;
    struct pleat_detector_process *begin; /* of the phase: switches; of the window: useful time */
    uint64_t *last;                       /* useful time in the last sample */
    uint64_t *loads, *used;               /* of queues, of processes; scratch */
    enum pleat_balance balance;
    bool judging; /* the program has started: a window is open */
    bool reopen;  /* ... and what is in it does not count */

    int64_t phase_us;  /* when it began to start */
    int64_t window_us; /* when the window was opened */
    double ring[PLEAT_DETECTOR_SAMPLES_MAX], switched[PLEAT_DETECTOR_SAMPLES_MAX];
    uint32_t ringed; /* samples since the phase began */
    uint64_t step;   /* the largest in the window */

    uint32_t against; /* windows in a row that contradict the verdict */
    uint32_t confirm; /* windows in a row that must agree, at present */
    int64_t quiet_until_us;

    double cvcs, idleness; /* the last ones; below 0: none */
    double gain;           /* of the time of the fullest queue; as idleness */
    uint32_t changes;      /* of the verdict, after the first one */
};

/* 10 ms, 10 %; the rest as detector.c says, with reasons. */
void pleat_detector_defaults(struct pleat_detector_settings *settings);
int pleat_detector_init(struct pleat_detector *detector, uint32_t processes,
                        const struct pleat_detector_settings *settings,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts a zeroed one. */
void pleat_detector_finish(struct pleat_detector *detector);

/* The program starts (again): what was measured before says nothing. */
void pleat_detector_restart(struct pleat_detector *detector);
/* Processes were moved, for its verdict or because the partition changed, which took so long, or
 * were not watched for a while: what is measured from the next look on counts. */
void pleat_detector_moved(struct pleat_detector *detector, int64_t now_us, int64_t cost_us);
/* One sample of all processes (items[processes]); numbers that go back begin the phase again.
 * Returns whether the verdict is another one now. */
bool pleat_detector_look(struct pleat_detector *detector, int64_t now_us,
                         const struct pleat_detector_process *items);
/* How long until the next look is worth it. */
int64_t pleat_detector_interval_us(const struct pleat_detector *detector, int64_t now_us);

/* "unknown", "starting", "balanced", "imbalanced". */
const char *pleat_balance_name(enum pleat_balance balance);

#endif
