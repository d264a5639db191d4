/* The model of Lublin and Feitelson: what the published parameters imply, with fixed seeds. Where
 * no other tolerance is stated it is 4 standard errors. */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/generate.h"

enum { JOBS = 50000 };

static void generate(struct pleat_lublin_model model, struct pleat_workload *workload)
{
    struct pleat_error err = {0};
    memset(workload, 0, sizeof(*workload));
    assert_int_equal(pleat_workload_init(workload), 0);
    if (pleat_generate_lublin(&model, workload, &err) || pleat_workload_check(workload, &err))
        fail_msg("%s", err.text);
    assert_int_equal(workload->jobs.count, model.jobs);
    assert_int_equal(workload->machine, model.machine);
}

static void check_share(const char *what, size_t count, size_t of, double expected)
{
    double share = (double)count / (double)of;
    double error = sqrt(expected * (1 - expected) / (double)of);
    if (fabs(share - expected) > 4 * error)
        fail_msg("%s: %g, should be %g +- %g", what, share, expected, error);
}

struct sample {
    size_t count;
    double sum, squares;
};

static void take(struct sample *sample, double value)
{
    sample->count++;
    sample->sum += value;
    sample->squares += value * value;
}

static double mean(const struct sample *sample)
{
    return sample->sum / (double)sample->count;
}

static double variance(const struct sample *sample)
{
    return sample->squares / (double)sample->count - mean(sample) * mean(sample);
}

static void check_mean(const char *what, const struct sample *sample, double expected)
{
    double error = sqrt(variance(sample) / (double)sample->count);
    if (fabs(mean(sample) - expected) > 4 * error)
        fail_msg("%s: %g, should be %g +- %g", what, mean(sample), expected, error);
}

/* ---- sizes ---- */

static bool is_power(int32_t size)
{
    return (size & (size - 1)) == 0;
}

/* Batch on 128: log2 of parallel sizes is uniform from 1.2 to 4.5 with probability 0.875, else
 * from 4.5 to 7; those that are powers have it rounded. */
static void test_sizes(void **state)
{
    (void)state;
    struct pleat_workload w;
    generate((struct pleat_lublin_model){.jobs = JOBS, .machine = 128, .seed = 3}, &w);
    size_t serial = 0, powers = 0, above = 0, largest = 0;
    for (size_t i = 0; i < JOBS; i++) {
        int32_t size = w.jobs.items[i].processors;
        assert_in_range(size, 1, 128);
        serial += size == 1;
        powers += size > 1 && is_power(size);
        above += size > 32;
        largest += size == 128;
    }
    check_share("serial", serial, JOBS, 0.2927);
    /* the jobs that need not be powers can be, by chance: of 3.87 % of all; sizes 2, 4, 8, 16 have
     * log2 widths of what rounds to them, within the lower part from 1.2 */
    double lower = 0.875 / 3.3, upper = 0.125 / 2.5;
    double chance =
        lower * (log2(2.5) - 1.2 + log2(4.5 / 3.5) + log2(8.5 / 7.5) + log2(16.5 / 15.5)) +
        upper * (log2(32.5 / 31.5) + log2(64.5 / 63.5) + 7 - log2(127.5));
    check_share("powers", powers, JOBS, 0.6686 + (1 - 0.2927 - 0.6686) * chance);
    check_share("128", largest, JOBS,
                upper * (0.6686 * 0.5 + (1 - 0.2927 - 0.6686) * (7 - log2(127.5))));
    check_share("above 32", above, JOBS,
                upper * (0.6686 * 1.5 + (1 - 0.2927 - 0.6686) * (7 - log2(32.5))));
    pleat_workload_finish(&w);
}

static void test_sizes_follow_the_machine(void **state)
{
    (void)state;
    static const int32_t machines[] = {2, 3, 7, 16, 100, 1024, 100000};
    for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
        for (int kind = 0; kind < PLEAT_LUBLIN_CLASS_COUNT; kind++) {
            struct pleat_workload w;
            int32_t most = 0;
            generate((struct pleat_lublin_model){.jobs = 5000,
                                                 .machine = machines[m],
                                                 .kind = (enum pleat_lublin_class)kind,
                                                 .seed = 3},
                     &w);
            for (size_t i = 0; i < w.jobs.count; i++) {
                assert_in_range(w.jobs.items[i].processors, 1, machines[m]);
                most = w.jobs.items[i].processors > most ? w.jobs.items[i].processors : most;
            }
            /* interactive jobs keep a factor of 2.8 below the machine's size */
            assert_true(most >= machines[m] / (kind == PLEAT_LUBLIN_INTERACTIVE ? 4 : 2));
            pleat_workload_finish(&w);
        }
    }
}

/* ---- run times ---- */

/* Of the two gammas of the logarithm the second has a standard deviation of 0.39 around 9.97, so
 * most above 8.4 are its own. Their share grows with the size as pa x size + pb falls. */
static void test_run_times(void **state)
{
    (void)state;
    struct pleat_workload w;
    generate((struct pleat_lublin_model){.jobs = JOBS, .machine = 128, .seed = 4}, &w);
    struct sample serial = {0}, sixteen = {0}, beyond = {0};
    /* p E1 + (1-p) E2 of the two gammas, cut off at 12, whole seconds: by numeric integration */
    double first = 5.3448, second = 639.1 * 0.0156;
    for (size_t i = 0; i < JOBS; i++) {
        const struct pleat_workload_job *job = &w.jobs.items[i];
        double logarithm = log((double)job->run_us / 1e6);
        assert_true(job->run_us >= 1000000 && job->run_us % 1000000 == 0);
        assert_true(logarithm <= 12);
        double p = 0.6986 - 0.003 * job->processors;
        if (job->processors >= 32)
            take(&beyond, logarithm - p * first - (1 - p) * second);
        if (job->processors == 1)
            take(&serial, logarithm);
        if (job->processors == 16)
            take(&sixteen, logarithm);
    }
    double p1 = 0.6986 - 0.003, p16 = 0.6986 - 0.003 * 16;
    check_mean("log run time of serial jobs", &serial, p1 * first + (1 - p1) * second);
    check_mean("log run time on 16", &sixteen, p16 * first + (1 - p16) * second);
    check_mean("log run time from 32 on, beyond what their sizes imply", &beyond, 0);
    assert_true(mean(&sixteen) > mean(&serial));
    pleat_workload_finish(&w);
}

/* On 1,024 processors p is 0 from 233 on: only long jobs. */
static void test_large_jobs_are_long(void **state)
{
    (void)state;
    struct pleat_workload w;
    struct sample large = {0};
    generate((struct pleat_lublin_model){.jobs = JOBS, .machine = 1024, .seed = 5}, &w);
    for (size_t i = 0; i < JOBS; i++)
        if (w.jobs.items[i].processors >= 233)
            take(&large, log((double)w.jobs.items[i].run_us / 1e6));
    assert_true(large.count > 1000);
    check_mean("log run time above 233", &large, 639.1 * 0.0156);
    assert_true(fabs(sqrt(variance(&large)) / (sqrt(639.1) * 0.0156) - 1) < 0.1);
    pleat_workload_finish(&w);
}

/* ---- arrivals ---- */

/* Most come in the afternoon, around the middle of the gamma of the day (slot 32: 16 h), few
 * before 5:30. Their share of a half hour is that of the distribution; bursts make counts vary more
 * than independent arrivals would, so 5 % are allowed. */
static void check_day(const struct pleat_workload *w)
{
    double hours[24] = {0};
    for (size_t i = 0; i < w->jobs.count; i++)
        hours[w->jobs.items[i].submit_us / 3600000000 % 24] += 1.0 / (double)w->jobs.count;
    double night = 0, day = 0;
    for (int h = 0; h < 24; h++)
        *(h >= 10 && h < 20 ? &day : &night) += hours[h];
    /* gamma(6.1271, 5.2740) between slots 20.5 and 40.5, of 10.5 to 58.5: by numeric integration */
    assert_true(fabs(day / 0.6127 - 1) < 0.05);
    assert_true(hours[4] < hours[12] / 3);
}

static void test_day(void **state)
{
    (void)state;
    struct pleat_workload w;
    generate((struct pleat_lublin_model){.jobs = JOBS, .machine = 128, .seed = 6}, &w);
    check_day(&w);
    /* E exp(g) of the gamma of gaps, cut off at exp(13): by numeric integration 3517 s, with a
     * standard deviation of 20,300 */
    double last = (double)w.jobs.items[JOBS - 1].submit_us / 1e6;
    assert_true(fabs(last / JOBS - 3517) < 4 * 20300 / sqrt(JOBS));
    pleat_workload_finish(&w);
}

static void test_load(void **state)
{
    (void)state;
    for (int kind = 0; kind < PLEAT_LUBLIN_CLASS_COUNT; kind++) {
        struct pleat_workload w;
        generate((struct pleat_lublin_model){.jobs = JOBS,
                                             .machine = 128,
                                             .load = 0.7,
                                             .kind = (enum pleat_lublin_class)kind,
                                             .seed = 7},
                 &w);
        double work = 0;
        for (size_t i = 0; i < JOBS; i++)
            work += (double)w.jobs.items[i].processors * (double)w.jobs.items[i].run_us;
        double span = (double)(w.jobs.items[JOBS - 1].submit_us - w.jobs.items[0].submit_us);
        assert_true(fabs(work / (128 * span) - 0.7) < 1e-5);
        if (kind == PLEAT_LUBLIN_BATCH)
            check_day(&w); /* the day is not stretched */
        pleat_workload_finish(&w);
    }
}

/* ---- classes ---- */

static void test_both(void **state)
{
    (void)state;
    struct pleat_workload w;
    struct sample batch = {0}, interactive = {0};
    generate(
        (struct pleat_lublin_model){
            .jobs = JOBS, .machine = 128, .kind = PLEAT_LUBLIN_BOTH, .seed = 8},
        &w);
    for (size_t i = 0; i < JOBS; i++) {
        assert_in_range(w.jobs.items[i].user, 0, 1);
        assert_int_equal(w.jobs.items[i].number, i + 1);
        take(w.jobs.items[i].user ? &batch : &interactive,
             log((double)w.jobs.items[i].run_us / 1e6));
    }
    /* by rate: one of 3517 s against one of 619 s */
    assert_true(fabs((double)batch.count / JOBS - 619.0 / (619 + 3517)) < 0.02);
    assert_true(mean(&batch) > mean(&interactive) + 3);
    pleat_workload_finish(&w);
}

static void test_reproducible(void **state)
{
    (void)state;
    struct pleat_workload a, b, c;
    struct pleat_lublin_model model = {
        .jobs = 5000, .machine = 100, .load = 0.5, .kind = PLEAT_LUBLIN_BOTH, .seed = 9};
    generate(model, &a);
    generate(model, &b);
    model.seed++;
    generate(model, &c);
    size_t bytes = a.jobs.count * sizeof(*a.jobs.items);
    assert_memory_equal(a.jobs.items, b.jobs.items, bytes);
    assert_true(memcmp(a.jobs.items, c.jobs.items, bytes) != 0);
    pleat_workload_finish(&a);
    pleat_workload_finish(&b);
    pleat_workload_finish(&c);
}

static void refuse(struct pleat_lublin_model model, const char *words)
{
    struct pleat_workload w = {0};
    struct pleat_error err = {0};
    assert_int_equal(pleat_workload_init(&w), 0);
    assert_true(pleat_generate_lublin(&model, &w, &err) < 0);
    if (!strstr(err.text, words))
        fail_msg("%s", err.text);
    assert_int_equal(w.jobs.count, 0);
    pleat_workload_finish(&w);
}

static void test_estimates(void **state)
{
    (void)state;
    struct pleat_lublin_model model = {.jobs = 5000, .machine = 128, .seed = 5};
    struct pleat_workload without, exact, loose;
    struct sample times = {0};
    generate(model, &without);
    model.estimate = 1;
    generate(model, &exact);
    model.estimate = 5;
    generate(model, &loose);
    for (size_t i = 0; i < model.jobs; i++) { /* other estimates leave the jobs as they are */
        const struct pleat_workload_job *job = &without.jobs.items[i];
        int64_t estimate_us = loose.jobs.items[i].estimate_us;
        assert_int_equal(job->estimate_us, 0);
        assert_int_equal(exact.jobs.items[i].estimate_us, job->run_us);
        assert_true(estimate_us >= job->run_us && estimate_us <= 5 * job->run_us + 1000000);
        take(&times, (double)estimate_us / (double)job->run_us);
        loose.jobs.items[i].estimate_us = exact.jobs.items[i].estimate_us = 0;
        assert_memory_equal(job, &loose.jobs.items[i], sizeof(*job));
        assert_memory_equal(job, &exact.jobs.items[i], sizeof(*job));
    }
    check_mean("estimate / run time", &times, 3);
    pleat_workload_finish(&without);
    pleat_workload_finish(&exact);
    pleat_workload_finish(&loose);
}

static void test_refused(void **state)
{
    (void)state;
    refuse((struct pleat_lublin_model){.machine = 128}, "0 jobs");
    refuse((struct pleat_lublin_model){.jobs = 10, .machine = 1}, "must be from 2");
    refuse((struct pleat_lublin_model){.jobs = 10, .machine = 128, .load = 1e9}, "load 1e+09");
    refuse(
        (struct pleat_lublin_model){.jobs = 10, .machine = 128, .kind = PLEAT_LUBLIN_CLASS_COUNT},
        "no class");
    refuse((struct pleat_lublin_model){.jobs = 10, .machine = 128, .load = 1e-9}, "more load");
}

/* ---- a log of the authors' own program ---- */

struct log_summary {
    struct sample size, run, gap, serial, power, large, large_run;
};

static void take_job(struct log_summary *s, double submit, double run, int32_t size, double *last)
{
    take(&s->size, log2(size));
    take(&s->run, log(run));
    take(&s->serial, size == 1);
    take(&s->power, size > 1 && is_power(size));
    take(&s->large, size > 45); /* 2^5.5: the break on 256 */
    if (size > 45)
        take(&s->large_run, log(run));
    if (*last >= 0)
        take(&s->gap, log(fmax(submit - *last, 1)));
    *last = submit;
}

static bool read_log(struct log_summary *summary)
{
    const char *data = getenv("PLEAT_DATA");
    char path[4096], line[256];
    snprintf(path, sizeof(path), "%s/lublin_256.swf", data ? data : SHARED_DATA);
    FILE *file = fopen(path, "re");
    double submit, run, last = -1;
    int size;
    if (!file) {
        print_message("no %s\n", path);
        return false;
    }
    while (fgets(line, sizeof(line), file))
        if (sscanf(line, "%*d %lf %*d %lf %d", &submit, &run, &size) == 3)
            take_job(summary, submit, run, size, &last);
    fclose(file);
    return true;
}

static void compare(const char *what, const struct sample *a, const struct sample *b)
{
    double error = sqrt(variance(a) / (double)a->count + variance(b) / (double)b->count);
    if (fabs(mean(a) - mean(b)) > 4 * error)
        fail_msg("%s: %g in the log, %g here (+- %g)", what, mean(a), mean(b), error);
}

static void test_like_the_published_program(void **state)
{
    (void)state;
    struct log_summary theirs = {0}, ours = {0};
    struct pleat_workload w;
    double last = -1;
    if (!read_log(&theirs))
        skip();
    assert_int_equal(theirs.size.count, 10000);
    generate(
        (struct pleat_lublin_model){
            .jobs = 100000, .machine = 256, .kind = PLEAT_LUBLIN_TOGETHER, .seed = 10},
        &w);
    for (size_t i = 0; i < w.jobs.count; i++) {
        const struct pleat_workload_job *job = &w.jobs.items[i];
        take_job(&ours, (double)job->submit_us / 1e6, (double)job->run_us / 1e6, job->processors,
                 &last);
    }
    compare("log2 of sizes", &theirs.size, &ours.size);
    compare("log of run times", &theirs.run, &ours.run);
    compare("share of serial jobs", &theirs.serial, &ours.serial);
    compare("share of powers of two", &theirs.power, &ours.power);
    compare("share above the break", &theirs.large, &ours.large);
    compare("log of run times above the break", &theirs.large_run, &ours.large_run);
    compare("log of gaps", &theirs.gap, &ours.gap);
    pleat_workload_finish(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sizes_follow_the_machine),
        cmocka_unit_test(test_run_times),
        cmocka_unit_test(test_large_jobs_are_long),
        cmocka_unit_test(test_day),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_reproducible),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_like_the_published_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
