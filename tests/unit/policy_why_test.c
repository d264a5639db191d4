/* Why somebody waits, and why somebody does not grow, by sites and jobs laid out by hand. */
#include "policy_bench.h"

#include "policy/why.h"

static struct pleat_wait_answer waits(const struct bench *bench, uint32_t component)
{
    return pleat_why_waits(&bench->pass, component);
}

static struct pleat_size_answer size(const struct bench *bench, uint32_t component)
{
    return pleat_why_size(&bench->pass, component);
}

/* One site of 16, and a rigid job that runs on `used` of them. */
static uint32_t begin(struct bench *bench, int32_t used)
{
    bench_init(bench);
    uint32_t site = bench_site(bench, 16, 0);
    if (used > 0)
        bench_run(bench, site, PLEAT_RIGID, used, used, used);
    return site;
}

static void test_too_few_are_free(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, 13);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 5, 5, 0);
    bench_decide(&b);
    struct pleat_wait_answer answer = waits(&b, waiting);
    assert_int_equal(answer.code, PLEAT_WAITS_PROCESSORS);
    assert_int_equal(answer.need, 5);
    assert_int_equal(answer.free, 3);
    assert_int_equal(answer.site, site);
    bench_finish(&b);
}

static void test_larger_than_every_site(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 0);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 17, 17, 0);
    bench_decide(&b);
    assert_int_equal(waits(&b, waiting).code, PLEAT_WAITS_TOO_LARGE);
    bench_finish(&b);
}

/* ... as long as nodes of it are down. */
static void test_larger_than_the_nodes_that_take_jobs(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, 0);
    b.sites[site].whole = 20;
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 17, 17, 0);
    uint32_t larger = bench_wait(&b, PLEAT_RIGID, 21, 21, 0);
    bench_decide(&b);
    assert_int_equal(waits(&b, waiting).code, PLEAT_WAITS_NODES);
    assert_int_equal(waits(&b, larger).code, PLEAT_WAITS_TOO_LARGE);
    bench_finish(&b);
}

/* Larger than the only site where it may run. */
static void test_larger_than_its_site(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 0);
    uint32_t small = bench_site(&b, 4, 0);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 5, 5, 0);
    b.components[waiting].wanted_site = small;
    bench_decide(&b);
    assert_int_equal(waits(&b, waiting).code, PLEAT_WAITS_TOO_LARGE);
    bench_finish(&b);
}

static void test_what_fits_is_started_next(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 13);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 3, 3, 0);
    bench_decide(&b);
    assert_int_equal(waits(&b, waiting).code, PLEAT_WAITS_NEXT);
    bench_finish(&b);
}

static void test_fcfs_nobody_overtakes(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 13);
    uint32_t head = bench_wait(&b, PLEAT_RIGID, 5, 5, 0);
    uint32_t second = bench_wait(&b, PLEAT_RIGID, 2, 2, 0);
    uint32_t third = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    bench_decide(&b);
    assert_int_equal(waits(&b, head).code, PLEAT_WAITS_PROCESSORS);
    assert_int_equal(waits(&b, second).code, PLEAT_WAITS_BEHIND);
    assert_int_equal(waits(&b, second).behind, head);
    assert_int_equal(waits(&b, third).code, PLEAT_WAITS_PROCESSORS); /* alone it would not fit */
    bench_finish(&b);
}

/* Those in front that start in the same pass stand in nobody's way. */
static void test_behind_the_first_that_does_not_start(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, 8);
    bench_wait(&b, PLEAT_RIGID, 2, 2, 0);
    uint32_t second = bench_wait(&b, PLEAT_RIGID, 12, 12, 0);
    uint32_t third = bench_wait(&b, PLEAT_RIGID, 2, 2, 0);
    bench_decide(&b);
    assert_int_equal(waits(&b, third).code, PLEAT_WAITS_BEHIND);
    assert_int_equal(waits(&b, third).behind, second);
    bench_finish(&b);
}

static void test_easy_keeps_the_promise(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_easy);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t running = bench_run(&b, site, PLEAT_RIGID, 12, 12, 12);
    bench_estimate(&b, running, 100);
    uint32_t head = bench_wait(&b, PLEAT_RIGID, 16, 16, 0);
    bench_estimate(&b, head, 100);
    b.components[head].promised_us = b.view.now_us + 100000000; /* as an earlier pass left it */
    b.components[head].promised_site = site;
    uint32_t long_one = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    bench_estimate(&b, long_one, 1000);
    bench_decide(&b);
    assert_int_equal(waits(&b, head).code, PLEAT_WAITS_PROCESSORS);
    assert_int_equal(waits(&b, long_one).code, PLEAT_WAITS_KEPT);
    bench_finish(&b);
}

static void test_reservations_are_kept(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, 8);
    uint32_t aside = bench_reserve(&b, site, 8, 50, 100);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    bench_estimate(&b, waiting, 1000);
    bench_decide(&b);
    assert_int_equal(waits(&b, waiting).code, PLEAT_WAITS_KEPT);
    assert_int_equal(waits(&b, aside).code, PLEAT_WAITS_BEGIN);
    assert_int_equal(waits(&b, aside).until_us, b.view.now_us + 50000000);
    bench_finish(&b);
}

static void test_pra_others_grow_first(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_pra);
    uint32_t site = bench_site(&b, 16, 0);
    uint32_t running = bench_run(&b, site, PLEAT_MALLEABLE, 4, 2, 10);
    bench_resizing(&b, running, 6);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    bench_decide(&b);
    assert_int_equal(waits(&b, waiting).code, PLEAT_WAITS_GROWING);
    assert_int_equal(size(&b, running).code, PLEAT_SIZE_RESIZING);
    bench_finish(&b);
}

static void test_room_is_being_made(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, 13);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 5, 5, 0);
    b.components[waiting].site = site;
    b.components[waiting].coming = 2;
    bench_decide(&b);
    assert_int_equal(waits(&b, waiting).code, PLEAT_WAITS_ROOM);
    bench_finish(&b);
}

static void test_a_quiet_site(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, 8);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    uint32_t running = bench_run(&b, site, PLEAT_MALLEABLE, 2, 1, 8);
    b.sites[site].quiet_until_us = b.view.now_us + 3000000;
    bench_decide(&b);
    assert_int_equal(waits(&b, waiting).code, PLEAT_WAITS_QUIET);
    assert_int_equal(waits(&b, waiting).until_us, b.view.now_us + 3000000);
    assert_int_equal(size(&b, running).code, PLEAT_SIZE_QUIET);
    bench_finish(&b);
}

/* ---- sizes ---- */

static void test_sizes_that_stay(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, 0);
    uint32_t moldable = bench_run(&b, site, PLEAT_MOLDABLE, 2, 1, 4);
    uint32_t full = bench_run(&b, site, PLEAT_MALLEABLE, 4, 1, 4);
    uint32_t capped = bench_run(&b, site, PLEAT_MALLEABLE, 3, 1, 8);
    b.components[capped].cap = 3;
    bench_decide(&b);
    assert_int_equal(size(&b, moldable).code, PLEAT_SIZE_FIXED);
    assert_int_equal(size(&b, full).code, PLEAT_SIZE_AT_MAXIMUM);
    assert_int_equal(size(&b, capped).code, PLEAT_SIZE_CAPPED);
    assert_int_equal(size(&b, capped).largest, 3);
    bench_finish(&b);
}

static void test_sizes_between(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, 7);
    uint32_t powers =
        bench_run(&b, site, PLEAT_MALLEABLE, 4, 1, 8); /* 8 would need 4; 3 are free */
    uint32_t highest = bench_run(&b, site, PLEAT_MALLEABLE, 2, 1, 3);
    b.components[powers].sizes_kind = b.components[highest].sizes_kind = PLEAT_SIZES_POWERS;
    bench_decide(&b);
    struct pleat_size_answer answer = size(&b, powers);
    assert_int_equal(answer.code, PLEAT_SIZE_NO_SIZE);
    assert_int_equal(answer.next, 8);
    assert_int_equal(answer.growable, 3);
    assert_int_equal(size(&b, highest).code, PLEAT_SIZE_NO_SIZE); /* 4 is above its maximum */
    assert_int_equal(size(&b, highest).next, 0);
    bench_finish(&b);
}

static void test_what_grows_next(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, 0);
    uint32_t running = bench_run(&b, site, PLEAT_MALLEABLE, 4, 1, 8);
    bench_decide(&b);
    assert_int_equal(size(&b, running).code, PLEAT_SIZE_NEXT);
    bench_finish(&b);
}

static void test_nothing_to_grow_into(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    uint32_t full = bench_site(&b, 4, 0), spare = bench_site(&b, 8, 3);
    uint32_t stuck = bench_run(&b, full, PLEAT_MALLEABLE, 4, 1, 8);
    uint32_t held = bench_run(&b, spare, PLEAT_MALLEABLE, 5, 1, 8);
    bench_decide(&b);
    assert_int_equal(size(&b, stuck).code, PLEAT_SIZE_NONE_FREE);
    assert_int_equal(size(&b, held).code, PLEAT_SIZE_THRESHOLD);
    bench_finish(&b);
}

static void test_all_have_what_they_are_grown_to(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    uint32_t site = bench_site(&b, 8, 0), other = bench_site(&b, 8, 0);
    uint32_t running = bench_run(&b, site, PLEAT_MALLEABLE, 4, 1, 8);
    bench_run(&b, other, PLEAT_RIGID, 6, 6, 6);
    b.view.grow_total = 10;
    bench_decide(&b);
    assert_int_equal(size(&b, running).code, PLEAT_SIZE_TOTAL);
    assert_string_equal(pleat_size_name(PLEAT_SIZE_TOTAL), "total");
    bench_finish(&b);
}

/* PWA keeps what is free for the one for which room is made. */
static void test_kept_for_a_waiter(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, 10);
    uint32_t resizing = bench_run(&b, site, PLEAT_MALLEABLE, 2, 1, 8);
    uint32_t other = bench_run(&b, site, PLEAT_MALLEABLE, 1, 1, 8);
    uint32_t waiting = bench_wait(&b, PLEAT_RIGID, 4, 4, 0);
    bench_resizing(&b, resizing, 1);
    b.components[waiting].site = site;
    b.components[waiting].coming = 1;
    bench_decide(&b);
    assert_int_equal(size(&b, other).code, PLEAT_SIZE_FOR_WAITER);
    assert_int_equal(size(&b, other).waiter, waiting);
    bench_finish(&b);
}

static void test_kept_for_a_reservation(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_pra); /* what is grown cannot be had back */
    uint32_t site = bench_site(&b, 8, 0);
    uint32_t running = bench_run(&b, site, PLEAT_MALLEABLE, 4, 1, 8);
    bench_reserve(&b, site, 4, 50, 100);
    bench_decide(&b);
    assert_int_equal(size(&b, running).code, PLEAT_SIZE_RESERVED);
    bench_finish(&b);
}

static void test_after_a_failed_resize(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, 0);
    uint32_t running = bench_run(&b, site, PLEAT_MALLEABLE, 4, 1, 8);
    b.components[running].quiet_until_us = b.view.now_us + 5000000;
    bench_decide(&b);
    assert_int_equal(size(&b, running).code, PLEAT_SIZE_BACKOFF);
    assert_int_equal(size(&b, running).until_us, b.view.now_us + 5000000);
    bench_finish(&b);
}

static void test_a_size_that_lasts(void **state)
{
    (void)state;
    struct bench b;
    uint32_t site = begin(&b, 0);
    uint32_t running = bench_run(&b, site, PLEAT_MALLEABLE, 4, 1, 8);
    b.view.lifetimes = true;
    b.view.lifetime_us = 9000000;
    b.components[running].since_us = b.view.now_us;
    b.components[running].young = 1;
    bench_decide(&b);
    assert_int_equal(size(&b, running).code, PLEAT_SIZE_LIFETIME);
    assert_int_equal(size(&b, running).until_us, b.view.now_us + 9000000);
    assert_string_equal(pleat_size_name(PLEAT_SIZE_LIFETIME), "lifetime");
    bench_finish(&b);
}

static void test_policies_that_never_grow(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_none);
    uint32_t site = bench_site(&b, 8, 0);
    uint32_t running = bench_run(&b, site, PLEAT_MALLEABLE, 4, 1, 8);
    bench_decide(&b);
    assert_int_equal(size(&b, running).code, PLEAT_SIZE_POLICY);
    bench_finish(&b);
}

static void test_every_code_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < PLEAT_WAITS_COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(pleat_waits_name((enum pleat_why_waits)i),
                                    pleat_waits_name((enum pleat_why_waits)j));
    for (int i = 0; i < PLEAT_SIZE_COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(pleat_size_name((enum pleat_why_size)i),
                                    pleat_size_name((enum pleat_why_size)j));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_few_are_free),
        cmocka_unit_test(test_larger_than_every_site),
        cmocka_unit_test(test_larger_than_the_nodes_that_take_jobs),
        cmocka_unit_test(test_larger_than_its_site),
        cmocka_unit_test(test_what_fits_is_started_next),
        cmocka_unit_test(test_fcfs_nobody_overtakes),
        cmocka_unit_test(test_behind_the_first_that_does_not_start),
        cmocka_unit_test(test_easy_keeps_the_promise),
        cmocka_unit_test(test_reservations_are_kept),
        cmocka_unit_test(test_pra_others_grow_first),
        cmocka_unit_test(test_room_is_being_made),
        cmocka_unit_test(test_a_quiet_site),
        cmocka_unit_test(test_sizes_that_stay),
        cmocka_unit_test(test_sizes_between),
        cmocka_unit_test(test_what_grows_next),
        cmocka_unit_test(test_nothing_to_grow_into),
        cmocka_unit_test(test_all_have_what_they_are_grown_to),
        cmocka_unit_test(test_kept_for_a_waiter),
        cmocka_unit_test(test_kept_for_a_reservation),
        cmocka_unit_test(test_after_a_failed_resize),
        cmocka_unit_test(test_a_size_that_lasts),
        cmocka_unit_test(test_policies_that_never_grow),
        cmocka_unit_test(test_every_code_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
