/* Over random views: no plan breaks a limit or hands out what is not there, and taking offers back
 * leaves the plan as if they had never been made. */
#include "policy_bench.h"

#include <string.h>

#include "base/random.h"

static const int32_t list_values[] = {1, 3, 4, 7, 12, 20, 0};

static int32_t below(struct pleat_random *random, int32_t n)
{
    return (int32_t)pleat_random_below(random, (uint64_t)n);
}

static void random_sizes(struct pleat_random *random, struct pleat_component *component)
{
    component->sizes_kind = (uint8_t)below(random, PLEAT_SIZES_KIND_COUNT);
    component->sizes_parameter =
        component->sizes_kind == PLEAT_SIZES_MULTIPLES ? 1 + below(random, 5) : 0;
}

static void random_running(struct bench *b, struct pleat_random *random, uint32_t site)
{
    enum pleat_job_kind kind = below(random, 4) ? PLEAT_MALLEABLE : PLEAT_RIGID;
    int32_t minimum = 1 + below(random, 4), maximum = minimum + below(random, 30);
    uint32_t index = bench_run(b, site, kind, 0, minimum, maximum);
    struct pleat_component *component = &b->components[index];
    random_sizes(random, component);
    if (below(random, 6) == 0)
        component->minimum = 0;
    component->processors =
        pleat_accept_start_floor(&b->view, component, minimum + below(random, 12));
    if (component->processors == 0) { /* none of its sizes: any then */
        component->sizes_kind = PLEAT_SIZES_ANY;
        component->processors = minimum;
    }
    component->processes = component->target = component->processors;
    if (kind == PLEAT_RIGID)
        component->minimum = component->maximum = component->processors;
    if (below(random, 8) == 0)
        component->cap = component->processors;
    if (below(random, 8) == 0)
        component->quiet_until_us = b->view.now_us + 5;
    if (below(random, 3))
        bench_estimate(b, index, below(random, 100) - 10);
    if (kind == PLEAT_MALLEABLE && below(random, 5) == 0)
        bench_resizing(b, index, component->processors + (below(random, 2) ? 0 : 1));
}

static void random_folded(struct bench *b, struct pleat_random *random, uint32_t site)
{
    int32_t mpl = 1 + below(random, 5), processes = 1 + below(random, 40);
    int32_t least = pleat_mpl(processes, mpl);
    int32_t size = least + below(random, processes - least + 1);
    bench_fold(b, site, size, processes, mpl, (enum pleat_job_class)below(random, 3));
}

static void random_view(struct bench *b, struct pleat_random *random)
{
    bench_init(b);
    memcpy(b->list_values, list_values, sizeof(list_values));
    b->list.items = b->list_values;
    b->list.count = 6;
    int sites = 1 + below(random, BENCH_SITES);
    for (int s = 0; s < sites; s++) {
        uint32_t site = bench_site(b, 0, below(random, 4));
        for (int j = below(random, 6); j > 0; j--)
            below(random, 4) ? random_running(b, random, site) : random_folded(b, random, site);
    }
    for (int j = below(random, 8); j > 0; j--) {
        int32_t minimum = 1 + below(random, 8);
        enum pleat_job_kind kind = (enum pleat_job_kind)below(random, 3);
        uint32_t index = bench_wait(b, kind, minimum,
                                    kind == PLEAT_RIGID ? minimum : minimum + below(random, 20),
                                    below(random, 2) ? 0 : minimum);
        random_sizes(random, &b->components[index]);
        if (kind == PLEAT_RIGID)
            b->components[index].sizes_kind = PLEAT_SIZES_ANY;
        if (kind == PLEAT_MALLEABLE && below(random, 3) == 0)
            b->components[index].flags |= PLEAT_COMPONENT_FOLDS;
        bench_mpl_max(b, index, below(random, 6));
        b->components[index].job_class = (uint8_t)below(random, 3);
        if (below(random, 3))
            bench_estimate(b, index, 1 + below(random, 100));
        if (below(random, 2))
            b->components[index].reference = minimum;
        if (below(random, 5) == 0) {
            b->components[index].site = (uint32_t)below(random, sites);
            b->components[index].earmarked = 1 + below(random, 3);
        }
    }
    for (int j = below(random, 2) ? 0 : below(random, 4), begin = 0; j > 0; j--) {
        begin += 1 + below(random, 50);
        bench_reserve(b, (uint32_t)below(random, sites), 1 + below(random, 12), begin,
                      1 + below(random, 50));
    }
    b->view.max_tries = below(random, 3);
    bench_begin(b);
    for (int s = 0; s < sites; s++) {
        b->sites[s].background = below(random, 4);
        b->sites[s].capacity = b->sites[s].claimed + below(random, 24);
    }
    assert_int_equal(pleat_plan_begin(&b->plan, &b->view), 0);
    for (size_t q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        const struct pleat_policy *choice[32], *policy;
        int count = 0;
        for (size_t i = 0; (policy = pleat_policy_at(i)); i++)
            if (policy->question == (enum pleat_question)q)
                choice[count++] = policy;
        bench_policy(b, choice[below(random, count)]);
    }
}

static void check_resize(const struct bench *b, const struct pleat_event *decision, int32_t *taken)
{
    const struct pleat_component *component = &b->components[decision->component];
    int32_t to = decision->u.resize.processors;
    struct pleat_sizes sizes = pleat_view_sizes(&b->view, component);
    assert_int_equal(component->state, PLEAT_RUNNING);
    assert_int_equal(component->kind, PLEAT_MALLEABLE);
    assert_int_equal(to - component->processors, decision->u.resize.accepted);
    assert_int_not_equal(to, component->processors);
    if (pleat_view_folds(component)) {
        assert_int_equal(decision->u.resize.processes, component->processes);
        assert_in_range(pleat_mpl(component->processes, to), 1, component->mpl);
    } else {
        assert_int_equal(decision->u.resize.processes, to);
        assert_true(to == 0 ? component->minimum == 0 : pleat_sizes_floor(&sizes, to) == to);
        assert_true(to >= component->minimum);
    }
    if (to > component->processors) {
        assert_true(to <= pleat_view_limit(&b->view, component) && to <= component->cap);
        assert_true(decision->u.resize.offered >= decision->u.resize.accepted);
        assert_true(b->view.now_us >= component->quiet_until_us);
        assert_false(decision->flags & PLEAT_MANDATORY);
        taken[component->site] += to - component->processors;
    } else {
        assert_true(decision->u.resize.offered < 0);
        uint32_t waiter = decision->u.resize.waiter;
        assert_int_equal((decision->flags & PLEAT_MANDATORY) != 0, waiter != PLEAT_NONE);
        if (waiter != PLEAT_NONE)
            assert_int_equal(b->components[waiter].state, PLEAT_QUEUED);
        else
            assert_true(b->view.now_us >= component->quiet_until_us);
    }
}

static void check_start(const struct bench *b, const struct pleat_event *decision, int32_t *taken)
{
    const struct pleat_component *component = &b->components[decision->component];
    int32_t size = decision->u.start.processors;
    uint32_t site = decision->u.start.site;
    struct pleat_sizes sizes = pleat_view_sizes(&b->view, component);
    assert_int_equal(component->state, PLEAT_QUEUED);
    assert_false(component->aside);
    int32_t processes = decision->u.start.processes;
    assert_true(processes >= component->minimum && processes <= component->maximum);
    assert_int_equal(pleat_sizes_floor(&sizes, processes), processes);
    if (pleat_view_folds(component)) {
        int32_t asked = pleat_view_folding(&b->view, component)->mpl_max;
        assert_in_range(decision->u.start.mpl, 1, asked && asked < 4 ? asked : 4);
        assert_true(size <= processes);
        assert_in_range(pleat_mpl(processes, size), 1, decision->u.start.mpl);
    } else {
        assert_int_equal(size, processes);
    }
    int32_t earmarked = component->site == site ? component->earmarked : 0;
    taken[site] += size > earmarked ? size - earmarked : 0;
}

/* ---- what reservations need, counted instant by instant ---- */

static int32_t counted(const struct bench *b, const struct pleat_component *component, int32_t size)
{
    int32_t smallest = pleat_accept_smallest(&b->view, component);
    return pleat_pass_shrinks(&b->pass) && component->kind == PLEAT_MALLEABLE && smallest < size
               ? smallest
               : size;
}

/* Processors that one who runs, or is started by the plan, is expected to have at a time. */
static int32_t has_at(const struct bench *b, uint32_t j, uint32_t site, int64_t at_us)
{
    const struct pleat_component *component = &b->components[j];
    if (component->state == PLEAT_RUNNING || component->state == PLEAT_RESIZING)
        return component->site == site && pleat_view_expected_end(&b->view, component) > at_us
                   ? counted(b, component, component->target)
                   : 0;
    for (size_t i = 0; i < b->plan.decisions.count; i++) {
        const struct pleat_event *start = &b->plan.decisions.items[i];
        if (start->component == j && start->kind == PLEAT_EV_START && start->u.start.site == site &&
            pleat_view_end_of(&b->view, j, start->u.start.processors) > at_us)
            return pleat_view_folds(component) && pleat_pass_shrinks(&b->pass)
                       ? pleat_mpl(start->u.start.processes, (int32_t)start->u.start.mpl)
                       : counted(b, component, start->u.start.processors);
    }
    return component->site == site ? component->earmarked : 0;
}

/* Is there enough at a site, at the time when a reservation begins? */
static bool is_enough(const struct bench *b, uint32_t site, int64_t at_us)
{
    int32_t left = b->sites[site].capacity - b->sites[site].background;
    for (uint32_t j = 0; j < b->view.component_count; j++) {
        const struct pleat_component *component = &b->components[j];
        if (!component->aside)
            left -= has_at(b, j, site, at_us);
        else if (component->wanted_site == site && component->begin_us <= at_us &&
                 at_us < component->begin_us + component->estimate_us)
            left -= component->minimum;
    }
    return left >= 0;
}

/* Nobody whom the plan starts on free processors takes any that a reservation will need. */
static void check_reservations(const struct bench *b, const struct pleat_event *start)
{
    uint32_t site = start->u.start.site;
    const struct pleat_component *component = &b->components[start->component];
    int32_t size = start->u.start.processors;
    int64_t end_us = pleat_view_end_of(&b->view, start->component, size);
    if (component->site == site && counted(b, component, size) <= component->earmarked)
        return; /* what it will keep is its own already */
    for (uint32_t c = b->view.reserved_first; c != PLEAT_NONE; c = b->components[c].next)
        if (b->components[c].wanted_site == site && b->components[c].begin_us < end_us)
            assert_true(is_enough(b, site, b->components[c].begin_us));
}

static void check_plan(const struct bench *b)
{
    int32_t taken[BENCH_SITES] = {0};
    bool decided[BENCH_JOBS] = {false};
    bool grew[BENCH_SITES] = {false};
    for (size_t i = 0; i < b->plan.decisions.count; i++) {
        const struct pleat_event *decision = &b->plan.decisions.items[i];
        if (decision->kind == PLEAT_EV_PROMISE) {
            assert_int_equal(b->components[decision->component].state, PLEAT_QUEUED);
            continue;
        }
        assert_false(decided[decision->component]); /* one decision for each job */
        decided[decision->component] = true;
        if (decision->kind == PLEAT_EV_RESIZE) {
            check_resize(b, decision, taken);
            grew[b->components[decision->component].site] |= decision->u.resize.accepted > 0;
        } else if (decision->kind == PLEAT_EV_START) {
            check_start(b, decision, taken);
            check_reservations(b, decision);
        } else {
            assert_int_equal(decision->kind, PLEAT_EV_TRIED);
        }
    }
    for (uint32_t s = 0; s < b->view.site_count; s++) {
        const struct pleat_site *site = &b->sites[s];
        int32_t unused = site->capacity - site->background - site->claimed;
        if (taken[s] > 0)
            assert_true(taken[s] <= unused);
        assert_int_equal(b->plan.sites[s].free, unused - taken[s]);
        if (grew[s] && b->pass.policies[PLEAT_APPROACH] == &pleat_policy_pwa)
            assert_true(b->plan.sites[s].free >= site->threshold);
    }
}

static void test_no_plan_breaks_a_limit(void **state)
{
    (void)state;
    struct bench *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    size_t decisions = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        struct pleat_random random;
        pleat_random_init(&random, seed);
        random_view(b, &random);
        b->pass.policies[PLEAT_APPROACH]->decide(&b->pass);
        check_plan(b);
        decisions += b->plan.decisions.count;
        bench_finish(b);
    }
    assert_true(decisions > 20000); /* else these views say nothing */
    free(b);
}

static void random_offer(struct bench *b, struct pleat_random *random)
{
    uint32_t component = (uint32_t)below(random, (int32_t)b->view.component_count);
    if (below(random, 2))
        (void)pleat_plan_offer_grow(&b->plan, component, 1 + below(random, 12));
    else
        (void)pleat_plan_offer_shrink(&b->plan, component, 1 + below(random, 12), PLEAT_NONE);
}

/* The same offers, without those in between that were taken back. */
static void check_as_if_never_made(struct bench *b, struct pleat_random random)
{
    struct pleat_events kept = b->plan.decisions;
    memset(&b->plan.decisions, 0, sizeof(b->plan.decisions));
    assert_int_equal(pleat_plan_begin(&b->plan, &b->view), 0);
    for (int i = below(&random, 6); i > 0; i--)
        random_offer(b, &random);
    for (uint32_t j = 0; j < b->view.component_count; j++)
        (void)pleat_plan_offer_grow(&b->plan, j, 3);
    assert_int_equal(b->plan.decisions.count, kept.count);
    if (kept.count)
        assert_memory_equal(b->plan.decisions.items, kept.items,
                            kept.count * sizeof(kept.items[0]));
    pleat_array_finish(&kept);
}

static void test_taking_back_restores_everything(void **state)
{
    (void)state;
    struct bench *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    for (uint64_t seed = 0; seed < 5000; seed++) {
        struct pleat_random random;
        pleat_random_init(&random, seed);
        random_view(b, &random);
        if (b->view.component_count == 0) {
            bench_finish(b);
            continue;
        }
        const struct pleat_random before = random;
        for (int i = below(&random, 6); i > 0; i--)
            random_offer(b, &random);
        struct pleat_event decisions[BENCH_JOBS];
        struct pleat_plan_site sites[BENCH_SITES];
        size_t count = b->plan.decisions.count;
        if (count)
            memcpy(decisions, b->plan.decisions.items, count * sizeof(decisions[0]));
        memcpy(sites, b->plan.sites, b->view.site_count * sizeof(sites[0]));
        pleat_plan_mark mark = pleat_plan_remember(&b->plan);
        for (int i = below(&random, 12); i > 0; i--)
            random_offer(b, &random);
        pleat_plan_rollback(&b->plan, mark);
        assert_int_equal(b->plan.decisions.count, count);
        if (count)
            assert_memory_equal(decisions, b->plan.decisions.items, count * sizeof(decisions[0]));
        for (uint32_t s = 0; s < b->view.site_count; s++)
            assert_int_equal(sites[s].free, b->plan.sites[s].free);
        for (uint32_t j = 0; j < b->view.component_count; j++)
            (void)pleat_plan_offer_grow(&b->plan, j, 3);
        check_as_if_never_made(b, before);
        bench_finish(b);
    }
    free(b);
}

/* What an application accepts, against counting. */
static void test_what_is_accepted(void **state)
{
    (void)state;
    struct bench *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct pleat_random random;
        pleat_random_init(&random, seed);
        random_view(b, &random);
        for (uint32_t j = 0; j < b->view.component_count; j++) {
            const struct pleat_component *component = &b->components[j];
            struct pleat_sizes sizes = pleat_view_sizes(&b->view, component);
            int32_t size = component->processors, offered = 1 + below(&random, 20);
            int32_t limit =
                component->maximum < component->cap ? component->maximum : component->cap;
            if (pleat_view_folds(component))
                continue; /* see the next test */
            int32_t most = size, least = size;
            for (int32_t to = size + 1; to <= size + offered && to <= limit; to++)
                if (pleat_sizes_floor(&sizes, to) == to)
                    most = to;
            if (most < component->minimum) /* it gave back so much, and does not stop half-way */
                most = size;
            assert_int_equal(pleat_accept_grow(&b->view, component, size, offered), most - size);
            for (int32_t to = size - 1; to >= component->minimum && least > size - offered; to--)
                if (to == 0 || pleat_sizes_floor(&sizes, to) == to)
                    least = to;
            assert_int_equal(pleat_accept_shrink(&b->view, component, size, offered), size - least);
        }
        bench_finish(b);
    }
    free(b);
}

static void test_what_is_accepted_folded(void **state)
{
    (void)state;
    for (int32_t mpl = 1; mpl <= 5; mpl++)
        for (int32_t processes = 1; processes <= 40; processes++) {
            struct bench b;
            bench_init(&b);
            uint32_t site = bench_site(&b, 100, 0);
            uint32_t runs = bench_fold(&b, site, processes, processes, mpl, PLEAT_CLASS_LONG);
            uint32_t waits = bench_wait_folding(&b, 2, processes + 1, PLEAT_CLASS_LONG);
            bench_mpl_max(&b, waits, mpl);
            b.components[waits].sizes_kind = PLEAT_SIZES_POWERS;
            int32_t most = mpl < 4 ? mpl : 4, can_start = 0;
            for (int32_t n = 1; n <= processes + 4; n++) {
                bool runs_on = n <= processes && (processes + n - 1) / n <= mpl;
                const struct pleat_component *component = &b.components[runs];
                int32_t smallest = pleat_accept_smallest(&b.view, component);
                assert_true(runs_on == (n >= smallest && n <= processes));
                int32_t grown = pleat_accept_grow(&b.view, component, smallest, n);
                assert_int_equal(grown, smallest + n < processes ? n : processes - smallest);
                /* the largest power of two for which n are enough */
                int32_t largest = 0;
                for (int32_t p = 2; p <= processes + 1; p *= 2)
                    if ((p + n - 1) / n <= most)
                        largest = p;
                component = &b.components[waits];
                assert_int_equal(pleat_accept_processes(&b.view, component, n, most), largest);
                assert_int_equal(pleat_accept_start_floor(&b.view, component, n),
                                 largest < n ? largest : n);
                if (can_start == 0 && largest > 0)
                    can_start = n;
            }
            assert_int_equal(pleat_accept_start(&b.view, &b.components[waits]), can_start);
            bench_finish(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_plan_breaks_a_limit),
        cmocka_unit_test(test_taking_back_restores_everything),
        cmocka_unit_test(test_what_is_accepted),
        cmocka_unit_test(test_what_is_accepted_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
