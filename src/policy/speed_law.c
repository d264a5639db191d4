#include "policy/speed_law.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* How far a mean may be from what any such law says, as a share of it, however often it was
 * measured: programs do not obey laws exactly. */
#define MODEL_ERROR 0.01
/* Sums of squares, in standard errors, that differ by no more than this are the same. */
#define SAME 1e-3

void pleat_speed_add(struct pleat_speed_points *points, struct pleat_speed_point point)
{
    if (points->count < PLEAT_SPEED_POINTS) {
        points->items[points->count++] = point;
        return;
    }
    uint32_t least = 0;
    for (uint32_t i = 1; i < points->count; i++)
        if (points->items[i].count < points->items[least].count)
            least = i;
    if (point.count > points->items[least].count)
        points->items[least] = point;
}

static void measure_spread(const struct pleat_speed_points *points, struct pleat_speed_law *law)
{
    double squares = 0;
    for (uint32_t i = 0; i < points->count; i++) {
        const struct pleat_speed_point *point = &points->items[i];
        squares += point->squares / (point->mean_us * point->mean_us);
        law->freedom += point->count - 1;
        law->largest = point->processors > law->largest ? point->processors : law->largest;
    }
    law->sizes = points->count;
    law->spread = law->freedom > 0 ? sqrt(squares / law->freedom) : 0;
}

double pleat_speed_error(const struct pleat_speed_law *law, const struct pleat_speed_point *point)
{
    double spread = law->spread;
    if (law->freedom < 3 && spread < MODEL_ERROR)
        spread = MODEL_ERROR;
    return point->mean_us * spread / sqrt(point->count);
}

/* The terms' factors at a size, on a grid. */
static void factors(const struct pleat_speed_law *law, double processors, double edge,
                    double x[PLEAT_SPEED_TERMS])
{
    x[3] = edge;
    x[0] = 1;
    x[1] = law->largest / processors;
    x[2] = processors / law->largest;
}

/* ---- least squares ---- */

/* Normal equations, in units of the standard error of each point. */
struct equations {
    double a[PLEAT_SPEED_TERMS][PLEAT_SPEED_TERMS], b[PLEAT_SPEED_TERMS], yy;
};

static struct equations set_up(const struct pleat_speed_law *law,
                               const struct pleat_speed_points *points)
{
    struct equations e;
    memset(&e, 0, sizeof(e));
    for (uint32_t i = 0; i < points->count; i++) {
        const struct pleat_speed_point *point = &points->items[i];
        double x[PLEAT_SPEED_TERMS], own = pleat_speed_error(law, point);
        double model = point->mean_us * MODEL_ERROR;
        double weight = 1 / (own * own + model * model);
        factors(law, point->processors, point->edge, x);
        for (int r = 0; r < PLEAT_SPEED_TERMS; r++) {
            for (int c = 0; c < PLEAT_SPEED_TERMS; c++)
                e.a[r][c] += weight * x[r] * x[c];
            e.b[r] += weight * x[r] * point->mean_us;
        }
        e.yy += weight * point->mean_us * point->mean_us;
    }
    return e;
}

/* Inverts the rows and columns of `a` that `mask` has, by Gauss and Jordan; the others become 0.
 * False: they do not determine anything. */
static bool invert(const struct equations *e, unsigned mask,
                   double inverse[PLEAT_SPEED_TERMS][PLEAT_SPEED_TERMS])
{
    double a[PLEAT_SPEED_TERMS][PLEAT_SPEED_TERMS];
    memcpy(a, e->a, sizeof(a));
    memset(inverse, 0, sizeof(a));
    for (int i = 0; i < PLEAT_SPEED_TERMS; i++)
        inverse[i][i] = (mask >> i) & 1u;
    for (int p = 0; p < PLEAT_SPEED_TERMS; p++) {
        if (!((mask >> p) & 1u))
            continue;
        double pivot = a[p][p];
        if (!(pivot > 1e-12 * e->a[p][p]))
            return false;
        for (int c = 0; c < PLEAT_SPEED_TERMS; c++) {
            a[p][c] /= pivot;
            inverse[p][c] /= pivot;
        }
        for (int r = 0; r < PLEAT_SPEED_TERMS; r++) {
            double factor = a[r][p];
            if (r == p || !((mask >> r) & 1u))
                continue;
            for (int c = 0; c < PLEAT_SPEED_TERMS; c++) {
                a[r][c] -= factor * a[p][c];
                inverse[r][c] -= factor * inverse[p][c];
            }
        }
    }
    return true;
}

/* Solves for the terms in `mask`. False: one of them would not be above 0. *left: what they leave
 * unexplained, as a sum of squares. */
static bool solve(const struct equations *e, unsigned mask, struct pleat_speed_law *law,
                  double *left)
{
    if (!invert(e, mask, law->covariance))
        return false;
    *left = e->yy;
    for (int r = 0; r < PLEAT_SPEED_TERMS; r++) {
        law->terms[r] = 0;
        for (int c = 0; c < PLEAT_SPEED_TERMS; c++)
            if ((mask >> c) & 1u)
                law->terms[r] += law->covariance[r][c] * e->b[c];
        if (((mask >> r) & 1u) && !(law->terms[r] > 0))
            return false;
        *left -= law->terms[r] * e->b[r];
    }
    if (*left < 0)
        *left = 0; /* rounding */
    return true;
}

static struct pleat_speed_time predict(const struct pleat_speed_law *law, double processors,
                                       double edge)
{
    struct pleat_speed_time time = {0, 0};
    double x[PLEAT_SPEED_TERMS], variance = 0;
    if (law->sizes == 0)
        return time;
    factors(law, processors, edge, x);
    for (int r = 0; r < PLEAT_SPEED_TERMS; r++) {
        time.us += law->terms[r] * x[r];
        for (int c = 0; c < PLEAT_SPEED_TERMS; c++)
            variance += x[r] * law->covariance[r][c] * x[c];
    }
    time.error_us = variance > 0 ? sqrt(variance) : 0;
    return time;
}

static double misfit_of(const struct pleat_speed_law *law, const struct pleat_speed_points *points)
{
    double worst = 0;
    for (uint32_t i = 0; i < points->count; i++) {
        const struct pleat_speed_point *point = &points->items[i];
        double off = fabs(predict(law, point->processors, point->edge).us - point->mean_us);
        double beyond = (off - 2 * pleat_speed_error(law, point)) / point->mean_us;
        worst = beyond > worst ? beyond : worst;
    }
    return worst;
}

static bool on_grids(const struct pleat_speed_points *points)
{
    for (uint32_t i = 0; i < points->count; i++)
        if (!(points->items[i].edge > 0))
            return false;
    return true;
}

struct pleat_speed_law pleat_speed_fit(const struct pleat_speed_points *points)
{
    /* the simplest first; parallel work is in all of them. Those behind are for grids */
    static const struct {
        unsigned mask;
        uint32_t terms;
    } tries[] = {{2, 1}, {3, 2}, {6, 2}, {7, 3}, {10, 2}, {11, 3}, {14, 3}, {15, 4}};
    size_t count = on_grids(points) ? 8 : 4;
    struct pleat_speed_law law = {0}, best = {0};
    double least = INFINITY;
    measure_spread(points, &law);
    if (law.sizes == 0)
        return law;
    const struct equations e = set_up(&law, points);
    for (size_t i = 0; i < count; i++) {
        double left = 0;
        if (tries[i].terms > law.sizes || !solve(&e, tries[i].mask, &law, &left) ||
            left + 2 * tries[i].terms >= least - SAME)
            continue;
        least = left + 2 * tries[i].terms;
        best = law;
        best.used = tries[i].terms;
        /* where even the best law does not fit, it is as uncertain as that */
        double free = (double)law.sizes - tries[i].terms;
        double scale = free > 0 && left > free ? left / free : 1;
        for (int r = 0; r < PLEAT_SPEED_TERMS; r++)
            for (int c = 0; c < PLEAT_SPEED_TERMS; c++)
                best.covariance[r][c] *= scale;
    }
    best.misfit = misfit_of(&best, points);
    return best;
}

/* ---- what it says ---- */

struct pleat_speed_time pleat_speed_predict(const struct pleat_speed_law *law, double processors)
{
    return predict(law, processors, 0);
}

struct pleat_speed_time pleat_speed_predict_grid(const struct pleat_speed_law *law, int rows,
                                                 int columns)
{
    return predict(law, (double)rows * columns, 1.0 / rows + 1.0 / columns);
}

struct pleat_speed_time pleat_speed_ratio(const struct pleat_speed_time *of,
                                          const struct pleat_speed_time *to)
{
    double a = of->error_us / of->us, b = to->error_us / to->us, share = of->us / to->us;
    return (struct pleat_speed_time){share, share * sqrt(a * a + b * b)};
}

double pleat_speed_shortest(const struct pleat_speed_law *law, double least, double most)
{
    if (!(law->terms[2] > 0))
        return most;
    double at = law->largest * sqrt(law->terms[1] / law->terms[2]);
    return at < least ? least : at > most ? most : at;
}

double pleat_speed_quantile(int32_t confidence, double freedom)
{
    static const struct {
        double confidence, errors;
    } normal[] = {{50, 0.6745}, {60, 0.8416}, {70, 1.0364}, {80, 1.2816},
                  {90, 1.6449}, {95, 1.9600}, {98, 2.3263}, {99, 2.5758}};
    enum { LAST = sizeof(normal) / sizeof(normal[0]) - 1 };
    double wanted = confidence < 50 ? 50 : confidence > 99 ? 99 : confidence;
    int i = 0;
    while (i < LAST - 1 && wanted > normal[i + 1].confidence)
        i++;
    double share =
        (wanted - normal[i].confidence) / (normal[i + 1].confidence - normal[i].confidence);
    double z = normal[i].errors + share * (normal[i + 1].errors - normal[i].errors);
    if (freedom < 1)
        freedom = 1;
    return z + (z * z * z + z) / (4 * freedom);
}
