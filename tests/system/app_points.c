/* app_points [options] - a malleable program with an outer and an inner loop, each with an
 * adaptation point of its own, and with a point for times that ranks pass in different numbers. It
 * checks that each round of the inner loop is done once, and each round of the outer one is
 * prepared once, wherever it is resized. Each rank appends what happens to a file, a line each. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pleat.h>

#define ROWS 97
#define INNER 5

static const char *until, *resize = "both";
static FILE *record;
static const char *section; /* a file: while it is there, rank section_rank (-1: each) is in one */
static int section_rank = -1;
static int apart;
static int inside;                      /* number of sections that this rank is in */
static int in_outer, in_inner, in_cell; /* the points */
/* the state: rounds of both loops, and what was done in all */
static struct {
    long outer, inner, prepared, computed, wrong;
} state;

static _Noreturn void give_up(const struct pleat_error *err)
{
    fprintf(stderr, "points: %s\n", err->text);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void read_options(int argc, char **argv)
{
    static const struct option table[] = {{"until", 1, NULL, 'u'},   {"resize", 1, NULL, 'p'},
                                          {"apart", 0, &apart, 1},   {"record", 1, NULL, 'r'},
                                          {"section", 1, NULL, 's'}, {"section-rank", 1, NULL, 'k'},
                                          {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (c == 'u')
            until = optarg;
        else if (c == 'p')
            resize = optarg;
        else if (c == 's')
            section = optarg;
        else if (c == 'k')
            section_rank = atoi(optarg);
        else if (c == 'r')
            record = fopen(optarg, "a");
        else if (c)
            exit(2);
    }
    if (!record || !until)
        exit(2);
    setvbuf(record, NULL, _IOLBF, 0);
}

static enum pleat_point_use use_of(const char *point)
{
    return !strcmp(resize, "both") || !strcmp(resize, point) ? PLEAT_POINT_RESIZE
                                                             : PLEAT_POINT_TIMES;
}

/* After a change: where it was, and whether everything is there. */
static void check(struct pleat_session *session, const struct pleat_rows *rows, const char *how)
{
    const long *data = pleat_rows_data(rows);
    int point = pleat_session_point(session);
    long mine = 0, all = 0;
    state.wrong += inside != 0;
    for (long i = 0; i < pleat_rows_count(rows); i++)
        mine += data[i] == pleat_rows_first(rows) + i;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, pleat_session_comm(session));
    state.wrong += all != ROWS;
    state.wrong += state.computed != state.outer * INNER + state.inner;
    state.wrong += state.prepared != state.outer + (point == in_inner);
    state.wrong += point == in_outer ? state.inner != 0 : state.inner == 0;
    fprintf(record, "%s at %s on %d\n", how,
            point == in_inner   ? "inner"
            : point == in_outer ? "outer"
                                : "?",
            pleat_session_size(session));
}

static int adapt(struct pleat_session *session, const struct pleat_rows *rows, int point)
{
    struct pleat_error err;
    if (apart && pleat_session_rank(session) == 1) /* wrong: it takes one point for the other */
        point = point == in_inner ? in_outer : in_inner;
    int what = pleat_point_adapt(session, point, &err);
    if (what < 0)
        give_up(&err);
    if (what == PLEAT_GREW || what == PLEAT_SHRANK)
        check(session, rows, "CHANGED");
    if (what == PLEAT_LEAVE)
        fprintf(record, "LEFT at %s\n",
                pleat_session_point(session) == in_inner ? "inner" : "outer");
    return what;
}

static int goes_on(const struct pleat_session *session)
{
    int there = pleat_session_rank(session) == 0 && access(until, F_OK) == 0;
    MPI_Bcast(&there, 1, MPI_INT, 0, pleat_session_comm(session));
    return !there;
}

/* Begins or ends a section, with one inside. */
static void turn(struct pleat_session *session)
{
    struct pleat_error err;
    int rank = pleat_session_rank(session);
    int wanted = section && (section_rank < 0 || rank == section_rank) && !access(section, F_OK);
    for (int i = 0; i < 2 && wanted && inside < 2; i++, inside++)
        if (pleat_section_begin(session, &err))
            give_up(&err);
    for (; inside > 0 && !wanted; inside--)
        if (pleat_section_end(session, &err))
            give_up(&err);
}

/* Ranks pass the point for times in different numbers. */
static void compute(struct pleat_session *session)
{
    struct pleat_error err;
    const struct timespec pause = {.tv_nsec = 1000000};
    turn(session);
    for (int i = 0; i <= pleat_session_rank(session); i++)
        if (pleat_point_adapt(session, in_cell, &err))
            give_up(&err);
    nanosleep(&pause, NULL);
    state.computed++;
}

static int outer_round(struct pleat_session *session, const struct pleat_rows *rows)
{
    while (state.inner < INNER) {
        compute(session);
        state.inner++;
        if (adapt(session, rows, in_inner) == PLEAT_LEAVE)
            return PLEAT_LEAVE;
    }
    state.outer++;
    state.inner = 0;
    return adapt(session, rows, in_outer);
}

int main(int argc, char **argv)
{
    struct pleat_session *session;
    struct pleat_rows *rows;
    struct pleat_error err;
    read_options(argc, argv);
    MPI_Init(&argc, &argv);
    if (pleat_session_create(&session, &err) ||
        pleat_point_register(session, "outer", use_of("outer"), &in_outer, &err) ||
        pleat_value_register(session, "state", &state, sizeof(state), &err) ||
        pleat_rows_create(session, "rows", ROWS, sizeof(long), 0, &rows, &err) ||
        pleat_point_register(session, "inner", use_of("inner"), &in_inner, &err) ||
        pleat_point_register(session, "cell", PLEAT_POINT_TIMES, &in_cell, &err))
        give_up(&err);
    state.wrong += pleat_point_register(session, "cell", PLEAT_POINT_TIMES, &in_cell, &err) == 0;
    int what = pleat_session_begin(session, &err);
    if (what < 0)
        give_up(&err);
    state.wrong += what == PLEAT_STARTED && pleat_session_point(session) != -1;
    state.wrong += what != PLEAT_LEAVE && (pleat_section_end(session, &err) != PLEAT_E_STATE ||
                                           !strstr(err.text, "has begun no section"));
    state.wrong += what == PLEAT_STARTED &&
                   (pleat_session_expect(session, -1, 1000000, 4000000, &err) ||
                    pleat_session_expect(session, NAN, 0, 0, &err) != PLEAT_E_INVALID);
    state.wrong += pleat_point_adapt(session, 4, &err) != PLEAT_E_INVALID;
    long *data = pleat_rows_data(rows);
    for (long i = 0; what == PLEAT_STARTED && i < pleat_rows_count(rows); i++)
        data[i] = pleat_rows_first(rows) + i;
    if (what == PLEAT_JOINED)
        check(session, rows, "JOINED");
    int within = what == PLEAT_JOINED && pleat_session_point(session) == in_inner;
    while (what != PLEAT_LEAVE && (within || goes_on(session))) {
        state.prepared += !within;
        within = 0;
        what = outer_round(session, rows);
    }
    if (what != PLEAT_LEAVE && pleat_session_rank(session) == 0)
        printf("RESULT %s ranks=%d\n",
               state.wrong || state.computed != state.outer * INNER || state.prepared != state.outer
                   ? "wrong"
                   : "ok",
               pleat_session_size(session));
    pleat_session_finish(session);
    MPI_Finalize();
    return state.wrong != 0;
}
