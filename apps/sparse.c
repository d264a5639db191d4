/* sparse - linear equations with a sparse matrix by conjugate gradients, malleable with libpleat.
 *
 * The matrix is a shift plus the Laplacian of a graph in which points at random distances are
 * joined. Its rows have different lengths; columns and values lie in a pleat_csr, the vectors in
 * rows, with the same rows on each rank.
 *
 * An iteration is one step of conjugate gradients; after STEPS of them the solution is checked, and
 * the next right-hand side begins. The columns of a Laplacian add up to 0, so the sum of the
 * right-hand side has to be the shift times that of the solution; and the residual that is computed
 * anew has to be small. What is wrong in a vector after a resize shows in one of the two.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

#define STEPS 25   /* of conjugate gradients for a right-hand side, as in NAS CG */
#define STRIDES 8  /* distances at which points of the graph are joined */
#define SHIFT 10.0 /* the condition is at most 1 + 2 * 2 * STRIDES / SHIFT: few steps suffice */

static const char usage[] =
    "usage: mpirun ... sparse [options]\n"
    "Conjugate gradients with a sparse matrix; grows and shrinks under Pleat, and checks its "
    "result.\n"
    "  --n N            rows of the matrix (default 4096)\n"
    "  --iterations N   steps of conjugate gradients, 25 for each right-hand side (default 500)\n"
    "  --until FILE     steps until there is such a file, however many these are\n"
    "  --work MS        pretend that a step costs MS more of computing, shared by the ranks\n"
    "  --useful N       ranks beyond N take no share of that (default: all do)\n"
    "  --pause MS       sleep for MS milliseconds in every step\n"
    "  --tolerance T    relative error allowed (default 1e-9)\n";

/* What is carried along besides matrix and vectors. */
struct progress {
    long long done;
    double squares; /* of the residual */
    double error;   /* the largest one of all right-hand sides so far */
};

struct sparse {
    struct app_options options;
    struct pleat_session *session;
    struct pleat_csr *matrix; /* fields: column, value */
    struct pleat_rows *solution, *residual, *direction;
    struct progress progress;
    /* of the present ranks */
    int *counts, *firsts; /* rows of every rank */
    double *whole;        /* n: a vector, on every rank */
    double *product;      /* the local rows of matrix times direction */
};

/* ---- the matrix ---- */

/* The distance of stride k: between 1 and half of all points. */
static long long stride(const struct sparse *s, int k)
{
    long long half = s->options.n / 2;
    return half ? 1 + (long long)(app_noise(77, (unsigned long long)k) * (double)half) : 0;
}

/* The weight of the edge from point i forwards by stride k; 0: there is none. */
static double weight(const struct sparse *s, long long i, int k)
{
    double noise = app_noise(100 + (unsigned long long)k, (unsigned long long)i);
    return stride(s, k) && noise < 0.75 ? 0.25 + noise : 0;
}

/* The edges of a point, at most 2 STRIDES: other ends and weights. Returns their number. */
static int edges_of(const struct sparse *s, long long i, long long *ends, double *weights)
{
    long long n = s->options.n;
    int count = 0;
    for (int k = 0; k < STRIDES; k++) {
        long long forwards = (i + stride(s, k)) % n, back = (i + n - stride(s, k)) % n;
        const double there = weight(s, i, k), here = weight(s, back, k);
        if (there > 0) {
            ends[count] = forwards;
            weights[count++] = there;
        }
        if (here > 0) {
            ends[count] = back;
            weights[count++] = here;
        }
    }
    return count;
}

static void make_matrix(const struct sparse *s)
{
    struct pleat_error err;
    long long count = pleat_csr_count(s->matrix), first = pleat_csr_first(s->matrix);
    long long ends[2 * STRIDES];
    double weights[2 * STRIDES];
    int64_t *lengths = app_allocate(count, sizeof(*lengths));
    for (long long i = 0; i < count; i++)
        lengths[i] = 1 + edges_of(s, first + i, ends, weights);
    if (pleat_csr_set_lengths(s->matrix, lengths, &err))
        app_give_up("cannot make the matrix", &err);
    free(lengths);
    const int64_t *start = pleat_csr_start(s->matrix);
    int64_t *columns = pleat_csr_field(s->matrix, 0);
    double *values = pleat_csr_field(s->matrix, 1);
    for (long long i = 0; i < count; i++) {
        int64_t at = start[i];
        int edges = edges_of(s, first + i, ends, weights);
        columns[at] = first + i;
        values[at] = SHIFT;
        for (int e = 0; e < edges; e++) {
            values[at] += weights[e];
            columns[at + 1 + e] = ends[e];
            values[at + 1 + e] = -weights[e];
        }
    }
}

/* ---- vectors ---- */

static double sum_over_ranks(const struct sparse *s, double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, pleat_session_comm(s->session));
    return all;
}

static double dot(const struct sparse *s, const double *a, const double *b)
{
    double mine = 0;
    for (long long i = 0; i < pleat_csr_count(s->matrix); i++)
        mine += a[i] * b[i];
    return sum_over_ranks(s, mine);
}

/* product = matrix times vector; the vector is gathered on every rank. */
static void multiply(const struct sparse *s, const double *vector)
{
    const int64_t *start = pleat_csr_start(s->matrix), *columns = pleat_csr_field(s->matrix, 0);
    const double *values = pleat_csr_field(s->matrix, 1);
    long long count = pleat_csr_count(s->matrix);
    MPI_Allgatherv(vector, (int)count, MPI_DOUBLE, s->whole, s->counts, s->firsts, MPI_DOUBLE,
                   pleat_session_comm(s->session));
    for (long long i = 0; i < count; i++) {
        s->product[i] = 0;
        for (int64_t at = start[i]; at < start[i + 1]; at++)
            s->product[i] += values[at] * s->whole[columns[at]];
    }
}

/* ---- conjugate gradients ---- */

/* Element i of the right-hand side of the steps that come. */
static double right_hand_side(const struct sparse *s, long long i)
{
    return app_noise(1000 + (unsigned long long)(s->progress.done / STEPS), (unsigned long long)i);
}

/* The next right-hand side; the solution is 0 at first. */
static void begin_solution(struct sparse *s)
{
    double *x = pleat_rows_data(s->solution), *r = pleat_rows_data(s->residual);
    double *p = pleat_rows_data(s->direction);
    long long first = pleat_csr_first(s->matrix);
    for (long long i = 0; i < pleat_csr_count(s->matrix); i++) {
        x[i] = 0;
        r[i] = p[i] = right_hand_side(s, first + i);
    }
    s->progress.squares = dot(s, r, r);
}

static void step(struct sparse *s)
{
    double *x = pleat_rows_data(s->solution), *r = pleat_rows_data(s->residual);
    double *p = pleat_rows_data(s->direction);
    long long count = pleat_csr_count(s->matrix);
    multiply(s, p);
    double along = dot(s, p, s->product), before = s->progress.squares;
    double length = along > 0 ? before / along : 0;
    for (long long i = 0; i < count; i++) {
        x[i] += length * p[i];
        r[i] -= length * s->product[i];
    }
    s->progress.squares = dot(s, r, r);
    double keep = before > 0 ? s->progress.squares / before : 0;
    for (long long i = 0; i < count; i++)
        p[i] = r[i] + keep * p[i];
}

static void note_error(struct sparse *s, double off)
{
    if (!(off <= s->progress.error))
        s->progress.error = isnan(off) ? INFINITY : off;
}

/* After the last step for a right-hand side: residual and sums, computed anew. */
static void check_solution(struct sparse *s)
{
    const double *x = pleat_rows_data(s->solution);
    long long first = pleat_csr_first(s->matrix);
    double mine[4] = {0}, all[4]; /* squares of residual and right-hand side; sums of it and of x */
    multiply(s, x);
    for (long long i = 0; i < pleat_csr_count(s->matrix); i++) {
        double b = right_hand_side(s, first + i), off = b - s->product[i];
        mine[0] += off * off;
        mine[1] += b * b;
        mine[2] += b;
        mine[3] += x[i];
    }
    MPI_Allreduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, pleat_session_comm(s->session));
    note_error(s, sqrt(all[0] / all[1]));
    note_error(s, fabs(all[2] - SHIFT * all[3]) / all[2]);
}

/* In the midst of a right-hand side: the residual that is carried along is that of the solution. */
static void check_residual(struct sparse *s)
{
    const double *x = pleat_rows_data(s->solution), *r = pleat_rows_data(s->residual);
    long long first = pleat_csr_first(s->matrix);
    double mine[2] = {0}, all[2];
    multiply(s, x);
    for (long long i = 0; i < pleat_csr_count(s->matrix); i++) {
        double b = right_hand_side(s, first + i), off = b - s->product[i] - r[i];
        mine[0] += off * off;
        mine[1] += b * b;
    }
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, pleat_session_comm(s->session));
    note_error(s, sqrt(all[0] / all[1]));
}

static void iterate(struct sparse *s)
{
    if (s->progress.done % STEPS == 0)
        begin_solution(s);
    step(s);
    if (s->progress.done % STEPS == STEPS - 1)
        check_solution(s);
    s->progress.done++;
    app_pretend(&s->options, pleat_session_size(s->session));
}

/* ---- */

/* For the present ranks: at the beginning, and after each resize. */
static void reshape(struct sparse *s)
{
    int size = pleat_session_size(s->session);
    free(s->counts);
    free(s->firsts);
    free(s->product);
    s->counts = app_allocate(size, sizeof(int));
    s->firsts = app_allocate(size, sizeof(int));
    s->product = app_allocate(pleat_csr_count(s->matrix), sizeof(double));
    for (int rank = 0; rank < size; rank++) {
        int64_t first, count;
        pleat_owned_block(s->options.n, size, rank, &first, &count);
        s->firsts[rank] = (int)first;
        s->counts[rank] = (int)count;
    }
}

static void set_up(struct sparse *s)
{
    struct pleat_error err;
    const size_t fields[2] = {sizeof(int64_t), sizeof(double)};
    long long n = s->options.n;
    if (pleat_session_create(&s->session, &err) ||
        pleat_value_register(s->session, "progress", &s->progress, sizeof(s->progress), &err) ||
        pleat_csr_create(s->session, "matrix", n, fields, 2, &s->matrix, &err) ||
        pleat_rows_create(s->session, "solution", n, sizeof(double), 0, &s->solution, &err) ||
        pleat_rows_create(s->session, "residual", n, sizeof(double), 0, &s->residual, &err) ||
        pleat_rows_create(s->session, "direction", n, sizeof(double), 0, &s->direction, &err))
        app_give_up("cannot set up", &err);
    s->whole = app_allocate(n, sizeof(double));
}

/* The verdict, after the last step; 1: it is wrong. */
static int end(struct sparse *s, const struct app_tally *tally)
{
    long long done = s->progress.done;
    if (done % STEPS)
        check_residual(s);
    long long entries = 0, mine = pleat_csr_start(s->matrix)[pleat_csr_count(s->matrix)];
    MPI_Allreduce(&mine, &entries, 1, MPI_LONG_LONG, MPI_SUM, pleat_session_comm(s->session));
    int wrong = s->progress.error > s->options.tolerance || app_tally_skipped(tally, done) ||
                !app_has_done(&s->options, done);
    if (pleat_session_rank(s->session) == 0)
        printf("RESULT %s steps=%lld ranks=%d entries=%lld error=%.2e\n", wrong ? "wrong" : "ok",
               done, pleat_session_size(s->session), entries, s->progress.error);
    return wrong;
}

/* The steps that are left; what the last adaptation point returned. */
static int run(struct sparse *s, struct app_tally *tally, int what)
{
    struct pleat_error err;
    while (what != PLEAT_LEAVE && app_goes_on(s->session, &s->options, s->progress.done)) {
        iterate(s);
        app_tally_add(tally);
        if (app_reports(s->session, &s->options, s->progress.done))
            printf("%lld of %lld steps, %d ranks\n", s->progress.done, s->options.iterations,
                   pleat_session_size(s->session));
        what = pleat_session_adapt(s->session, &err);
        if (what < 0)
            app_give_up("adaptation point", &err);
        if (what == PLEAT_GREW || what == PLEAT_SHRANK)
            reshape(s);
    }
    return what;
}

int main(int argc, char **argv)
{
    struct sparse s = {
        .options = {.n = 4096, .iterations = 500, .tolerance = 1e-9, .n_most = 1 << 28}};
    struct app_tally tally;
    int wrong = 0;

    app_read_options(argc, argv, usage, &s.options);
    MPI_Init(&argc, &argv);
    set_up(&s);
    int what = app_begin(s.session);
    if (what != PLEAT_LEAVE)
        reshape(&s);
    if (what == PLEAT_STARTED)
        make_matrix(&s);
    app_tally_open(&tally, s.session, what);
    what = run(&s, &tally, what);
    if (what != PLEAT_LEAVE)
        wrong = end(&s, &tally);
    free(s.counts);
    free(s.firsts);
    free(s.product);
    free(s.whole);
    pleat_session_finish(s.session);
    MPI_Finalize();
    return wrong;
}
