/* ft - a partial differential equation in a periodic cube, solved with three-dimensional Fourier
 * transforms, of the class of the NAS benchmark FT. The cube is cut into slabs; between transforms
 * along lines that a rank has and those along the third direction all ranks send to all others. A
 * number of ranks that is a power of 2.
 *
 * i du/dt = -du^2/dx^2 - ...: the amplitude of every wave keeps its size and turns. So the sum of
 * squares stays (and is the same in space and of the waves: Parseval), the mean stays, and turning
 * all back at the end has to give what was there at the beginning.
 */
#include <math.h>
#include <stdlib.h>

#include "plain.h"

#define TURN 1e-3 /* of the longest wave in an iteration, radians */
#define TOLERANCE 1e-9
#define SMALL 32
#define LARGE 64

static const char usage[] = "usage: mpirun ... ft [options]\n"
                            "Three-dimensional Fourier transforms, again and again; on a power of "
                            "2 of ranks.\n" PLAIN_USAGE_SIZED PLAIN_USAGE;

struct complex {
    double re, im;
};

struct ft {
    struct plain plain;
    long long n, part;                   /* part: planes of this rank */
    struct complex *space;               /* [z of this rank][y][x] */
    struct complex *waves;               /* [y of this rank][x][z] */
    struct complex *work;                /* as many, for other ranks or from them */
    struct complex *line, *roots, *turn; /* n; n / 2; n: of an iteration, by wave number */
    long long *reversed;                 /* numbers with their bits in the other order */
    double square;                       /* sum of squares at the beginning */
};

static struct complex times(struct complex a, struct complex b)
{
    return (struct complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* ---- one line ---- */

/* sign 1: exp(-i...), to waves; -1: back, without a factor. */
static void transform(const struct ft *ft, struct complex *a, int sign)
{
    for (long long i = 0; i < ft->n; i++)
        if (i < ft->reversed[i]) {
            struct complex swap = a[i];
            a[i] = a[ft->reversed[i]];
            a[ft->reversed[i]] = swap;
        }
    for (long long half = 1; half < ft->n; half *= 2)
        for (long long k = 0; k < half; k++) {
            struct complex root = ft->roots[k * (ft->n / 2 / half)];
            root.im *= sign;
            for (long long i = k; i < ft->n; i += 2 * half) {
                struct complex b = times(root, a[i + half]);
                a[i + half] = (struct complex){a[i].re - b.re, a[i].im - b.im};
                a[i] = (struct complex){a[i].re + b.re, a[i].im + b.im};
            }
        }
}

/* x and y in each plane of this rank. */
static void transform_planes(struct ft *ft, int sign)
{
    for (long long z = 0; z < ft->part; z++) {
        struct complex *plane = ft->space + z * ft->n * ft->n;
        for (long long y = 0; y < ft->n; y++)
            transform(ft, plane + y * ft->n, sign);
        for (long long x = 0; x < ft->n; x++) {
            for (long long y = 0; y < ft->n; y++)
                ft->line[y] = plane[y * ft->n + x];
            transform(ft, ft->line, sign);
            for (long long y = 0; y < ft->n; y++)
                plane[y * ft->n + x] = ft->line[y];
        }
    }
}

/* ---- the cube ---- */

static long long size_of(const struct ft *ft)
{
    return ft->part * ft->n * ft->n;
}

/* What ranks exchange: [rank][z][y][x], where z are planes of the rank with the planes of space, y
 * those of the rank with the planes of waves. */
static void exchange(struct ft *ft, const struct complex *from, struct complex *to)
{
    int count = (int)(2 * ft->part * ft->part * ft->n);
    MPI_Alltoall(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static struct complex *place(struct ft *ft, struct complex *buffer, long long z, long long y,
                             long long rank)
{
    return buffer + ((rank * ft->part + z) * ft->part + y) * ft->n;
}

static void to_waves(struct ft *ft)
{
    long long n = ft->n, part = ft->part;
    transform_planes(ft, 1);
    for (long long z = 0; z < part; z++)
        for (long long y = 0; y < n; y++)
            for (long long x = 0; x < n; x++)
                place(ft, ft->work, z, y % part, y / part)[x] = ft->space[(z * n + y) * n + x];
    exchange(ft, ft->work, ft->space);
    for (long long y = 0; y < part; y++)
        for (long long z = 0; z < n; z++)
            for (long long x = 0; x < n; x++)
                ft->waves[(y * n + x) * n + z] = place(ft, ft->space, z % part, y, z / part)[x];
    for (long long i = 0; i < part * n; i++)
        transform(ft, ft->waves + i * n, 1);
}

/* `waves` stay as they are. */
static void to_space(struct ft *ft)
{
    long long n = ft->n, part = ft->part;
    for (long long y = 0; y < part; y++)
        for (long long x = 0; x < n; x++) {
            for (long long z = 0; z < n; z++)
                ft->line[z] = ft->waves[(y * n + x) * n + z];
            transform(ft, ft->line, -1);
            for (long long z = 0; z < n; z++)
                place(ft, ft->space, z % part, y, z / part)[x] = ft->line[z];
        }
    exchange(ft, ft->space, ft->work);
    for (long long z = 0; z < part; z++)
        for (long long y = 0; y < n; y++)
            for (long long x = 0; x < n; x++)
                ft->space[(z * n + y) * n + x] = place(ft, ft->work, z, y % part, y / part)[x];
    transform_planes(ft, -1);
    double scale = 1 / (double)(n * n * n);
    for (long long i = 0; i < size_of(ft); i++) {
        ft->space[i].re *= scale;
        ft->space[i].im *= scale;
    }
}

/* Turns each wave; `turn` has the turns along one direction, which add up. */
static void turn_waves(struct ft *ft, const struct complex *turn)
{
    long long n = ft->n, first = ft->plain.rank * ft->part;
    for (long long y = 0; y < ft->part; y++)
        for (long long x = 0; x < n; x++) {
            struct complex both = times(turn[first + y], turn[x]);
            struct complex *line = ft->waves + (y * n + x) * n;
            for (long long z = 0; z < n; z++)
                line[z] = times(line[z], times(both, turn[z]));
        }
}

/* The turns of `iterations` iterations; a negative number turns back. */
static void make_turn(const struct ft *ft, double iterations, struct complex *turn)
{
    for (long long i = 0; i < ft->n; i++) {
        double wave = (double)(i > ft->n / 2 ? i - ft->n : i);
        double angle = -TURN * wave * wave * iterations;
        turn[i] = (struct complex){cos(angle), sin(angle)};
    }
}

/* ---- checks ---- */

/* Values at the beginning: random numbers. */
static struct complex initial(const struct ft *ft, long long i)
{
    uint64_t number = (uint64_t)(2 * (ft->plain.rank * size_of(ft) + i));
    return (struct complex){plain_random(number), plain_random(number + 1)};
}

static double sum_over_ranks(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static double squares(const struct ft *ft, const struct complex *values)
{
    double sum = 0;
    for (long long i = 0; i < size_of(ft); i++)
        sum += values[i].re * values[i].re + values[i].im * values[i].im;
    return sum_over_ranks(sum);
}

/* Checks that the sum of squares and the mean are those of the beginning. */
static void check(struct ft *ft, const struct complex *mean)
{
    struct complex sum = {0, 0};
    double size = (double)(ft->n * ft->n * ft->n);
    for (long long i = 0; i < size_of(ft); i++) {
        sum.re += ft->space[i].re;
        sum.im += ft->space[i].im;
    }
    plain_compare(&ft->plain, squares(ft, ft->space) / ft->square, 1, TOLERANCE);
    plain_compare(&ft->plain, sum_over_ranks(sum.re) / size, mean->re, TOLERANCE);
    plain_compare(&ft->plain, sum_over_ranks(sum.im) / size, mean->im, TOLERANCE);
}

/* Checks one amplitude by its definition: wave number 1 along x, 2 along y, 3 along z. */
static void check_wave(struct ft *ft)
{
    long long n = ft->n, rank = ft->plain.rank;
    struct complex sum = {0, 0};
    for (long long i = 0; i < size_of(ft); i++) {
        long long x = i % n, y = i / n % n, z = i / n / n + rank * ft->part;
        double angle = -2 * acos(-1.0) * (double)((x + 2 * y + 3 * z) % n) / (double)n;
        struct complex term = times(initial(ft, i), (struct complex){cos(angle), sin(angle)});
        sum.re += term.re;
        sum.im += term.im;
    }
    sum.re = sum_over_ranks(sum.re);
    sum.im = sum_over_ranks(sum.im);
    if (2 / ft->part != rank)
        return;
    struct complex found = ft->waves[(2 % ft->part * n + 1) * n + 3];
    plain_compare(&ft->plain, found.re, sum.re, TOLERANCE * sqrt(ft->square));
    plain_compare(&ft->plain, found.im, sum.im, TOLERANCE * sqrt(ft->square));
}

/* Checks that all waves turned back give the values of the beginning. Rounding errors grow with the
 * number of iterations. */
static void check_end(struct ft *ft)
{
    double tolerance = 1e-12 * (double)(ft->plain.iterations + 100);
    make_turn(ft, -(double)ft->plain.iterations, ft->turn);
    turn_waves(ft, ft->turn);
    to_space(ft);
    for (long long i = 0; i < size_of(ft); i++) {
        struct complex expected = initial(ft, i);
        plain_compare(&ft->plain, ft->space[i].re, expected.re, tolerance);
        plain_compare(&ft->plain, ft->space[i].im, expected.im, tolerance);
    }
}

/* ---- */

static void begin(struct ft *ft)
{
    long long n = ft->plain.size ? LARGE : SMALL;
    if (ft->plain.ranks & (ft->plain.ranks - 1) || ft->plain.ranks > n)
        plain_refuse_ranks(&ft->plain, "a power of 2 of ranks, not more than planes of points");
    ft->n = n;
    ft->part = n / ft->plain.ranks;
    struct complex **arrays[] = {&ft->space, &ft->waves, &ft->work};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        *arrays[i] = plain_allocate((size_t)size_of(ft), sizeof(struct complex));
    ft->line = plain_allocate((size_t)n, sizeof(struct complex));
    ft->roots = plain_allocate((size_t)n / 2, sizeof(struct complex));
    ft->turn = plain_allocate((size_t)n, sizeof(struct complex));
    ft->reversed = plain_allocate((size_t)n, sizeof(long long));
    for (long long i = 0; i < n; i++) {
        double angle = -2 * acos(-1.0) * (double)i / (double)n;
        if (i < n / 2)
            ft->roots[i] = (struct complex){cos(angle), sin(angle)};
        for (long long bit = 1, to = n / 2; to; bit *= 2, to /= 2)
            ft->reversed[i] += i & bit ? to : 0;
    }
    for (long long i = 0; i < size_of(ft); i++)
        ft->space[i] = initial(ft, i);
    ft->square = squares(ft, ft->space);
}

static void end(struct ft *ft)
{
    void *const all[] = {ft->space, ft->waves, ft->work,    ft->line,
                         ft->roots, ft->turn,  ft->reversed};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        free(all[i]);
}

int main(int argc, char **argv)
{
    struct ft ft = {.plain = {.name = "ft"}};
    plain_begin_sized(&ft.plain, argc, argv, usage, 700, 900);
    begin(&ft);
    to_waves(&ft);
    check_wave(&ft);
    struct complex mean = {ft.waves[0].re / (double)(ft.n * ft.n * ft.n),
                           ft.waves[0].im / (double)(ft.n * ft.n * ft.n)}; /* at rank 0 */
    MPI_Bcast(&mean, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    make_turn(&ft, 1, ft.turn);
    for (long long i = 0; i < ft.plain.iterations; i++) {
        turn_waves(&ft, ft.turn);
        ft.waves[1].re += i == ft.plain.corrupt && ft.plain.rank == 0 ? sqrt(ft.square) : 0;
        to_space(&ft);
        check(&ft, &mean);
        plain_step(&ft.plain);
    }
    uint64_t sum = plain_bits(&ft.space[0].re, 2 * size_of(&ft));
    check_end(&ft);
    end(&ft);
    return plain_end(&ft.plain, sum);
}
