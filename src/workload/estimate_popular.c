/* estimate_popular.c - D. Tsafrir, Y. Etsion, D. G. Feitelson: "Modeling User Runtime Estimates",
 * 11th Workshop on Job Scheduling Strategies for Parallel Processing (JSSPP), 2005, LNCS 3834,
 * 1-35.
 *
 * These parts of the model are followed, with the default values of the authors' program in the
 * Parallel Workloads Archive (m_tsafrir05):
 *   - how many different values there are for a number of jobs (its piecewise linear model);
 *   - the 20 popular values ("head"): the longest allowed estimate; the 15 values that are popular
 *     in all four logs that the authors studied; and, where some of these are longer than the
 *     longest, multiples of round times, from the longest down;
 *   - their shares: a exp(b r) + c percent for the popularity ranks r from 2 to 20; rank 1, the
 *     longest, has what is missing to 89 %;
 *   - which of these values has which rank: drawn from the ranks that values at the same place in
 *     the order of time have in the four logs, popular ranks preferred;
 *   - the other values ("tail"): the times (a - 1) x / (a - x) of the longest for x from 0 to 1, in
 *     whole minutes, and the shares w r^p for the ranks from 21 on, scaled to 11 % together, given
 *     to the times at random;
 *   - which job has which value: in the order of run times, the longest first, each job draws one
 *     of the remaining values that are not below its run time.
 *
 * These parts differ from the authors' program:
 *   - values that users are known to like cannot be given; the longest estimate must be at least
 *     6000 s (the program: an hour), so that there are 20 popular values;
 *   - shares become numbers of jobs by largest remainders; with few jobs, rare values have no job
 *     (the program gives each at least one, which it takes from others);
 *   - a job that runs longer than the longest estimate is refused (the program cuts its run time).
 */
#include "workload/estimate.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "workload/generate-internal.h"

enum {
    POPULAR = PLEAT_ESTIMATE_POPULAR,
    LOGS = 4,
    MINUTE = 60,
    HOUR = 60 * MINUTE,
    VALUES_MAX = 600 /* the largest workload has 565 different values */
};

static const double head_percent = 89;
static const double head_a = 14.0491, head_b = -0.177531, head_c = 0.462513;
/* the model's factor cancels out, since shares are scaled */
static const double tail_power = -2.267;
static const double time_p = 12.1039, time_q = -0.6026;

struct value {
    int64_t seconds;
    double share;
    size_t jobs;
};

struct model {
    int64_t longest; /* seconds */
    size_t count;
    /* the longest, then the popular values by time, then the others */
    struct value values[VALUES_MAX];
    gsl_rng *rng;
};

static bool has(const struct model *model, int64_t seconds)
{
    for (size_t i = 0; i < model->count; i++)
        if (model->values[i].seconds == seconds)
            return true;
    return false;
}

static void add(struct model *model, int64_t seconds)
{
    model->values[model->count++].seconds = seconds;
}

static int compare_seconds(const void *a, const void *b)
{
    int64_t x = ((const struct value *)a)->seconds, y = ((const struct value *)b)->seconds;
    return (x > y) - (x < y);
}

/* ---- popular values ---- */

static void popular_times(struct model *model)
{
    static const int in_all_logs[] = {5 * MINUTE,  10 * MINUTE, 15 * MINUTE, 20 * MINUTE,
                                      30 * MINUTE, HOUR,        2 * HOUR,    3 * HOUR,
                                      4 * HOUR,    5 * HOUR,    6 * HOUR,    8 * HOUR,
                                      10 * HOUR,   12 * HOUR,   18 * HOUR};
    static const int round_times[] = {200 * HOUR, 100 * HOUR, 50 * HOUR,   10 * HOUR,   5 * HOUR,
                                      2 * HOUR,   HOUR,       20 * MINUTE, 10 * MINUTE, 5 * MINUTE};
    add(model, model->longest);
    for (size_t i = 0; i < sizeof(in_all_logs) / sizeof(in_all_logs[0]); i++)
        if (in_all_logs[i] < model->longest)
            add(model, in_all_logs[i]);
    for (size_t i = 0; i < sizeof(round_times) / sizeof(round_times[0]); i++)
        for (int64_t at = model->longest / round_times[i] * round_times[i];
             at > 0 && model->count < POPULAR; at -= round_times[i])
            if (!has(model, at))
                add(model, at);
    qsort(model->values + 1, model->count - 1, sizeof(model->values[0]), compare_seconds);
}

static void popular_shares(double *shares)
{
    shares[0] = head_percent;
    for (int rank = 2; rank <= POPULAR; rank++) {
        shares[rank - 1] = head_a * exp(head_b * rank) + head_c;
        shares[0] -= shares[rank - 1];
    }
}

/* The popularity rank of each of the 20 values by its place in time (0: the longest) in the
 * authors' four logs, which they call sdsc-106, ctc, kth4h and blue. */
static const uint8_t ranks_seen[POPULAR][LOGS] = {
    {3, 1, 1, 1},     {1, 3, 4, 6},     {4, 4, 10, 5},    {17, 2, 14, 3},  {13, 12, 20, 7},
    {7, 9, 2, 2},     {8, 8, 3, 18},    {18, 18, 7, 19},  {2, 6, 12, 4},   {6, 7, 6, 11},
    {16, 11, 19, 20}, {10, 20, 5, 9},   {5, 16, 18, 10},  {15, 5, 16, 14}, {14, 14, 9, 13},
    {19, 13, 17, 16}, {11, 10, 15, 15}, {12, 15, 13, 17}, {9, 17, 8, 8},   {20, 19, 11, 12},
};

/* Whether a rank must be given now, since no log has it at a later place. */
static bool is_due(int rank, int place)
{
    for (int later = place + 1; later < POPULAR; later++)
        for (int log = 0; log < LOGS; log++)
            if (ranks_seen[later][log] == rank)
                return false;
    return true;
}

/* The more popular of two ranks. They are drawn from those that the logs have up to this place and
 * that were not given yet. */
static int draw_rank(const struct model *model, const bool *given, int place)
{
    int pool[POPULAR * LOGS], count = 0, best = POPULAR;
    for (int at = 0; at <= place; at++)
        for (int log = 0; log < LOGS; log++)
            if (!given[ranks_seen[at][log]])
                pool[count++] = ranks_seen[at][log];
    for (int draw = 0; draw < 2; draw++) {
        int rank = pool[gsl_rng_uniform_int(model->rng, (unsigned long)count)];
        best = rank < best ? rank : best;
    }
    return best;
}

static void rank_popular(struct model *model)
{
    double shares[POPULAR];
    bool given[POPULAR + 1] = {false};
    popular_shares(shares);
    for (int place = 0; place < POPULAR; place++) {
        int rank = place == 0 ? 1 : 0;
        for (int due = 1; !rank && due <= POPULAR; due++)
            if (!given[due] && is_due(due, place))
                rank = due;
        if (!rank)
            rank = draw_rank(model, given, place);
        given[rank] = true;
        model->values[place].share = shares[rank - 1];
    }
}

/* ---- the other values ---- */

static size_t values_for(size_t jobs)
{
    static const struct {
        double jobs, values;
    } points[] = {{0, 0},      {20, 10},     {200, 20},    {1000, 35},
                  {10000, 90}, {70000, 340}, {250000, 565}};
    size_t last = sizeof(points) / sizeof(points[0]) - 1, i = 1;
    double x = fmin((double)jobs, points[last].jobs);
    while (x > points[i].jobs)
        i++;
    double slope =
        (points[i].values - points[i - 1].values) / (points[i].jobs - points[i - 1].jobs);
    size_t values = (size_t)llround(points[i - 1].values + (x - points[i - 1].jobs) * slope);
    return values > POPULAR ? values : POPULAR + 1;
}

/* Adds the other values. A time that is there already is moved a little. */
static void other_times(struct model *model, size_t jobs)
{
    static const int moves[] = {0, 30, -30, 20, -20, 10, -10};
    size_t all = values_for(jobs), others = all - POPULAR;
    double a = 1 + time_p * pow((double)all, time_q);
    for (size_t i = 1; i <= others; i++) {
        double x = (double)i / (double)others, y = (a - 1) * x / (a - x);
        int64_t at = llround(y * (double)model->longest / MINUTE) * MINUTE;
        for (size_t m = 0; m < sizeof(moves) / sizeof(moves[0]); m++) {
            int64_t moved = at + moves[m];
            if (moved > 0 && moved < model->longest && !has(model, moved)) {
                add(model, moved);
                break;
            }
        }
    }
}

static void other_shares(struct model *model)
{
    size_t others = model->count - POPULAR;
    double shares[VALUES_MAX], sum = 0;
    for (size_t i = 0; i < others; i++)
        sum += shares[i] = pow((double)(POPULAR + 1 + i), tail_power);
    gsl_ran_shuffle(model->rng, shares, others, sizeof(shares[0]));
    for (size_t i = 0; i < others; i++)
        model->values[POPULAR + i].share = shares[i] / sum * (100 - head_percent);
}

/* ---- to jobs ---- */

/* Turns shares into whole numbers of jobs that sum up to all jobs. The remaining jobs go to the
 * largest remainders. */
static void share_out(struct model *model, size_t jobs)
{
    size_t left = jobs;
    double remainders[VALUES_MAX] = {0};
    for (size_t i = 0; i < model->count; i++) {
        double exact = model->values[i].share / 100 * (double)jobs;
        model->values[i].jobs = (size_t)floor(exact);
        remainders[i] = exact - floor(exact);
        left -= model->values[i].jobs;
    }
    for (; left > 0; left--) {
        size_t most = 0;
        for (size_t i = 1; i < model->count; i++)
            most = remainders[i] > remainders[most] ? i : most;
        model->values[most].jobs++;
        remainders[most] -= 1;
    }
}

struct ranked { /* a job by its run time */
    int64_t run_us;
    size_t index;
};

static int compare_runs(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->run_us != y->run_us ? (x->run_us < y->run_us) - (x->run_us > y->run_us)
                                  : (x->index > y->index) - (x->index < y->index);
}

static int64_t *list_estimates(struct model *model, size_t jobs)
{
    int64_t *estimates = calloc(jobs, sizeof(*estimates));
    size_t at = jobs;
    qsort(model->values, model->count, sizeof(model->values[0]), compare_seconds);
    for (size_t i = 0; estimates && i < model->count; i++)
        for (size_t n = 0; n < model->values[i].jobs; n++)
            estimates[--at] = model->values[i].seconds * PLEAT_US_PER_S;
    return estimates; /* sorted, the longest first */
}

/* Gives each job one of the remaining estimates that is not below its run time. Both lists have the
 * longest first. */
static int assign(struct model *model, const struct ranked *runs, int64_t *estimates,
                  struct pleat_workload_jobs *jobs, struct pleat_error *err)
{
    size_t count = jobs->count, short_of = 0;
    for (size_t i = 0; i < count; i++)
        short_of += runs[i].run_us > estimates[i];
    if (short_of > 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "estimates by the model, the longest %g h, are too short for the "
                               "run times: %zu of %zu jobs would be left without one; take a "
                               "larger longest estimate",
                               (double)model->longest / HOUR, short_of, count);
    for (size_t i = 0, end = 0; i < count; i++) {
        while (end < count && estimates[end] >= runs[i].run_us)
            end++;
        size_t pick = i + gsl_rng_uniform_int(model->rng, (unsigned long)(end - i));
        int64_t picked = estimates[pick];
        estimates[pick] = estimates[i];
        jobs->items[runs[i].index].estimate_us = picked;
    }
    return 0;
}

static int estimate(struct model *model, struct pleat_workload_jobs *jobs, struct pleat_error *err)
{
    popular_times(model);
    rank_popular(model);
    other_times(model, jobs->count);
    other_shares(model);
    share_out(model, jobs->count);
    struct ranked *runs = calloc(jobs->count, sizeof(*runs));
    int64_t *estimates = list_estimates(model, jobs->count);
    int rc = PLEAT_E_NOMEM;
    if (!runs || !estimates) {
        pleat_error_set(err, rc, "out of memory");
    } else {
        for (size_t i = 0; i < jobs->count; i++)
            runs[i] = (struct ranked){jobs->items[i].run_us, i};
        qsort(runs, jobs->count, sizeof(*runs), compare_runs);
        rc = assign(model, runs, estimates, jobs, err);
    }
    free(runs);
    free(estimates);
    return rc;
}

/* ---- all of it ---- */

#define LONGEST_LEAST (INT64_C(2) * HOUR)

static int find_longest(const struct pleat_workload_jobs *jobs, int64_t longest_us,
                        struct model *model, struct pleat_error *err)
{
    int64_t run_us = 0;
    for (size_t i = 0; i < jobs->count; i++)
        run_us = jobs->items[i].run_us > run_us ? jobs->items[i].run_us : run_us;
    model->longest = longest_us / PLEAT_US_PER_S;
    if (longest_us == 0) {
        model->longest = (run_us / PLEAT_US_PER_S / HOUR + 1) * HOUR;
        model->longest = model->longest < LONGEST_LEAST ? LONGEST_LEAST : model->longest;
    }
    if (model->longest < PLEAT_ESTIMATE_LONGEST_LEAST_S || model->longest > INT64_C(1000000000))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a longest estimate of %lld s: must be from %d s to 1e9 s",
                               (long long)model->longest, PLEAT_ESTIMATE_LONGEST_LEAST_S);
    if (run_us > model->longest * PLEAT_US_PER_S)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a job runs for %.0f s, above the longest estimate, %lld s: take a "
                               "larger one",
                               (double)run_us / 1e6, (long long)model->longest);
    return 0;
}

int pleat_estimate_popular(struct pleat_workload_jobs *jobs, int64_t longest_us, uint64_t seed,
                           struct pleat_error *err)
{
    enum { STREAM = 64 }; /* not used by the generators */
    struct model *model = calloc(1, sizeof(*model));
    struct pleat_stream *stream = pleat_generate_stream(seed, STREAM);
    int rc = PLEAT_E_NOMEM;
    if (!model || !stream)
        pleat_error_set(err, rc, "out of memory");
    else
        rc = find_longest(jobs, longest_us, model, err);
    if (!rc && jobs->count > 0) {
        model->rng = &stream->rng;
        rc = estimate(model, jobs, err);
    }
    pleat_stream_destroy(stream);
    free(model);
    return rc;
}
