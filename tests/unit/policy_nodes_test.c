/* Sites of several nodes: what is free on each, for jobs that must be on one. Worked examples. */
#include "policy_bench.h"

enum { NODES = 2, EACH = 4 };

struct nodes_bench {
    struct bench bench;
    struct pleat_node nodes[NODES];
};

/* A site of two nodes with four processors each. */
static struct bench *begin(struct nodes_bench *n)
{
    struct bench *b = &n->bench;
    bench_init(b);
    (void)bench_site(b, NODES * EACH, 0);
    b->sites[0].several = 1;
    for (uint32_t i = 0; i < NODES; i++)
        n->nodes[i] = (struct pleat_node){.node = i, .slots = EACH};
    b->view.nodes = n->nodes;
    b->view.node_count = NODES;
    return b;
}

static uint32_t run_on(struct nodes_bench *n, uint32_t node, enum pleat_job_kind kind, int32_t size,
                       int32_t minimum, int32_t maximum)
{
    uint32_t job = bench_run(&n->bench, 0, kind, size, minimum, maximum);
    n->bench.components[job].lead_node = node;
    n->nodes[node].claimed += size;
    return job;
}

static void test_as_many_as_a_node_has(void **state)
{
    (void)state;
    struct nodes_bench n;
    struct bench *b = begin(&n);
    (void)run_on(&n, 0, PLEAT_RIGID, 3, 3, 3);
    (void)run_on(&n, 1, PLEAT_RIGID, 3, 3, 3);
    uint32_t waits = bench_wait(b, PLEAT_RIGID, 2, 2, 0);
    uint32_t spreads = bench_wait(b, PLEAT_RIGID, 2, 2, 0);
    b->components[spreads].flags |= PLEAT_COMPONENT_SPREADS;
    bench_begin(b);
    assert_int_equal(pleat_plan_available(&b->plan, waits, 0), 1);
    assert_false(pleat_plan_start(&b->plan, waits, 0, 2));
    assert_int_equal(pleat_plan_available(&b->plan, spreads, 0), 2);
    assert_true(pleat_plan_start(&b->plan, spreads, 0, 2));
    assert_int_equal(pleat_plan_available(&b->plan, waits, 0), 0);
    bench_finish(b);
}

static void test_the_fullest_node_that_has_room(void **state)
{
    (void)state;
    struct nodes_bench n;
    struct bench *b = begin(&n);
    (void)run_on(&n, 0, PLEAT_RIGID, 2, 2, 2);
    uint32_t two = bench_wait(b, PLEAT_RIGID, 2, 2, 0), four = bench_wait(b, PLEAT_RIGID, 4, 4, 0);
    uint32_t one = bench_wait(b, PLEAT_RIGID, 1, 1, 0);
    bench_begin(b);
    assert_true(pleat_plan_start(&b->plan, two, 0, 2));
    assert_int_equal(pleat_plan_available(&b->plan, four, 0), 4);
    assert_true(pleat_plan_start(&b->plan, four, 0, 4));
    assert_false(pleat_plan_start(&b->plan, one, 0, 1));
    assert_int_equal(pleat_view_capacity(&b->view, &b->components[one], 0), EACH);
    bench_finish(b);
}

static void test_grows_on_its_node(void **state)
{
    (void)state;
    struct nodes_bench n;
    struct bench *b = begin(&n);
    uint32_t first = run_on(&n, 0, PLEAT_MALLEABLE, 2, 1, 8);
    uint32_t second = run_on(&n, 0, PLEAT_MALLEABLE, 1, 1, 8);
    uint32_t other = run_on(&n, 1, PLEAT_MALLEABLE, 1, 1, 8);
    bench_begin(b);
    pleat_plan_mark mark = pleat_plan_remember(&b->plan);
    assert_int_equal(pleat_view_unused(&b->view, &b->components[first]), 1);
    assert_int_equal(pleat_plan_offer_grow(&b->plan, first, 4), 1);
    assert_int_equal(pleat_plan_offer_grow(&b->plan, second, 4), 0);
    assert_int_equal(pleat_plan_offer_grow(&b->plan, other, 2), 2);
    pleat_plan_rollback(&b->plan, mark);
    assert_int_equal(pleat_plan_offer_grow(&b->plan, second, 4), 1);
    assert_int_equal(pleat_plan_offer_grow(&b->plan, other, 4), 3);
    bench_finish(b);
}

static void test_room_is_made_on_one_node(void **state)
{
    (void)state;
    struct nodes_bench n;
    struct bench *b = begin(&n);
    bench_policy(b, &pleat_policy_pwa);
    uint32_t there = run_on(&n, 1, PLEAT_MALLEABLE, 4, 1, 4);
    uint32_t here = run_on(&n, 0, PLEAT_MALLEABLE, 4, 2, 4);
    uint32_t waits = bench_wait(b, PLEAT_RIGID, 3, 3, 0);
    bench_decide(b); /* here cannot give three, and two of there would be of no use */
    assert_int_equal(bench_after(b, here), 4);
    assert_int_equal(bench_after(b, there), 1);
    assert_int_equal(bench_decision(b, there)->u.resize.waiter, waits);
    bench_finish(b);
}

static void test_nobody_overtakes_who_waits_for_a_node(void **state)
{
    (void)state;
    struct nodes_bench n;
    struct bench *b = begin(&n);
    bench_policy(b, &pleat_policy_easy);
    uint32_t ends = run_on(&n, 0, PLEAT_RIGID, 2, 2, 2);
    (void)run_on(&n, 1, PLEAT_RIGID, 2, 2, 2);
    bench_estimate(b, ends, 100);
    uint32_t head = bench_wait(b, PLEAT_RIGID, 3, 3, 0); /* four are free, two of each node */
    uint32_t small = bench_wait(b, PLEAT_RIGID, 1, 1, 0);
    bench_estimate(b, small, 10);
    bench_decide(b);
    assert_int_equal(bench_after(b, head), 0);
    assert_int_equal(bench_after(b, small), 0);
    bench_finish(b);
}

/* One that must stay on its node is helped by no other one's processors. */
static void test_withheld_on_its_node(void **state)
{
    (void)state;
    struct nodes_bench n;
    struct bench *b = begin(&n);
    uint32_t asks = run_on(&n, 0, PLEAT_MALLEABLE, 2, 1, 4);
    uint32_t beside = run_on(&n, 0, PLEAT_MALLEABLE, 1, 1, 4);
    uint32_t four = bench_wait(b, PLEAT_RIGID, 4, 4, 0), one = bench_wait(b, PLEAT_RIGID, 1, 1, 0);
    bench_begin(b);
    pleat_plan_withhold(&b->plan, asks, 2);
    assert_int_equal(pleat_plan_idle(&b->plan, 0), EACH);
    assert_int_equal(pleat_plan_offer_grow(&b->plan, beside, 1), 0);
    pleat_plan_mark mark = pleat_plan_remember(&b->plan);
    assert_int_equal(pleat_plan_offer_shrink(&b->plan, asks, 1, four), 1);
    pleat_plan_rollback(&b->plan, mark);
    assert_true(pleat_plan_start(&b->plan, four, 0, 4));
    assert_int_equal(pleat_plan_available(&b->plan, one, 0), 0);
    bench_finish(b);
}

/* One that may be on several is helped by any. */
static void test_withheld_of_any_node(void **state)
{
    (void)state;
    struct nodes_bench n;
    struct bench *b = begin(&n);
    uint32_t asks = run_on(&n, 0, PLEAT_MALLEABLE, 2, 1, 8);
    b->components[asks].flags |= PLEAT_COMPONENT_SPREADS;
    uint32_t four = bench_wait(b, PLEAT_RIGID, 4, 4, 0);
    bench_begin(b);
    pleat_plan_withhold(&b->plan, asks, 3);
    assert_int_equal(pleat_plan_available(&b->plan, four, 0), 3);
    bench_finish(b);
}

/* A part of the machine is one of the nodes that are open: a part of all would never be there. */
static void test_closed_nodes_are_not_part_of_the_machine(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        int32_t size;
    } cases[] = {{"psa", 4}, {"psa-printed", 4}, {"asp-max", 2}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct nodes_bench n;
        struct bench *b = begin(&n);
        bench_policy(b, pleat_policy_find(PLEAT_QUEUE, "fcfs"));
        bench_policy(b, pleat_policy_find(PLEAT_MOLDABILITY, cases[i].policy));
        n.nodes[1].drained = true;
        b->sites[0].shut = EACH;
        uint32_t job = bench_wait(b, PLEAT_MALLEABLE, 1, 8, 0);
        b->components[job].flags |= PLEAT_COMPONENT_SPREADS;
        bench_decide(b);
        const struct pleat_event *start = bench_decision(b, job);
        assert_non_null(start);
        assert_int_equal(start->u.start.processors, cases[i].size);
        bench_finish(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_as_a_node_has),
        cmocka_unit_test(test_the_fullest_node_that_has_room),
        cmocka_unit_test(test_grows_on_its_node),
        cmocka_unit_test(test_room_is_made_on_one_node),
        cmocka_unit_test(test_nobody_overtakes_who_waits_for_a_node),
        cmocka_unit_test(test_withheld_on_its_node),
        cmocka_unit_test(test_withheld_of_any_node),
        cmocka_unit_test(test_closed_nodes_are_not_part_of_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
