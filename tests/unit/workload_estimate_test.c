/* Popular estimates: the shares that the model's formulas give, computed here once more; nothing
 * below a run time; what cannot be is refused. */
#include <math.h>
#include <string.h>

#include "test.h"
#include "workload/estimate.h"
#include "workload/generate.h"

#define HOUR_US (INT64_C(3600) * 1000000)

enum { POPULAR = PLEAT_ESTIMATE_POPULAR };

struct value {
    int64_t estimate_us;
    size_t jobs;
};

struct values {
    struct value items[700];
    size_t count;
};

static int by_jobs(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    return (x->jobs < y->jobs) - (x->jobs > y->jobs);
}

/* The most popular one first. */
static void count_values(const struct pleat_workload *w, struct values *values)
{
    values->count = 0;
    for (size_t i = 0; i < w->jobs.count; i++) {
        size_t v = 0;
        while (v < values->count && values->items[v].estimate_us != w->jobs.items[i].estimate_us)
            v++;
        if (v == values->count) {
            assert_true(v < sizeof(values->items) / sizeof(values->items[0]));
            values->items[values->count++] = (struct value){w->jobs.items[i].estimate_us, 0};
        }
        values->items[v].jobs++;
    }
    qsort(values->items, values->count, sizeof(values->items[0]), by_jobs);
}

static void generate(size_t jobs, uint64_t seed, struct pleat_workload *w)
{
    struct pleat_error err;
    struct pleat_lublin_model model = {.jobs = jobs, .machine = 128, .seed = seed};
    *w = (struct pleat_workload){0};
    assert_int_equal(pleat_workload_init(w), 0);
    if (pleat_generate_lublin(&model, w, &err))
        fail_msg("%s", err.text);
}

static void estimate(struct pleat_workload *w, int64_t longest_us, uint64_t seed)
{
    struct pleat_error err;
    if (pleat_estimate_popular(&w->jobs, longest_us, seed, &err))
        fail_msg("%s", err.text);
}

/* Percent of the jobs, by popularity. */
static double share(int rank)
{
    double sum = 0;
    if (rank > 1)
        return 14.0491 * exp(-0.177531 * rank) + 0.462513;
    for (int r = 2; r <= POPULAR; r++)
        sum += share(r);
    return 89 - sum;
}

static void test_few_values_have_most_jobs(void **state)
{
    (void)state;
    struct pleat_workload w;
    static struct values values;
    enum { JOBS = 10000, LONGEST_H = 60 };
    generate(JOBS, 3, &w);
    estimate(&w, LONGEST_H * HOUR_US, 7);
    count_values(&w, &values);
    assert_in_range(values.count, 60, 90); /* 90 by the model; rare ones may have no job */
    assert_int_equal(values.items[0].estimate_us, LONGEST_H * HOUR_US);
    double head = 0;
    for (int rank = 1; rank <= POPULAR; rank++) {
        double percent = 100.0 * (double)values.items[rank - 1].jobs / JOBS;
        head += percent;
        assert_true(fabs(percent - share(rank)) <= 0.0101);
    }
    assert_true(fabs(head - 89) < 0.2);
    assert_true(fabs(share(1) - 21.7) < 0.1);
    pleat_workload_finish(&w);
}

static void test_popular_values_are_round(void **state)
{
    (void)state;
    static const int minutes[POPULAR] = {18 * 60, 5,       10,      15,      20,      30,     60,
                                         120,     180,     240,     300,     360,     480,    600,
                                         720,     13 * 60, 14 * 60, 15 * 60, 16 * 60, 17 * 60};
    struct pleat_workload w;
    static struct values values;
    generate(20000, 4, &w);
    for (size_t i = 0; i < w.jobs.count; i++)
        if (w.jobs.items[i].run_us > 6 * HOUR_US)
            w.jobs.items[i].run_us = 6 * HOUR_US;
    estimate(&w, 18 * HOUR_US, 1);
    count_values(&w, &values);
    for (size_t v = 0; v < POPULAR; v++) {
        size_t known = 0;
        while (known < POPULAR && minutes[known] * INT64_C(60000000) != values.items[v].estimate_us)
            known++;
        if (known == POPULAR)
            fail_msg("%g min is popular", (double)values.items[v].estimate_us / 6e7);
    }
    for (size_t v = 0; v < values.count; v++) /* minutes, but for those that gave way */
        assert_int_equal(values.items[v].estimate_us % 10000000, 0);
    pleat_workload_finish(&w);
}

static void test_jobs_get_what_they_can_have(void **state)
{
    (void)state;
    struct pleat_workload w, same, other;
    double accuracy = 0;
    size_t differ = 0;
    generate(3000, 9, &w);
    generate(3000, 9, &same);
    generate(3000, 9, &other);
    estimate(&same, 72 * HOUR_US, 2);
    estimate(&other, 72 * HOUR_US, 3);
    for (size_t i = 0; i < w.jobs.count; i++) {
        struct pleat_workload_job *job = &same.jobs.items[i];
        assert_true(job->estimate_us >= job->run_us && job->estimate_us <= 72 * HOUR_US);
        accuracy += (double)job->run_us / (double)job->estimate_us / 3000;
        differ += job->estimate_us != other.jobs.items[i].estimate_us;
    }
    assert_true(differ > 1500);
    /* far from exact: a fifth have the longest, whatever their run time is */
    assert_true(accuracy > 0.02 && accuracy < 0.6);
    estimate(&w, 72 * HOUR_US, 2); /* the same seed, the same bytes */
    assert_memory_equal(w.jobs.items, same.jobs.items, w.jobs.count * sizeof(w.jobs.items[0]));
    for (size_t i = 0; i < w.jobs.count; i++) /* and nothing else of a job is touched */
        w.jobs.items[i].estimate_us = other.jobs.items[i].estimate_us = 0;
    assert_memory_equal(w.jobs.items, other.jobs.items, w.jobs.count * sizeof(w.jobs.items[0]));
    pleat_workload_finish(&w);
    pleat_workload_finish(&same);
    pleat_workload_finish(&other);
}

static void test_any_number_of_jobs(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 19, 21, 150, 999, 1001};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct pleat_workload w;
        generate(counts[i], i, &w);
        for (size_t j = 0; j < counts[i]; j++)
            w.jobs.items[j].run_us = 1000000;
        estimate(&w, i % 2 ? 0 : 48 * HOUR_US, i);
        for (size_t j = 0; j < counts[i]; j++)
            assert_true(w.jobs.items[j].estimate_us >= w.jobs.items[j].run_us);
        pleat_workload_finish(&w);
    }
    struct pleat_workload_jobs none = {0};
    struct pleat_error err;
    assert_int_equal(pleat_estimate_popular(&none, 0, 1, &err), 0);
}

static void refuse(struct pleat_workload *w, int64_t longest_us, const char *words)
{
    struct pleat_error err = {0};
    assert_int_equal(pleat_estimate_popular(&w->jobs, longest_us, 1, &err), PLEAT_E_INVALID);
    if (!strstr(err.text, words))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < w->jobs.count; i++)
        assert_int_equal(w->jobs.items[i].estimate_us, 0);
}

static void test_refusals(void **state)
{
    (void)state;
    struct pleat_workload w;
    generate(100, 1, &w);
    for (size_t i = 0; i < w.jobs.count; i++)
        w.jobs.items[i].run_us = 2 * HOUR_US - 1000000;
    refuse(&w, HOUR_US, "a longest estimate of 3600 s: must be from 6000 s");
    refuse(&w, 6500 * INT64_C(1000000),
           "a job runs for 7199 s, above the longest estimate, 6500 s");
    refuse(&w, 2 * HOUR_US, "of 100 jobs would be left without one");
    pleat_workload_finish(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_values_have_most_jobs),
        cmocka_unit_test(test_popular_values_are_round),
        cmocka_unit_test(test_jobs_get_what_they_can_have),
        cmocka_unit_test(test_any_number_of_jobs),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
