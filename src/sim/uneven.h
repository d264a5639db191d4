/* uneven.h - iterations of processes that are not all as fast: how long the slowest takes. */
#ifndef PLEAT_SIM_UNEVEN_H
#define PLEAT_SIM_UNEVEN_H

#include "model/workload.h"

/* One process has `most` objects, the others have `others`. */
struct uneven {
    uint64_t seed; /* of the run */
    enum pleat_varies varies;
    double spread; /* standard deviation of what an object takes, as a share of its mean */
    int32_t processes;
    double most, others;
};

/* How long an iteration takes, in mean times of an object. Depends on its number, the seed and what
 * is in *uneven alone: it does not matter when, or how often, it is asked. */
double uneven_iteration(const struct uneven *uneven, uint64_t iteration);

/* The value that a standard normal variable exceeds with probability p, 0 < p < 1; exact to about
 * nine digits (the rational approximation of P. J. Acklam). */
double normal_above(double p);

#endif
