/* The minimal simulator: hand-counted schedules, the recorded logs where they are at hand, and
 * replay of what it logged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "sim/replay.h"
#include "sim/sim.h"

#define S INT64_C(1000000)

static struct pleat_sim_job rigid(int64_t submit_s, int32_t size, int64_t run_s)
{
    /* run time as given, on the size given */
    return (struct pleat_sim_job){.submit_us = submit_s * S,
                                  .run_us = run_s * S * size,
                                  .minimum = size,
                                  .maximum = size,
                                  .kind = PLEAT_RIGID};
}

static struct pleat_sim_job malleable(int64_t submit_s, int32_t minimum, int32_t maximum,
                                      int64_t work_s)
{
    return (struct pleat_sim_job){.submit_us = submit_s * S,
                                  .run_us = work_s * S,
                                  .minimum = minimum,
                                  .maximum = maximum,
                                  .kind = PLEAT_MALLEABLE};
}

static void run(const struct pleat_sim_job *jobs, size_t count, int32_t processors,
                const char *approach, struct pleat_sim_outcome *outcomes,
                struct pleat_sim_totals *totals, struct pleat_events *log)
{
    struct pleat_sim_site site = {.processors = processors};
    struct pleat_sim_options options = {.sites = &site, .site_count = 1};
    struct pleat_error err;
    options.policies[PLEAT_APPROACH] = pleat_policy_find(PLEAT_APPROACH, approach);
    if (pleat_sim_run(jobs, count, &options, outcomes, totals, log, &err))
        fail_msg("%s", err.text);
}

static void test_rigid_fcfs(void **state)
{
    (void)state;
    /* the second does not fit beside the first; the third would, and must not overtake */
    struct pleat_sim_job jobs[] = {rigid(0, 3, 10), rigid(1, 3, 10), rigid(2, 1, 10)};
    struct pleat_sim_outcome outcomes[3];
    struct pleat_sim_totals totals;
    run(jobs, 3, 4, "pwa", outcomes, &totals, NULL);
    assert_int_equal(outcomes[0].start_us, 0);
    assert_int_equal(outcomes[1].start_us, 10 * S);
    assert_int_equal(outcomes[2].start_us, 10 * S);
    assert_int_equal(outcomes[2].end_us, 20 * S);
    assert_true(totals.busy_us == 70.0 * S);
}

static void test_malleable_grows_and_makes_room(void **state)
{
    (void)state;
    /* alone on 4: 4 processors for 10 s (40 of 100 done); then a rigid job of 3 takes 10 s, it has
     * 1 (10 more done); then 4 again: 50 left take 12.5 s */
    struct pleat_sim_job jobs[] = {malleable(0, 1, 4, 100), rigid(10, 3, 10)};
    struct pleat_sim_outcome outcomes[2];
    struct pleat_sim_totals totals;
    run(jobs, 2, 4, "pwa", outcomes, &totals, NULL);
    assert_int_equal(outcomes[0].processors, 4);
    assert_int_equal(outcomes[1].start_us, 10 * S);
    assert_int_equal(outcomes[1].end_us, 20 * S);
    assert_int_equal(outcomes[0].shrunk, 1);
    assert_int_equal(outcomes[0].grown, 1);
    assert_int_equal(outcomes[0].end_us, 32 * S + S / 2);
    /* PRA never shrinks: the rigid one waits for the end */
    run(jobs, 2, 4, "pra", outcomes, &totals, NULL);
    assert_int_equal(outcomes[0].end_us, 25 * S);
    assert_int_equal(outcomes[1].start_us, 25 * S);
}

static void test_adaptation_points_and_cost(void **state)
{
    (void)state;
    struct pleat_sim_job jobs[] = {malleable(0, 1, 4, 100), rigid(10, 3, 10)};
    struct pleat_sim_site site = {.processors = 4};
    struct pleat_sim_options options = {.sites = &site, .site_count = 1, .resize_us = 2 * S};
    struct pleat_sim_outcome outcomes[2];
    struct pleat_sim_totals totals;
    jobs[0].adapt_us = 6 * S; /* the next one after 10 s is at 12 s */
    assert_int_equal(pleat_sim_run(jobs, 2, &options, outcomes, &totals, NULL, NULL), 0);
    assert_int_equal(outcomes[1].start_us, 12 * S);
    /* 48 done by 12 s, stands still to 14, 1 processor to 24 (the point after the other's end at
     * 22): 58; stands still to 26; 42 left on 4 */
    assert_int_equal(outcomes[0].end_us, 36 * S + S / 2);
}

static void test_too_large_is_counted(void **state)
{
    (void)state;
    struct pleat_sim_job jobs[] = {rigid(0, 5, 10), rigid(0, 4, 10)};
    struct pleat_sim_outcome outcomes[2];
    struct pleat_sim_totals totals;
    run(jobs, 2, 4, "pwa", outcomes, &totals, NULL);
    assert_true(outcomes[0].refused);
    assert_int_equal(totals.refused, 1);
    assert_int_equal(outcomes[1].end_us, 10 * S);
}

static void test_unsorted_is_refused(void **state)
{
    (void)state;
    struct pleat_sim_job jobs[] = {rigid(5, 1, 10), rigid(0, 1, 10)};
    struct pleat_sim_site site = {.processors = 4};
    struct pleat_sim_options options = {.sites = &site, .site_count = 1};
    struct pleat_sim_outcome outcomes[2];
    struct pleat_sim_totals totals;
    struct pleat_error err;
    assert_int_equal(pleat_sim_run(jobs, 2, &options, outcomes, &totals, NULL, &err),
                     PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "job 2 is submitted before job 1"));
}

/* Random mixes under every pair of policies: what was logged is decided again the same way, and a
 * changed decision is found. */
static void test_replay(void **state)
{
    (void)state;
    struct pleat_random random;
    struct pleat_sim_job jobs[200];
    struct pleat_sim_outcome outcomes[200];
    struct pleat_sim_totals totals;
    struct pleat_sim_site sites[2] = {{24, 2}, {16, 0}};
    struct pleat_sim_options options = {
        .sites = sites, .site_count = 2, .resize_us = S / 10, .claim_us = S / 5};
    pleat_random_init(&random, 7);
    int64_t at = 0;
    for (int i = 0; i < 200; i++) {
        at += (int64_t)pleat_random_below(&random, 20);
        int32_t size = 1 + (int32_t)pleat_random_below(&random, 8);
        jobs[i] = pleat_random_below(&random, 2)
                      ? rigid(at, size, 1 + (int64_t)pleat_random_below(&random, 100))
                      : malleable(at, 1, 3 * size, 400);
        jobs[i].adapt_us = 3 * S;
    }
    for (int variant = 0; variant < 4; variant++) {
        struct pleat_events log = {0};
        struct pleat_replay_result result;
        struct pleat_error err;
        options.policies[PLEAT_APPROACH] =
            pleat_policy_find(PLEAT_APPROACH, variant & 1 ? "pra" : "pwa");
        options.policies[PLEAT_MALLEABILITY] =
            pleat_policy_find(PLEAT_MALLEABILITY, variant & 2 ? "fpsma" : "egs");
        assert_int_equal(pleat_sim_run(jobs, 200, &options, outcomes, &totals, &log, &err), 0);
        for (int i = 0; i < 200; i++)
            assert_true(outcomes[i].end_us != PLEAT_NEVER);
        assert_int_equal(pleat_replay_policies(log.items, log.count, &result, &err), 0);
        assert_int_equal(result.different, log.count);
        assert_int_equal(result.passes, totals.passes);
        assert_true(result.decisions > 200);
        size_t changed = log.count / 2;
        while (log.items[changed].kind != PLEAT_EV_RESIZE)
            changed++;
        log.items[changed].u.resize.processors++;
        assert_int_equal(pleat_replay_policies(log.items, log.count, &result, &err), 0);
        assert_int_equal(result.different, changed);
        pleat_array_finish(&log);
    }
}

/* Mean wait under FCFS of a log in the Standard Workload Format, known from independent
 * simulators. */
static void check_log(const char *name, int32_t processors, double mean_wait_s)
{
    char path[512], line[1024];
    snprintf(path, sizeof(path), "%s/%s", getenv("PLEAT_TEST_LOGS"), name);
    FILE *file = fopen(path, "r");
    if (!file) {
        print_message("SKIPPED: %s is not there\n", path);
        return;
    }
    struct pleat_sim_job *jobs = calloc(40000, sizeof(*jobs));
    size_t count = 0;
    assert_non_null(jobs);
    while (fgets(line, sizeof(line), file) && count < 40000) {
        long submit, run_s, used, asked;
        if (line[0] == ';' ||
            sscanf(line, "%*s %ld %*s %ld %ld %*s %*s %ld", &submit, &run_s, &used, &asked) != 4 ||
            run_s <= 0) /* the known values leave out jobs without a run time */
            continue;
        jobs[count++] = rigid(submit, (int32_t)(asked > 0 ? asked : used), run_s);
    }
    fclose(file);
    struct pleat_sim_outcome *outcomes = calloc(count, sizeof(*outcomes));
    struct pleat_sim_totals totals;
    run(jobs, count, processors, "pwa", outcomes, &totals, NULL);
    double wait_s = 0;
    for (size_t i = 0; i < count; i++)
        wait_s += (double)(outcomes[i].start_us - jobs[i].submit_us) / 1e6;
    wait_s /= (double)count;
    print_message("%s: mean wait %.6f s\n", name, wait_s);
    assert_true(wait_s > mean_wait_s - 0.001 && wait_s < mean_wait_s + 0.001);
    free(jobs);
    free(outcomes);
}

static void test_recorded_logs(void **state)
{
    (void)state;
    if (!getenv("PLEAT_TEST_LOGS")) {
        print_message("SKIPPED: PLEAT_TEST_LOGS does not name a directory with workload logs\n");
        skip();
    }
    check_log("lublin_256.swf", 256, 2388443.7601);
    check_log("NASA-iPSC-1993-3.1-cln.swf", 128, 8.081313);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rigid_fcfs),
        cmocka_unit_test(test_malleable_grows_and_makes_room),
        cmocka_unit_test(test_adaptation_points_and_cost),
        cmocka_unit_test(test_too_large_is_counted),
        cmocka_unit_test(test_unsorted_is_refused),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_recorded_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
