/* points N ROUNDS - a malleable program that measures its own adaptation points, N of a kind in a
 * row: reading the clock, pleat_session_adapt, a point with a name, one that only takes times.
 *
 * Prints for each round "ns A B C D": processor time of one, the mean of all ranks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <pleat.h>

#include "base/clock.h"
#include "points.h"

static struct pleat_session *session;
static struct pleat_error err;
static int named, times;

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "points: %s: %s\n", what, err.text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static double processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void expect_same(int outcome)
{
    if (outcome != PLEAT_SAME)
        give_up("a point at which nothing was to happen was not quiet");
}

static double measure(enum points_kind kind, long count)
{
    const double begun = processor_ns();
    for (long i = 0; i < count; i++) {
        if (kind == POINTS_CLOCK)
            __asm__ volatile("" : : "r"(pleat_clock_monotonic_ns()) : "memory");
        else if (kind == POINTS_UNNAMED)
            expect_same(pleat_session_adapt(session, &err));
        else
            expect_same(pleat_point_adapt(session, kind == POINTS_NAMED ? named : times, &err));
    }
    return (processor_ns() - begun) / (double)count;
}

static void round_of(long count, int rank, int size)
{
    double mine[POINTS_KINDS], sums[POINTS_KINDS];
    for (int kind = 0; kind < POINTS_KINDS; kind++) {
        MPI_Barrier(pleat_session_comm(session));
        mine[kind] = measure((enum points_kind)kind, count);
    }
    MPI_Reduce(mine, sums, POINTS_KINDS, MPI_DOUBLE, MPI_SUM, 0, pleat_session_comm(session));
    if (rank == 0)
        printf(POINTS_LINE, sums[0] / size, sums[1] / size, sums[2] / size, sums[3] / size);
}

int main(int argc, char **argv)
{
    int rank = 0, size = 1;
    const long count = argc == 3 ? atol(argv[1]) : 0;
    const int rounds = argc == 3 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    if (count < 1 || rounds < 1) {
        snprintf(err.text, sizeof(err.text), "wants two numbers");
        give_up("arguments");
    }
    if (pleat_session_create(&session, &err) ||
        pleat_point_register(session, "named", PLEAT_POINT_RESIZE, &named, &err) ||
        pleat_point_register(session, "times", PLEAT_POINT_TIMES, &times, &err) ||
        pleat_session_begin(session, &err) != PLEAT_STARTED)
        give_up("cannot begin");
    MPI_Comm_rank(pleat_session_comm(session), &rank);
    MPI_Comm_size(pleat_session_comm(session), &size);
    for (int i = 0; i < rounds; i++)
        round_of(count, rank, size);
    if (rank == 0)
        printf("RESULT ok points\n");
    pleat_session_finish(session);
    MPI_Finalize();
    return 0;
}
