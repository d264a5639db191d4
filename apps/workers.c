/* workers - a master that deals work to workers, malleable with libpleat: of the class of the
 * master-worker program of Swaminathan 2004, chapter 4.
 *
 * A round is a bag of units of work, of which some take sixteen times as long as others. Rank 0
 * deals them: each other rank gets the next unit when it brings back the result of one. With one
 * rank the master does all by itself. An adaptation point follows each round, so no unit is under
 * way when ranks come or go. What all units have yielded so far is one array, replicated: rank 0's
 * counts.
 *
 * A unit's work is a row of steps of a linear congruential generator. Its end can also be computed
 * by repeated squaring, and that is what the sums are compared with: so a unit that was lost, or
 * done twice, is seen.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

static const char usage[] =
    "usage: mpirun ... workers [options]\n"
    "A master deals units of work to workers; grows and shrinks under Pleat, and checks its "
    "result.\n"
    "  --n N            units in a round (default 64)\n"
    "  --iterations N   rounds (default 100)\n"
    "  --until FILE     rounds until there is such a file, however many these are\n"
    "  --work MS        pretend that a round costs MS more of computing: each unit its part\n"
    "  --useful N       workers beyond the first N get nothing to do (default: all do)\n"
    "  --pause MS       sleep for MS milliseconds after every round\n";

#define SHORTEST 2000 /* steps of a unit; the longest have LENGTHS times as many */
#define LENGTHS 16
enum { WORK = 1, RESULT, NO_MORE }; /* tags */

static const uint64_t factor = 6364136223846793005u, addend = 1442695040888963407u;

struct unit {
    int64_t number, round;
};

struct result {
    int64_t number; /* of the unit; -1: the worker has just come */
    uint64_t value;
};

struct workers {
    struct app_options options;
    struct pleat_session *session;
    struct pleat_array *sums; /* replicated: for each unit the sum of its results */
    long long done;
};

/* ---- a unit ---- */

static uint64_t first_of(struct unit unit)
{
    return (uint64_t)unit.number * 0x9e3779b97f4a7c15u + (uint64_t)unit.round;
}

static int64_t steps_of(int64_t number)
{
    return SHORTEST * (1 + (int64_t)(app_noise(5, (unsigned long long)number) * LENGTHS));
}

static uint64_t compute(const struct workers *w, struct unit unit)
{
    uint64_t value = first_of(unit);
    for (int64_t i = steps_of(unit.number); i > 0; i--)
        value = value * factor + addend;
    app_pause(w->options.work_ms / (double)w->options.n);
    return value;
}

/* What compute() must yield, in a number of operations that does not grow with the steps. */
static uint64_t foretell(struct unit unit)
{
    uint64_t by = factor, plus = addend, value = first_of(unit);
    for (int64_t left = steps_of(unit.number); left; left /= 2) {
        if (left % 2)
            value = value * by + plus;
        plus *= by + 1; /* two steps of what was one */
        by *= by;
    }
    return value;
}

/* ---- a round ---- */

static void work(const struct workers *w)
{
    MPI_Comm comm = pleat_session_comm(w->session);
    struct result result = {-1, 0};
    for (;;) {
        struct unit unit;
        MPI_Status status;
        MPI_Send(&result, sizeof(result), MPI_BYTE, 0, RESULT, comm);
        MPI_Recv(&unit, sizeof(unit), MPI_BYTE, 0, MPI_ANY_TAG, comm, &status);
        if (status.MPI_TAG == NO_MORE)
            return;
        result = (struct result){unit.number, compute(w, unit)};
    }
}

static void deal(const struct workers *w)
{
    MPI_Comm comm = pleat_session_comm(w->session);
    uint64_t *sums = pleat_array_data(w->sums);
    struct unit next = {0, w->done};
    for (int at_work = pleat_session_size(w->session) - 1; at_work > 0;) {
        struct result result;
        MPI_Status status;
        MPI_Recv(&result, sizeof(result), MPI_BYTE, MPI_ANY_SOURCE, RESULT, comm, &status);
        if (result.number >= 0)
            sums[result.number] += result.value;
        int idle = w->options.useful && status.MPI_SOURCE > w->options.useful;
        int more = next.number < w->options.n && !idle;
        MPI_Send(&next, sizeof(next), MPI_BYTE, status.MPI_SOURCE, more ? WORK : NO_MORE, comm);
        next.number += more;
        at_work -= !more;
    }
}

static void work_alone(const struct workers *w)
{
    uint64_t *sums = pleat_array_data(w->sums);
    for (struct unit unit = {0, w->done}; unit.number < w->options.n; unit.number++)
        sums[unit.number] += compute(w, unit);
}

static void do_round(struct workers *w)
{
    if (pleat_session_size(w->session) == 1)
        work_alone(w);
    else if (pleat_session_rank(w->session) == 0)
        deal(w);
    else
        work(w);
    w->done++;
    app_pause(w->options.pause_ms);
}

/* ---- */

static void set_up(struct workers *w)
{
    struct pleat_error err;
    struct pleat_array_shape shape = {.dims = 1,
                                      .dim = {{.extent = w->options.n, .format = PLEAT_COLLAPSED}},
                                      .element_bytes = sizeof(uint64_t)};
    if (pleat_session_create(&w->session, &err) ||
        pleat_value_register(w->session, "done", &w->done, sizeof(w->done), &err) ||
        pleat_array_create(w->session, "sums", &shape, &w->sums, &err))
        app_give_up("cannot set up", &err);
}

/* On rank 0: units whose results do not add up to what they must. */
static long long wrong_units(const struct workers *w)
{
    const uint64_t *sums = pleat_array_data(w->sums);
    long long wrong = 0;
    for (int64_t number = 0; number < w->options.n; number++) {
        uint64_t expected = 0;
        for (int64_t round = 0; round < w->done; round++)
            expected += foretell((struct unit){number, round});
        wrong += sums[number] != expected;
    }
    return wrong;
}

/* The verdict, after the last round; 1: it is wrong. */
static int end(const struct workers *w, const struct app_tally *tally)
{
    int wrong = 0;
    if (pleat_session_rank(w->session) == 0) {
        long long units = wrong_units(w);
        wrong = units || app_tally_skipped(tally, w->done) || !app_has_done(&w->options, w->done);
        printf("RESULT %s rounds=%lld ranks=%d wrong=%lld\n", wrong ? "wrong" : "ok", w->done,
               pleat_session_size(w->session), units);
    }
    MPI_Bcast(&wrong, 1, MPI_INT, 0, pleat_session_comm(w->session));
    return wrong;
}

/* The rounds that are left; what the last adaptation point returned. */
static int run(struct workers *w, struct app_tally *tally, int what)
{
    struct pleat_error err;
    while (what != PLEAT_LEAVE && app_goes_on(w->session, &w->options, w->done)) {
        do_round(w);
        app_tally_add(tally);
        if (app_reports(w->session, &w->options, w->done))
            printf("%lld of %lld rounds, %d ranks\n", w->done, w->options.iterations,
                   pleat_session_size(w->session));
        what = pleat_session_adapt(w->session, &err);
        if (what < 0)
            app_give_up("adaptation point", &err);
    }
    return what;
}

int main(int argc, char **argv)
{
    struct workers w = {.options = {.n = 64, .iterations = 100, .n_most = 1 << 20}};
    struct app_tally tally;
    int wrong = 0;

    app_read_options(argc, argv, usage, &w.options);
    MPI_Init(&argc, &argv);
    set_up(&w);
    int what = app_begin(w.session);
    app_tally_open(&tally, w.session, what);
    what = run(&w, &tally, what);
    if (what != PLEAT_LEAVE)
        wrong = end(&w, &tally);
    pleat_session_finish(w.session);
    MPI_Finalize();
    return wrong;
}
