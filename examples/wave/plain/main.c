/* wave [N [STEPS [LOG]]] - a standing wave in a periodic box of N x (N + 4) x N cells. The scheme
 * conserves an energy, which is written to LOG as it goes, and its solution is known, which is
 * compared in the end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "grid.h"
#include "wave.h"

static const struct wave wave = {.courant = 0.4, .mode = {1, 2, 3}};

static int report(const struct grid *grid, const double *u, long steps, double energy, double drift)
{
    int rank, size, wrong;
    double error = wave_error(&wave, grid, u, steps);
    MPI_Comm_rank(grid->comm, &rank);
    MPI_Comm_size(grid->comm, &size);
    wrong = !(error < 1e-9 && drift < 1e-9 * energy);
    if (rank == 0)
        printf("%s: energy %.9f after %ld steps on %d ranks\n", wrong ? "WRONG" : "right", energy,
               steps, size);
    return wrong;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 64, rank;
    long steps = argc > 2 ? atol(argv[2]) : 1000;
    struct grid grid;
    double *u[2], energy = 0, first = 0, drift = 0;
    FILE *log = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    grid_open(&grid, n, n + 4, n, MPI_COMM_WORLD);
    if (argc > 3 && rank == 0)
        log = fopen(argv[3], "w");
    for (int i = 0; i < 2; i++) {
        u[i] = grid_field(&grid);
        wave_fill(&wave, &grid, u[i], i);
    }

    /* u[k % 2] is the wave after k steps */
    for (long k = 1; k < steps; k++) {
        double *now = u[k % 2], *before = u[(k + 1) % 2];
        grid_exchange(&grid, now);
        energy = wave_energy(&wave, &grid, now, before);
        if (k == 1)
            first = energy;
        drift = fmax(drift, fabs(energy - first));
        if (log)
            fprintf(log, "%ld %.9f\n", k, energy);
        wave_step(&wave, &grid, now, before);
    }
    int wrong = report(&grid, u[steps % 2], steps, energy, drift);
    if (log)
        fclose(log);
    for (int i = 0; i < 2; i++)
        free(u[i]);
    grid_close(&grid);
    MPI_Finalize();
    return wrong;
}
