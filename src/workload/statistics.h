/* statistics.h - describes samples. The caller must leave out NaNs. */
#ifndef PLEAT_WORKLOAD_STATISTICS_H
#define PLEAT_WORKLOAD_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

struct pleat_summary {
    size_t count;
    double mean, deviation; /* sample standard deviation; 0 for one value */
    double least, median, p95, most;
};

/* Sorts `values` in place. An empty sample gives zeros. Quantiles are interpolated linearly between
 * order statistics (type 7 of Hyndman and Fan 1996, as in GSL and NumPy). */
void pleat_summarize(double *values, size_t count, struct pleat_summary *summary);

/* Half the width of the confidence interval of the mean (Student's t). confidence: 0.95, for
 * example. 0 for fewer than two values. */
double pleat_confidence(const double *values, size_t count, double confidence);

/* Bounded slowdown (Feitelson et al. 1997): max(1, (wait + run) / max(run, tau)). */
double pleat_bounded_slowdown(double wait_s, double run_s, double tau_s);

#endif
