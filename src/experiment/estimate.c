#include "experiment/estimate.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "workload/statistics.h"

static double same(double a, double b)
{
    (void)b;
    return a;
}

static double less(double a, double b)
{
    return a - b;
}

static double divided(double a, double b)
{
    return a / b;
}

static struct pleat_estimate estimate_of(double (*of)(double, double), const double *a,
                                         const double *b, size_t count)
{
    struct pleat_estimate estimate = {.mean = (double)NAN, .half = (double)INFINITY};
    double *values = calloc(count + 1, sizeof(*values)), sum = 0;
    for (size_t i = 0; values && i < count; i++) {
        double value = of(a[i], b ? b[i] : 0);
        if (!isfinite(value))
            continue;
        values[estimate.count++] = value;
        sum += value;
    }
    if (estimate.count > 0)
        estimate.mean = sum / (double)estimate.count;
    if (estimate.count > 1)
        estimate.half = pleat_confidence(values, estimate.count, 0.95);
    free(values);
    return estimate;
}

struct pleat_estimate pleat_estimate(const double *values, size_t count)
{
    return estimate_of(same, values, NULL, count);
}

struct pleat_estimate pleat_estimate_difference(const double *a, const double *b, size_t count)
{
    return estimate_of(less, a, b, count);
}

struct pleat_estimate pleat_estimate_ratio(const double *a, const double *b, size_t count)
{
    return estimate_of(divided, a, b, count);
}

void pleat_estimate_ends(struct pleat_estimate estimate, double *low, double *high)
{
    bool sure = !isfinite(estimate.half) || !(estimate.half > 0);
    *low = sure ? (double)NAN : estimate.mean - estimate.half;
    *high = sure ? (double)NAN : estimate.mean + estimate.half;
}

int pleat_numbers_init(struct pleat_numbers *numbers, size_t settings, size_t metrics, size_t seeds)
{
    size_t count = settings * metrics * seeds;
    *numbers = (struct pleat_numbers){settings, metrics, seeds, calloc(count + 1, sizeof(double))};
    if (!numbers->values)
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        numbers->values[i] = (double)NAN;
    return 0;
}

void pleat_numbers_finish(struct pleat_numbers *numbers)
{
    free(numbers->values);
    *numbers = (struct pleat_numbers){0};
}

struct pleat_estimate pleat_numbers_estimate(const struct pleat_numbers *numbers, size_t setting,
                                             size_t metric)
{
    return pleat_estimate(pleat_numbers_of(numbers, setting, metric), numbers->seeds);
}

struct pleat_estimate pleat_numbers_difference(const struct pleat_numbers *numbers, size_t a,
                                               size_t b, size_t metric)
{
    return pleat_estimate_difference(pleat_numbers_of(numbers, a, metric),
                                     pleat_numbers_of(numbers, b, metric), numbers->seeds);
}

struct pleat_estimate pleat_numbers_ratio(const struct pleat_numbers *numbers, size_t a, size_t b,
                                          size_t metric)
{
    return pleat_estimate_ratio(pleat_numbers_of(numbers, a, metric),
                                pleat_numbers_of(numbers, b, metric), numbers->seeds);
}
