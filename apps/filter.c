/* filter - a filter for an image by two-dimensional Fourier transforms, malleable with libpleat: of
 * the class of the image transformation of Swaminathan 2004, chapter 4.
 *
 * The image is n x n, periodic, its rows spread over the ranks. Every iteration blurs it a little:
 * FFTW transforms the rows, all ranks exchange what makes columns rows, these are transformed and
 * multiplied by the filter, and all goes back. So each iteration sends the whole image twice.
 *
 * The image is a sum of WAVES waves. A blur makes each of them weaker by a factor that is known, so
 * every point can be computed for itself at the end. A line is transformed by one rank in the same
 * way whatever their number, so a run that was resized has the same bits as one that was not.
 */
#include <complex.h>

#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define WAVES 12
#define BLURRED 3.0 /* the shortest wave is exp(-BLURRED) of itself after the whole run */
#define MOST 16384  /* of --n: what a rank sends to another one can be counted by an int */

static const char usage[] =
    "usage: mpirun ... filter [options]\n"
    "Blurs an image by Fourier transforms; grows and shrinks under Pleat, and checks its result.\n"
    "  --n N            rows and columns of the image (default 128)\n"
    "  --iterations N   blurs (default 100)\n"
    "  --until FILE     as many until there is such a file; --iterations is how slowly all blurs\n"
    "  --work MS        pretend that a blur costs MS more of computing, shared by the ranks\n"
    "  --useful N       ranks beyond N take no share of that (default: all do)\n"
    "  --pause MS       sleep for MS milliseconds in every blur\n"
    "  --tolerance T    relative error allowed at the end (default 1e-9)\n";

struct filter {
    struct app_options options;
    struct pleat_session *session;
    struct pleat_rows *image; /* complex numbers */
    long long done;
    /* of the present ranks: */
    long long *first, *rows;          /* of each */
    double complex *packed, *columns; /* local rows or columns times n */
    int *counts[2], *starts[2]; /* what goes from rows to columns, and what comes; in doubles */
    fftw_plan plan[2];          /* a line in place: to waves, back */
};

static long long own_rows(const struct filter *f)
{
    return pleat_rows_count(f->image);
}

/* ---- what the image is ---- */

/* The wave number of index i along one direction: 0, 1, ..., n / 2, -n / 2 + 1, ..., -1. */
static double wave_number(long long n, long long i)
{
    return (double)(i > n / 2 ? i - n : i);
}

/* By how much `blurs` blurs weaken a wave. */
static double weakened(const struct filter *f, double y, double x, long long blurs)
{
    double half = (double)f->options.n / 2, all = fmax(1, (double)f->options.iterations);
    double square = (y * y + x * x) / (2 * fmax(half * half, 1));
    return exp(-BLURRED * square * (double)blurs / all);
}

/* Direction of wave w: indices of it along y and x. */
static void direction(const struct filter *f, int w, long long at[2])
{
    for (int d = 0; d < 2; d++)
        at[d] = (long long)(app_noise(1 + (unsigned long long)d, (unsigned long long)w) *
                            (double)f->options.n);
}

/* A point of the image after so many blurs, from the waves' definition. */
static double complex point(const struct filter *f, long long y, long long x, long long blurs)
{
    long long n = f->options.n;
    double complex sum = 0;
    for (int w = 0; w < WAVES; w++) {
        long long at[2];
        direction(f, w, at);
        double turn = (double)((at[0] * y + at[1] * x) % n) / (double)n;
        sum += weakened(f, wave_number(n, at[0]), wave_number(n, at[1]), blurs) *
               cexp(2 * acos(-1.0) * I * (turn + 0.1 * w));
    }
    return sum;
}

static void fill(const struct filter *f)
{
    long long n = f->options.n, first = pleat_rows_first(f->image);
    double complex *image = pleat_rows_data(f->image);
    for (long long y = 0; y < own_rows(f); y++)
        for (long long x = 0; x < n; x++)
            image[y * n + x] = point(f, first + y, x, 0);
}

/* ---- a blur ---- */

/* Every line by itself, so that its bits do not depend on how many lines there are. */
static void transform(const struct filter *f, double complex *lines, int back)
{
    long long n = f->options.n;
    for (long long i = 0; i < own_rows(f); i++)
        fftw_execute_dft(f->plan[back], lines + i * n, lines + i * n);
}

/* Transposes the whole: from rows of this rank to columns of this rank, or the other way about,
 * which is the same. `from` may be `to`. */
static void transpose(const struct filter *f, const double complex *from, double complex *to)
{
    long long n = f->options.n, rows = own_rows(f);
    int size = pleat_session_size(f->session);
    double complex *at = f->packed;
    for (int rank = 0; rank < size; rank++)
        for (long long y = 0; y < rows; y++, at += f->rows[rank])
            memcpy(at, from + y * n + f->first[rank], (size_t)f->rows[rank] * sizeof(*at));
    double complex *received = f->columns;
    MPI_Alltoallv(f->packed, f->counts[0], f->starts[0], MPI_DOUBLE, received, f->counts[1],
                  f->starts[1], MPI_DOUBLE, pleat_session_comm(f->session));
    /* from rank r: its rows, of each the columns of this rank */
    for (int rank = 0; rank < size; rank++)
        for (long long y = 0; y < f->rows[rank]; y++)
            for (long long x = 0; x < rows; x++)
                to[x * n + f->first[rank] + y] = *received++;
}

static void weaken(const struct filter *f, double complex *columns)
{
    long long n = f->options.n, first = pleat_rows_first(f->image);
    for (long long x = 0; x < own_rows(f); x++)
        for (long long y = 0; y < n; y++)
            columns[x * n + y] *=
                weakened(f, wave_number(n, y), wave_number(n, first + x), 1) / (double)(n * n);
}

static void blur(struct filter *f)
{
    double complex *image = pleat_rows_data(f->image);
    transform(f, image, 0);
    transpose(f, image, image);
    transform(f, image, 0);
    weaken(f, image);
    transform(f, image, 1);
    transpose(f, image, image);
    transform(f, image, 1);
    f->done++;
}

/* ---- */

static void release(struct filter *f)
{
    free(f->first);
    free(f->rows);
    free(f->packed);
    free(f->columns);
    for (int way = 0; way < 2; way++) {
        free(f->counts[way]);
        free(f->starts[way]);
    }
}

/* For the present ranks: at the beginning, and after each resize. */
static void reshape(struct filter *f)
{
    int size = pleat_session_size(f->session);
    long long n = f->options.n, own = own_rows(f);
    release(f);
    f->first = app_allocate(size, sizeof(*f->first));
    f->rows = app_allocate(size, sizeof(*f->rows));
    for (int way = 0; way < 2; way++) {
        f->counts[way] = app_allocate(size, sizeof(int));
        f->starts[way] = app_allocate(size, sizeof(int));
    }
    for (int rank = 0, at = 0; rank < size; rank++) {
        int64_t first, count;
        pleat_owned_block(n, size, rank, &first, &count);
        f->first[rank] = first;
        f->rows[rank] = count;
        /* both ways: as many rows of mine as columns of its, and the other way about */
        f->counts[0][rank] = f->counts[1][rank] = (int)(2 * own * count);
        f->starts[0][rank] = f->starts[1][rank] = at;
        at += f->counts[0][rank];
    }
    f->packed = app_allocate(own * n, sizeof(double complex));
    f->columns = app_allocate(own * n, sizeof(double complex));
}

static void set_up(struct filter *f)
{
    struct pleat_error err;
    long long n = f->options.n;
    if (pleat_session_create(&f->session, &err) ||
        pleat_value_register(f->session, "done", &f->done, sizeof(f->done), &err) ||
        pleat_rows_create(f->session, "image", n, (size_t)n * sizeof(double complex), 0, &f->image,
                          &err))
        app_give_up("cannot set up", &err);
    /* estimated, and for lines anywhere: so the plan is the same in every process of every run */
    double complex *line = app_allocate(n, sizeof(*line));
    for (int back = 0; back < 2; back++)
        f->plan[back] = fftw_plan_dft_1d((int)n, line, line, back ? FFTW_BACKWARD : FFTW_FORWARD,
                                         FFTW_ESTIMATE | FFTW_UNALIGNED);
    free(line);
}

/* The verdict, after the last blur; 1: it is wrong. */
static int end(const struct filter *f, const struct app_tally *tally)
{
    long long n = f->options.n, first = pleat_rows_first(f->image);
    const double complex *image = pleat_rows_data(f->image);
    double error = 0, all;
    for (long long y = 0; y < own_rows(f); y++)
        for (long long x = 0; x < n; x++) {
            double off = cabs(image[y * n + x] - point(f, first + y, x, f->done)) / WAVES;
            error = isnan(off) ? INFINITY : fmax(error, off);
        }
    MPI_Allreduce(&error, &all, 1, MPI_DOUBLE, MPI_MAX, pleat_session_comm(f->session));
    unsigned long long bits =
        app_bits_of_all(pleat_session_comm(f->session),
                        app_bits((const double *)image, 2 * own_rows(f) * n, 2 * first * n));
    int wrong = all > f->options.tolerance || app_tally_skipped(tally, f->done) ||
                !app_has_done(&f->options, f->done);
    if (pleat_session_rank(f->session) == 0)
        printf("RESULT %s blurs=%lld ranks=%d error=%.2e bits=%016llx\n", wrong ? "wrong" : "ok",
               f->done, pleat_session_size(f->session), all, bits);
    return wrong;
}

/* The blurs that are left; what the last adaptation point returned. */
static int run(struct filter *f, struct app_tally *tally, int what)
{
    struct pleat_error err;
    const struct app_options *o = &f->options;
    while (what != PLEAT_LEAVE && app_goes_on(f->session, o, f->done)) {
        blur(f);
        app_pretend(o, pleat_session_size(f->session));
        app_tally_add(tally);
        if (app_reports(f->session, o, f->done))
            printf("%lld of %lld blurs, %d ranks\n", f->done, o->iterations,
                   pleat_session_size(f->session));
        what = pleat_session_adapt(f->session, &err);
        if (what < 0)
            app_give_up("adaptation point", &err);
        if (what == PLEAT_GREW || what == PLEAT_SHRANK)
            reshape(f);
    }
    return what;
}

int main(int argc, char **argv)
{
    struct filter f = {.options = {.n = 128, .iterations = 100, .tolerance = 1e-9, .n_most = MOST}};
    struct app_tally tally;
    int wrong = 0;

    app_read_options(argc, argv, usage, &f.options);
    MPI_Init(&argc, &argv);
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
    release(&f);
    fftw_destroy_plan(f.plan[0]);
    fftw_destroy_plan(f.plan[1]);
    pleat_session_finish(f.session);
    MPI_Finalize();
    return wrong;
}
