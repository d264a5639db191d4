/* Workloads written and read back: random ones with everything in them, and what others see. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "workload/convert.h"
#include "workload/swf.h"

#define S INT64_C(1000000)

static const struct pleat_swf_options keep = {.zero = PLEAT_SWF_ZERO_KEEP};

struct text {
    char *bytes;
    size_t length;
};

static void write_text(const struct pleat_workload *workload, const char *comment,
                       struct text *text)
{
    struct pleat_error err;
    FILE *file = open_memstream(&text->bytes, &text->length);
    assert_non_null(file);
    if (pleat_swf_write(workload, NULL, file, comment, &err))
        fail_msg("%s", err.text);
    assert_int_equal(fclose(file), 0);
}

static void read_text(const struct text *text, struct pleat_workload *workload,
                      struct pleat_swf_report *report)
{
    struct pleat_error err;
    memset(workload, 0, sizeof(*workload));
    assert_int_equal(pleat_workload_init(workload), 0);
    if (pleat_swf_read_text(text->bytes, text->length, "text", &keep, workload, report, &err))
        fail_msg("%s\n%s", err.text, text->bytes);
}

/* ---- random workloads ---- */

/* Up to `most`, small ones as likely as large ones. */
static int64_t any(struct pleat_random *random, int64_t most)
{
    int64_t bound = most >> pleat_random_below(random, 50);
    return (int64_t)pleat_random_below(random, (uint64_t)bound + 1);
}

static void add_random_job(struct pleat_random *random, struct pleat_workload *workload,
                           int64_t submit_us, unsigned features)
{
    struct pleat_workload_job job;
    memset(&job, 0, sizeof(job));
    job.number = any(random, INT64_MAX - 1) - any(random, 5);
    job.submit_us = submit_us;
    job.run_us = any(random, INT64_C(10000000000));
    job.estimate_us = features & 1 ? any(random, PLEAT_WORKLOAD_TIME_MAX - S) : 0;
    job.deadline_us = features & 2 ? any(random, PLEAT_WORKLOAD_TIME_MAX - S) : 0;
    job.begin_us = features & 4 ? any(random, PLEAT_WORKLOAD_TIME_MAX - S) : 0;
    job.processors = 1 + (int32_t)any(random, 4096);
    job.minimum = job.maximum = job.processors;
    job.user = (int32_t)any(random, INT32_MAX) - 1;
    if (job.user < 0)
        job.user = -1;
    job.site = PLEAT_NONE;
    if (features & 8) {
        job.kind = (uint8_t)pleat_random_below(random, 3);
        job.minimum = 1 + (int32_t)any(random, 64);
        job.maximum =
            job.kind == PLEAT_RIGID ? job.minimum : job.minimum + (int32_t)any(random, 64);
        if (pleat_random_below(random, 2))
            job.initial = job.minimum + (int32_t)any(random, job.maximum - job.minimum);
    }
    if (features & 16 && job.minimum < job.maximum) {
        job.maximum = 2 * job.minimum > job.maximum ? 2 * job.minimum : job.maximum;
        job.sizes_kind = PLEAT_SIZES_MULTIPLES;
        job.sizes_parameter = job.minimum;
    }
    job.processes = features & 32 ? (int32_t)any(random, 4096) : 0;
    job.app = features & 64 ? (uint32_t)pleat_random_below(random, workload->apps.count) : 0;
    if (features & 16 && workload->apps.items[job.app].speedup.kind == PLEAT_SPEEDUP_TABLE) {
        uint8_t before = job.sizes_kind;
        job.sizes_kind = PLEAT_SIZES_LIST;
        if (pleat_workload_check_job(workload, &job, NULL))
            job.sizes_kind = before; /* none of the table's is within its limits */
    }
    if (features & 128 && pleat_random_below(random, 2))
        job.site = (uint32_t)pleat_random_below(random, PLEAT_SITES_MAX);
    if (features & 256)
        job.priority = (int16_t)(any(random, 2 * INT16_MAX) - INT16_MAX);
    if (features & 512 && pleat_random_below(random, 2)) {
        job.preceding = 1 + any(random, INT64_MAX - 2);
        job.think_us = any(random, PLEAT_WORKLOAD_TIME_MAX - S);
    }
    assert_int_equal(pleat_array_push(&workload->jobs, job), 0);
}

static void add_apps(struct pleat_workload *workload)
{
    static const char *const texts[] = {
        "amdahl:0.123456789012345678 adapt=1.000001s name=a",
        "table:1=600,2=330,4=200 resize=0.5s volume=1e9 bandwidth=3e8",
        ("downey:17.25,1.5 iterations=100 measured=2-4=1.5s,4-2=0.7s mpl-overhead=0.1 "
         "imbalance=0.3 local-queues phases=0.25:1-8,0.75:1-2"),
        "table:3=5,9=2 measured=9-3=1us"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pleat_app app;
        assert_int_equal(pleat_app_parse(texts[i], workload, &app, NULL), 0);
        assert_int_equal(pleat_array_push(&workload->apps, app), 0);
    }
}

static void make_random(uint64_t seed, struct pleat_workload *workload)
{
    struct pleat_random random;
    int64_t submit_us = 0;
    pleat_random_init(&random, seed);
    unsigned features = (unsigned)pleat_random_below(&random, 1024);
    memset(workload, 0, sizeof(*workload));
    assert_int_equal(pleat_workload_init(workload), 0);
    if (features & 64)
        add_apps(workload);
    if (seed % 3 == 0 && features & 64)
        workload->apps.items[0] = workload->apps.items[2];
    workload->machine = (int32_t)any(&random, PLEAT_SIZE_MAX);
    workload->origin_us = any(&random, INT64_C(4000000000000000));
    for (uint64_t jobs = pleat_random_below(&random, 200); jobs > 0; jobs--) {
        add_random_job(&random, workload, submit_us, features);
        submit_us += any(&random, INT64_C(100000000000));
    }
}

#define SAME(array)                                                                                \
    do {                                                                                           \
        assert_int_equal(one->array.count, two->array.count);                                      \
        if (one->array.count)                                                                      \
            assert_memory_equal(one->array.items, two->array.items,                                \
                                one->array.count * sizeof(*one->array.items));                     \
    } while (0)

/* Field by field, as there is padding in them. */
static void expect_same_rows(const struct pleat_workload *one, const struct pleat_workload *two)
{
    assert_int_equal(one->table.count, two->table.count);
    for (size_t i = 0; i < one->table.count; i++) {
        const struct pleat_table_row *a = &one->table.items[i], *b = &two->table.items[i];
        assert_true(a->processors == b->processors && a->run_us == b->run_us);
    }
    assert_int_equal(one->costs.count, two->costs.count);
    for (size_t i = 0; i < one->costs.count; i++) {
        const struct pleat_cost_row *a = &one->costs.items[i], *b = &two->costs.items[i];
        assert_true(a->from == b->from && a->to == b->to && a->us == b->us);
    }
}

static void expect_same(const struct pleat_workload *one, const struct pleat_workload *two)
{
    SAME(jobs);
    expect_same_rows(one, two);
    SAME(phases);
    assert_int_equal(one->machine, two->machine);
    assert_int_equal(one->origin_us, two->origin_us);
    assert_int_equal(one->apps.count, two->apps.count);
    for (size_t i = 0; i < one->apps.count; i++) {
        struct pleat_string a = {0}, b = {0};
        pleat_app_format(one, &one->apps.items[i], &a);
        pleat_app_format(two, &two->apps.items[i], &b);
        assert_string_equal(a.text, b.text);
        pleat_string_finish(&a);
        pleat_string_finish(&b);
    }
}

static void test_random_workloads(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct pleat_workload workload, again;
        struct pleat_swf_report report;
        struct text text, more;
        make_random(seed, &workload);
        /* application 0 may share rows with another: only its text must be the same then */
        bool shared = workload.apps.items[0].speedup.count > 0;
        write_text(&workload, "made at\nrandom", &text);
        read_text(&text, &again, &report);
        write_text(&again, "made at\nrandom", &more);
        assert_string_equal(text.bytes, more.bytes);
        if (!shared)
            expect_same(&workload, &again);
        else
            assert_memory_equal(workload.jobs.items, again.jobs.items,
                                workload.jobs.count * sizeof(struct pleat_workload_job));
        assert_int_equal(report.jobs, workload.jobs.count);
        assert_int_equal(report.unsorted + report.extra_columns, 0);
        free(text.bytes);
        free(more.bytes);
        pleat_workload_finish(&workload);
        pleat_workload_finish(&again);
    }
}

/* ---- what others see ---- */

static void test_plain_text(void **state)
{
    (void)state;
    struct pleat_workload workload = {0};
    struct pleat_workload_job job = {.number = 5,
                                     .submit_us = 1500000,
                                     .run_us = 60 * S,
                                     .estimate_us = 90 * S,
                                     .processors = 8,
                                     .minimum = 8,
                                     .maximum = 8,
                                     .site = PLEAT_NONE,
                                     .user = 3};
    struct text text;
    assert_int_equal(pleat_workload_init(&workload), 0);
    assert_int_equal(pleat_array_push(&workload.jobs, job), 0);
    workload.machine = 128;
    workload.origin_us = 749458803 * S;
    write_text(&workload, "first\nsecond\tline\n", &text);
    assert_string_equal(text.bytes, "; Version: 2.2\n"
                                    "; MaxJobs: 1\n"
                                    "; MaxRecords: 1\n"
                                    "; UnixStartTime: 749458803\n"
                                    "; MaxProcs: 128\n"
                                    "; Computer: unknown\n"
                                    "; Installation: unknown\n"
                                    "; Conversion: Pleat\n"
                                    "; Preemption: No\n"
                                    "; TimeZoneString: UTC\n"
                                    "; StartTime: Fri Oct 01 07:00:03 UTC 1993\n"
                                    "; EndTime: Fri Oct 01 07:00:04 UTC 1993\n"
                                    "; MaxNodes: 128\n"
                                    "; MaxRuntime: 60\n"
                                    "; Note: first\n"
                                    "; Note: second line\n"
                                    "5 1.5 -1 60 8 -1 -1 8 90 -1 1 3 -1 -1 -1 -1 -1 -1\n");
    free(text.bytes);
    pleat_workload_finish(&workload);
}

static void test_additions(void **state)
{
    (void)state;
    struct pleat_workload workload = {0};
    struct pleat_workload_job job = {.number = 1,
                                     .run_us = 60 * S,
                                     .processors = 8,
                                     .minimum = 2,
                                     .maximum = 16,
                                     .app = 1,
                                     .site = PLEAT_NONE,
                                     .user = -1,
                                     .kind = PLEAT_MALLEABLE};
    struct pleat_app app;
    struct text text;
    assert_int_equal(pleat_workload_init(&workload), 0);
    assert_int_equal(pleat_app_parse("amdahl:0.02 adapt=30", &workload, &app, NULL), 0);
    assert_int_equal(pleat_array_push(&workload.apps, app), 0);
    assert_int_equal(pleat_array_push(&workload.jobs, job), 0);
    write_text(&workload, NULL, &text);
    assert_non_null(strstr(text.bytes, "; Pleat-App: 1 amdahl:0.02 adapt=30s\n"));
    assert_non_null(strstr(text.bytes,
                           "; Pleat-Columns: kind minimum maximum app\n"
                           "1 0 -1 60 8 -1 -1 8 -1 -1 1 -1 -1 -1 -1 -1 -1 -1 2 2 16 1\n"));
    free(text.bytes);
    pleat_workload_finish(&workload);
}

/* ---- a log that is written again ---- */

static const char recorded[] =
    "; Version: 2.1\n;  Computer: iPSC\n; Acknowledge: somebody\n;\n; MaxJobs: 99\n"
    "; MaxRecords: 99\n; UnixStartTime: 7\n; MaxNodes: 4\n; MaxProcs: 8 (2 a node)\r\n"
    "; Note: old\n; Pleat-Note: old\n; Pleat-App: 1 amdahl:0.5\n; Pleat-Columns: app priority\n"
    "3 20 1.25 60 4 50.5 1024 8 -1 2048 0 5 6 7 8 9 1 0.75 1 -3\n"
    "; Queue: 1 fast\n"
    "2 10 -1 30 -1 -1 -1 2 40 -1 5 -1 -1 -1 -1 -1 -1 -1 0 0\n"
    "1 10 0 0 4 -1 -1 8 -1 -1 1 -1 -1 -1 -1 -1 -1 -1 0 0\n";

static const char recorded_again[] =
    "; Version: 2.2\n; MaxJobs: 2\n; MaxRecords: 2\n; UnixStartTime: 7\n; MaxProcs: 8\n"
    ";  Computer: iPSC\n; Acknowledge: somebody\n;\n; MaxNodes: 4\n; Note: old\n"
    "; Queue: 1 fast\n; Note: again\n; Pleat-App: 1 amdahl:0.5\n"
    "; Pleat-Note: kind 0 rigid, 1 moldable, 2 malleable; sizes 0 any, 1 powers, 2 squares, 3 "
    "multiples, 4 grids, 5 those of the application's table\n; Pleat-Columns: app priority\n"
    "2 10 -1 30 -1 -1 -1 2 40 -1 5 -1 -1 -1 -1 -1 -1 -1 0 0\n"
    "3 20 1.25 60 4 50.5 1024 8 -1 2048 0 5 6 7 8 9 1 0.75 1 -3\n";

static void read_source(const char *bytes, struct pleat_workload *workload,
                        struct pleat_swf_source *source)
{
    const struct pleat_swf_options options = {.source = source};
    struct pleat_error err;
    memset(workload, 0, sizeof(*workload));
    memset(source, 0, sizeof(*source));
    assert_int_equal(pleat_workload_init(workload), 0);
    if (pleat_swf_read_text(bytes, strlen(bytes), "text", &options, workload, NULL, &err))
        fail_msg("%s", err.text);
}

static void write_again(const struct pleat_workload *workload,
                        const struct pleat_swf_source *source, struct text *text)
{
    FILE *file = open_memstream(&text->bytes, &text->length);
    assert_non_null(file);
    assert_int_equal(pleat_swf_write(workload, source, file, "again", NULL), 0);
    assert_int_equal(fclose(file), 0);
}

static void test_all_columns_again(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_swf_source source;
    struct text text;
    read_source(recorded, &workload, &source);
    assert_int_equal(source.records.count, 2);
    assert_int_equal(source.records.items[1].queue, 8);
    write_again(&workload, &source, &text);
    assert_string_equal(text.bytes, recorded_again);
    free(text.bytes);
    /* what the workload says counts */
    workload.jobs.items[0].processors = workload.jobs.items[0].minimum =
        workload.jobs.items[0].maximum = 3;
    workload.jobs.items[0].estimate_us = 0;
    workload.jobs.items[1].submit_us += S / 2;
    workload.origin_us = 0;
    workload.machine = 0;
    write_again(&workload, &source, &text);
    assert_non_null(strstr(text.bytes, "; UnixStartTime: 0\n;  Computer: iPSC\n"));
    assert_non_null(strstr(text.bytes, "\n2 10 -1 30 3 -1 -1 3 -1 -1 5 -1 "));
    assert_non_null(strstr(text.bytes, "\n3 20.5 1.25 60 4 50.5 1024 8 -1 2048 0 5 "));
    free(text.bytes);
    pleat_workload_finish(&workload);
    pleat_swf_source_finish(&source);
}

/* Who waits for whom is the workload's; what a log says of it stays, also that nothing is known. */
static void test_preceding(void **state)
{
    (void)state;
    static const char log[] = "1 0 -1 5 2 -1 -1 2 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
                              "2 9 -1 5 2 -1 -1 2 -1 -1 1 -1 -1 -1 -1 -1 1 2.5\n"
                              "3 9 -1 5 2 -1 -1 2 -1 -1 1 -1 -1 -1 -1 -1 1 -1\n"
                              "4 9 -1 5 2 -1 -1 2 -1 -1 1 -1 -1 -1 -1 -1 0 7\n";
    struct pleat_workload workload;
    struct pleat_swf_source source;
    struct text text;
    read_source(log, &workload, &source);
    const struct pleat_workload_job *jobs = workload.jobs.items;
    assert_int_equal(jobs[0].preceding, 0);
    assert_int_equal(jobs[1].preceding, 1);
    assert_int_equal(jobs[1].think_us, 5 * S / 2);
    assert_int_equal(jobs[2].preceding, 1);
    assert_int_equal(jobs[2].think_us, 0); /* not known: at once */
    assert_int_equal(jobs[3].preceding, 0);
    assert_int_equal(jobs[3].think_us, 0);
    write_again(&workload, &source, &text);
    assert_non_null(strstr(text.bytes, log)); /* as they were */
    free(text.bytes);
    write_text(&workload, NULL, &text); /* as the workload has them */
    assert_non_null(strstr(text.bytes, "\n2 9 -1 5 2 -1 -1 2 -1 -1 1 -1 -1 -1 -1 -1 1 2.5\n"));
    assert_non_null(strstr(text.bytes, "\n3 9 -1 5 2 -1 -1 2 -1 -1 1 -1 -1 -1 -1 -1 1 0\n"));
    assert_non_null(strstr(text.bytes, "\n4 9 -1 5 2 -1 -1 2 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"));
    free(text.bytes);
    pleat_workload_finish(&workload);
    pleat_swf_source_finish(&source);
}

/* A header of nothing but what is made anew; and no source at all is left behind by a failure. */
static void test_source_of_little(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_swf_source source;
    struct text text;
    read_source("; Version: 2\n", &workload, &source);
    assert_int_equal(source.header.length, 0);
    write_again(&workload, &source, &text);
    assert_string_equal(text.bytes, "; Version: 2.2\n; MaxJobs: 0\n; MaxRecords: 0\n"
                                    "; UnixStartTime: 0\n; Note: again\n");
    free(text.bytes);
    pleat_swf_source_finish(&source);
    static const char bad[] = "; Computer: x\n1 0 -1 9 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n?";
    const struct pleat_swf_options options = {.source = &source};
    assert_int_equal(pleat_swf_read_text(bad, strlen(bad), "text", &options, &workload, NULL, NULL),
                     PLEAT_E_INVALID);
    assert_null(source.header.text);
    assert_null(source.records.items);
    pleat_workload_finish(&workload);
}

static void test_source_of_another_log(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_swf_source source;
    struct pleat_error err;
    struct text text;
    read_source(recorded, &workload, &source);
    workload.jobs.count--;
    FILE *file = open_memstream(&text.bytes, &text.length);
    assert_non_null(file);
    assert_int_equal(pleat_swf_write(&workload, &source, file, NULL, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "1 jobs cannot be written with the columns of 2 others"));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(text.length, 0);
    free(text.bytes);
    pleat_workload_finish(&workload);
    pleat_swf_source_finish(&source);
}

/* ---- failures ---- */

/* A disk that is full at once, and one that is full when much has been written. */
static void test_full_disk(void **state)
{
    (void)state;
    struct pleat_workload workload = {0};
    struct pleat_workload_job job = {
        .run_us = S, .processors = 1, .minimum = 1, .maximum = 1, .site = PLEAT_NONE};
    assert_int_equal(pleat_workload_init(&workload), 0);
    for (int jobs = 0; jobs <= 20000; jobs += 10000) {
        struct pleat_error err = {0};
        FILE *full = fopen("/dev/full", "w");
        assert_non_null(full);
        assert_int_equal(pleat_swf_write(&workload, NULL, full, NULL, &err), PLEAT_E_SYSTEM);
        assert_non_null(strstr(err.text, "cannot write the workload: No space left"));
        (void)fclose(full);
        for (int i = 0; i < 10000; i++)
            assert_int_equal(pleat_array_push(&workload.jobs, job), 0);
    }
    struct text text;
    struct pleat_workload again;
    struct pleat_swf_report report;
    write_text(&workload, NULL, &text);
    read_text(&text, &again, &report);
    assert_int_equal(report.jobs, 30000);
    assert_int_equal(again.jobs.count, 30000);
    free(text.bytes);
    pleat_workload_finish(&again);
    pleat_workload_finish(&workload);
}

static void test_refusals(void **state)
{
    (void)state;
    struct pleat_workload workload = {0};
    struct pleat_workload_job job = {.number = 77, .site = PLEAT_NONE};
    struct pleat_error err;
    struct text text;
    assert_int_equal(pleat_workload_init(&workload), 0);
    assert_int_equal(pleat_array_push(&workload.jobs, job), 0);
    FILE *file = open_memstream(&text.bytes, &text.length);
    assert_non_null(file);
    assert_int_equal(pleat_swf_write(&workload, NULL, file, NULL, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "job 77"));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(text.length, 0);
    free(text.bytes);
    pleat_workload_finish(&workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_workloads),
        cmocka_unit_test(test_plain_text),
        cmocka_unit_test(test_additions),
        cmocka_unit_test(test_all_columns_again),
        cmocka_unit_test(test_preceding),
        cmocka_unit_test(test_source_of_little),
        cmocka_unit_test(test_source_of_another_log),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
