/* cube.h - three-dimensional Fourier transforms of a cube of n^3 complex numbers in slabs, for
 * programs of the class of the NAS benchmark FT. n and the number of ranks are powers of 2, n at
 * least 2 and at least the number of ranks. Each rank has n / ranks planes: of z in space, of y of
 * the waves. In between all ranks send to all others. Nothing here knows of Pleat.
 *
 * Two files define these functions: cube.c, by whose own transforms what comes out is the same to
 * the last bit, whatever the number of ranks; and cube-fftw.c, by FFTW's for MPI, which promises
 * that for no two numbers of ranks.
 */
#ifndef PLEAT_APPS_CUBE_H
#define PLEAT_APPS_CUBE_H

#include <mpi.h>

struct complex {
    double re, im;
};

static inline struct complex cube_times(struct complex a, struct complex b)
{
    return (struct complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

struct cube {
    MPI_Comm comm;
    int rank;
    long long n, part;     /* part: planes of this rank */
    struct complex *work;  /* cube_size: for other ranks or from them */
    struct complex *line;  /* n */
    struct complex *roots; /* n / 2 */
    long long *reversed;   /* n: numbers with their bits in the other order */
    void *plans[2];        /* of cube-fftw.c, which has none of the three above: to waves, back */
};

/* Whether such a cube can be cut for so many ranks. */
int cube_suits(long long n, int ranks);
/* Ends all ranks if there is no memory. comm is borrowed. */
void cube_open(struct cube *cube, long long n, MPI_Comm comm);
void cube_close(struct cube *cube);
/* The complex numbers of this rank, in space or of the waves. */
static inline long long cube_size(const struct cube *cube)
{
    return cube->part * cube->n * cube->n;
}

/* space: [z of this rank][y][x]; waves: [y of this rank], then in cube.c [x][z], in cube-fftw.c
 * [z][x]. What they are computed from is not kept in the first one, and stays in the second. Back
 * in space all is divided by n^3. */
void cube_to_waves(struct cube *cube, struct complex *space, struct complex *waves);
void cube_to_space(struct cube *cube, const struct complex *waves, struct complex *space);

/* The wave number of index i along one direction: 0, 1, ..., n / 2, -n / 2 + 1, ..., -1. */
static inline long long cube_wave(const struct cube *cube, long long i)
{
    return i > cube->n / 2 ? i - cube->n : i;
}

#endif
