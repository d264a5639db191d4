#include "workload/statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

void pleat_summarize(double *values, size_t count, struct pleat_summary *summary)
{
    memset(summary, 0, sizeof(*summary));
    if (count == 0)
        return;
    gsl_sort(values, 1, count);
    summary->count = count;
    summary->mean = gsl_stats_mean(values, 1, count);
    summary->deviation = count > 1 ? gsl_stats_sd_m(values, 1, count, summary->mean) : 0;
    summary->least = values[0];
    summary->median = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.5);
    summary->p95 = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.95);
    summary->most = values[count - 1];
}

double pleat_confidence(const double *values, size_t count, double confidence)
{
    if (count < 2)
        return 0;
    double quantile = gsl_cdf_tdist_Pinv((1 + confidence) / 2, (double)count - 1);
    return quantile * gsl_stats_sd(values, 1, count) / sqrt((double)count);
}

double pleat_bounded_slowdown(double wait_s, double run_s, double tau_s)
{
    double slowdown = (wait_s + run_s) / (run_s > tau_s ? run_s : tau_s);
    return slowdown > 1 ? slowdown : 1;
}
