/* modes.h - fields of which is known at every point what they have to be, since they are sums of
 * eigenvectors of the operator: products of sines in a box whose walls are 0, of five quantities
 * each. One of them stays, since a source keeps it; another one is multiplied by a known factor in
 * each step.
 */
#ifndef PLEAT_APPS_MODES_H
#define PLEAT_APPS_MODES_H

#include "plain.h"

#define MODES_COMPONENTS 5

enum { MODE_STAYS, MODE_FADES, MODES };

struct modes {
    double eigenvalue[MODES][3];               /* of -1 2 -1 along each direction */
    double amplitude[MODES][MODES_COMPONENTS]; /* of each quantity */
    double factor[MODES_COMPONENTS];           /* of what fades, in a step */
    double *sine[MODES][3];                    /* at each point along each direction */
};

/* Sets the sines and eigenvalues for these numbers of points; the caller sets the other members. */
void modes_begin(struct modes *modes, const long long points[3]);
void modes_end(struct modes *modes);

/* The product of a mode's sines. */
double modes_shape(const struct modes *modes, int mode, long long x, long long y, long long z);
/* The factors to the power of the number of steps. */
void modes_powers(const struct modes *modes, long long steps, double powers[MODES_COMPONENTS]);
/* The values of a point after the steps whose powers these are. */
void modes_at(const struct modes *modes, const double powers[MODES_COMPONENTS], long long x,
              long long y, long long z, double values[MODES_COMPONENTS]);
/* Counts the values of a point that differ from them. */
void modes_check(const struct modes *modes, struct plain *plain,
                 const double powers[MODES_COMPONENTS], long long x, long long y, long long z,
                 const double *values);

#endif
