#include "modes.h"

#include <math.h>
#include <stdlib.h>

#define TOLERANCE 1e-9 /* amplitudes are about 1 */

static const int waves[MODES][3] = {[MODE_STAYS] = {1, 2, 1}, [MODE_FADES] = {2, 1, 3}};

void modes_begin(struct modes *modes, const long long points[3])
{
    for (int m = 0; m < MODES; m++)
        for (int d = 0; d < 3; d++) {
            double angle = acos(-1.0) * waves[m][d] / (double)(points[d] + 1);
            modes->eigenvalue[m][d] = 2 - 2 * cos(angle);
            modes->sine[m][d] = plain_allocate((size_t)points[d], sizeof(double));
            for (long long i = 0; i < points[d]; i++)
                modes->sine[m][d][i] = sin(angle * (double)(i + 1));
        }
}

void modes_end(struct modes *modes)
{
    for (int m = 0; m < MODES; m++)
        for (int d = 0; d < 3; d++)
            free(modes->sine[m][d]);
}

double modes_shape(const struct modes *modes, int mode, long long x, long long y, long long z)
{
    return modes->sine[mode][0][x] * modes->sine[mode][1][y] * modes->sine[mode][2][z];
}

void modes_powers(const struct modes *modes, long long steps, double powers[MODES_COMPONENTS])
{
    for (int c = 0; c < MODES_COMPONENTS; c++)
        powers[c] = pow(modes->factor[c], (double)steps);
}

void modes_at(const struct modes *modes, const double powers[MODES_COMPONENTS], long long x,
              long long y, long long z, double values[MODES_COMPONENTS])
{
    double stays = modes_shape(modes, MODE_STAYS, x, y, z);
    double fades = modes_shape(modes, MODE_FADES, x, y, z);
    for (int c = 0; c < MODES_COMPONENTS; c++)
        values[c] = stays * modes->amplitude[MODE_STAYS][c] +
                    fades * modes->amplitude[MODE_FADES][c] * powers[c];
}

void modes_check(const struct modes *modes, struct plain *plain,
                 const double powers[MODES_COMPONENTS], long long x, long long y, long long z,
                 const double *values)
{
    double expected[MODES_COMPONENTS];
    modes_at(modes, powers, x, y, z, expected);
    for (int c = 0; c < MODES_COMPONENTS; c++)
        plain_compare(plain, values[c], expected[c], TOLERANCE);
}
