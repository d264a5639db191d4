/* Where components are placed: worked examples of Close-to-Files, Cluster Minimization and its
 * flexible form (Buisson et al. 2007, IV-A; Lammers 2005, 3.3), which the papers have in words, and
 * the round-robin growth of Lammers 2005, 5.5.3. */
#include "policy_bench.h"

/* Makes waiting jobs, given in the order of their numbers, the components of one job. */
static void join(struct bench *b, uint32_t first, uint32_t last, int32_t total)
{
    b->view.several = true;
    for (uint32_t c = first; c <= last; c++) {
        b->components[c].lead = first;
        b->components[c].ordinal = (uint16_t)(c - first);
        bench_coallocation(b, c)->sibling = c < last ? c + 1 : PLEAT_NONE;
        if (c == first)
            continue;
        b->components[c].aside = PLEAT_ASIDE_TOWED; /* out of the queue */
        b->components[first].next = b->components[c].next;
        b->view.queue_count--;
        b->components[c].previous = b->components[c].next = PLEAT_NONE;
    }
    if (b->components[first].next == PLEAT_NONE)
        b->view.queue_last = first;
    bench_coallocation(b, first)->total = total;
    for (uint32_t c = first; total > 0 && c <= last; c++)
        b->components[c].minimum = b->components[c].maximum = c == first ? total : 0;
}

static void begins_at(struct bench *b, uint32_t component, uint32_t site, int32_t size)
{
    const struct pleat_event *decision = bench_decision(b, component);
    assert_non_null(decision);
    assert_int_equal(decision->kind, PLEAT_EV_START);
    assert_int_equal(decision->u.start.site, site);
    assert_int_equal(decision->u.start.processors, size);
}

/* Four sites with 10, 30, 20 and 15 idle processors. */
static void four_sites(struct bench *b, const struct pleat_policy *placement)
{
    static const int32_t idle[] = {10, 30, 20, 15};
    bench_init(b);
    bench_policy(b, placement);
    for (int s = 0; s < 4; s++)
        bench_site(b, idle[s], 0);
}

static uint32_t rigid(struct bench *b, int32_t size)
{
    return bench_wait(b, PLEAT_RIGID, size, size, 0);
}

/* Others use 28 of the 30 at site 1, in whose queue a job would wait: it goes where more are idle.
 * One that fits nowhere else waits there. */
static void test_what_others_use_of_a_queue(void **state)
{
    (void)state;
    static const struct pleat_policy *const all[] = {
        &pleat_policy_worst_fit, &pleat_policy_close_to_files, &pleat_policy_cluster_minimization};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct bench b;
        four_sites(&b, all[i]);
        b.sites[1].others = 28;
        uint32_t small = rigid(&b, 5), large = rigid(&b, 25);
        bench_decide(&b);
        begins_at(&b, small, 2, 5);
        begins_at(&b, large, 1, 25);
        bench_finish(&b);
    }
}

/* ---- Close-to-Files ---- */

/* A file of 12 GB is at sites 0 and 2; links: 0 to 1 with 100 MB/s, 2 to 1 with 400 MB/s, 2 to 3
 * with 200 MB/s, 0 to 3 with 50 MB/s. So bringing it to site 1 takes 30 s, to site 3 60 s. */
static void with_file(struct bench *b, uint32_t component)
{
    static const struct pleat_input inputs[] = {
        {.bytes = INT64_C(12000000000), .file = 1, .site = 0, .next = 1},
        {.bytes = INT64_C(12000000000), .file = 1, .site = 2, .next = PLEAT_NONE}};
    static const struct pleat_link links[] = {
        {100000000, 0, 1}, {50000000, 0, 3}, {400000000, 2, 1}, {200000000, 2, 3}};
    b->view.inputs = inputs;
    b->view.links = links;
    b->view.link_count = 4;
    b->view.stages = true;
    bench_coallocation(b, component)->first_input = 0;
}

static void test_bringing_a_file_takes_its_time(void **state)
{
    (void)state;
    struct bench b;
    four_sites(&b, &pleat_policy_close_to_files);
    uint32_t component = rigid(&b, 1);
    with_file(&b, component);
    static const int64_t seconds[] = {0, 30, 0, 60};
    for (uint32_t s = 0; s < 4; s++)
        assert_int_equal(pleat_view_transfer(&b.view, &b.components[component], s) / 1000000,
                         seconds[s]);
    b.view.link_count = 0; /* no links */
    assert_int_equal(pleat_view_transfer(&b.view, &b.components[component], 1), PLEAT_NEVER);
    assert_false(pleat_view_allows(&b.view, &b.components[component], 1));
    assert_true(pleat_view_allows(&b.view, &b.components[component], 2));
    bench_coallocation(&b, component)->files_site = 1; /* it is on its way there */
    bench_coallocation(&b, component)->files_us = b.view.now_us + 7000000;
    assert_int_equal(pleat_view_transfer(&b.view, &b.components[component], 1), 7000000);
    bench_finish(&b);
}

static void test_close_to_files(void **state)
{
    (void)state;
    /* where it fits: both sites that have the file (the emptier one); one of them; neither, then
     * the one that is reached soonest; only a distant one; none */
    static const struct {
        int32_t size;
        uint32_t site;
    } cases[] = {{8, 2}, {15, 2}, {25, 1}, {31, PLEAT_NONE}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        four_sites(&b, &pleat_policy_close_to_files);
        uint32_t component = rigid(&b, cases[i].size);
        with_file(&b, component);
        bench_decide(&b);
        if (cases[i].site == PLEAT_NONE)
            assert_null(bench_decision(&b, component));
        else
            begins_at(&b, component, cases[i].site, cases[i].size);
        bench_finish(&b);
    }
}

static void test_close_to_files_is_worst_fit_without_files(void **state)
{
    (void)state;
    struct bench b;
    four_sites(&b, &pleat_policy_close_to_files);
    uint32_t first = rigid(&b, 12), second = rigid(&b, 12);
    bench_decide(&b);
    begins_at(&b, first, 1, 12);  /* 30 idle, then 18 */
    begins_at(&b, second, 2, 12); /* 20 */
    bench_finish(&b);
}

/* ---- Cluster Minimization ---- */

/* Components of 12, 5, 14 and 4: worst-fit uses three sites. Cluster minimization puts the 14 at
 * site 1 and the 12 beside it; the 5 do not fit into the 4 that are left there, and go to where the
 * most are idle; the last 4 fill site 1. */
static void test_few_sites_or_many(void **state)
{
    (void)state;
    static const int32_t sizes[] = {12, 5, 14, 4};
    static const uint32_t worst_fit[] = {2, 1, 1, 3}, minimized[] = {1, 2, 1, 1};
    for (int minimize = 0; minimize < 2; minimize++) {
        struct bench b;
        four_sites(&b, minimize ? &pleat_policy_cluster_minimization : &pleat_policy_worst_fit);
        uint32_t first = rigid(&b, sizes[0]);
        for (int i = 1; i < 4; i++)
            (void)rigid(&b, sizes[i]);
        join(&b, first, first + 3, 0);
        bench_decide(&b);
        for (uint32_t c = 0; c < 4; c++)
            begins_at(&b, first + c, minimize ? minimized[c] : worst_fit[c], sizes[c]);
        bench_finish(&b);
    }
}

static void test_a_component_that_is_placed_attracts_the_others(void **state)
{
    (void)state;
    struct bench b;
    four_sites(&b, &pleat_policy_cluster_minimization);
    uint32_t running = bench_run(&b, 3, PLEAT_RIGID, 5, 5, 5);
    uint32_t waiting = rigid(&b, 6);
    b.view.several = true;
    b.components[running].lead = b.components[waiting].lead = running;
    bench_coallocation(&b, running)->sibling = waiting;
    bench_decide(&b);
    begins_at(&b, waiting, 3, 6);
    bench_finish(&b);
}

/* All or none: nothing that was placed for the job stays placed. */
static void test_what_was_placed_is_taken_back(void **state)
{
    (void)state;
    struct bench b;
    four_sites(&b, &pleat_policy_cluster_minimization);
    bench_policy(&b, &pleat_policy_scan);
    uint32_t first = rigid(&b, 30);
    (void)rigid(&b, 21);
    join(&b, first, first + 1, 0);
    uint32_t other = rigid(&b, 30);
    bench_decide(&b);
    assert_null(bench_decision(&b, first));
    assert_null(bench_decision(&b, first + 1));
    begins_at(&b, other, 1, 30);
    bench_finish(&b);
}

/* The first would take all that is available, and leave nothing to the second. */
static void test_moldable_components_leave_room_for_one_another(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    uint32_t site = bench_site(&b, 24, 0);
    uint32_t first = bench_wait(&b, PLEAT_MOLDABLE, 5, 30, 0);
    (void)bench_wait(&b, PLEAT_MOLDABLE, 3, 30, 0);
    join(&b, first, first + 1, 0);
    bench_decide(&b);
    begins_at(&b, first, site, 5);
    begins_at(&b, first + 1, site, 3);
    bench_finish(&b);
}

/* ---- Flexible Cluster Minimization ---- */

static void test_a_job_is_split_as_processors_are_idle(void **state)
{
    (void)state;
    /* 30, 20, 15 and 10 are idle: parts in the order of components */
    static const struct {
        int32_t total;
        int32_t parts[4];
        uint32_t sites[4];
    } cases[] = {
        {8, {8}, {0}},          /* one site: of those that have 8 the smallest */
        {30, {30}, {1}},        /* all of one */
        {40, {30, 10}, {1, 0}}, /* the rest where just as many are idle */
        {62, {30, 20, 12}, {1, 2, 3}},
        {75, {30, 20, 15, 10}, {1, 2, 3, 0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        four_sites(&b, &pleat_policy_flexible_cluster_minimization);
        uint32_t first = rigid(&b, cases[i].total);
        for (int c = 1; c < 4; c++)
            (void)rigid(&b, 1);
        join(&b, first, first + 3, cases[i].total);
        bench_decide(&b);
        for (uint32_t c = 0; c < 4; c++) {
            if (cases[i].parts[c] > 0)
                begins_at(&b, first + c, cases[i].sites[c], cases[i].parts[c]);
            else
                assert_null(bench_decision(&b, first + c));
        }
        bench_finish(&b);
    }
}

static void test_a_job_that_cannot_be_split_so_waits(void **state)
{
    (void)state;
    struct bench b;
    four_sites(&b, &pleat_policy_flexible_cluster_minimization);
    uint32_t first = rigid(&b, 51); /* in two parts: 50 at most */
    (void)rigid(&b, 1);
    join(&b, first, first + 1, 51);
    bench_decide(&b);
    assert_null(bench_decision(&b, first));
    bench_finish(&b);
}

/* Where placement does not split it starts whole, as one component. */
static void test_others_place_it_whole(void **state)
{
    (void)state;
    struct bench b;
    four_sites(&b, &pleat_policy_worst_fit);
    uint32_t first = rigid(&b, 28);
    (void)rigid(&b, 1);
    join(&b, first, first + 1, 28);
    bench_decide(&b);
    begins_at(&b, first, 1, 28);
    assert_null(bench_decision(&b, first + 1));
    bench_finish(&b);
}

/* ---- round-robin ---- */

static uint32_t grower(struct bench *b, uint32_t site, int32_t size)
{
    uint32_t component = bench_run(b, site, PLEAT_MALLEABLE, size, 0, 80);
    b->components[component].sizes_kind = PLEAT_SIZES_MULTIPLES;
    b->components[component].sizes_parameter = 4;
    return component;
}

static void test_each_grows_by_its_step(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_round_robin);
    uint32_t site = bench_site(&b, 62, 0);
    uint32_t first = grower(&b, site, 4), second = grower(&b, site, 8);
    uint32_t third = bench_run(&b, site, PLEAT_MALLEABLE, 3, 1, 80); /* any size: by one */
    bench_decide(&b);
    assert_int_equal(bench_after(&b, first), 8);
    assert_int_equal(bench_after(&b, second), 12);
    assert_int_equal(bench_after(&b, third), 4);
    bench_finish(&b);
}

/* 9 are left: two steps. The job after the one that grew last is the first. */
static void test_the_next_in_turn_is_remembered(void **state)
{
    (void)state;
    static const int32_t expected[3][3] = {{8, 4, 8}, {8, 8, 4}, {4, 8, 8}};
    for (uint32_t last = 0; last < 3; last++) {
        struct bench b;
        bench_init(&b);
        bench_policy(&b, &pleat_policy_round_robin);
        uint32_t site = bench_site(&b, 21, 0), jobs[3];
        for (int i = 0; i < 3; i++)
            jobs[i] = grower(&b, site, 4);
        struct pleat_event grown = {.kind = PLEAT_EV_RESIZE,
                                    .component = jobs[(last + 1) % 3],
                                    .u.resize = {.accepted = 4}};
        pleat_policy_round_robin.observe(b.state, &b.view, &grown);
        bench_decide(&b);
        for (int i = 0; i < 3; i++)
            assert_int_equal(bench_after(&b, jobs[i]), expected[last][i]);
        bench_finish(&b);
    }
}

static void test_who_gets_a_step_is_passed_over(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_round_robin);
    uint32_t site = bench_site(&b, 40, 0);
    uint32_t first = grower(&b, site, 4), second = grower(&b, site, 4);
    bench_resizing(&b, first, 8);
    bench_decide(&b);
    assert_null(bench_decision(&b, first));
    assert_int_equal(bench_after(&b, second), 8);
    bench_finish(&b);
}

/* Room for a rigid job of 40 is made down to nothing. */
static void test_steps_are_given_up_in_turn(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b);
    bench_policy(&b, &pleat_policy_round_robin);
    uint32_t site = bench_site(&b, 40, 0);
    uint32_t first = grower(&b, site, 24), second = grower(&b, site, 16);
    uint32_t waiting = rigid(&b, 10);
    bench_decide(&b);
    assert_int_equal(bench_after(&b, first), 20);
    assert_int_equal(bench_after(&b, second), 8); /* it is the last: it gives first, and again */
    assert_null(bench_decision(&b, waiting));
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_others_use_of_a_queue),
        cmocka_unit_test(test_bringing_a_file_takes_its_time),
        cmocka_unit_test(test_close_to_files),
        cmocka_unit_test(test_close_to_files_is_worst_fit_without_files),
        cmocka_unit_test(test_few_sites_or_many),
        cmocka_unit_test(test_a_component_that_is_placed_attracts_the_others),
        cmocka_unit_test(test_what_was_placed_is_taken_back),
        cmocka_unit_test(test_moldable_components_leave_room_for_one_another),
        cmocka_unit_test(test_a_job_is_split_as_processors_are_idle),
        cmocka_unit_test(test_a_job_that_cannot_be_split_so_waits),
        cmocka_unit_test(test_others_place_it_whole),
        cmocka_unit_test(test_each_grows_by_its_step),
        cmocka_unit_test(test_the_next_in_turn_is_remembered),
        cmocka_unit_test(test_who_gets_a_step_is_passed_over),
        cmocka_unit_test(test_steps_are_given_up_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
