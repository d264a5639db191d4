/* results.c - what the runs show: gains over rigid jobs, and the best policies. */
#include <math.h>
#include <stdio.h>

#include "experiments/logs/logs.h"

#define AS_GOOD 1.02 /* within 2 % of the best other row, or not distinguishable from it */
#define STUDY "ElastiSim study (arXiv 2602.17318), three recorded logs"

long logs_setting(const struct logs_results *results, size_t workload, size_t row, int share,
                  double worse)
{
    for (size_t c = 0; c < results->cases->count; c++) {
        const struct logs_case *about = &results->cases->items[c];
        if (about->row == row && about->share == share && about->worse == worse)
            return (long)(workload * results->cases->count + c);
    }
    return LOGS_NO_CASE;
}

size_t logs_best_other(const struct logs_results *results, size_t workload, int share)
{
    size_t best = LOGS_EASY;
    double least = INFINITY;
    for (size_t row = 0; row < results->rows->count; row++) {
        long setting = logs_setting(results, workload, row, share, 0);
        if (!results->rows->items[row].compared || setting == LOGS_NO_CASE)
            continue;
        double mean = pleat_numbers_estimate(&results->numbers, (size_t)setting, TURNAROUND).mean;
        if (mean < least) {
            least = mean;
            best = row;
        }
    }
    return best;
}

static struct pleat_estimate ratio(const struct logs_results *results, size_t workload,
                                   size_t row_a, int share_a, size_t row_b, int share_b)
{
    long a = logs_setting(results, workload, row_a, share_a, 0);
    long b = logs_setting(results, workload, row_b, share_b, 0);
    return a == LOGS_NO_CASE || b == LOGS_NO_CASE
               ? (struct pleat_estimate){.mean = NAN, .half = NAN}
               : pleat_numbers_ratio(&results->numbers, (size_t)a, (size_t)b, TURNAROUND);
}

/* ---- shapes ---- */

struct range {
    double least, most;
    size_t held, count;
};

static void add(struct range *range, double value, bool held)
{
    range->least = range->count == 0 || value < range->least ? value : range->least;
    range->most = range->count == 0 || value > range->most ? value : range->most;
    range->count++;
    range->held += held;
}

/* With `more` % malleable jobs turnaround is shorter than with `less` %, under the reference's
 * policies. */
static void tell_gain(const struct logs_results *results, int more, int less, const char *statement)
{
    struct range range = {0};
    for (size_t w = 0; w < results->workloads->count; w++) {
        struct pleat_estimate of = ratio(results, w, LOGS_EASY, more, LOGS_EASY, less);
        add(&range, 100 * (1 - of.mean), pleat_estimate_below(of, 1));
    }
    pleat_study_shape(results->study,
                      &(struct pleat_shape){.statement = statement,
                                            .where = STUDY,
                                            .expected = PLEAT_CLAIMED,
                                            .holds = range.held == range.count},
                      "%.1f to %.1f %% shorter by workload, beyond the interval in %zu of %zu",
                      range.least, range.most, range.held, range.count);
}

static void tell_size(const struct logs_results *results)
{
    struct range range = {0};
    for (size_t w = 0; w < results->workloads->count; w++)
        for (size_t s = 1; s < results->share_count; s++) {
            struct pleat_estimate of =
                ratio(results, w, LOGS_EASY, results->shares[s], LOGS_EASY, 0);
            double gain = 100 * (1 - of.mean);
            add(&range, gain, gain >= 37 && gain <= 67);
        }
    pleat_study_shape(results->study,
                      &(struct pleat_shape){.statement = "Turnaround is 37 to 67 % shorter",
                                            .where = STUDY,
                                            .expected = PLEAT_NOT_FOUND,
                                            .holds = range.held == range.count},
                      "%.1f to %.1f %% by workload and share of malleable jobs, within 37 to 67 %% "
                      "in %zu of %zu",
                      range.least, range.most, range.held, range.count);
}

/* The project's own policies against the best of the others, for each workload. pwa-next was made
 * while looking at two of these, so what holds is fitted. */
static void tell_own(const struct logs_results *results, int share)
{
    struct range range = {0};
    for (size_t w = 0; w < results->workloads->count; w++) {
        size_t best = logs_best_other(results, w, share);
        struct pleat_estimate of = ratio(results, w, LOGS_OWN, share, best, share);
        add(&range, of.mean, of.mean <= AS_GOOD || of.mean - of.half <= 1);
    }
    char statement[160];
    snprintf(statement, sizeof(statement),
             "With %d %% malleable jobs `pwa-next` with `scan`, `sjf` and `equipartition` has a "
             "turnaround as short as the best of the others at each workload",
             share);
    pleat_study_shape(results->study,
                      &(struct pleat_shape){.statement = statement,
                                            .where = "a goal of this project",
                                            .expected = share > 0 ? PLEAT_FITTED : PLEAT_NOT_FOUND,
                                            .holds = range.held == range.count},
                      "%.2f to %.2f times the best other's; within 2 %%, or not told apart, at %zu "
                      "of %zu",
                      range.least, range.most, range.held, range.count);
}

/* What a short mean turnaround costs: the longest wait, against that of EASY. */
static void tell_longest(const struct logs_results *results)
{
    struct range range = {0};
    for (size_t w = 0; w < results->workloads->count; w++)
        for (size_t s = 0; s < results->share_count; s++) {
            int share = results->shares[s];
            long own = logs_setting(results, w, LOGS_OWN, share, 0);
            long easy = logs_setting(results, w, LOGS_EASY, share, 0);
            double most = pleat_numbers_estimate(&results->numbers, (size_t)own, WAIT_MOST).mean;
            double bound = pleat_numbers_estimate(&results->numbers, (size_t)easy, WAIT_MOST).mean;
            if (bound > 0)
                add(&range, most / bound, most <= bound);
        }
    pleat_study_shape(results->study,
                      &(struct pleat_shape){.statement = "The longest wait is then no longer than "
                                                         "that of EASY in the order of arrival",
                                            .where = "a goal of this project",
                                            .expected = PLEAT_NOT_FOUND,
                                            .holds = range.held == range.count},
                      "%.1f to %.1f times EASY's by workload and share; no longer in %zu of %zu",
                      range.least, range.most, range.held, range.count);
}

void logs_tell_shapes(const struct logs_results *results)
{
    const int *shares = results->shares;
    tell_gain(results, shares[1], 0,
              results->study->quick ? "Some malleable jobs shorten turnaround"
                                    : "20 % malleable jobs shorten turnaround already");
    for (size_t s = 2; s < results->share_count; s++) {
        char statement[96];
        snprintf(statement, sizeof(statement),
                 "%d %% malleable jobs shorten turnaround more than %d %%", shares[s],
                 shares[s - 1]);
        tell_gain(results, shares[s], shares[s - 1], statement);
    }
    tell_size(results);
    for (size_t s = 0; s < results->share_count; s++)
        tell_own(results, shares[s]);
    tell_longest(results);
}
