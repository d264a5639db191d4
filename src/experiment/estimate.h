/* estimate.h - means over many seeds, with their 95 % confidence intervals (Student's t). */
#ifndef PLEAT_EXPERIMENT_ESTIMATE_H
#define PLEAT_EXPERIMENT_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

struct pleat_estimate {
    double mean, half; /* the interval is mean - half to mean + half */
    /* number of values. With one value half is infinite, with none mean is not a number */
    size_t count;
};

/* The mean of values. Those that are not numbers are left out. */
struct pleat_estimate pleat_estimate(const double *values, size_t count);
/* The mean of a[i] - b[i], for two settings with the same seeds. Its interval is far narrower than
 * those of the two settings. Pairs in which one is not a number are left out. */
struct pleat_estimate pleat_estimate_difference(const double *a, const double *b, size_t count);
/* The mean of a[i] / b[i], in the same way. */
struct pleat_estimate pleat_estimate_ratio(const double *a, const double *b, size_t count);

/* The ends of the interval, for a figure. Not numbers where there is no interval: with one seed, or
 * if all seeds gave the same value. */
void pleat_estimate_ends(struct pleat_estimate estimate, double *low, double *high);

/* Is all of the interval above, below, or within the bounds? Never with fewer than two values. */
static inline bool pleat_estimate_above(struct pleat_estimate estimate, double bound)
{
    return estimate.count > 1 && estimate.mean - estimate.half > bound;
}
static inline bool pleat_estimate_below(struct pleat_estimate estimate, double bound)
{
    return estimate.count > 1 && estimate.mean + estimate.half < bound;
}
static inline bool pleat_estimate_within(struct pleat_estimate estimate, double low, double high)
{
    return pleat_estimate_above(estimate, low) && pleat_estimate_below(estimate, high);
}

/* ---- numbers by setting, metric and seed ---- */

struct pleat_numbers {
    size_t settings, metrics, seeds;
    double *values; /* NAN: not measured */
};

/* PLEAT_E_NOMEM. */
int pleat_numbers_init(struct pleat_numbers *numbers, size_t settings, size_t metrics, size_t seeds)
    __attribute__((warn_unused_result));
void pleat_numbers_finish(struct pleat_numbers *numbers);

/* A metric of a setting, by seed. */
static inline double *pleat_numbers_of(const struct pleat_numbers *numbers, size_t setting,
                                       size_t metric)
{
    return numbers->values + (setting * numbers->metrics + metric) * numbers->seeds;
}
struct pleat_estimate pleat_numbers_estimate(const struct pleat_numbers *numbers, size_t setting,
                                             size_t metric);
/* The difference (or ratio) of a metric between setting a and setting b, over the same seeds. */
struct pleat_estimate pleat_numbers_difference(const struct pleat_numbers *numbers, size_t a,
                                               size_t b, size_t metric);
struct pleat_estimate pleat_numbers_ratio(const struct pleat_numbers *numbers, size_t a, size_t b,
                                          size_t metric);

#endif
