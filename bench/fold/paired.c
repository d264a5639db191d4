#include "paired.h"

#include <math.h>

#define CONFIDENCE 0.95

/* The bounds are values of the series. Returns the index of the upper bound in the sorted series:
 * k - 1 for the least k for which the probability that k or more of the n values are below the
 * median is at most 5 % (each value is with probability one half). n: there is no such bound. */
static int bound_of(int n)
{
    double together = 0; /* probability that at least k of n are below the median */
    double term = pow(0.5, n);
    int bound = n;
    for (int k = n; k >= 0 && together + term <= 1 - CONFIDENCE; k--) {
        together += term;
        bound = k - 1;
        term *= (double)k / (n - k + 1);
    }
    return bound;
}

struct bench_paired bench_paired_of(const struct bench_series *ratios)
{
    struct bench_paired paired = {.ratios = *ratios};
    paired.median = bench_median(ratios);
    int n = ratios->count;
    int bound = bound_of(n);
    bool known = bound < n;
    paired.upper = known ? bench_quantile(ratios, bound / (n - 1.0)) : INFINITY;
    paired.lower = known ? bench_quantile(ratios, (n - 1 - bound) / (n - 1.0)) : 0;
    return paired;
}

struct bench_paired bench_paired(const struct bench_series *above, const struct bench_series *below)
{
    struct bench_series ratios = {.count = 0};
    for (int i = 0; i < above->count && i < below->count; i++)
        bench_add(&ratios, above->values[i] / below->values[i]);
    return bench_paired_of(&ratios);
}

double bench_variation(const struct bench_series *series)
{
    double sum = 0, squares = 0;
    if (series->count < 2)
        return 0;
    for (int i = 0; i < series->count; i++)
        sum += series->values[i];
    double mean = sum / series->count;
    for (int i = 0; i < series->count; i++)
        squares += (series->values[i] - mean) * (series->values[i] - mean);
    return mean > 0 ? sqrt(squares / (series->count - 1)) / mean : 0;
}
