/* paired.h - two series whose values belong together one by one (of one round each): what their
 * ratio is, and how sure that is, without assuming how the values are spread. */
#ifndef PLEAT_BENCH_FOLD_PAIRED_H
#define PLEAT_BENCH_FOLD_PAIRED_H

#include "report.h"

struct bench_paired {
    struct bench_series ratios;
    double median;
    /* The median that infinitely many rounds would have is below `upper`, and above `lower`, with
     * 95 % confidence each. With fewer than 5 pairs they are infinite and 0. */
    double lower, upper;
};

/* Of above[i] / below[i]. */
struct bench_paired bench_paired(const struct bench_series *above,
                                 const struct bench_series *below);
/* Of ratios that were taken already. */
struct bench_paired bench_paired_of(const struct bench_series *ratios);
/* The standard deviation over the mean; 0 for fewer than two values. */
double bench_variation(const struct bench_series *series);

#endif
