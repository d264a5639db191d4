/* arrays_pleat N RESIZES [matrix|slabs|particles] - a malleable program with one N x N matrix of
 * doubles in blocks of 64 x 64, or in slabs of columns, or with particles of 64 bytes that take as
 * much memory. It computes nothing, and looks at all elements after each resize. */
#include <pleat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK 64

static struct pleat_session *session;
static struct pleat_array *matrix; /* NULL: particles */
static struct pleat_particles *particles;
static struct pleat_error err;

static _Noreturn void give_up(void)
{
    fprintf(stderr, "arrays_pleat: %s\n", err.text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

struct particle {
    int64_t number; /* among those of all ranks */
    double rest[7];
};

/* Particles keep their order, and each rank gets as many as the others. */
static long visit_particles(int fill)
{
    struct particle *at = pleat_particles_data(particles);
    const int64_t count = pleat_particles_count(particles);
    int64_t first = 0;
    long wrong = 0;
    MPI_Exscan(&count, &first, 1, MPI_INT64_T, MPI_SUM, pleat_session_comm(session));
    if (pleat_session_rank(session) == 0)
        first = 0;
    for (int64_t i = 0; i < count; i++) {
        if (fill)
            at[i] = (struct particle){.number = first + i};
        else
            wrong += at[i].number != first + i;
    }
    return wrong;
}

/* Fills the local elements, or counts wrong ones. */
static long visit(int fill)
{
    if (!matrix)
        return visit_particles(fill);
    double *at = pleat_array_data(matrix);
    long wrong = 0;
    for (int64_t j = 0; j < pleat_array_count(matrix, 1); j++) {
        double column = (double)pleat_array_global(matrix, 1, j) * 65536;
        for (int64_t i = 0; i < pleat_array_count(matrix, 0); i++, at++) {
            /* rows of a block follow one another */
            double value = column + (double)(i % BLOCK);
            if (fill)
                *at = value;
            else
                wrong += *at < value || *at > value;
        }
    }
    return wrong;
}

static int create(long n, const char *kind)
{
    struct pleat_array_shape shape = {
        .dims = 2, .element_bytes = sizeof(double), .column_major = 1};
    for (int d = 0; d < 2; d++)
        shape.dim[d] =
            (struct pleat_dimension){.extent = n, .format = PLEAT_BLOCK_CYCLIC, .block = BLOCK};
    if (!strcmp(kind, "slabs")) {
        shape.dim[0].format = PLEAT_COLLAPSED;
        shape.dim[1].format = PLEAT_BLOCK;
    }
    return strcmp(kind, "particles")
               ? pleat_array_create(session, "matrix", &shape, &matrix, &err)
               : pleat_particles_create(session, "particles", sizeof(struct particle), &particles,
                                        &err);
}

int main(int argc, char **argv)
{
    long counters[2] = {0}; /* resizes, wrong elements */
    long n = argc >= 3 ? atol(argv[1]) : 0;
    long resizes = argc >= 3 ? atol(argv[2]) : 0;
    const char *kind = argc == 4 ? argv[3] : "matrix";
    MPI_Init(&argc, &argv);
    if (pleat_session_create(&session, &err) ||
        pleat_value_register(session, "counters", counters, sizeof(counters), &err) ||
        create(n, kind))
        give_up();
    int begun = pleat_session_begin(session, &err);
    if (begun < 0)
        give_up();
    int what = PLEAT_SAME;
    if (begun == PLEAT_STARTED) {
        /* as many particles as take the memory of the matrix */
        const int64_t all = n * n / 8;
        const int size = pleat_session_size(session);
        if (!matrix &&
            pleat_particles_set_count(
                particles, all / size + (pleat_session_rank(session) < all % size), &err))
            give_up();
        (void)visit(1);
    } else {
        counters[0]++;
        counters[1] += visit(0);
    }
    while (what != PLEAT_LEAVE && counters[0] < resizes) {
        const struct timespec moment = {0, 2000000};
        nanosleep(&moment, NULL);
        what = pleat_session_adapt(session, &err);
        if (what < 0)
            give_up();
        if (what == PLEAT_GREW || what == PLEAT_SHRANK) {
            counters[0]++;
            counters[1] += visit(0);
        }
    }
    if (what != PLEAT_LEAVE) {
        long all = 0;
        MPI_Reduce(&counters[1], &all, 1, MPI_LONG, MPI_SUM, 0, pleat_session_comm(session));
        if (pleat_session_rank(session) == 0)
            printf("RESULT %s\n", all ? "wrong" : "ok");
    }
    pleat_session_finish(session);
    MPI_Finalize();
    return 0;
}
