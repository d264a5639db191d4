/* arrays_pleat N RESIZES - a malleable program with one N x N matrix of doubles in blocks of 64 x
 * 64, which does nothing but to be resized. After each resize it looks at all elements. */
#include <pleat.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCK 64

static struct pleat_session *session;
static struct pleat_array *matrix;
static struct pleat_error err;

static _Noreturn void give_up(void)
{
    fprintf(stderr, "arrays_pleat: %s\n", err.text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* Fills the local elements, or counts wrong ones. */
static long visit(int fill)
{
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

int main(int argc, char **argv)
{
    long counters[2] = {0}; /* resizes, wrong elements */
    long n = argc == 3 ? atol(argv[1]) : 0;
    long resizes = argc == 3 ? atol(argv[2]) : 0;
    struct pleat_array_shape shape = {
        .dims = 2, .element_bytes = sizeof(double), .column_major = 1};
    for (int d = 0; d < 2; d++)
        shape.dim[d] =
            (struct pleat_dimension){.extent = n, .format = PLEAT_BLOCK_CYCLIC, .block = BLOCK};
    MPI_Init(&argc, &argv);
    if (pleat_session_create(&session, &err) ||
        pleat_value_register(session, "counters", counters, sizeof(counters), &err) ||
        pleat_array_create(session, "matrix", &shape, &matrix, &err))
        give_up();
    int begun = pleat_session_begin(session, &err);
    if (begun < 0)
        give_up();
    int what = PLEAT_SAME;
    if (begun == PLEAT_STARTED)
        (void)visit(1);
    else {
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
