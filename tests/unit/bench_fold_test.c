/* What the benchmark of folding makes of its measurements: bounds, reactions to a change. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "cases.h"
#include "change.h"
#include "machine.h"
#include "paired.h"
#include "steady.h"

static struct bench_series series_of(int count, const double *values)
{
    struct bench_series series = {.count = 0};
    for (int i = 0; i < count; i++)
        bench_add(&series, values[i]);
    return series;
}

static void near(double value, double expected)
{
    assert_true(fabs(value - expected) < 1e-9);
}

/* A child that stops itself goes on after stopped_ms, each time; it has to end with 0. */
static void end_well(pid_t child, int stopped_ms)
{
    const struct timespec nap = {stopped_ms / 1000, (long)(stopped_ms % 1000) * 1000 * 1000};
    int status = 0;
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    while (WIFSTOPPED(status)) {
        (void)nanosleep(&nap, NULL);
        assert_int_equal(kill(child, SIGCONT), 0);
        assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A process that is stopped for a while was not woken for so long. */
static void test_standing_still_is_seen(void **state)
{
    enum { STOPPED_MS = 300 };
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        machine_watch_begin();
        (void)raise(SIGSTOP);
        _exit(machine_watch_end() > 0.8 * STOPPED_MS / 1000 ? 0 : 1);
    }
    end_well(child, STOPPED_MS);
}

/* A run in which the machine stood still is made again, and counts once. */
static void test_such_runs_are_made_again(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        const struct steady_counts *counts = steady_counts();
        int again = 0, tries = 0;
        do {
            steady_begin();
            if (tries++ == 0)
                (void)raise(SIGSTOP);
        } while (steady_again("a run", &again));
        /* a machine that others use may stand still once more */
        if (counts->again < 1 || counts->again != again || counts->runs != 1)
            _exit(1);
        steady_accept();
        again = 0;
        steady_begin();
        (void)raise(SIGSTOP);
        bool is_again = steady_again("a run", &again);
        _exit(is_again || counts->runs != 2 || counts->stalled < 1 ? 2 : 0);
    }
    end_well(child, (int)(1200 * STEADY_STALL_S));
}

/* Of nine values at most one of the two largest is below the median with 10 in 512. */
static void test_bounds_of_nine(void **state)
{
    static const double above[] = {9, 2, 5, 8, 1, 4, 7, 3, 6},
                        below[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct bench_series a = series_of(9, above), b = series_of(9, below);
    struct bench_paired paired = bench_paired(&a, &b);
    (void)state;
    near(paired.median, 5);
    near(paired.upper, 8);
    near(paired.lower, 2);
}

static void test_bounds_of_few(void **state)
{
    static const double values[] = {3, 1, 2, 5, 4};
    struct bench_series five = series_of(5, values), four = series_of(4, values);
    (void)state;
    near(bench_paired_of(&five).upper, 5);
    near(bench_paired_of(&five).lower, 1);
    assert_true(isinf(bench_paired_of(&four).upper));
    near(bench_paired_of(&four).lower, 0);
    struct bench_series none = {.count = 0};
    assert_true(isinf(bench_paired_of(&none).upper));
}

/* Pairs belong together: each is twice its partner, however these differ. */
static void test_ratios_are_of_pairs(void **state)
{
    static const double above[] = {2, 20, 200, 6, 8}, below[] = {1, 10, 100, 3, 4};
    struct bench_series a = series_of(5, above), b = series_of(5, below);
    struct bench_paired paired = bench_paired(&a, &b);
    (void)state;
    near(paired.median, 2);
    near(paired.upper, 2);
    near(paired.lower, 2);
}

/* One that was late once has a value less: the others would meet values of other rounds. */
static void test_none_is_compared_that_was_late(void **state)
{
    static const double of_a[] = {2, 4, 6, 8, 10}, of_b[] = {1, 2, 3, 4, 5};
    static struct contest contest = {.count = 2};
    (void)state;
    contest.contenders[0].own_elapsed = series_of(5, of_a);
    contest.contenders[1].own_elapsed = series_of(5, of_b);
    near(contest_ratio(&contest, 0, 1).median, 2);
    contest.contenders[1].own_elapsed.count = 4;
    contest.contenders[1].late = 1;
    assert_int_equal(contest_ratio(&contest, 0, 1).ratios.count, 0);
    assert_int_equal(contest_ratio(&contest, 1, 0).ratios.count, 0);
}

static void test_variation(void **state)
{
    static const double values[] = {8, 10, 12};
    struct bench_series three = series_of(3, values), one = series_of(1, values);
    (void)state;
    near(bench_variation(&three), 0.2);
    near(bench_variation(&one), 0);
}

/* ---- changes ---- */

#define STAMPS 400

/* Iterations of `before` seconds until the time `at`, of `after` seconds from then on. */
static size_t make_stamps(double *stamps, double before, double at, double after, double end)
{
    size_t count = 0;
    for (double now = 0; now < end && count < STAMPS; now += now < at ? before : after)
        stamps[count++] = now;
    return count;
}

static void test_a_change_is_seen(void **state)
{
    double stamps[STAMPS], reaction, was, is;
    size_t count = make_stamps(stamps, 0.010, 1.0, 0.005, 2.0);
    (void)state;
    assert_true(change_measure(stamps, count, 0, 0.9, 2.0, &reaction, &was, &is));
    near(was, 0.010);
    assert_true(fabs(is - 0.005) < 0.0002); /* some slow ones are among them */
    /* it began to be fast at 1.0 */
    assert_true(fabs(reaction - 0.105) < 0.0151);
    count = make_stamps(stamps, 0.005, 1.0, 0.010, 2.0);
    assert_true(change_measure(stamps, count, 0, 0.9, 2.0, &reaction, &was, &is));
    assert_true(is > was && fabs(reaction - 0.110) < 0.0201);
}

/* Every other iteration finds all its messages: the rate is what counts. */
static void test_iterations_in_pairs(void **state)
{
    double stamps[STAMPS], reaction, was, is;
    size_t count = make_stamps(stamps, 0.010, 1.0, 0.005, 2.0);
    (void)state;
    for (size_t i = 0; i < count; i += 2)
        stamps[i] -= stamps[i] < 1.0 ? 0.009 : 0.0045;
    assert_true(change_measure(stamps, count, 0, 1.0, 2.0, &reaction, &was, &is));
    assert_true(was / is > 1.9 && was / is < 2.1);
    assert_true(reaction < 0.03);
}

/* One iteration that happens to be short is not the new rate. */
static void test_one_short_iteration_is_not_it(void **state)
{
    double stamps[STAMPS], reaction, was, is;
    size_t count = make_stamps(stamps, 0.010, 1.0, 0.005, 2.0);
    (void)state;
    for (size_t i = 0; i < count; i++)
        if (stamps[i] > 0.945 && stamps[i] < 0.955)
            stamps[i] -= 0.006;
    assert_true(change_measure(stamps, count, 0, 0.9, 2.0, &reaction, &was, &is));
    assert_true(reaction > 0.09);
}

static void test_too_few_say_nothing(void **state)
{
    double stamps[STAMPS], reaction, was, is;
    size_t count = make_stamps(stamps, 0.010, 1.0, 0.005, 1.07);
    (void)state;
    assert_false(change_measure(stamps, count, 0, 1.0, 1.07, &reaction, &was, &is));
    assert_false(change_measure(stamps, 0, 0, 1.0, 1.07, &reaction, &was, &is));
}

/* ---- programs ---- */

static const char *option_of(const struct case_program *program, int processes, const char *name)
{
    const char *const *words = case_options(program, processes, 1);
    for (; *words; words += 2)
        if (!strcmp(words[0], name))
            return words[1];
    return "";
}

/* The work of all processes together stays the same. */
static void test_work_is_scaled(void **state)
{
    struct case_program send = {
        .scale = CASE_ITERATIONS, .iterations = 600, .heavy = 50, .factor = 3};
    struct case_program ring = {.scale = CASE_ITERATIONS, .iterations = 100, .tokens = 4};
    struct case_program alltoall = {.scale = CASE_SIZE, .iterations = 100, .size = 16};
    (void)state;
    assert_string_equal(option_of(&send, 8, "--iterations"), "600");  /* 4 + 4 * 3 = 16 units */
    assert_string_equal(option_of(&send, 2, "--iterations"), "2400"); /* 1 + 3 */
    assert_string_equal(option_of(&send, 1, "--iterations"), "3200"); /* 3 */
    assert_string_equal(option_of(&ring, 2, "--iterations"), "1600"); /* one token of four */
    assert_string_equal(option_of(&ring, 1, "--iterations"), "800");
    assert_string_equal(option_of(&alltoall, 2, "--size"), "64");
    assert_string_equal(option_of(&alltoall, 2, "--iterations"), "100");
}

/* What is not taken becomes less, but never so few that nothing is communicated. */
static void test_processes_that_a_program_takes(void **state)
{
    const struct case_program *bt = case_find("bt"), *cg = case_find("cg"), *lu = case_find("lu");
    (void)state;
    assert_int_equal(case_processes(bt, 2), 4);
    assert_int_equal(case_processes(bt, 8), 4);
    assert_int_equal(case_processes(bt, 9), 9);
    assert_int_equal(case_processes(cg, 2), 2);
    assert_int_equal(case_processes(cg, 6), 4);
    assert_int_equal(case_processes(cg, 8), 8);
    assert_int_equal(case_processes(lu, 6), 6);
    assert_string_equal(option_of(bt, 4, "--size"), "small");
}

static void test_idleness(void **state)
{
    static struct trial_result result = {
        .fold = "{\"processes\":[{\"rank\":0,\"useful_s\":1.0},{\"rank\":1,\"useful_s\":0.5}]}"};
    static struct trial_result none = {.fold = "{}"};
    (void)state;
    near(trial_idleness(&result), 0.25);
    assert_true(isnan(trial_idleness(&none)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standing_still_is_seen),
        cmocka_unit_test(test_such_runs_are_made_again),
        cmocka_unit_test(test_bounds_of_nine),
        cmocka_unit_test(test_bounds_of_few),
        cmocka_unit_test(test_ratios_are_of_pairs),
        cmocka_unit_test(test_none_is_compared_that_was_late),
        cmocka_unit_test(test_variation),
        cmocka_unit_test(test_a_change_is_seen),
        cmocka_unit_test(test_iterations_in_pairs),
        cmocka_unit_test(test_one_short_iteration_is_not_it),
        cmocka_unit_test(test_too_few_say_nothing),
        cmocka_unit_test(test_work_is_scaled),
        cmocka_unit_test(test_processes_that_a_program_takes),
        cmocka_unit_test(test_idleness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
