/* cube-fftw.c - the cube's transforms by FFTW's library for MPI (cube.h). */
#include "cube.h"

#include <fftw3-mpi.h>
#include <stdlib.h>
#include <string.h>

int cube_suits(long long n, int ranks)
{
    return n >= 2 && (n & (n - 1)) == 0 && ranks >= 1 && (ranks & (ranks - 1)) == 0 && ranks <= n;
}

void cube_open(struct cube *cube, long long n, MPI_Comm comm)
{
    int ranks;
    ptrdiff_t planes, first, planes_of_waves, first_of_waves;
    *cube = (struct cube){.comm = comm, .n = n};
    MPI_Comm_rank(comm, &cube->rank);
    MPI_Comm_size(comm, &ranks);
    cube->part = n / ranks;
    fftw_mpi_init();
    /* FFTW may want more room than the planes take, so it transforms in an array of its own */
    ptrdiff_t room = fftw_mpi_local_size_3d_transposed(n, n, n, comm, &planes, &first,
                                                       &planes_of_waves, &first_of_waves);
    fftw_complex *work = fftw_alloc_complex((size_t)room);
    if (!work || planes != cube->part || planes_of_waves != cube->part)
        MPI_Abort(MPI_COMM_WORLD, 1);
    cube->work = (struct complex *)work;
    cube->plans[0] = fftw_mpi_plan_dft_3d(n, n, n, work, work, comm, FFTW_FORWARD,
                                          FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT);
    cube->plans[1] = fftw_mpi_plan_dft_3d(n, n, n, work, work, comm, FFTW_BACKWARD,
                                          FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_IN);
    if (!cube->plans[0] || !cube->plans[1])
        MPI_Abort(MPI_COMM_WORLD, 1);
}

void cube_close(struct cube *cube)
{
    fftw_destroy_plan(cube->plans[0]);
    fftw_destroy_plan(cube->plans[1]);
    fftw_free(cube->work);
    *cube = (struct cube){.comm = MPI_COMM_NULL};
}

static void transform(struct cube *cube, int back, const struct complex *from, struct complex *to)
{
    size_t bytes = (size_t)cube_size(cube) * sizeof(*to);
    memcpy(cube->work, from, bytes);
    fftw_execute(cube->plans[back]);
    memcpy(to, cube->work, bytes);
}

void cube_to_waves(struct cube *cube, struct complex *space, struct complex *waves)
{
    transform(cube, 0, space, waves);
}

void cube_to_space(struct cube *cube, const struct complex *waves, struct complex *space)
{
    double scale = 1 / (double)(cube->n * cube->n * cube->n);
    transform(cube, 1, waves, space);
    for (long long i = 0; i < cube_size(cube); i++) {
        space[i].re *= scale;
        space[i].im *= scale;
    }
}
