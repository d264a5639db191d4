#include "wave.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

/* The stencil of fourth order in one dimension. */
static double second(const double *u, long below2, long below, long above, long above2)
{
    return (-u[below2] + 16 * u[below] - 30 * u[0] + 16 * u[above] - u[above2]) / 12;
}

/* The Laplacian at a cell of a pencil; the box is periodic in z, which has no halo. */
static double laplacian(const struct grid *grid, const double *column, int z)
{
    int nz = grid->n[2];
    long y = nz, x = (long)nz * (grid->count[1] + 2 * HALO);
    const double *u = column + z;
    return second(u, -2 * x, -x, x, 2 * x) + second(u, -2 * y, -y, y, 2 * y) +
           second(u, (z + nz - 2) % nz - z, (z + nz - 1) % nz - z, (z + 1) % nz - z,
                  (z + 2) % nz - z);
}

/* The angle by which the scheme, not the equation, advances the standing wave in a step. */
static double frequency(const struct wave *wave, const struct grid *grid)
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double angle = 2 * PI * wave->mode[d] / grid->n[d];
        sum += (15 - 16 * cos(angle) + cos(2 * angle)) / 6;
    }
    return 2 * asin(wave->courant * sqrt(sum) / 2);
}

static double standing(const struct wave *wave, const struct grid *grid, int x, int y, int z)
{
    int at[3] = {x + grid->first[0], y + grid->first[1], z};
    double product = 1;
    for (int d = 0; d < 3; d++)
        product *= cos(2 * PI * wave->mode[d] * at[d] / grid->n[d]);
    return product;
}

void wave_fill(const struct wave *wave, const struct grid *grid, double *u, long step)
{
    double now = cos(frequency(wave, grid) * step);
    for (int x = 0; x < grid->count[0]; x++)
        for (int y = 0; y < grid->count[1]; y++)
            for (int z = 0; z < grid->n[2]; z++)
                u[grid_at(grid, x, y) + z] = now * standing(wave, grid, x, y, z);
}

void wave_step(const struct wave *wave, const struct grid *grid, const double *now, double *u)
{
    double c2 = wave->courant * wave->courant;
    for (int x = 0; x < grid->count[0]; x++)
        for (int y = 0; y < grid->count[1]; y++)
            for (int z = 0; z < grid->n[2]; z++) {
                long at = grid_at(grid, x, y);
                u[at + z] = 2 * now[at + z] - u[at + z] + c2 * laplacian(grid, now + at, z);
            }
}

double wave_error(const struct wave *wave, const struct grid *grid, const double *u, long step)
{
    double now = cos(frequency(wave, grid) * step), mine = 0, all;
    for (int x = 0; x < grid->count[0]; x++)
        for (int y = 0; y < grid->count[1]; y++)
            for (int z = 0; z < grid->n[2]; z++)
                mine = fmax(mine,
                            fabs(u[grid_at(grid, x, y) + z] - now * standing(wave, grid, x, y, z)));
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, grid->comm);
    return all;
}

double wave_energy(const struct wave *wave, const struct grid *grid, const double *now,
                   const double *before)
{
    double c2 = wave->courant * wave->courant, mine = 0, all;
    for (int x = 0; x < grid->count[0]; x++)
        for (int y = 0; y < grid->count[1]; y++)
            for (int z = 0; z < grid->n[2]; z++) {
                long at = grid_at(grid, x, y);
                double change = now[at + z] - before[at + z];
                mine += (change * change - c2 * before[at + z] * laplacian(grid, now + at, z)) / 2;
            }
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, grid->comm);
    return all;
}
