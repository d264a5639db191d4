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

#include "../cube.h"
#include "plain.h"

#define TURN 1e-3 /* of the longest wave in an iteration, radians */
#define TOLERANCE 1e-9
#define SMALL 32
#define LARGE 64

static const char usage[] = "usage: mpirun ... ft [options]\n"
                            "Three-dimensional Fourier transforms, again and again; on a power of "
                            "2 of ranks.\n" PLAIN_USAGE_SIZED PLAIN_USAGE;

struct ft {
    struct plain plain;
    struct cube cube;
    long long n, part;     /* part: planes of this rank */
    struct complex *space; /* [z of this rank][y][x] */
    struct complex *waves; /* [y of this rank][x][z] */
    struct complex *turn;  /* n: of an iteration, by wave number */
    double square;         /* sum of squares at the beginning */
};

/* Turns each wave; `turn` has the turns along one direction, which add up. */
static void turn_waves(struct ft *ft, const struct complex *turn)
{
    long long n = ft->n, first = ft->plain.rank * ft->part;
    for (long long y = 0; y < ft->part; y++)
        for (long long x = 0; x < n; x++) {
            struct complex both = cube_times(turn[first + y], turn[x]);
            struct complex *line = ft->waves + (y * n + x) * n;
            for (long long z = 0; z < n; z++)
                line[z] = cube_times(line[z], cube_times(both, turn[z]));
        }
}

/* The turns of `iterations` iterations; a negative number turns back. */
static void make_turn(const struct ft *ft, double iterations, struct complex *turn)
{
    for (long long i = 0; i < ft->n; i++) {
        double wave = (double)cube_wave(&ft->cube, i);
        double angle = -TURN * wave * wave * iterations;
        turn[i] = (struct complex){cos(angle), sin(angle)};
    }
}

/* ---- checks ---- */

/* Values at the beginning: random numbers. */
static struct complex initial(const struct ft *ft, long long i)
{
    uint64_t number = (uint64_t)(2 * (ft->plain.rank * cube_size(&ft->cube) + i));
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
    for (long long i = 0; i < cube_size(&ft->cube); i++)
        sum += values[i].re * values[i].re + values[i].im * values[i].im;
    return sum_over_ranks(sum);
}

/* Checks that the sum of squares and the mean are those of the beginning. */
static void check(struct ft *ft, const struct complex *mean)
{
    struct complex sum = {0, 0};
    double size = (double)(ft->n * ft->n * ft->n);
    for (long long i = 0; i < cube_size(&ft->cube); i++) {
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
    for (long long i = 0; i < cube_size(&ft->cube); i++) {
        long long x = i % n, y = i / n % n, z = i / n / n + rank * ft->part;
        double angle = -2 * acos(-1.0) * (double)((x + 2 * y + 3 * z) % n) / (double)n;
        struct complex term = cube_times(initial(ft, i), (struct complex){cos(angle), sin(angle)});
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
    cube_to_space(&ft->cube, ft->waves, ft->space);
    for (long long i = 0; i < cube_size(&ft->cube); i++) {
        struct complex expected = initial(ft, i);
        plain_compare(&ft->plain, ft->space[i].re, expected.re, tolerance);
        plain_compare(&ft->plain, ft->space[i].im, expected.im, tolerance);
    }
}

/* ---- */

static void begin(struct ft *ft)
{
    long long n = ft->plain.size ? LARGE : SMALL;
    if (!cube_suits(n, ft->plain.ranks))
        plain_refuse_ranks(&ft->plain, "a power of 2 of ranks, not more than planes of points");
    cube_open(&ft->cube, n, MPI_COMM_WORLD);
    ft->n = n;
    ft->part = ft->cube.part;
    ft->space = plain_allocate((size_t)cube_size(&ft->cube), sizeof(struct complex));
    ft->waves = plain_allocate((size_t)cube_size(&ft->cube), sizeof(struct complex));
    ft->turn = plain_allocate((size_t)n, sizeof(struct complex));
    for (long long i = 0; i < cube_size(&ft->cube); i++)
        ft->space[i] = initial(ft, i);
    ft->square = squares(ft, ft->space);
}

static void end(struct ft *ft)
{
    cube_close(&ft->cube);
    free(ft->space);
    free(ft->waves);
    free(ft->turn);
}

int main(int argc, char **argv)
{
    struct ft ft = {.plain = {.name = "ft"}};
    plain_begin_sized(&ft.plain, argc, argv, usage, 700, 900);
    begin(&ft);
    cube_to_waves(&ft.cube, ft.space, ft.waves);
    check_wave(&ft);
    struct complex mean = {ft.waves[0].re / (double)(ft.n * ft.n * ft.n),
                           ft.waves[0].im / (double)(ft.n * ft.n * ft.n)}; /* at rank 0 */
    MPI_Bcast(&mean, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    make_turn(&ft, 1, ft.turn);
    for (long long i = 0; i < ft.plain.iterations; i++) {
        turn_waves(&ft, ft.turn);
        ft.waves[1].re += i == ft.plain.corrupt && ft.plain.rank == 0 ? sqrt(ft.square) : 0;
        cube_to_space(&ft.cube, ft.waves, ft.space);
        check(&ft, &mean);
        plain_step(&ft.plain);
    }
    uint64_t sum = plain_bits(&ft.space[0].re, 2 * cube_size(&ft.cube));
    check_end(&ft);
    end(&ft);
    return plain_end(&ft.plain, sum);
}
