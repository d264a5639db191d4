/* A program of somebody who uses an installed libpleat; C and C++. Computes until it has grown (if
 * it can), with an argument until it has also shrunk again, then a few iterations more, and checks
 * that its numbers came along. */
#include <pleat.h>
#include <stdio.h>
#include <time.h>

#define ROWS 1000
#define LIMIT_S 120

static int give_up(const struct pleat_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    return MPI_Abort(MPI_COMM_WORLD, 1);
}

static int check(struct pleat_session *session, struct pleat_rows *rows, long steps)
{
    long *numbers = (long *)pleat_rows_data(rows);
    long wrong = 0, all = 0;
    for (long i = 0; i < (long)pleat_rows_count(rows); i++)
        wrong += numbers[i] != (long)pleat_rows_first(rows) + i + steps;
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, pleat_session_comm(session));
    if (pleat_session_rank(session) == 0)
        printf("RESULT %s on %d ranks\n", all ? "wrong" : "ok", pleat_session_size(session));
    return all != 0;
}

int main(int argc, char **argv)
{
    struct pleat_session *session;
    struct pleat_rows *rows;
    struct pleat_error err;
    long step = 0, last = -1, most = 0;

    MPI_Init(&argc, &argv);
    time_t end = time(NULL) + LIMIT_S;
    if (pleat_session_create(&session, &err) ||
        pleat_value_register(session, "step", &step, sizeof(step), &err) ||
        pleat_value_register(session, "last", &last, sizeof(last), &err) ||
        pleat_value_register(session, "most", &most, sizeof(most), &err) ||
        pleat_rows_create(session, "numbers", ROWS, sizeof(long), 0, &rows, &err))
        return give_up(&err);
    int begun = pleat_session_begin(session, &err);
    int what = begun;
    if (begun < 0)
        return give_up(&err);
    if (begun == PLEAT_STARTED)
        for (long i = 0; i < (long)pleat_rows_count(rows); i++)
            ((long *)pleat_rows_data(rows))[i] = (long)pleat_rows_first(rows) + i;
    if (begun == PLEAT_STARTED && !pleat_session_malleable(session))
        last = 10;
    while (what != PLEAT_LEAVE && step != last) {
        int over = time(NULL) > end; /* rank 0's clock decides */
        MPI_Bcast(&over, 1, MPI_INT, 0, pleat_session_comm(session));
        if (over)
            return MPI_Abort(MPI_COMM_WORLD, 3);
        for (long i = 0; i < (long)pleat_rows_count(rows); i++)
            ((long *)pleat_rows_data(rows))[i]++;
        step++;
        int size = pleat_session_size(session);
        most = size > most ? size : most;
        if (last < 0 && most > 1 && (argc == 1 || size == 1))
            last = step + 10;
        what = pleat_session_adapt(session, &err);
        if (what < 0)
            return give_up(&err);
    }
    int code = what != PLEAT_LEAVE ? check(session, rows, step) : 0;
    pleat_session_finish(session);
    MPI_Finalize();
    return code;
}
