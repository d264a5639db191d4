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

static void random_sizes(struct pleat_random *random, struct pleat_component *job)
{
    job->sizes_kind = (uint8_t)below(random, PLEAT_SIZES_KIND_COUNT);
    job->sizes_parameter = job->sizes_kind == PLEAT_SIZES_MULTIPLES ? 1 + below(random, 5) : 0;
}

static void random_running(struct bench *b, struct pleat_random *random, uint32_t site)
{
    enum pleat_job_kind kind = below(random, 4) ? PLEAT_MALLEABLE : PLEAT_RIGID;
    int32_t minimum = 1 + below(random, 4), maximum = minimum + below(random, 30);
    uint32_t index = bench_run(b, site, kind, 0, minimum, maximum);
    struct pleat_component *job = &b->jobs[index];
    random_sizes(random, job);
    if (below(random, 6) == 0)
        job->minimum = 0;
    job->processors = pleat_accept_start_floor(&b->view, job, minimum + below(random, 12));
    if (job->processors == 0) { /* none of its sizes: any then */
        job->sizes_kind = PLEAT_SIZES_ANY;
        job->processors = minimum;
    }
    job->processes = job->target = job->processors;
    if (kind == PLEAT_RIGID)
        job->minimum = job->maximum = job->processors;
    if (below(random, 8) == 0)
        job->cap = job->processors;
    if (below(random, 8) == 0)
        job->quiet_until_us = b->view.now_us + 5;
    if (below(random, 3))
        bench_estimate(b, index, below(random, 100) - 10);
    if (kind == PLEAT_MALLEABLE && below(random, 5) == 0)
        bench_resizing(b, index, job->processors + (below(random, 2) ? 0 : 1));
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
        random_sizes(random, &b->jobs[index]);
        if (kind == PLEAT_RIGID)
            b->jobs[index].sizes_kind = PLEAT_SIZES_ANY;
        if (kind == PLEAT_MALLEABLE && below(random, 3) == 0)
            b->jobs[index].flags |= PLEAT_COMPONENT_FOLDS;
        b->jobs[index].mpl_max = (uint8_t)below(random, 6);
        b->jobs[index].job_class = (uint8_t)below(random, 3);
        if (below(random, 3))
            bench_estimate(b, index, 1 + below(random, 100));
        if (below(random, 2))
            b->jobs[index].reference = minimum;
        if (below(random, 5) == 0) {
            b->jobs[index].site = (uint32_t)below(random, sites);
            b->jobs[index].earmarked = 1 + below(random, 3);
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
    const struct pleat_component *job = &b->jobs[decision->component];
    int32_t to = decision->u.resize.processors;
    struct pleat_sizes sizes = pleat_view_sizes(&b->view, job);
    assert_int_equal(job->state, PLEAT_RUNNING);
    assert_int_equal(job->kind, PLEAT_MALLEABLE);
    assert_int_equal(to - job->processors, decision->u.resize.accepted);
    assert_int_not_equal(to, job->processors);
    if (pleat_view_folds(job)) {
        assert_int_equal(decision->u.resize.processes, job->processes);
        assert_in_range(pleat_mpl(job->processes, to), 1, job->mpl);
    } else {
        assert_int_equal(decision->u.resize.processes, to);
        assert_true(to == 0 ? job->minimum == 0 : pleat_sizes_floor(&sizes, to) == to);
        assert_true(to >= job->minimum);
    }
    if (to > job->processors) {
        assert_true(to <= pleat_view_limit(job) && to <= job->cap);
        assert_true(decision->u.resize.offered >= decision->u.resize.accepted);
        assert_true(b->view.now_us >= job->quiet_until_us);
        assert_false(decision->flags & PLEAT_MANDATORY);
        taken[job->site] += to - job->processors;
    } else {
        assert_true(decision->u.resize.offered < 0);
        uint32_t waiter = decision->u.resize.waiter;
        assert_int_equal((decision->flags & PLEAT_MANDATORY) != 0, waiter != PLEAT_NONE);
        if (waiter != PLEAT_NONE)
            assert_int_equal(b->jobs[waiter].state, PLEAT_QUEUED);
        else
            assert_true(b->view.now_us >= job->quiet_until_us);
    }
}

static void check_start(const struct bench *b, const struct pleat_event *decision, int32_t *taken)
{
    const struct pleat_component *job = &b->jobs[decision->component];
    int32_t size = decision->u.start.processors;
    uint32_t site = decision->u.start.site;
    struct pleat_sizes sizes = pleat_view_sizes(&b->view, job);
    assert_int_equal(job->state, PLEAT_QUEUED);
    assert_false(job->aside);
    int32_t processes = decision->u.start.processes;
    assert_true(processes >= job->minimum && processes <= job->maximum);
    assert_int_equal(pleat_sizes_floor(&sizes, processes), processes);
    if (pleat_view_folds(job)) {
        assert_in_range(decision->u.start.mpl, 1,
                        job->mpl_max && job->mpl_max < 4 ? job->mpl_max : 4);
        assert_true(size <= processes);
        assert_in_range(pleat_mpl(processes, size), 1, decision->u.start.mpl);
    } else {
        assert_int_equal(size, processes);
    }
    int32_t earmarked = job->site == site ? job->earmarked : 0;
    taken[site] += size > earmarked ? size - earmarked : 0;
}

/* ---- what reservations need, counted instant by instant ---- */

static int32_t counted(const struct bench *b, const struct pleat_component *job, int32_t size)
{
    int32_t smallest = pleat_accept_smallest(&b->view, job);
    return pleat_pass_shrinks(&b->pass) && job->kind == PLEAT_MALLEABLE && smallest < size
               ? smallest
               : size;
}

/* Processors that one who runs, or is started by the plan, is expected to have at a time. */
static int32_t has_at(const struct bench *b, uint32_t j, uint32_t site, int64_t at_us)
{
    const struct pleat_component *job = &b->jobs[j];
    if (job->state == PLEAT_RUNNING || job->state == PLEAT_RESIZING)
        return job->site == site && pleat_view_expected_end(&b->view, job) > at_us
                   ? counted(b, job, job->target)
                   : 0;
    for (size_t i = 0; i < b->plan.decisions.count; i++) {
        const struct pleat_event *start = &b->plan.decisions.items[i];
        if (start->component == j && start->kind == PLEAT_EV_START && start->u.start.site == site &&
            pleat_view_end_of(&b->view, j, start->u.start.processors) > at_us)
            return pleat_view_folds(job) && pleat_pass_shrinks(&b->pass)
                       ? pleat_mpl(start->u.start.processes, (int32_t)start->u.start.mpl)
                       : counted(b, job, start->u.start.processors);
    }
    return job->site == site ? job->earmarked : 0;
}

/* Is there enough at a site, at the time when a reservation begins? */
static bool is_enough(const struct bench *b, uint32_t site, int64_t at_us)
{
    int32_t left = b->sites[site].capacity - b->sites[site].background;
    for (uint32_t j = 0; j < b->view.component_count; j++) {
        const struct pleat_component *job = &b->jobs[j];
        if (!job->aside)
            left -= has_at(b, j, site, at_us);
        else if (job->wanted_site == site && job->begin_us <= at_us &&
                 at_us < job->begin_us + job->estimate_us)
            left -= job->minimum;
    }
    return left >= 0;
}

/* Nobody whom the plan starts on free processors takes any that a reservation will need. */
static void check_reservations(const struct bench *b, const struct pleat_event *start)
{
    uint32_t site = start->u.start.site;
    const struct pleat_component *job = &b->jobs[start->component];
    int32_t size = start->u.start.processors;
    int64_t end_us = pleat_view_end_of(&b->view, start->component, size);
    if (job->site == site && counted(b, job, size) <= job->earmarked)
        return; /* what it will keep is its own already */
    for (uint32_t c = b->view.reserved_first; c != PLEAT_NONE; c = b->jobs[c].next)
        if (b->jobs[c].wanted_site == site && b->jobs[c].begin_us < end_us)
            assert_true(is_enough(b, site, b->jobs[c].begin_us));
}

static void check_plan(const struct bench *b)
{
    int32_t taken[BENCH_SITES] = {0};
    bool decided[BENCH_JOBS] = {false};
    bool grew[BENCH_SITES] = {false};
    for (size_t i = 0; i < b->plan.decisions.count; i++) {
        const struct pleat_event *decision = &b->plan.decisions.items[i];
        if (decision->kind == PLEAT_EV_PROMISE) {
            assert_int_equal(b->jobs[decision->component].state, PLEAT_QUEUED);
            continue;
        }
        assert_false(decided[decision->component]); /* one decision for each job */
        decided[decision->component] = true;
        if (decision->kind == PLEAT_EV_RESIZE) {
            check_resize(b, decision, taken);
            grew[b->jobs[decision->component].site] |= decision->u.resize.accepted > 0;
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
    uint32_t job = (uint32_t)below(random, (int32_t)b->view.component_count);
    if (below(random, 2))
        (void)pleat_plan_offer_grow(&b->plan, job, 1 + below(random, 12));
    else
        (void)pleat_plan_offer_shrink(&b->plan, job, 1 + below(random, 12), PLEAT_NONE);
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
            const struct pleat_component *job = &b->jobs[j];
            struct pleat_sizes sizes = pleat_view_sizes(&b->view, job);
            int32_t size = job->processors, offered = 1 + below(&random, 20);
            int32_t limit = job->maximum < job->cap ? job->maximum : job->cap;
            if (pleat_view_folds(job))
                continue; /* see the next test */
            int32_t most = size, least = size;
            for (int32_t to = size + 1; to <= size + offered && to <= limit; to++)
                if (pleat_sizes_floor(&sizes, to) == to)
                    most = to;
            if (most < job->minimum) /* it gave back so much, and does not stop half-way */
                most = size;
            assert_int_equal(pleat_accept_grow(&b->view, job, size, offered), most - size);
            for (int32_t to = size - 1; to >= job->minimum && least > size - offered; to--)
                if (to == 0 || pleat_sizes_floor(&sizes, to) == to)
                    least = to;
            assert_int_equal(pleat_accept_shrink(&b->view, job, size, offered), size - least);
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
            b.jobs[waits].mpl_max = (uint8_t)mpl;
            b.jobs[waits].sizes_kind = PLEAT_SIZES_POWERS;
            int32_t most = mpl < 4 ? mpl : 4, can_start = 0;
            for (int32_t n = 1; n <= processes + 4; n++) {
                bool runs_on = n <= processes && (processes + n - 1) / n <= mpl;
                const struct pleat_component *job = &b.jobs[runs];
                int32_t smallest = pleat_accept_smallest(&b.view, job);
                assert_true(runs_on == (n >= smallest && n <= processes));
                int32_t grown = pleat_accept_grow(&b.view, job, smallest, n);
                assert_int_equal(grown, smallest + n < processes ? n : processes - smallest);
                /* the largest power of two for which n are enough */
                int32_t largest = 0;
                for (int32_t p = 2; p <= processes + 1; p *= 2)
                    if ((p + n - 1) / n <= most)
                        largest = p;
                job = &b.jobs[waits];
                assert_int_equal(pleat_accept_processes(&b.view, job, n, most), largest);
                assert_int_equal(pleat_accept_start_floor(&b.view, job, n),
                                 largest < n ? largest : n);
                if (can_start == 0 && largest > 0)
                    can_start = n;
            }
            assert_int_equal(pleat_accept_start(&b.view, &b.jobs[waits]), can_start);
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
