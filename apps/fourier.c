/* fourier - heat in a periodic cube, by three-dimensional Fourier transforms, malleable with
 * libpleat: of the class of the NAS benchmark FT.
 *
 * The waves of the cube lie in slabs, of which each rank has as many as the others: so numbers of
 * ranks are powers of 2, which the program tells Pleat. In each iteration every wave fades, and all
 * are transformed back to space, where a checksum is taken. The waves alone are state.
 *
 * The cube starts as a product f(x) g(y) h(z) of random numbers, and stays one of three functions
 * that can be computed by themselves, from the definition of the transform: that is what checksums,
 * sums of squares and at the end all points are compared with. Every line is transformed by one
 * rank, in the same way whatever their number, so a run that was resized has the same bits as one
 * that was not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "cube.h"

#define FADED 20.0 /* the shortest wave fades to exp(-FADED) in the whole run: never to 0 */
#define POINTS 1024
#define MOST 512 /* of --n: what a rank sends to another one can be counted by an int */

static const char usage[] =
    "usage: mpirun ... fourier [options]\n"
    "Heat in a periodic cube by Fourier transforms, on a power of 2 of ranks; grows and shrinks "
    "under\n"
    "Pleat, and checks its result.\n"
    "  --n N            points along an edge, a power of 2 (default 32)\n"
    "  --iterations N   transforms back to space (default 200)\n"
    "  --until FILE     as many until there is such a file; --iterations is how slowly all fades\n"
    "  --work MS        pretend that an iteration costs MS more of computing, shared by the ranks\n"
    "  --useful N       ranks beyond N take no share of that (default: all do)\n"
    "  --pause MS       sleep for MS milliseconds in every iteration\n"
    "  --tolerance T    relative error allowed (default 1e-9)\n";

/* What is carried along besides the waves. error: the largest one of all iterations so far. */
struct progress {
    long long done;
    double error;
};

struct fourier {
    struct app_options options;
    struct pleat_session *session;
    struct pleat_rows *waves; /* a row: the plane of a y, [x][z] */
    struct cube cube;         /* of the present ranks */
    struct complex *space;    /* [z][y][x] of this rank */
    struct progress progress;
    double seconds;         /* of the iterations of this process */
    double *fade;           /* n: by how much a wave fades in an iteration, along one direction */
    struct complex *circle; /* n: exp(2 pi i k / n) */
    /* n each: the three functions at the beginning, as waves, and now in space */
    struct complex *first[3], *first_waves[3], *now[3];
};

static double square(struct complex a)
{
    return a.re * a.re + a.im * a.im;
}

/* ---- the three functions, by the definition of the transform ---- */

/* sign -1: to waves; 1: back, divided by n. */
static void transform_slowly(const struct fourier *f, const struct complex *from,
                             struct complex *to, int sign)
{
    long long n = f->options.n;
    for (long long k = 0; k < n; k++) {
        struct complex sum = {0, 0};
        for (long long i = 0; i < n; i++) {
            struct complex turn = f->circle[i * k % n];
            turn.im *= sign;
            struct complex term = cube_times(from[i], turn);
            sum.re += term.re;
            sum.im += term.im;
        }
        double scale = sign > 0 ? 1 / (double)n : 1;
        to[k] = (struct complex){scale * sum.re, scale * sum.im};
    }
}

/* How much a wave has faded after so many iterations. */
static double faded(const struct fourier *f, long long i, long long iterations)
{
    double half = (double)f->options.n / 2;
    double wave = (double)(i > f->options.n / 2 ? i - f->options.n : i);
    double all = fmax(1, (double)f->options.iterations);
    return exp(-FADED / 3 * wave * wave / (half * half) * (double)iterations / all);
}

static void make_functions(struct fourier *f)
{
    long long n = f->options.n;
    f->fade = app_allocate(n, sizeof(double));
    f->circle = app_allocate(n, sizeof(struct complex));
    for (long long i = 0; i < n; i++) {
        double angle = 2 * acos(-1.0) * (double)i / (double)n;
        f->circle[i] = (struct complex){cos(angle), sin(angle)};
        f->fade[i] = faded(f, i, 1);
    }
    for (int d = 0; d < 3; d++) {
        f->first[d] = app_allocate(n, sizeof(struct complex));
        f->first_waves[d] = app_allocate(n, sizeof(struct complex));
        f->now[d] = app_allocate(n, sizeof(struct complex));
        for (long long i = 0; i < n; i++)
            f->first[d][i] =
                (struct complex){app_noise((unsigned long long)d, 2 * (unsigned long long)i) + 0.1,
                                 app_noise((unsigned long long)d, 2 * (unsigned long long)i + 1)};
        transform_slowly(f, f->first[d], f->first_waves[d], -1);
    }
}

static void free_functions(struct fourier *f)
{
    free(f->fade);
    free(f->circle);
    for (int d = 0; d < 3; d++) {
        free(f->first[d]);
        free(f->first_waves[d]);
        free(f->now[d]);
    }
}

/* What the functions are after the iterations that are done. */
static void compute_functions(struct fourier *f)
{
    long long n = f->options.n;
    struct complex *waves = app_allocate(n, sizeof(struct complex));
    for (int d = 0; d < 3; d++) {
        for (long long i = 0; i < n; i++) {
            double rest = faded(f, i, f->progress.done);
            waves[i] =
                (struct complex){rest * f->first_waves[d][i].re, rest * f->first_waves[d][i].im};
        }
        transform_slowly(f, waves, f->now[d], 1);
    }
    free(waves);
}

static struct complex product(struct complex *const of[3], long long x, long long y, long long z)
{
    return cube_times(cube_times(of[0][x], of[1][y]), of[2][z]);
}

/* ---- the cube ---- */

/* For the present ranks: at the beginning, and after each resize. */
static void reshape(struct fourier *f)
{
    if (f->space) {
        cube_close(&f->cube);
        free(f->space);
    }
    int ranks = pleat_session_size(f->session);
    if (!cube_suits(f->options.n, ranks)) { /* the job's user has sizes that the program has not */
        fprintf(stderr, "fourier runs on 1, 2, 4, ..., %lld ranks, not on %d\n", f->options.n,
                ranks);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    cube_open(&f->cube, f->options.n, pleat_session_comm(f->session));
    f->space = app_allocate(cube_size(&f->cube), sizeof(struct complex));
}

static void fill(struct fourier *f)
{
    long long n = f->options.n, first = f->cube.rank * f->cube.part;
    for (long long i = 0; i < cube_size(&f->cube); i++)
        f->space[i] = product(f->first, i % n, i / n % n, first + i / n / n);
    cube_to_waves(&f->cube, f->space, pleat_rows_data(f->waves));
}

static void fade(struct fourier *f)
{
    long long n = f->options.n, first = pleat_rows_first(f->waves);
    struct complex *waves = pleat_rows_data(f->waves);
    for (long long y = 0; y < f->cube.part; y++)
        for (long long x = 0; x < n; x++) {
            double both = f->fade[first + y] * f->fade[x];
            struct complex *line = waves + (y * n + x) * n;
            for (long long z = 0; z < n; z++) {
                line[z].re *= both * f->fade[z];
                line[z].im *= both * f->fade[z];
            }
        }
}

/* ---- checks ---- */

/* Remembers how far two numbers are apart, relative to `scale`. */
static void compare(struct fourier *f, struct complex found, struct complex expected, double scale)
{
    double off = hypot(found.re - expected.re, found.im - expected.im) / scale;
    if (!(off <= f->progress.error))
        f->progress.error = isnan(off) ? INFINITY : off;
}

/* Point j of the checksum. */
static void point(long long n, long long j, long long at[3])
{
    at[0] = j % n;
    at[1] = 3 * j % n;
    at[2] = 5 * j % n;
}

/* Sums over all ranks: of the points of the checksum, and of squares in space and of waves. */
static void sum_up(const struct fourier *f, double all[4])
{
    long long n = f->options.n, part = f->cube.part;
    const struct complex *waves = pleat_rows_data(f->waves);
    double mine[4] = {0};
    for (long long j = 1; j <= POINTS; j++) {
        long long at[3];
        point(n, j, at);
        if (at[2] / part != f->cube.rank)
            continue;
        struct complex value = f->space[(at[2] % part * n + at[1]) * n + at[0]];
        mine[0] += value.re;
        mine[1] += value.im;
    }
    for (long long i = 0; i < cube_size(&f->cube); i++) {
        mine[2] += square(f->space[i]);
        mine[3] += square(waves[i]);
    }
    MPI_Allreduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, f->cube.comm);
}

/* The checksum of an iteration, and sums of squares, against those of the three functions. */
static void check_sums(struct fourier *f)
{
    long long n = f->options.n;
    double found[4], squares = 1, scale = 0;
    struct complex sum = {0, 0};
    sum_up(f, found);
    compute_functions(f);
    for (long long j = 1; j <= POINTS; j++) {
        long long at[3];
        point(n, j, at);
        struct complex term = product(f->now, at[0], at[1], at[2]);
        sum.re += term.re;
        sum.im += term.im;
        scale += sqrt(square(term));
    }
    for (int d = 0; d < 3; d++) {
        double along = 0;
        for (long long i = 0; i < n; i++)
            along += square(f->now[d][i]);
        squares *= along;
    }
    compare(f, (struct complex){found[0], found[1]}, sum, scale);
    compare(f, (struct complex){found[2], 0}, (struct complex){squares, 0}, squares);
    compare(f, (struct complex){found[3] / (double)(n * n * n), 0}, (struct complex){squares, 0},
            squares);
}

/* All points in space, at the end. They have to be made again: a resize drops them. */
static void check_points(struct fourier *f)
{
    long long n = f->options.n, first = f->cube.rank * f->cube.part;
    double largest = 0, mine, all;
    cube_to_space(&f->cube, pleat_rows_data(f->waves), f->space);
    compute_functions(f);
    for (int x = 0; x < n; x++)
        for (int y = 0; y < n; y++)
            for (int z = 0; z < n; z++)
                largest = fmax(largest, square(product(f->now, x, y, z)));
    for (long long i = 0; i < cube_size(&f->cube); i++)
        compare(f, f->space[i], product(f->now, i % n, i / n % n, first + i / n / n),
                sqrt(largest));
    mine = f->progress.error;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, f->cube.comm);
    f->progress.error = all;
}

/* ---- */

static void set_up(struct fourier *f)
{
    struct pleat_error err;
    long long n = f->options.n;
    if (pleat_session_create(&f->session, &err) ||
        pleat_value_register(f->session, "progress", &f->progress, sizeof(f->progress), &err) ||
        pleat_rows_create(f->session, "waves", n, (size_t)(n * n) * sizeof(struct complex), 0,
                          &f->waves, &err) ||
        pleat_session_limits(f->session, 1, (int)n, "powers", &err))
        app_give_up("cannot set up", &err);
}

static void iterate(struct fourier *f)
{
    fade(f);
    cube_to_space(&f->cube, pleat_rows_data(f->waves), f->space);
    f->progress.done++;
    check_sums(f);
    app_pretend(&f->options, pleat_session_size(f->session));
}

/* The verdict, after the last iteration; 1: it is wrong. */
static int end(struct fourier *f, const struct app_tally *tally)
{
    long long done = f->progress.done;
    check_points(f);
    unsigned long long bits =
        app_bits_of_all(f->cube.comm, app_bits(&f->space[0].re, 2 * cube_size(&f->cube),
                                               2LL * f->cube.rank * cube_size(&f->cube)));
    int wrong = f->progress.error > f->options.tolerance || app_tally_skipped(tally, done) ||
                !app_has_done(&f->options, done);
    if (pleat_session_rank(f->session) == 0)
        printf("RESULT %s transforms=%lld ranks=%d error=%.2e seconds=%.4f bits=%016llx\n",
               wrong ? "wrong" : "ok", done, pleat_session_size(f->session), f->progress.error,
               f->seconds, bits);
    return wrong;
}

/* The iterations that are left; what the last adaptation point returned. */
static int run(struct fourier *f, struct app_tally *tally, int what)
{
    struct pleat_error err;
    double begun = MPI_Wtime();
    while (what != PLEAT_LEAVE && app_goes_on(f->session, &f->options, f->progress.done)) {
        iterate(f);
        app_tally_add(tally);
        if (app_reports(f->session, &f->options, f->progress.done))
            printf("%lld of %lld transforms, %d ranks\n", f->progress.done, f->options.iterations,
                   pleat_session_size(f->session));
        what = pleat_session_adapt(f->session, &err);
        if (what < 0)
            app_give_up("adaptation point", &err);
        if (what == PLEAT_GREW || what == PLEAT_SHRANK)
            reshape(f);
    }
    f->seconds = MPI_Wtime() - begun;
    return what;
}

int main(int argc, char **argv)
{
    struct fourier f = {.options = {.n = 32, .iterations = 200, .tolerance = 1e-9, .n_most = MOST}};
    struct app_tally tally;
    int wrong = 0;

    app_read_options(argc, argv, usage, &f.options);
    if (!cube_suits(f.options.n, 1)) {
        fprintf(stderr, "--n wants a power of 2, at least 2, not %lld\n", f.options.n);
        return 2;
    }
    MPI_Init(&argc, &argv);
    make_functions(&f);
    set_up(&f);
    int what = app_begin(f.session);
    if (what != PLEAT_LEAVE)
        reshape(&f);
    if (what == PLEAT_STARTED)
        fill(&f);
    app_tally_open(&tally, f.session, what);
    what = run(&f, &tally, what);
    if (what != PLEAT_LEAVE)
        wrong = end(&f, &tally);
    if (f.space)
        cube_close(&f.cube);
    free(f.space);
    free_functions(&f);
    pleat_session_finish(f.session);
    MPI_Finalize();
    return wrong;
}
