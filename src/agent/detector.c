#include "agent/detector.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Changes of the queue may cost at most a hundredth of the time between them. */
#define COST_SHARE 100
#define CONFIRM_MAX 64
/* Samples after which a program that is still starting (one that does not communicate, for example)
 * is looked at less often. */
#define PATIENCE_SAMPLES 500

void pleat_detector_defaults(struct pleat_detector_settings *settings)
{
    *settings = (struct pleat_detector_settings){
        .threshold = 0.10, /* Utrera 2010, 4.4.4 */
        /* Utrera 2010, table 4.3: lu.A has 9 % and is balanced: it must stay so */
        .hysteresis = 0.02,
        /* Utrera 2010, figures 4.10 and 4.11: once flat, the curves move by less */
        .epsilon = 0.02,
        .samples = 10,      /* 100 ms: many iterations of programs that communicate */
        .confirm = 2,       /* one window may have seen a checkpoint being written */
        .sample_us = 10000, /* Utrera 2010, 4.4.3 */
        .watch_us = 100000, /* a tenth of what sampling costs while the program starts */
        .starting_max_us = 5000000,
        /* A first verdict is wanted soon: without one an imbalanced program may take 1.4 times as
         * long. A later verdict must be right rather than early. */
        .first_window_us = 100000,
        .window_us = 200000,
        .window_max_us = 5000000,
    };
}

int pleat_detector_init(struct pleat_detector *detector, uint32_t processes,
                        const struct pleat_detector_settings *settings, struct pleat_error *err)
{
    memset(detector, 0, sizeof(*detector));
    detector->settings = *settings;
    detector->processes = processes;
    detector->begin = calloc(processes, sizeof(*detector->begin));
    detector->last = calloc(processes, sizeof(*detector->last));
    detector->loads = calloc(processes, sizeof(*detector->loads));
    detector->used = calloc(processes, sizeof(*detector->used));
    if (!detector->begin || !detector->last || !detector->loads || !detector->used) {
        pleat_detector_finish(detector);
        return pleat_error_set(err, PLEAT_E_NOMEM,
                               "no memory to detect the balance of %" PRIu32 " processes",
                               processes);
    }
    pleat_detector_restart(detector);
    return 0;
}

void pleat_detector_finish(struct pleat_detector *detector)
{
    free(detector->begin);
    free(detector->last);
    free(detector->loads);
    free(detector->used);
    detector->begin = NULL;
    detector->last = NULL;
    detector->loads = NULL;
    detector->used = NULL;
}

void pleat_detector_restart(struct pleat_detector *detector)
{
    detector->balance = PLEAT_BALANCE_UNKNOWN;
    detector->judging = false;
    detector->ringed = 0;
    detector->against = 0;
    detector->confirm = detector->settings.confirm;
    detector->quiet_until_us = 0;
    detector->cvcs = detector->idleness = detector->gain = -1;
}

static void open_window(struct pleat_detector *detector, int64_t now_us,
                        const struct pleat_detector_process *items)
{
    detector->judging = true;
    detector->reopen = false;
    detector->window_us = now_us;
    detector->step = 0;
    for (uint32_t i = 0; i < detector->processes; i++)
        detector->begin[i].useful_ns = detector->last[i] = items[i].useful_ns;
}

void pleat_detector_moved(struct pleat_detector *detector, int64_t now_us, int64_t cost_us)
{
    int64_t until = now_us + cost_us * COST_SHARE;
    if (until > detector->quiet_until_us)
        detector->quiet_until_us = until;
    detector->reopen = true;
    detector->against = 0;
}

/* ---- has the program started? ---- */

static void begin_phase(struct pleat_detector *detector, int64_t now_us,
                        const struct pleat_detector_process *items)
{
    detector->balance = PLEAT_BALANCE_STARTING;
    detector->judging = false;
    detector->phase_us = now_us;
    detector->ringed = 0;
    memcpy(detector->begin, items, detector->processes * sizeof(*items));
}

/* Utrera 2010, equation 4.1, for the switches since the phase began. *average: switches of a
 * process. */
static double variation(const struct pleat_detector *detector,
                        const struct pleat_detector_process *items, double *average)
{
    double sum = 0;
    double squares = 0;
    double n = detector->processes;
    for (uint32_t i = 0; i < detector->processes; i++)
        sum += (double)(items[i].switches - detector->begin[i].switches);
    *average = sum / n;
    if (sum <= 0)
        return -1;
    for (uint32_t i = 0; i < detector->processes; i++) {
        double off = (double)(items[i].switches - detector->begin[i].switches) - *average;
        squares += off * off;
    }
    return sqrt(squares / n) / *average;
}

static bool is_constant(const struct pleat_detector *detector)
{
    uint32_t samples = detector->settings.samples;
    if (detector->ringed < samples)
        return false;
    uint32_t newest = (detector->ringed - 1) % samples;
    uint32_t oldest = detector->ringed % samples;
    double low = detector->ring[newest];
    double high = low;
    for (uint32_t i = 0; i < samples; i++) {
        low = fmin(low, detector->ring[i]);
        high = fmax(high, detector->ring[i]);
    }
    /* without any switch the variation stays the same, and that says nothing */
    return low >= 0 && high - low <= detector->settings.epsilon &&
           detector->switched[newest] - detector->switched[oldest] >= 1;
}

/* Whether the program has started. */
static bool look_at_start(struct pleat_detector *detector, int64_t now_us,
                          const struct pleat_detector_process *items)
{
    double average;
    uint32_t at = detector->ringed % detector->settings.samples;
    detector->cvcs = detector->ring[at] = variation(detector, items, &average);
    detector->switched[at] = average;
    detector->ringed++;
    /* without any switch there is nothing to judge, however long it takes */
    return is_constant(detector) ||
           (now_us - detector->phase_us >= detector->settings.starting_max_us && average >= 1);
}

/* ---- is the program balanced? ---- */

/* The complement of Utrera 2010, figure 4.3, for the useful times since the window began. *most:
 * max u. Below 0: no process did anything useful. */
static double idleness(const struct pleat_detector *detector,
                       const struct pleat_detector_process *items, uint64_t *most)
{
    double sum = 0;
    *most = 0;
    for (uint32_t i = 0; i < detector->processes; i++) {
        uint64_t used = items[i].useful_ns - detector->begin[i].useful_ns;
        sum += (double)used;
        if (used > *most)
            *most = used;
    }
    return *most ? 1 - sum / ((double)detector->processes * (double)*most) : -1;
}

static int by_most(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

static uint64_t fullest(const uint64_t *loads, uint32_t queues)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < queues; i++)
        if (loads[i] > most)
            most = loads[i];
    return most;
}

/* The load of the fullest queue where the longest process always goes to the emptiest queue
 * (longest processing time first), which is near to the best distribution. Takes the loads of
 * processes from detector->used, and sorts it. */
static uint64_t fullest_at_best(struct pleat_detector *detector, uint32_t queues)
{
    memset(detector->loads, 0, queues * sizeof(*detector->loads));
    qsort(detector->used, detector->processes, sizeof(*detector->used), by_most);
    for (uint32_t i = 0; i < detector->processes; i++) {
        uint32_t emptiest = 0;
        for (uint32_t j = 1; j < queues; j++)
            if (detector->loads[j] < detector->loads[emptiest])
                emptiest = j;
        detector->loads[emptiest] += detector->used[i];
    }
    return fullest(detector->loads, queues);
}

/* By what share a global queue would shorten the time of the fullest local queue. */
static double gain(struct pleat_detector *detector, const struct pleat_detector_process *items)
{
    uint32_t queues = 0;
    memset(detector->loads, 0, detector->processes * sizeof(*detector->loads));
    for (uint32_t i = 0; i < detector->processes; i++) {
        uint32_t queue = items[i].queue < detector->processes ? items[i].queue : 0;
        detector->used[i] = items[i].useful_ns - detector->begin[i].useful_ns;
        detector->loads[queue] += detector->used[i];
        if (queue >= queues)
            queues = queue + 1;
    }
    uint64_t local = fullest(detector->loads, queues);
    uint64_t best = fullest_at_best(detector, queues);
    return best < local ? 1 - (double)best / (double)local : 0;
}

static void note_steps(struct pleat_detector *detector, const struct pleat_detector_process *items)
{
    for (uint32_t i = 0; i < detector->processes; i++) {
        uint64_t step = items[i].useful_ns - detector->last[i];
        if (step > detector->step)
            detector->step = step;
        detector->last[i] = items[i].useful_ns;
    }
}

/* The verdict that an idleness suggests: within the hysteresis the present one. */
static enum pleat_balance judge(const struct pleat_detector *detector, double idle)
{
    const struct pleat_detector_settings *settings = &detector->settings;
    switch (detector->balance) {
    case PLEAT_BALANCE_BALANCED:
        return idle > settings->threshold + settings->hysteresis ? PLEAT_BALANCE_IMBALANCED
                                                                 : PLEAT_BALANCE_BALANCED;
    case PLEAT_BALANCE_IMBALANCED:
        return idle < settings->threshold - settings->hysteresis ? PLEAT_BALANCE_BALANCED
                                                                 : PLEAT_BALANCE_IMBALANCED;
    case PLEAT_BALANCE_UNKNOWN:
    case PLEAT_BALANCE_STARTING:
        break;
    }
    return idle > settings->threshold ? PLEAT_BALANCE_IMBALANCED : PLEAT_BALANCE_BALANCED;
}

static bool follow(struct pleat_detector *detector, int64_t now_us, enum pleat_balance verdict)
{
    if (verdict == detector->balance) {
        detector->against = 0;
        return false;
    }
    if (detector->balance == PLEAT_BALANCE_STARTING) {
        detector->balance = verdict;
        return true;
    }
    detector->against++;
    if (detector->against < detector->confirm || now_us < detector->quiet_until_us)
        return false;
    detector->balance = verdict;
    detector->against = 0;
    detector->changes++;
    if (detector->confirm < CONFIRM_MAX)
        detector->confirm *= 2;
    return true;
}

static bool look_at_window(struct pleat_detector *detector, int64_t now_us,
                           const struct pleat_detector_process *items)
{
    uint64_t most;
    note_steps(detector, items);
    double idle = idleness(detector, items, &most);
    int64_t age = now_us - detector->window_us;
    bool first = detector->balance == PLEAT_BALANCE_STARTING;
    if (idle < 0 ||
        age < (first ? detector->settings.first_window_us : detector->settings.window_us))
        return false;
    double wrong = (double)detector->step / (double)most;
    double gained = gain(detector, items), less = fmin(idle, gained);
    if (age < detector->settings.window_max_us &&
        judge(detector, less + wrong) != judge(detector, less - wrong))
        return false;
    detector->idleness = idle;
    detector->gain = gained;
    bool changed = follow(detector, now_us, judge(detector, less));
    open_window(detector, now_us, items);
    return changed;
}

/* ---- */

static bool went_back(const struct pleat_detector *detector,
                      const struct pleat_detector_process *items)
{
    for (uint32_t i = 0; i < detector->processes; i++)
        if (items[i].switches < detector->begin[i].switches ||
            items[i].useful_ns <
                (detector->judging ? detector->last[i] : detector->begin[i].useful_ns))
            return true;
    return false;
}

bool pleat_detector_look(struct pleat_detector *detector, int64_t now_us,
                         const struct pleat_detector_process *items)
{
    if (detector->balance == PLEAT_BALANCE_UNKNOWN || went_back(detector, items)) {
        bool changed = detector->balance != PLEAT_BALANCE_STARTING;
        begin_phase(detector, now_us, items);
        return changed;
    }
    if (detector->judging && !detector->reopen)
        return look_at_window(detector, now_us, items);
    if (detector->judging || look_at_start(detector, now_us, items))
        open_window(detector, now_us, items);
    return false;
}

int64_t pleat_detector_interval_us(const struct pleat_detector *detector, int64_t now_us)
{
    const struct pleat_detector_settings *settings = &detector->settings;
    if (detector->balance != PLEAT_BALANCE_STARTING)
        return detector->balance == PLEAT_BALANCE_UNKNOWN ? settings->sample_us
                                                          : settings->watch_us;
    int64_t age = now_us - (detector->judging ? detector->window_us : detector->phase_us);
    return age > PATIENCE_SAMPLES * settings->sample_us ? settings->watch_us : settings->sample_us;
}

const char *pleat_balance_name(enum pleat_balance balance)
{
    static const char *const names[] = {[PLEAT_BALANCE_UNKNOWN] = "unknown",
                                        [PLEAT_BALANCE_STARTING] = "starting",
                                        [PLEAT_BALANCE_BALANCED] = "balanced",
                                        [PLEAT_BALANCE_IMBALANCED] = "imbalanced"};
    return (size_t)balance < sizeof(names) / sizeof(*names) ? names[balance] : "?";
}
