#include "cube.h"

#include <math.h>
#include <stdlib.h>

int cube_suits(long long n, int ranks)
{
    return n >= 2 && (n & (n - 1)) == 0 && ranks >= 1 && (ranks & (ranks - 1)) == 0 && ranks <= n;
}

static void *allocate(long long count, size_t bytes)
{
    void *memory = calloc((size_t)count, bytes);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

void cube_open(struct cube *cube, long long n, MPI_Comm comm)
{
    int ranks;
    *cube = (struct cube){.comm = comm, .n = n};
    MPI_Comm_rank(comm, &cube->rank);
    MPI_Comm_size(comm, &ranks);
    cube->part = n / ranks;
    cube->work = allocate(cube_size(cube), sizeof(struct complex));
    cube->line = allocate(n, sizeof(struct complex));
    cube->roots = allocate(n / 2, sizeof(struct complex));
    cube->reversed = allocate(n, sizeof(long long));
    for (long long i = 0; i < n; i++) {
        double angle = -2 * acos(-1.0) * (double)i / (double)n;
        if (i < n / 2)
            cube->roots[i] = (struct complex){cos(angle), sin(angle)};
        for (long long bit = 1, to = n / 2; to; bit *= 2, to /= 2)
            cube->reversed[i] += i & bit ? to : 0;
    }
}

void cube_close(struct cube *cube)
{
    free(cube->work);
    free(cube->line);
    free(cube->roots);
    free(cube->reversed);
    *cube = (struct cube){.comm = MPI_COMM_NULL};
}

/* One line. sign 1: exp(-i...), to waves; -1: back, without a factor. */
static void transform(const struct cube *cube, struct complex *a, int sign)
{
    for (long long i = 0; i < cube->n; i++)
        if (i < cube->reversed[i]) {
            struct complex swap = a[i];
            a[i] = a[cube->reversed[i]];
            a[cube->reversed[i]] = swap;
        }
    for (long long half = 1; half < cube->n; half *= 2)
        for (long long k = 0; k < half; k++) {
            struct complex root = cube->roots[k * (cube->n / 2 / half)];
            root.im *= sign;
            for (long long i = k; i < cube->n; i += 2 * half) {
                struct complex b = cube_times(root, a[i + half]);
                a[i + half] = (struct complex){a[i].re - b.re, a[i].im - b.im};
                a[i] = (struct complex){a[i].re + b.re, a[i].im + b.im};
            }
        }
}

/* x and y in each plane of this rank. */
static void transform_planes(struct cube *cube, struct complex *space, int sign)
{
    for (long long z = 0; z < cube->part; z++) {
        struct complex *plane = space + z * cube->n * cube->n;
        for (long long y = 0; y < cube->n; y++)
            transform(cube, plane + y * cube->n, sign);
        for (long long x = 0; x < cube->n; x++) {
            for (long long y = 0; y < cube->n; y++)
                cube->line[y] = plane[y * cube->n + x];
            transform(cube, cube->line, sign);
            for (long long y = 0; y < cube->n; y++)
                plane[y * cube->n + x] = cube->line[y];
        }
    }
}

/* What ranks exchange: [rank][z][y][x], where z are planes of the rank with the planes of space, y
 * those of the rank with the planes of waves. */
static void exchange(const struct cube *cube, const struct complex *from, struct complex *to)
{
    int count = (int)(2 * cube->part * cube->part * cube->n);
    MPI_Alltoall(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, cube->comm);
}

static struct complex *place(const struct cube *cube, struct complex *buffer, long long z,
                             long long y, long long rank)
{
    return buffer + ((rank * cube->part + z) * cube->part + y) * cube->n;
}

void cube_to_waves(struct cube *cube, struct complex *space, struct complex *waves)
{
    long long n = cube->n, part = cube->part;
    transform_planes(cube, space, 1);
    for (long long z = 0; z < part; z++)
        for (long long y = 0; y < n; y++)
            for (long long x = 0; x < n; x++)
                place(cube, cube->work, z, y % part, y / part)[x] = space[(z * n + y) * n + x];
    exchange(cube, cube->work, space);
    for (long long y = 0; y < part; y++)
        for (long long z = 0; z < n; z++)
            for (long long x = 0; x < n; x++)
                waves[(y * n + x) * n + z] = place(cube, space, z % part, y, z / part)[x];
    for (long long i = 0; i < part * n; i++)
        transform(cube, waves + i * n, 1);
}

void cube_to_space(struct cube *cube, const struct complex *waves, struct complex *space)
{
    long long n = cube->n, part = cube->part;
    for (long long y = 0; y < part; y++)
        for (long long x = 0; x < n; x++) {
            for (long long z = 0; z < n; z++)
                cube->line[z] = waves[(y * n + x) * n + z];
            transform(cube, cube->line, -1);
            for (long long z = 0; z < n; z++)
                place(cube, space, z % part, y, z / part)[x] = cube->line[z];
        }
    exchange(cube, space, cube->work);
    for (long long z = 0; z < part; z++)
        for (long long y = 0; y < n; y++)
            for (long long x = 0; x < n; x++)
                space[(z * n + y) * n + x] = place(cube, cube->work, z, y % part, y / part)[x];
    transform_planes(cube, space, -1);
    double scale = 1 / (double)(n * n * n);
    for (long long i = 0; i < cube_size(cube); i++) {
        space[i].re *= scale;
        space[i].im *= scale;
    }
}
