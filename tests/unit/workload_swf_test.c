/* Logs in the Standard Workload Format: what real ones contain, and what it is read as. */
#include "workload_swf.h"

#include <stdio.h>

#include "workload/swf-internal.h"

/* ---- one job ---- */

static void test_a_job(void **state)
{
    (void)state;
    struct log log;
    read_good(&log, "; MaxProcs: 128\n; MaxNodes: 64\n; UnixStartTime: 749458803\n"
                    "  17  5 3 100 16 90 2048 32 200 4096 1 9 2 4 1 3 12 60\n");
    assert_int_equal(log.workload.machine, 128);
    assert_int_equal(log.workload.origin_us, 749458803 * S);
    assert_int_equal(log.report.lines, 4);
    assert_int_equal(log.report.headers, 3);
    assert_int_equal(log.workload.jobs.count, 1);
    const struct pleat_workload_job *job = &log.workload.jobs.items[0];
    assert_int_equal(job->number, 17);
    assert_int_equal(job->submit_us, 5 * S);
    assert_int_equal(job->run_us, 100 * S);
    assert_int_equal(job->estimate_us, 200 * S);
    assert_int_equal(job->processors, 16);
    assert_int_equal(job->minimum, 16);
    assert_int_equal(job->maximum, 16);
    assert_int_equal(job->initial, 0);
    assert_int_equal(job->kind, PLEAT_RIGID);
    assert_int_equal(job->sizes_kind, PLEAT_SIZES_ANY);
    assert_int_equal(job->user, 9);
    assert_int_equal(job->app, 0);
    assert_int_equal(job->site, PLEAT_NONE);
    assert_int_equal(job->deadline_us, 0);
    assert_int_equal(job->begin_us, 0);
    assert_int_equal(job->priority, 0);
    assert_int_equal(job->processes, 0);
    assert_int_equal(log.report.missing_wait + log.report.missing_estimate, 0);
    pleat_workload_finish(&log.workload);
}

/* A line without its end. */
static int parse(const char *line, size_t length, struct pleat_swf_record *record,
                 struct pleat_error *err)
{
    struct pleat_decimal numbers[PLEAT_SWF_FIELDS] = {{0}};
    int rc = pleat_swf_scan_fields(&line, line + length, numbers, err);
    if (!rc)
        pleat_swf_fill_record(numbers, record);
    return rc;
}

static void test_all_fields(void **state)
{
    (void)state;
    static const char line[] =
        "17 5.25 3 100 16 90.5 2048 32 200 4096.125 1 9 2 4 1 3 12 60.5 any thing";
    struct pleat_swf_record record;
    assert_int_equal(parse(line, strlen(line), &record, NULL), 0);
    assert_int_equal(record.job, 17);
    assert_true(record.submit_s == 5.25 && record.wait_s == 3 && record.run_s == 100);
    assert_int_equal(record.allocated, 16);
    assert_true(record.cpu_s == 90.5 && record.memory_kb == 2048);
    assert_int_equal(record.requested, 32);
    assert_true(record.requested_kb == 4096.125);
    assert_int_equal(record.status, 1);
    assert_int_equal(record.user, 9);
    assert_int_equal(record.group, 2);
    assert_int_equal(record.executable, 4);
    assert_int_equal(record.queue, 1);
    assert_int_equal(record.partition, 3);
    assert_int_equal(record.preceding, 12);
    assert_true(record.think_s == 60.5);
    struct pleat_error err;
    assert_int_equal(parse(line, 30, &record, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "only 8 columns: column 9 (requested time)"));
}

/* ---- what real logs have ---- */

static void test_unknown_fields(void **state)
{
    (void)state;
    struct log log;
    read_good(&log, "1 0 -1 10 4" REST "\n"
                    "2 1 -1 10 -1 -1 -1 8 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"
                    "3 2 -1 10 0 -1 -1 8 50 -1 -1 0 -1 -1 -1 -1 -1 -1\n"
                    "4 3 7 10 -1" REST "\n" /* no size */
                    "5 4 7 10 0" REST "\n"  /* no size */
                    "6 5 7 -1 4" REST "\n"  /* no run time */
                    "7 6 7 -20 4" REST "\n" /* no run time */
                    "8 7 7 0 4" REST "\n"   /* no run time: zero */
                    "9 -1 7 10 4" REST "\n" /* no submission */
                    "10 8 7 0 -1" REST "\n" /* no size, and that only */
                    "11 9 7 60 4 -1 -1 -1 50 -1 5 -1 -1 -1 -1 -1 -1 -1\n"
                    "12 9 7 60 4 -1 -1 -1 -1 -1 2 -1 -1 -1 -1 -1 -1 -1\n"
                    "12 -1 7 60 4 -1 -1 -1 -1 -1 3 -1 -1 -1 -1 -1 -1 -1\n");
    const struct pleat_workload_job *jobs = log.workload.jobs.items;
    assert_int_equal(log.report.lines, 13);
    assert_int_equal(log.report.jobs, 4);
    assert_int_equal(log.report.no_size, 3);
    assert_int_equal(log.report.no_run_time, 3);
    assert_int_equal(log.report.zero_run_time, 1);
    assert_int_equal(log.report.no_submit, 1);
    assert_int_equal(log.report.bursts, 2);
    assert_int_equal(log.report.missing_wait, 3);
    assert_int_equal(log.report.missing_estimate, 2);
    assert_int_equal(log.report.short_run, 1);
    assert_int_equal(log.report.unsorted, 0);
    assert_int_equal(log.report.crlf, 0);
    assert_int_equal(jobs[0].processors, 4);
    assert_int_equal(jobs[0].user, -1);
    assert_int_equal(jobs[1].processors, 8);
    assert_int_equal(jobs[2].processors, 8);
    assert_int_equal(jobs[2].estimate_us, 50 * S);
    assert_int_equal(jobs[2].user, 0);
    assert_int_equal(jobs[3].number, 11);
    pleat_workload_finish(&log.workload);
}

static void test_zero_run_times_kept(void **state)
{
    (void)state;
    static const char text[] = "1 0 -1 0 4" REST "\n2 1 -1 0.0 4" REST "\n3 1 -1 -1 4" REST "\n";
    const struct pleat_swf_options keep = {.zero = PLEAT_SWF_ZERO_KEEP};
    struct log log;
    read_bytes(&log, text, strlen(text), &keep);
    assert_int_equal(log.rc, 0);
    assert_int_equal(log.report.jobs, 2);
    assert_int_equal(log.report.zero_run_time, 2);
    assert_int_equal(log.report.no_run_time, 1);
    assert_int_equal(log.workload.jobs.items[1].run_us, 0);
    pleat_workload_finish(&log.workload);
}

static void expect_numbers(const struct log *log, const int64_t *numbers, size_t count)
{
    assert_int_equal(log->workload.jobs.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(log->workload.jobs.items[i].number, numbers[i]);
}

static void test_line_ends(void **state)
{
    (void)state;
    static const int64_t two[] = {1, 2};
    static const struct {
        const char *text;
        size_t lines;
        int crlf;
    } rows[] = {
        {"; a\n1 0 -1 9 4" REST "\n2 0 -1 9 4" REST "\n", 3, 0},
        {"; a\n1 0 -1 9 4" REST "\n2 0 -1 9 4" REST, 3, 0},
        {"; a\r\n1 0 -1 9 4" REST "\r\n2 0 -1 9 4" REST "\r\n", 3, 1},
        {"; a\r\n1 0 -1 9 4" REST "\r\n2 0 -1 9 4" REST, 3, 1},
        {"; a\r\n1 0 -1 9 4" REST "\r\n2 0 -1 9 4" REST "\r", 3, 1},
        {"; a\r\r\n1 0 -1 9 4" REST "\n\n2 0 -1 9 4" REST "\r\n", 4, 1},
        {"; a\r1 0 -1 9 4" REST "\r2 0 -1 9 4" REST "\r", 3, 1},
        {"\xef\xbb\xbf; a\n1 0 -1 9 4" REST "\n2 0 -1 9 4" REST "\n", 3, 0},
        {"\xef\xbb\xbf"
         "1 0 -1 9 4" REST "\n\t2\t0\t-1\t9\t4" REST " \t\n\n",
         3, 0},
        {"\n \n  ; a\n1 0 -1 9 4" REST "\n;\n2 0 -1 9 4" REST "\n", 6, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct log log;
        read_good(&log, rows[i].text);
        expect_numbers(&log, two, 2);
        assert_int_equal(log.report.lines, rows[i].lines);
        assert_int_equal(log.report.crlf, rows[i].crlf);
        assert_int_equal(log.report.extra_columns, 0);
        pleat_workload_finish(&log.workload);
    }
}

static void test_nothing_in_it(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "\n", ";", "; MaxProcs: 4\n;\n", "\xef\xbb\xbf", "\r\n", ("1 0 -1 0 4" REST)};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct log log;
        read_good(&log, texts[i]);
        assert_int_equal(log.workload.jobs.count, 0);
        assert_int_equal(log.workload.apps.count, 1);
        pleat_workload_finish(&log.workload);
    }
}

static void test_unsorted(void **state)
{
    (void)state;
    static const int64_t order[] = {4, 6, 2, 8, 1, 3, 5, 7};
    struct log log;
    read_good(&log, "1 50 -1 9 4" REST "\n2 30 -1 9 4" REST "\n3 50 -1 9 4" REST "\n"
                    "4 10 -1 9 4" REST "\n5 50 -1 9 4" REST "\n6 10 -1 9 4" REST "\n"
                    "7 60 -1 9 4" REST "\n8 30 -1 9 4" REST "\n");
    expect_numbers(&log, order, 8);
    assert_int_equal(log.report.unsorted, 4);
    pleat_workload_finish(&log.workload);
}

/* The same order as sorting by (submission, line) gives, for a longer log. */
static void test_stable(void **state)
{
    (void)state;
    enum { JOBS = 3000 };
    struct pleat_string text = {0};
    struct log log;
    for (int i = 0; i < JOBS; i++)
        pleat_string_addf(&text, "%d %d -1 9 4" REST "\n", i, i * 7919 % 601);
    read_good(&log, text.text);
    assert_int_equal(log.workload.jobs.count, JOBS);
    for (size_t i = 1; i < JOBS; i++) {
        const struct pleat_workload_job *one = &log.workload.jobs.items[i - 1], *two = one + 1;
        assert_int_equal(one->submit_us, one->number * 7919 % 601 * S);
        assert_true(one->submit_us < two->submit_us ||
                    (one->submit_us == two->submit_us && one->number < two->number));
    }
    pleat_workload_finish(&log.workload);
    pleat_string_finish(&text);
}

static void test_extra_columns(void **state)
{
    (void)state;
    struct log log;
    read_good(&log, "1 0 -1 9 4" REST " 77 abc\n2 0 -1 9 4" REST " \n3 0 -1 9 4" REST "\t-1\n");
    assert_int_equal(log.report.jobs, 3);
    assert_int_equal(log.report.extra_columns, 2);
    pleat_workload_finish(&log.workload);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {{"7", 7 * S},
                {"+7", 7 * S},
                {"007", 7 * S},
                {"7.", 7 * S},
                {"7.5", 7500000},
                {".5", 500000},
                {"0.000001", 1},
                {"0.0000014", 1},
                {"0.0000015", 2},
                {"7.123456789012345678901234567890", 7123457},
                {"1e3", 1000 * S},
                {"1.5E+2", 150 * S},
                {"2500000e-6", 2500000},
                {"25e-7", 3},
                {"1e-30", 0},
                {"9223372036854775807e-25", 1},
                {"0.00000049999999999999999999999", 0},
                {"0.00000050000000000000000000000", 1},
                {"0e99999999999", 0},
                {"0.0000000000000000000000000000001e31", S},
                {"99999999999.999998", INT64_C(99999999999999998)},
                {"00000000000000000000000000000000012", 12 * S},
                {"12345678901.234567", INT64_C(12345678901234567)}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[200];
        struct log log;
        snprintf(text, sizeof(text), "1 %s -1 9 4" REST "\n", rows[i].text);
        read_good(&log, text);
        if (log.workload.jobs.items[0].submit_us != rows[i].us)
            fail_msg("%s was read as %lld us", rows[i].text,
                     (long long)log.workload.jobs.items[0].submit_us);
        pleat_workload_finish(&log.workload);
    }
}

static void test_job_numbers(void **state)
{
    (void)state;
    static const int64_t numbers[] = {INT64_MAX - 1, -INT64_MAX + 1, 1000000000000000001, -5};
    struct log log;
    read_good(&log, "9223372036854775806 0 -1 9 4" REST "\n-9223372036854775806 0 -1 9 4" REST
                    "\n1000000000000000001 0 -1 9 4" REST "\n-5 0 -1 9 4" REST);
    expect_numbers(&log, numbers, 4);
    pleat_workload_finish(&log.workload);
}

/* In columns that are not used, anything that is a number goes. */
static void test_huge_unused(void **state)
{
    (void)state;
    struct log log;
    struct pleat_swf_record record;
    static const char line[] = "1 0 99999999999999999999 9 4 1e400 -1e99 4 10 18446744073709551615 "
                               "-999999999999999999999 3 1e18 1 1 1 1 0";
    read_good(&log, line);
    assert_int_equal(log.report.jobs, 1);
    pleat_workload_finish(&log.workload);
    assert_int_equal(parse(line, strlen(line), &record, NULL), 0);
    assert_int_equal(record.status, -INT64_MAX);
    assert_int_equal(record.group, INT64_C(1000000000000000000));
    assert_true(record.requested_kb == (double)INT64_MAX);
}

static void test_headers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t machine;
        int64_t origin_us;
    } rows[] = {{";MaxProcs:128\n", 128, 0},
                {"; MaxProcs: 1152  (144 * 8)\n", 1152, 0},
                {";;  maxprocs:  16\n", 16, 0},
                {"; MaxNodes: 64\n", 64, 0},
                {"; MaxNodes: 64\n; MaxProcs: -1\n", 64, 0},
                {"; MaxProcs: 8\n; MaxProcs: 16\n", 8, 0},
                {"; MaxProcs: 99999999999999999999\n", 0, 0},
                {"; MaxProcs:\n; MaxProcsX: 9\n; MaxProc: 8\n", 0, 0},
                {"; Note: MaxProcs: 9\n", 0, 0},
                {"; UnixStartTime: 1.5\n", 0, 1500000},
                {"; UnixStartTime: -1\n; UnixStartTime: 7 (UTC)\n", 0, 7 * S},
                {"; UnixStartTime: 1e99\n", 0, 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct log log;
        read_good(&log, rows[i].text);
        assert_int_equal(log.workload.machine, rows[i].machine);
        assert_int_equal(log.workload.origin_us, rows[i].origin_us);
        pleat_workload_finish(&log.workload);
    }
}

static void test_most(void **state)
{
    (void)state;
    static const char text[] =
        "1 5 -1 9 4" REST "\n2 0 -1 0 4" REST "\n3 1 -1 9 4" REST "\rnot read\n";
    const struct pleat_swf_options two = {.most = 2};
    static const int64_t numbers[] = {3, 1};
    struct log log;
    read_bytes(&log, text, strlen(text), &two);
    assert_int_equal(log.rc, 0);
    expect_numbers(&log, numbers, 2);
    assert_int_equal(log.report.lines, 3);
    pleat_workload_finish(&log.workload);
}

static void test_additions(void **state)
{
    (void)state;
    struct log log;
    read_good(&log, "; Pleat-App: 1 amdahl:0.02 adapt=30s name=cg\n"
                    "; Pleat-App: 2 table:1=600,2=330\n; Pleat-App: 0 downey:8,1\n"
                    "; Pleat-Columns: KIND minimum maximum initial sizes step processes app site "
                    "deadline begin priority\n"
                    "1 0 -1 9 4" REST " 2 2 8 4 3 2 16 1 3 99.5 7 -4\n"
                    "2 0 -1 9 4" REST " -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 more\n"
                    "3 0 -1 9 4" REST " 1 2 -1 -1 5 -1 -1 2 -1 -1 -1 0\n");
    const struct pleat_workload_job *job = &log.workload.jobs.items[0];
    assert_int_equal(log.workload.apps.count, 3);
    assert_int_equal(log.workload.apps.items[0].speedup.kind, PLEAT_SPEEDUP_DOWNEY);
    assert_int_equal(log.workload.apps.items[1].adapt_us, 30 * S);
    assert_string_equal(log.workload.apps.items[1].name, "cg");
    assert_int_equal(log.workload.apps.items[2].speedup.count, 2);
    assert_int_equal(job->kind, PLEAT_MALLEABLE);
    assert_int_equal(job->minimum, 2);
    assert_int_equal(job->maximum, 8);
    assert_int_equal(job->initial, 4);
    assert_int_equal(job->sizes_kind, PLEAT_SIZES_MULTIPLES);
    assert_int_equal(job->sizes_parameter, 2);
    assert_int_equal(job->processes, 16);
    assert_int_equal(job->app, 1);
    assert_int_equal(job->site, 3);
    assert_int_equal(job->deadline_us, 99500000);
    assert_int_equal(job->begin_us, 7 * S);
    assert_int_equal(job->priority, -4);
    job++;
    assert_int_equal(job->kind, PLEAT_RIGID);
    assert_int_equal(job->minimum, 4);
    assert_int_equal(job->maximum, 4);
    assert_int_equal(job->site, PLEAT_NONE);
    assert_int_equal(job->deadline_us, 0);
    assert_int_equal(job->priority, -1);
    job++;
    assert_int_equal(job->kind, PLEAT_MOLDABLE);
    assert_int_equal(job->app, 2);
    assert_int_equal(job->sizes_kind, PLEAT_SIZES_LIST);
    assert_int_equal(log.report.extra_columns, 1);
    pleat_workload_finish(&log.workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_job),          cmocka_unit_test(test_all_fields),
        cmocka_unit_test(test_unknown_fields), cmocka_unit_test(test_zero_run_times_kept),
        cmocka_unit_test(test_line_ends),      cmocka_unit_test(test_nothing_in_it),
        cmocka_unit_test(test_unsorted),       cmocka_unit_test(test_stable),
        cmocka_unit_test(test_extra_columns),  cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_job_numbers),    cmocka_unit_test(test_huge_unused),
        cmocka_unit_test(test_headers),        cmocka_unit_test(test_most),
        cmocka_unit_test(test_additions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
