/* The wave equation, of second order in time (leapfrog) and of fourth order in space. */
#ifndef WAVE_H
#define WAVE_H

#include "grid.h"

struct wave {
    double courant; /* speed of the wave, in cells a step */
    int mode[3];    /* waves along each side of the box */
};

/* Sets u to the standing wave as it is after `step` steps. */
void wave_fill(const struct wave *wave, const struct grid *grid, double *u, long step);

/* Makes the wave before `now` the one after it. The halo of `now` is there. */
void wave_step(const struct wave *wave, const struct grid *grid, const double *now, double *u);

/* The largest difference of any cell of all pencils from the standing wave after `step` steps. */
double wave_error(const struct wave *wave, const struct grid *grid, const double *u, long step);

/* The energy between two steps, which the scheme conserves. The halo of `now` is there. */
double wave_energy(const struct wave *wave, const struct grid *grid, const double *now,
                   const double *before);

#endif
