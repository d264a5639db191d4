/* Whole schedules against mean waits that are known from other simulators: first come first served
 * and EASY on a log of the Lublin-Feitelson model and on a recorded one. */
#include "policy_replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 20000 };

/* Job, submission, run time and size of each line; without those that ran for no time. 0: no file.
 */
static size_t read_log(const char *name, struct replay_job *jobs)
{
    const char *folder = getenv("PLEAT_DATA");
    char path[1024], line[512];
    (void)snprintf(path, sizeof(path), "%s/%s", folder ? folder : SOURCE_DIR "/../shared/data",
                   name);
    FILE *file = fopen(path, "r");
    size_t count = 0;
    if (!file) {
        print_message("%s is not there: skipped (PLEAT_DATA names the folder of logs)\n", path);
        return 0;
    }
    while (fgets(line, sizeof(line), file)) {
        long long submit, run;
        int processors;
        if (sscanf(line, "%*d %lld %*d %lld %d", &submit, &run, &processors) != 3 || run <= 0)
            continue;
        assert_true(count < MOST);
        jobs[count++] = (struct replay_job){.submit_us = submit * 1000000,
                                            .run_us = run * 1000000,
                                            .estimate_us = run * 1000000,
                                            .processors = processors};
    }
    (void)fclose(file);
    return count;
}

static void check_known(const char *log, int32_t processors, const char *queue, double known,
                        double tolerance)
{
    struct replay_job *jobs = calloc(MOST, sizeof(*jobs));
    assert_non_null(jobs);
    size_t count = read_log(log, jobs);
    if (count == 0) {
        free(jobs);
        skip();
        return;
    }
    struct replay replay = {.processors = processors, .queue = queue, .order = "arrival"};
    clock_t before = clock();
    replay_run(&replay, jobs, count);
    double took_s = (double)(clock() - before) / CLOCKS_PER_SEC, waited_s = 0;
    for (size_t i = 0; i < count; i++)
        waited_s += (double)(jobs[i].start_us - jobs[i].submit_us) / 1e6;
    print_message("%s, %s: mean wait %.6f s; %.0f jobs a second\n", log, queue,
                  waited_s / (double)count, (double)count / took_s);
    assert_true(fabs(waited_s / (double)count - known) < tolerance);
    free(jobs);
}

static void test_fcfs_on_a_model_log(void **state)
{
    (void)state;
    check_known("lublin_256.swf", 256, "fcfs", 2388443.7601, 5e-5);
}

static void test_easy_on_a_model_log(void **state)
{
    (void)state;
    check_known("lublin_256.swf", 256, "easy", 97155.9945, 5e-5);
}

static void test_fcfs_on_a_recorded_log(void **state)
{
    (void)state;
    check_known("NASA-iPSC-1993-3.1-cln.swf", 128, "fcfs", 8.081313, 5e-7);
}

static void test_easy_on_a_recorded_log(void **state)
{
    (void)state;
    check_known("NASA-iPSC-1993-3.1-cln.swf", 128, "easy", 4.066645, 5e-7);
}

static void test_conservative_on_a_model_log(void **state)
{
    (void)state;
    check_known("lublin_256.swf", 256, "conservative", 131567.5089, 5e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fcfs_on_a_model_log),
        cmocka_unit_test(test_easy_on_a_model_log),
        cmocka_unit_test(test_fcfs_on_a_recorded_log),
        cmocka_unit_test(test_easy_on_a_recorded_log),
        cmocka_unit_test(test_conservative_on_a_model_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
