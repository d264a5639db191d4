/* The load-balance detector, fed with programs as table 4.3 of Utrera 2010 has them, with noise,
 * with steps, with phases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/detector.h"
#include "base/random.h"

#define N 8
#define MS INT64_C(1000)
#define S (1000 * MS)

/* A program of N processes: in every iteration process i computes work[i] us and switches once. */
struct program {
    struct pleat_detector detector;
    struct pleat_random random;
    struct pleat_detector_process items[N];
    double work[N];
    double noise;         /* share of the work by which it varies */
    double debt[N];       /* what a process has computed and not told yet */
    int64_t iteration_us; /* elapsed time of one */
    int64_t now_us, next_us;
    uint32_t verdicts;  /* changes that look() told */
    int64_t changed_us; /* when it told the last one */
};

static void begin_with(struct program *program, const struct pleat_detector_settings *settings)
{
    memset(program, 0, sizeof(*program));
    pleat_random_init(&program->random, 1);
    assert_int_equal(pleat_detector_init(&program->detector, N, settings, NULL), 0);
    program->iteration_us = MS;
    for (int i = 0; i < N; i++) {
        program->work[i] = 100;
        program->items[i].queue = (uint32_t)i / (N / 2); /* the heavy ones, the first, in one */
    }
}

static void begin(struct program *program)
{
    struct pleat_detector_settings settings;
    pleat_detector_defaults(&settings);
    begin_with(program, &settings);
}

static void iterate(struct program *program)
{
    for (int i = 0; i < N; i++) {
        double vary = 1 + program->noise * (2 * pleat_random_unit(&program->random) - 1);
        program->items[i].useful_ns += (uint64_t)(program->work[i] * vary * 1000);
        program->items[i].switches++;
    }
}

/* Plays until the verdict changes, at most for the given time. */
static bool go(struct program *program, int64_t limit_us)
{
    int64_t end = program->now_us + limit_us;
    while (program->now_us < end) {
        while (program->next_us <= program->now_us) {
            iterate(program);
            program->next_us += program->iteration_us;
        }
        bool changed = pleat_detector_look(&program->detector, program->now_us, program->items);
        if (changed) {
            program->verdicts++;
            program->changed_us = program->now_us;
        }
        int64_t wait = pleat_detector_interval_us(&program->detector, program->now_us);
        assert_true(wait >= program->detector.settings.sample_us);
        program->now_us += wait;
        if (changed && program->detector.balance != PLEAT_BALANCE_STARTING)
            return true;
    }
    return false;
}

/* `half` of the processes have `times` as much work (the program `send` of the paper). */
static void send(struct program *program, int heavy, double times)
{
    for (int i = 0; i < N; i++)
        program->work[i] = i < heavy ? 100 * times : 100;
}

static void test_classes_of_table_4_3(void **state)
{
    (void)state;
    static const struct {
        int heavy;
        double times, noise, idleness;
        enum pleat_balance expected;
    } rows[] = {{0, 1, 0.05, 0.00, PLEAT_BALANCE_BALANCED},
                {4, 1.1, 0.05, 0.045, PLEAT_BALANCE_BALANCED},
                {4, 1.2, 0.02, 0.083, PLEAT_BALANCE_BALANCED}, /* as lu.A, 9 % */
                {4, 2, 0.1, 0.25, PLEAT_BALANCE_IMBALANCED},
                {4, 3, 0.1, 0.333, PLEAT_BALANCE_IMBALANCED},
                {4, 6, 0.1, 0.417, PLEAT_BALANCE_IMBALANCED},
                {1, 6, 0.1, 0.73, PLEAT_BALANCE_IMBALANCED}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct program program;
        begin(&program);
        program.noise = rows[i].noise;
        send(&program, rows[i].heavy, rows[i].times);
        assert_true(go(&program, S));
        assert_int_equal(program.detector.balance, rows[i].expected);
        assert_true(fabs(program.detector.idleness - rows[i].idleness) < 0.02);
        assert_true(program.now_us < S);
        if (rows[i].idleness >= 0.25) /* where there is much to win, soon */
            assert_true(program.changed_us <= 250 * MS);
        assert_false(go(&program, 60 * S)); /* and so it stays */
        assert_int_equal(program.detector.changes, 0);
        pleat_detector_finish(&program.detector);
    }
}

/* While it starts one process does nearly everything; that must not make it imbalanced. */
static void test_start_up(void **state)
{
    (void)state;
    struct program program;
    begin(&program);
    for (int64_t t = 0; t < 400; t++) { /* 4 s, in which the variation falls and falls */
        program.items[0].useful_ns += 9000000;
        program.items[0].switches += 2 + (uint64_t)(t * t) / 50;
        for (int i = 1; i < N; i++)
            program.items[i].switches += (uint64_t)(i * t) / 3;
        assert_int_equal(pleat_detector_look(&program.detector, program.now_us, program.items),
                         t == 0);
        if (t > 2) {
            assert_int_equal(program.detector.balance, PLEAT_BALANCE_STARTING);
            assert_true(program.detector.cvcs > 0);
        }
        program.now_us += 10 * MS;
        if (program.detector.judging)
            break; /* the curve is flat enough: what comes now is what counts */
    }
    program.next_us = program.now_us;
    assert_true(go(&program, 20 * S));
    assert_int_equal(program.detector.balance, PLEAT_BALANCE_BALANCED);
    pleat_detector_finish(&program.detector);
}

/* The coefficient of variation of 1, 3, 1, 3, ... switches is 1/2. */
static void test_equation_4_1(void **state)
{
    (void)state;
    struct program program;
    begin(&program);
    assert_true(pleat_detector_look(&program.detector, 0, program.items));
    for (int i = 0; i < N; i++)
        program.items[i].switches = i % 2 ? 3 : 1;
    assert_false(pleat_detector_look(&program.detector, 10 * MS, program.items));
    assert_true(fabs(program.detector.cvcs - 0.5) < 1e-9);
    pleat_detector_finish(&program.detector);
}

static void test_nobody_switches(void **state)
{
    (void)state;
    struct program program;
    begin(&program);
    program.iteration_us = INT64_MAX / 2; /* it computes, and calls MPI at the end only */
    assert_false(go(&program, 60 * S));
    assert_int_equal(program.detector.balance, PLEAT_BALANCE_STARTING);
    /* and it is not looked at a hundred times a second for ever */
    assert_int_equal(pleat_detector_interval_us(&program.detector, program.now_us), 100 * MS);
    pleat_detector_finish(&program.detector);
}

/* Iterations of 80 ms: between two looks useful times move by 10 % of what a second brings. */
static void test_steps(void **state)
{
    (void)state;
    for (int heavy = 0; heavy <= 4; heavy += 4) {
        struct program program;
        begin(&program);
        program.iteration_us = 80 * MS;
        send(&program, heavy, 2);
        for (int i = 0; i < N; i++)
            program.work[i] *= 100;
        /* processes tell at different times */
        bool changed = false;
        for (int64_t t = 0; t < 3000 && !changed; t++) {
            for (int i = 0; i < N; i++) {
                if ((t + i) % 8 == 0) {
                    program.items[i].useful_ns += (uint64_t)program.work[i] * 1000;
                    program.items[i].switches++;
                }
            }
            changed = pleat_detector_look(&program.detector, t * 10 * MS, program.items) && t;
        }
        assert_true(changed);
        assert_int_equal(program.detector.balance,
                         heavy ? PLEAT_BALANCE_IMBALANCED : PLEAT_BALANCE_BALANCED);
        pleat_detector_finish(&program.detector);
    }
}

static void test_phases(void **state)
{
    (void)state;
    struct program program;
    begin(&program);
    assert_true(go(&program, S));
    assert_int_equal(program.detector.balance, PLEAT_BALANCE_BALANCED);
    send(&program, 4, 3);
    int64_t changed_us = program.now_us;
    assert_true(go(&program, 5 * S));
    assert_int_equal(program.detector.balance, PLEAT_BALANCE_IMBALANCED);
    assert_true(program.now_us - changed_us <= 2 * S);
    assert_int_equal(program.detector.changes, 1);
    /* an idleness between the two limits is nothing new */
    send(&program, 4, 1.2);
    assert_false(go(&program, 30 * S));
    send(&program, 0, 1); /* a window that is open has seen both */
    assert_true(go(&program, 15 * S));
    assert_int_equal(program.detector.balance, PLEAT_BALANCE_BALANCED);
    send(&program, 4, 1.25); /* 10 %: nor is that */
    assert_false(go(&program, 30 * S));
    pleat_detector_finish(&program.detector);
}

/* One that changes all the time is followed less and less often. */
static void test_no_flapping(void **state)
{
    (void)state;
    struct program program;
    begin(&program);
    for (int phase = 0; phase < 400; phase++) {
        send(&program, phase % 2 ? 4 : 0, 3);
        (void)go(&program, S);
    }
    assert_in_range(program.detector.changes, 1, 8);
    pleat_detector_finish(&program.detector);
}

/* A change that took 100 ms is not undone within 10 s. */
static void test_cost_of_a_change(void **state)
{
    (void)state;
    struct program program;
    begin(&program);
    assert_true(go(&program, S));
    pleat_detector_moved(&program.detector, program.now_us, 100 * MS);
    send(&program, 4, 3);
    assert_false(go(&program, 9 * S));
    assert_true(go(&program, 5 * S));
    assert_int_equal(program.detector.balance, PLEAT_BALANCE_IMBALANCED);
    pleat_detector_finish(&program.detector);
}

static void test_odd_numbers(void **state)
{
    (void)state;
    struct program program;
    begin(&program);
    assert_true(go(&program, S));
    /* the process is another one, or somebody scribbled in the memory */
    program.items[3].useful_ns = 1;
    assert_true(pleat_detector_look(&program.detector, program.now_us, program.items));
    assert_int_equal(program.detector.balance, PLEAT_BALANCE_STARTING);
    struct pleat_random random;
    pleat_random_init(&random, 3);
    for (int round = 0; round < 100000; round++) {
        for (int i = 0; i < N; i++) {
            program.items[i].useful_ns = pleat_random_next(&random);
            program.items[i].switches = pleat_random_next(&random);
        }
        if (round % 3)
            pleat_detector_restart(&program.detector);
        program.now_us += 10 * MS;
        (void)pleat_detector_look(&program.detector, program.now_us, program.items);
        assert_true(program.detector.idleness <= 1);
    }
    pleat_detector_finish(&program.detector);
}

static void test_one_process(void **state)
{
    (void)state;
    struct pleat_detector_settings settings;
    struct pleat_detector detector;
    struct pleat_detector_process item = {0};
    pleat_detector_defaults(&settings);
    assert_int_equal(pleat_detector_init(&detector, 1, &settings, NULL), 0);
    for (int64_t t = 0; t < 200; t++) {
        item.switches++;
        item.useful_ns += 1000;
        (void)pleat_detector_look(&detector, t * 10 * MS, &item);
    }
    assert_int_equal(detector.balance, PLEAT_BALANCE_BALANCED);
    pleat_detector_finish(&detector);
}

/* The same processes, but heavy ones in all queues alike; and as many equal ones as do not divide.
 */
static void test_what_a_global_queue_would_gain(void **state)
{
    (void)state;
    struct program program;
    begin(&program);
    for (int i = 0; i < N; i++) {
        program.work[i] = i < N / 2 ? 600 : 100;
        program.items[i].queue = (uint32_t)i % 2;
    }
    assert_true(go(&program, 5 * S));
    assert_int_equal(program.detector.balance, PLEAT_BALANCE_BALANCED);
    assert_true(fabs(program.detector.idleness - 0.417) < 0.02);
    assert_true(program.detector.gain < 0.02);
    pleat_detector_finish(&program.detector);

    begin(&program);
    for (int i = 0; i < N; i++)
        program.items[i].queue = (uint32_t)i % 3;
    assert_true(go(&program, 5 * S));
    assert_int_equal(program.detector.balance, PLEAT_BALANCE_BALANCED);
    assert_true(program.detector.gain < 0.02);
    program.work[0] = program.work[3] = program.work[6] = 300; /* all in one queue */
    assert_true(go(&program, 20 * S));
    assert_int_equal(program.detector.balance, PLEAT_BALANCE_IMBALANCED);
    assert_true(program.detector.gain > 0.3);
    pleat_detector_finish(&program.detector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes_of_table_4_3),
        cmocka_unit_test(test_start_up),
        cmocka_unit_test(test_equation_4_1),
        cmocka_unit_test(test_nobody_switches),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_no_flapping),
        cmocka_unit_test(test_cost_of_a_change),
        cmocka_unit_test(test_odd_numbers),
        cmocka_unit_test(test_one_process),
        cmocka_unit_test(test_what_a_global_queue_would_gain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
