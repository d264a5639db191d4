#include "sim/uneven.h"

#include <math.h>

#include "base/random.h"

/* ---- normal variables ---- */

static double polynomial(const double *coefficients, int count, double x)
{
    double value = 0;
    for (int i = 0; i < count; i++)
        value = value * x + coefficients[i];
    return value;
}

/* Of P(Z > z) = p for a small p. */
static double in_tail(double p)
{
    static const double above[] = {-7.784894002430293e-03, -3.223964580411365e-01,
                                   -2.400758277161838e+00, -2.549732539343734e+00,
                                   4.374664141464968e+00,  2.938163982698783e+00};
    static const double below[] = {7.784695709041462e-03, 3.224671290700398e-01,
                                   2.445134137142996e+00, 3.754408661907416e+00, 1};
    double q = sqrt(-2 * log(p));
    return -polynomial(above, 6, q) / polynomial(below, 5, q);
}

double normal_above(double p)
{
    static const double above[] = {-3.969683028665376e+01, 2.209460984245205e+02,
                                   -2.759285104469687e+02, 1.383577518672690e+02,
                                   -3.066479806614716e+01, 2.506628277459239e+00};
    static const double below[] = {-5.447609879822406e+01, 1.615858368580409e+02,
                                   -1.556989798598866e+02, 6.680131188771972e+01,
                                   -1.328068155288572e+01, 1};
    static const double tail = 0.02425;
    if (p < tail)
        return in_tail(p);
    if (p > 1 - tail)
        return -in_tail(1 - p);
    double q = 0.5 - p;
    return polynomial(above, 6, q * q) * q / polynomial(below, 6, q * q);
}

static double draw(struct pleat_random *random)
{
    return 1 - pleat_random_unit(random); /* above 0 */
}

/* The largest of `count` standard normal variables, with one draw: all are at most z with the
 * probability P(Z <= z)^count. */
static double largest_of(struct pleat_random *random, int32_t count)
{
    double p = -expm1(log(draw(random)) / count);
    return normal_above(p > 0 ? fmin(p, 1 - 1e-16) : 1e-300);
}

/* ---- processes ---- */

static double at_least(double factor)
{
    return factor > 0.01 ? factor : 0.01; /* as where runs differ */
}

/* The slowest of the processes from the second on, each with the speed of its whole run. */
static double slowest_process(const struct uneven *uneven, double *first)
{
    double slowest = -INFINITY;
    for (int32_t i = 0; i < uneven->processes; i++) {
        struct pleat_random random;
        pleat_random_init(&random, uneven->seed ^ ((uint64_t)i + 1) << 40);
        double z = largest_of(&random, 1);
        if (i == 0)
            *first = z;
        else
            slowest = fmax(slowest, z);
    }
    return slowest;
}

double uneven_iteration(const struct uneven *uneven, uint64_t iteration)
{
    struct pleat_random random;
    double first = 0, slowest = -INFINITY;
    if (uneven->varies == PLEAT_VARIES_PROCESS) {
        slowest = slowest_process(uneven, &first);
    } else {
        pleat_random_init(&random, uneven->seed ^ (iteration + 1) << 40);
        first = largest_of(&random, 1);
        if (uneven->processes > 1)
            slowest = largest_of(&random, uneven->processes - 1);
    }
    /* the standard deviation of a sum of objects that differ by themselves grows with its root */
    bool object = uneven->varies == PLEAT_VARIES_OBJECT;
    double root_most = object ? sqrt(uneven->most) : 1, root = object ? sqrt(uneven->others) : 1;
    double most = uneven->most * at_least(1 + uneven->spread * first / root_most);
    if (uneven->processes <= 1)
        return most;
    return fmax(most, uneven->others * at_least(1 + uneven->spread * slowest / root));
}
