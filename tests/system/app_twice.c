/* app_twice.c - a malleable program with two sessions, one after the other, that register the same.
 *
 *   app_twice --iterations N --until FILE
 *
 * The first session computes N iterations. The second one computes until there is FILE, and N at
 * least. Each sums the numbers of its iterations in every row, and says what it has computed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pleat.h"

#define ROWS 60

static long iterations = 20;
static const char *until;

static void give_up(const struct pleat_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static int goes_on(const struct pleat_session *session, int second, long done)
{
    int more = done < iterations || (second && access(until, F_OK) != 0);
    MPI_Bcast(&more, 1, MPI_INT, 0, pleat_session_comm(session));
    return more;
}

/* Whether every row has the sum of the numbers of `done` iterations. */
static int is_right(const struct pleat_session *session, const struct pleat_rows *rows, long done)
{
    const long *data = pleat_rows_data(rows);
    long right = 0, all = 0;
    for (long i = 0; i < pleat_rows_count(rows); i++)
        right += data[i] == done * (done - 1) / 2;
    MPI_Allreduce(&right, &all, 1, MPI_LONG, MPI_SUM, pleat_session_comm(session));
    return all == ROWS;
}

/* Returns whether the ranks leave. */
static int one_session(int second)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    struct pleat_session *session;
    struct pleat_rows *rows;
    struct pleat_error err;
    long done = 0, computed = 0;
    if (pleat_session_create(&session, &err) ||
        pleat_value_register(session, "done", &done, sizeof(done), &err) ||
        pleat_rows_create(session, "rows", ROWS, sizeof(long), 0, &rows, &err))
        give_up(&err);
    int what = pleat_session_begin(session, &err);
    while (what >= 0 && what != PLEAT_LEAVE && goes_on(session, second, done)) {
        long *data = pleat_rows_data(rows);
        for (long i = 0; i < pleat_rows_count(rows); i++)
            data[i] += done;
        done++;
        if (++computed == 1 && pleat_session_rank(session) == 0) {
            printf("BEGUN session=%d\n", second + 1);
            fflush(stdout);
        }
        nanosleep(&pause, NULL);
        what = pleat_session_adapt(session, &err);
    }
    if (what < 0)
        give_up(&err);
    if (what != PLEAT_LEAVE) {
        int right = is_right(session, rows, done);
        if (pleat_session_rank(session) == 0)
            printf("RESULT %s session=%d computed=%ld of %ld\n", right ? "ok" : "wrong", second + 1,
                   computed, done);
    }
    pleat_session_finish(session);
    return what == PLEAT_LEAVE;
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--iterations") == 0)
            iterations = atol(argv[i + 1]);
        else if (strcmp(argv[i], "--until") == 0)
            until = argv[i + 1];
    }
    if (!until)
        return 2;
    MPI_Init(&argc, &argv);
    if (!one_session(0))
        (void)one_session(1);
    MPI_Finalize();
    return 0;
}
