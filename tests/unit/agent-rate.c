/* How fast a folded run is, and what a change of its processors has cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/rate.h"

#define MS INT64_C(1000)

struct played {
    struct pleat_rate rate;
    int64_t now_us;
    uint64_t useful_ns;
};

/* Plays `ms` at `speed` useful seconds a second, with a look every 100 ms. */
static void play(struct played *it, int64_t ms, double speed)
{
    for (int64_t i = 0; i < ms / 100; i++) {
        it->now_us += 100 * MS;
        it->useful_ns += (uint64_t)(speed * 1e8);
        pleat_rate_look(&it->rate, it->now_us, it->useful_ns);
    }
}

static void begin(struct played *it)
{
    *it = (struct played){.rate = {.rate = -1, .change_us = -1}, .now_us = 77 * MS};
    play(it, 3000, 1); /* nobody is there: nothing is measured */
    assert_true(it->rate.rate < 0);
    pleat_rate_restart(&it->rate, it->now_us, it->useful_ns);
}

static void test_a_rate(void **state)
{
    (void)state;
    struct played it;
    begin(&it);
    play(&it, 200, 0.1); /* finding its place does not count */
    play(&it, 900, 1.5);
    assert_true(it.rate.rate < 0);
    play(&it, 100, 1.5);
    assert_float_equal(it.rate.rate, 1.5, 1e-6);
    assert_int_equal(it.rate.change_us, -1); /* there was none */
    /* the mean since the change: 1.5 for 1 s, 0.5 for 1 s; and less than 2 % are no news */
    play(&it, 1000, 0.5);
    assert_float_equal(it.rate.rate, 1.0, 0.02);
    double said = it.rate.rate;
    play(&it, 100, said * 1.1);
    assert_true(it.rate.rate == said);
}

static void test_what_a_change_costs(void **state)
{
    (void)state;
    struct played it;
    begin(&it);
    play(&it, 2000, 1);
    pleat_rate_moved(&it.rate, it.now_us, it.useful_ns, 3 * MS);
    assert_true(it.rate.rate < 0);
    play(&it, 1000, 0.5);
    assert_true(it.rate.rate < 0 && it.rate.change_us < 0);
    pleat_rate_moved(&it.rate, it.now_us, it.useful_ns, 5 * MS); /* again, before it was measured */
    play(&it, 200, 0.5);
    play(&it, 1000, 2);
    assert_float_equal(it.rate.rate, 2, 1e-6);
    /* 0.1 s of work in 200 ms, which takes 50 ms */
    assert_int_equal(it.rate.change_us, 155 * MS);
    play(&it, 5000, 1);
    assert_int_equal(it.rate.change_us, 155 * MS); /* of that change */
    pleat_rate_moved(&it.rate, it.now_us, it.useful_ns, 4 * MS);
    play(&it, 200, 3); /* more than later: nothing was lost */
    play(&it, 1000, 1);
    assert_int_equal(it.rate.change_us, 4 * MS);
}

/* Processes come and go, queues change: the processors are the same. */
static void test_other_changes(void **state)
{
    (void)state;
    struct played it;
    begin(&it);
    pleat_rate_moved(&it.rate, it.now_us, it.useful_ns, 3 * MS);
    play(&it, 1200, 1);
    int64_t change_us = it.rate.change_us;
    pleat_rate_restart(&it.rate, it.now_us, it.useful_ns);
    play(&it, 1100, 0.5);
    assert_float_equal(it.rate.rate, 1, 1e-6); /* what is known stands */
    play(&it, 100, 0.5);
    assert_float_equal(it.rate.rate, 0.5, 1e-6);
    assert_int_equal(it.rate.change_us, change_us);
    pleat_rate_stop(&it.rate);
    play(&it, 2000, 2);
    assert_float_equal(it.rate.rate, 0.5, 1e-6);
    /* nobody is there when the processors change: others come, to whom it was no change */
    pleat_rate_moved(&it.rate, it.now_us, it.useful_ns, 3 * MS);
    pleat_rate_restart(&it.rate, it.now_us, it.useful_ns);
    play(&it, 1200, 2);
    assert_float_equal(it.rate.rate, 2, 1e-6);
    assert_int_equal(it.rate.change_us, -1);
}

/* A change of queues soon after one of processors: what the latter cost is still told. */
static void test_both_at_once(void **state)
{
    (void)state;
    for (int64_t ms = 100; ms <= 700; ms += 300) {
        struct played it;
        begin(&it);
        play(&it, 2000, 1);
        pleat_rate_moved(&it.rate, it.now_us, it.useful_ns, 5 * MS);
        play(&it, ms, 1);
        pleat_rate_restart(&it.rate, it.now_us, it.useful_ns);
        play(&it, 200, 1);
        play(&it, 1000, 2);
        /* half of 300 ms, where it had not settled; else of 200 ms */
        assert_int_equal(it.rate.change_us, (ms == 100 ? 155 : 105) * MS);
    }
}

static void test_what_is_nonsense(void **state)
{
    (void)state;
    struct played it;
    begin(&it);
    play(&it, 5000, 0); /* it does nothing */
    assert_true(it.rate.rate < 0);
    play(&it, 5000, 1);
    double said = it.rate.rate;
    it.useful_ns = 5; /* it goes back: from here on, then */
    play(&it, 100, 0);
    assert_true(it.rate.rate == said);
    play(&it, 1200, 0.25);
    assert_float_equal(it.rate.rate, 0.25, 1e-6);
    it.now_us = 0;
    play(&it, 1300, 0.5);
    assert_float_equal(it.rate.rate, 0.5, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rate),           cmocka_unit_test(test_what_a_change_costs),
        cmocka_unit_test(test_other_changes),    cmocka_unit_test(test_both_at_once),
        cmocka_unit_test(test_what_is_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
