/* wave [N [STEPS [LOG]]] - a standing wave in a periodic box of N x (N + 4) x N cells. The scheme
 * conserves an energy, which is written to LOG as it goes, and its solution is known, which is
 * compared in the end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "grid.h"
#include "wave.h"

static const struct wave wave = {.courant = 0.4, .mode = {1, 2, 3}};
static struct grid box;

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

static int fits(int processes, void *field)
{
    return grid_fits(&box, field, processes);
}

static int fail(const struct pleat_error *err)
{
    fprintf(stderr, "wave: %s\n", err->text);
    return MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 64, wrong = 0;
    long steps = argc > 2 ? atol(argv[2]) : 1000, k = 1;
    struct pleat_session *session;
    struct pleat_array *field[2];
    struct pleat_error err;
    double energy[3] = {0}; /* now, at first, and the largest distance from the first value */
    FILE *log = NULL;

    MPI_Init(&argc, &argv);
    box.n[0] = n, box.n[1] = n + 4, box.n[2] = n;
    struct pleat_array_shape shape = grid_shape(&box);
    if (pleat_session_create(&session, &err) ||
        pleat_value_register(session, "k", &k, sizeof(k), &err) ||
        pleat_value_register(session, "energy", energy, sizeof(energy), &err) ||
        pleat_array_create(session, "even", &shape, &field[0], &err) ||
        pleat_array_create(session, "odd", &shape, &field[1], &err) ||
        pleat_session_limits_if(session, fits, field[0], &err))
        return fail(&err);
    int what = pleat_session_begin(session, &err);
    if (what < 0)
        return fail(&err);
    if (argc > 3 && pleat_session_rank(session) == 0) {
        log = fopen(argv[3], pleat_session_resumed(session) ? "a" : "w");
        if (log)
            setvbuf(log, NULL, _IOLBF, 0);
    }
    if (what != PLEAT_LEAVE)
        grid_open(&box, field[0]);
    for (int i = 0; i < 2 && what == PLEAT_STARTED; i++)
        wave_fill(&wave, &box, pleat_array_data(field[i]), i);

    /* field k % 2 is the wave after k steps */
    while (k < steps && what != PLEAT_LEAVE) {
        double *now = pleat_array_data(field[k % 2]),
               *before = pleat_array_data(field[(k + 1) % 2]);
        grid_exchange(&box, now);
        energy[0] = wave_energy(&wave, &box, now, before);
        if (k == 1)
            energy[1] = energy[0];
        energy[2] = fmax(energy[2], fabs(energy[0] - energy[1]));
        if (log)
            fprintf(log, "%ld %.9f\n", k, energy[0]);
        wave_step(&wave, &box, now, before);
        k++;
        if ((what = pleat_session_adapt(session, &err)) < 0)
            return fail(&err);
        if (what != PLEAT_SAME)
            grid_close(&box);
        if (what == PLEAT_GREW || what == PLEAT_SHRANK)
            grid_open(&box, field[0]);
    }
    if (what != PLEAT_LEAVE) {
        wrong = report(&box, pleat_array_data(field[steps % 2]), steps, energy[0], energy[2]);
        grid_close(&box);
    }
    if (log)
        fclose(log);
    pleat_session_finish(session);
    MPI_Finalize();
    return wrong;
}
