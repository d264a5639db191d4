/* app_acts [options] - a malleable program with a decision, actions and a plan of its own. Each
 * rank appends what it is asked and told to a file, a line each: the standard outputs of processes
 * that come and go have no common order. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pleat.h>

#define ROWS 97

static const char *until, *fail_before, *fail_after;
static FILE *record;
static int half, reverse;
static long counters[2]; /* iterations, actions before changes */

static _Noreturn void give_up(const struct pleat_error *err)
{
    fprintf(stderr, "acts: %s\n", err->text);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static int is_there(const char *path)
{
    return path && access(path, F_OK) == 0;
}

/* Takes half of what is offered, and says for what it is. */
static int decide(int current, int offered, int mandatory, void *arg)
{
    struct pleat_session *session = arg;
    const struct pleat_offer *offer = pleat_session_offer(session);
    int takes = half ? (current + offered) / 2 : offered;
    if (!offer || offer->from != current || offer->to != offered || offer->mandatory != mandatory)
        takes = current;
    fprintf(record, "OFFER %d to %d, occasion %d, mandatory %d: takes %d\n", current, offered,
            offer ? (int)offer->occasion : -1, mandatory, takes);
    return takes;
}

static int act(struct pleat_session *session, enum pleat_moment moment,
               const struct pleat_offer *change, void *arg)
{
    static const char *const moments[] = {"?", "before", "after", "instead"};
    const char *name = arg;
    int rank = pleat_session_rank(session);
    int size = 0;
    /* an action may communicate; ranks and size are those of the moment */
    MPI_Comm_size(pleat_session_comm(session), &size);
    MPI_Barrier(pleat_session_comm(session));
    fprintf(record, "ACT %s %s rank %d of %d: %d to %d, occasion %d, mandatory %d, relaunch %d\n",
            moments[moment], name, rank, size, change->from, change->to, (int)change->occasion,
            change->mandatory, change->relaunch);
    if (moment == PLEAT_BEFORE && !strcmp(name, "files"))
        counters[1]++; /* what is written before a change moves along */
    if (moment == PLEAT_BEFORE && rank == 1 && !strcmp(name, "solver") && is_there(fail_before))
        return 7;
    return moment == PLEAT_AFTER && is_there(fail_after);
}

/* The solver first, where the program shrinks. */
static int plan(enum pleat_moment moment, const struct pleat_offer *change, int *actions, int count,
                void *arg)
{
    (void)moment, (void)arg;
    if (change->to < change->from) {
        actions[0] = 1;
        actions[1] = 0;
    }
    return count;
}

static void read_options(int argc, char **argv)
{
    static const struct option table[] = {
        {"until", 1, NULL, 'u'}, {"fail-before", 1, NULL, 'b'}, {"fail-after", 1, NULL, 'a'},
        {"half", 0, &half, 1},   {"reverse", 0, &reverse, 1},   {"record", 1, NULL, 'r'},
        {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (c == 'u')
            until = optarg;
        else if (c == 'b')
            fail_before = optarg;
        else if (c == 'a')
            fail_after = optarg;
        else if (c == 'r')
            record = fopen(optarg, "a");
        else if (c)
            exit(2);
    }
    if (!record)
        exit(2);
    setvbuf(record, NULL, _IOLBF, 0);
}

/* Whether every rank has its rows, and the same number of actions. */
static int is_right(struct pleat_session *session, const struct pleat_rows *rows)
{
    const long *data = pleat_rows_data(rows);
    long mine[2] = {0, 0}, all[2];
    for (long i = 0; i < pleat_rows_count(rows); i++)
        mine[0] += data[i] == pleat_rows_first(rows) + i;
    mine[1] = counters[1];
    MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, pleat_session_comm(session));
    return all[0] == ROWS && all[1] == counters[1] * pleat_session_size(session);
}

static int goes_on(const struct pleat_session *session)
{
    int there = pleat_session_rank(session) == 0 && is_there(until);
    MPI_Bcast(&there, 1, MPI_INT, 0, pleat_session_comm(session));
    return !there;
}

int main(int argc, char **argv)
{
    struct pleat_session *session;
    struct pleat_rows *rows;
    struct pleat_error err;
    const struct timespec pause = {.tv_nsec = 2000000};
    int wrong = 0;
    read_options(argc, argv);
    MPI_Init(&argc, &argv);
    if (pleat_session_create(&session, &err) ||
        pleat_value_register(session, "counters", counters, sizeof(counters), &err) ||
        pleat_rows_create(session, "rows", ROWS, sizeof(long), 0, &rows, &err) ||
        pleat_action_register(session, "files", act, (void *)"files", &err) ||
        pleat_action_register(session, "solver", act, (void *)"solver", &err))
        give_up(&err);
    pleat_session_on_offer(session, decide, session);
    pleat_session_on_plan(session, reverse ? plan : NULL, NULL);
    int what = pleat_session_begin(session, &err);
    if (what < 0)
        give_up(&err);
    long *data = pleat_rows_data(rows);
    for (long i = 0; what == PLEAT_STARTED && i < pleat_rows_count(rows); i++)
        data[i] = pleat_rows_first(rows) + i;
    if (what == PLEAT_JOINED)
        wrong += !is_right(session, rows);
    if (what != PLEAT_LEAVE)
        what = PLEAT_SAME;
    while (what != PLEAT_LEAVE && goes_on(session)) {
        nanosleep(&pause, NULL);
        counters[0]++;
        what = pleat_session_adapt(session, &err);
        if (what < 0)
            give_up(&err);
        if (what == PLEAT_GREW || what == PLEAT_SHRANK)
            wrong += !is_right(session, rows);
    }
    if (what != PLEAT_LEAVE) {
        wrong += !is_right(session, rows);
        if (pleat_session_rank(session) == 0)
            printf("RESULT %s ranks=%d actions=%ld\n", wrong ? "wrong" : "ok",
                   pleat_session_size(session), counters[1]);
    }
    pleat_session_finish(session);
    MPI_Finalize();
    return wrong;
}
