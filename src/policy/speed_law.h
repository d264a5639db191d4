/* speed_law.h - how long an iteration takes on so many processors, fitted to what was measured.
 *
 *   T(p) = serial + parallel / p + overhead p
 *
 * Amdahl's law (1967), with a term for what grows with the processors, as collective communication
 * does (Downey's model of 1997 has no such term, so no size is too large in it). The fit is
 * weighted least squares with none of the terms below 0; of these those are taken that explain
 * the measurements with the fewest (Akaike 1974), and never more than there are sizes. Pure
 * arithmetic: the same points give the same law on every machine that computes as IEEE 754 says.
 *
 * Where it is known of all points on which process grid r x c they were measured there is one more
 * term:
 *
 *   T(r, c) = serial + parallel / (r c) + overhead r c + edge (1 / r + 1 / c)
 *
 * which is how much each process sends in products of matrices over a grid (van de Geijn and Watts
 * 1997, SUMMA), and in stencils, whose parts have edges as long as that. */
#ifndef PLEAT_POLICY_SPEED_LAW_H
#define PLEAT_POLICY_SPEED_LAW_H

#include <stdint.h>

enum { PLEAT_SPEED_TERMS = 4, PLEAT_SPEED_POINTS = 24 };

/* What was measured at one size. */
struct pleat_speed_point {
    double processors;
    double mean_us; /* above 0 */
    double squares; /* the sum of the squares of all differences from the mean */
    double count;   /* iterations, at least 1 */
    double edge;    /* 1 / r + 1 / c on a process grid of r x c; 0: not known */
};

struct pleat_speed_points {
    uint32_t count;
    struct pleat_speed_point items[PLEAT_SPEED_POINTS];
};

struct pleat_speed_law {
    uint32_t sizes; /* to which it was fitted; 0: it says nothing */
    double largest; /* the largest of these; terms are about p / largest */
    double spread;  /* standard deviation of an iteration, as a share of the mean, at all sizes */
    double freedom; /* the iterations of which this is known, less the sizes */
    uint32_t used;  /* terms that are above 0 */
    double misfit;  /* by how much a mean differs from it at most, as a share, beyond two of its
                     * standard errors */
    /* serial, parallel, overhead at `largest` processors, edge; in us */
    double terms[PLEAT_SPEED_TERMS];
    double covariance[PLEAT_SPEED_TERMS][PLEAT_SPEED_TERMS];
};

/* An estimate and its standard error. */
struct pleat_speed_time {
    double us, error_us;
};

/* Points beyond PLEAT_SPEED_POINTS take the place of those of which the least is known. */
void pleat_speed_add(struct pleat_speed_points *points, struct pleat_speed_point point);
struct pleat_speed_law pleat_speed_fit(const struct pleat_speed_points *points);
/* What the law says of a size. Of a single point it says nothing about other sizes: they are then
 * taken to be as much faster as they are larger. */
struct pleat_speed_time pleat_speed_predict(const struct pleat_speed_law *law, double processors);
/* The same of a process grid, of a law that was fitted to points on grids. */
struct pleat_speed_time pleat_speed_predict_grid(const struct pleat_speed_law *law, int rows,
                                                 int columns);
/* A time as a share of another one, both above 0, and the standard error of that. */
struct pleat_speed_time pleat_speed_ratio(const struct pleat_speed_time *of,
                                          const struct pleat_speed_time *to);
/* The error of the mean of one point. Where hardly anything is known of the spread, at least a
 * hundredth. */
double pleat_speed_error(const struct pleat_speed_law *law, const struct pleat_speed_point *point);
/* The size at which the law's time is shortest, within least to most. */
double pleat_speed_shortest(const struct pleat_speed_law *law, double least, double most);
/* Student's quantile for a two-sided confidence of 50 to 99 per cent: how many standard errors an
 * estimate may be off. Between tabulated values linear, for few degrees of freedom by the first
 * term of Fisher and Cornish (1960). */
double pleat_speed_quantile(int32_t confidence, double freedom);

#endif
