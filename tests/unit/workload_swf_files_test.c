/* Logs in the Standard Workload Format: what is refused and how it is said; files; two real logs.
 */
#include "workload_swf.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void expect_bad(const char *text, const char *const *fragments)
{
    struct log log;
    read_bytes(&log, text, strlen(text), &plain);
    assert_int_equal(log.rc, PLEAT_E_INVALID);
    assert_int_equal(log.err.code, PLEAT_E_INVALID);
    for (; *fragments; fragments++) {
        if (!strstr(log.err.text, *fragments))
            fail_msg("'%s' does not say '%s'", log.err.text, *fragments);
    }
    assert_int_equal(log.workload.jobs.count, 0);
    assert_int_equal(log.workload.apps.count, 1);
    assert_int_equal(log.report.lines, 0);
    pleat_workload_finish(&log.workload);
}

#define BAD(text, ...) expect_bad((text), (const char *const[]){__VA_ARGS__, NULL})

static void test_bad_lines(void **state)
{
    (void)state;
    BAD("; x\n\n1 0 -1 9 4" REST "\n2 0 -1 nine 4" REST "\n",
        "log.swf:4: column 4 (run time): ", "'nine' is not a number", "correct the line");
    BAD("1 0 -1 9 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n", "log.swf:1: only 17 columns",
        "column 18 (think time) is missing");
    BAD("; x\r1 0 -1 9 4 x\r2", "log.swf:2: column 6");
    BAD("1", "log.swf:1: only 1 columns", "column 2 (submit time)");
    BAD("# a comment\n", "log.swf:1: column 1 (job number): '#'");
    BAD("1 0 -1 9 4.5" REST, "column 5 (allocated processors): '4.5' is not a whole number");
    BAD("1.5 0 -1 9 4" REST, "column 1 (job number): '1.5' is not a whole number");
    BAD("1 0 -1 9 16777217" REST, "column 5 (allocated processors): not from -16777216");
    BAD("1 0 -1 100000000000 4" REST, "column 4 (run time): not from");
    BAD("1 99999999999999999999999 -1 9 4" REST, "column 2 (submit time): not from");
    BAD("99999999999999999999 0 -1 9 4" REST, "column 1 (job number): not from");
    BAD("9223372036854775808 0 -1 9 4" REST, "column 1 (job number): not from");
    BAD("1 0 -1 9 -1 -1 -1 4 1e12 -1 -1 -1 -1 -1 -1 -1 -1 -1", "column 9 (requested time)");
    BAD("1 0 -1 9 4 -1 -1 4 -1 -1 -1 2147483648 -1 -1 -1 -1 -1 -1", "column 12 (user)");
    BAD("1 0 -1 9 4 x" REST, "column 6 (CPU time): 'x'");
    BAD("1 0 -1 9 4 0x10" REST, "'0x10' is not a number");
    BAD("1 0 -1 9 4 nan" REST, "'nan' is not a number");
    BAD("1 0 -1 9 4 1,5" REST, "'1,5' is not a number");
    BAD("1 0 -1 9 4 -" REST, "'-' is not a number");
    BAD("1 0 -1 9 4 ." REST, "'.' is not a number");
    BAD("1 0 -1 9 4 1e" REST, "'1e' is not a number");
    BAD("1 0 -1 9 4 1e+" REST, "'1e+' is not a number");
    BAD("1 0 -1 9 4 1.2.3" REST, "'1.2.3' is not a number");
    BAD("1 0 -1 9 4 --1" REST, "'--1' is not a number");
    BAD("1 0 -1 9 4 \xc3\xa9\x1b[31m" REST, "'\\xc3\\xa9\\x1b[31m' is not a number");
    BAD("1 0 -1 9 4 abcdefghijklmnopqrstuvwxyz0123456789" REST, "'abcdefghijklmnopqrstuvwx...'");
    BAD("\x1f\x8b\x08", "log.swf: is compressed", "compressed");
    BAD("\xff\xfe;", "log.swf: is UTF-16", "iconv");
}

static void test_bad_additions(void **state)
{
    (void)state;
    BAD("; Pleat-App: 1 linear\n; Pleat-App: 3 linear\n", "log.swf:2: Pleat-App: expected 2");
    BAD("; Pleat-App: linear\n", "log.swf:1: Pleat-App: expected 1");
    BAD("; Pleat-App: 1 quick\n", "log.swf:1: application 'quick'");
    BAD("; Pleat-App: 1\n", "log.swf:1: application ''");
    BAD("; Pleat-Columns: kind colour\n", "log.swf:1: Pleat-Columns: 'colour' is no column");
    BAD("; Pleat-Columns: kind app kind\n", "log.swf:1: Pleat-Columns: 'kind' is there twice");
    BAD("1 0 -1 9 4" REST "\n; Pleat-Columns: kind\n", "log.swf:2: Pleat-Columns: must be before");
    BAD("1 0 -1 9 4" REST "\n; Pleat-App: 1 linear\n", "log.swf:2: Pleat-App: must be before");
    BAD("; Pleat-Columns: kind app\n1 0 -1 9 4" REST " 0\n", "log.swf:2: only 19 columns",
        "column 20 (app)");
    BAD("; Pleat-Columns: kind\n1 0 -1 9 4" REST " rigid\n",
        "log.swf:2: column 19 (kind): 'rigid'");
    BAD("; Pleat-Columns: kind\n1 0 -1 9 4" REST " 3\n", "column 19 (kind): '3' is not a possible");
    BAD("; Pleat-Columns: kind\n1 0 -1 9 4" REST " -2\n",
        "column 19 (kind): '-2' is not a possible");
    BAD("; Pleat-Columns: kind\n1 0 -1 9 4" REST " 0.5\n",
        "column 19 (kind): '0.5' is not a whole");
    BAD("; Pleat-Columns: begin\n1 0 -1 9 4" REST " -0.5\n", "column 19 (begin): '-0.5'");
    BAD("; Pleat-Columns: begin\n1 0 -1 9 4" REST " 1e12\n", "column 19 (begin): '1e12'");
    BAD("; Pleat-Columns: priority\n1 0 -1 9 4" REST " 40000\n", "column 19 (priority): '40000'");
    BAD("; Pleat-Columns: app\n1 0 -1 9 4" REST " 1\n",
        "log.swf:2: application 1: there are only 1");
    BAD("; Pleat-Columns: minimum\n1 0 -1 9 4" REST " 2\n", "log.swf:2: minimum 2 and maximum 4");
    BAD("; Pleat-Columns: kind initial\n1 0 -1 9 4" REST " 2 5\n", "log.swf:2: initial size 5");
    BAD("; Pleat-Columns: kind sizes\n1 0 -1 9 3" REST " 2 1\n",
        "log.swf:2: no size from minimum 3");
    BAD("; Pleat-Columns: sizes\n1 0 -1 9 3" REST " 6\n", "column 19 (sizes): '6'");
    BAD("; Pleat-Columns: sizes\n1 0 -1 9 3" REST " 5\n",
        "log.swf:2: the accepted sizes are those of the application's table");
    BAD("; Pleat-App: 1 table:1=9,4=3\n; Pleat-Columns: sizes app\n1 0 -1 9 3" REST " 5 1\n",
        "log.swf:3: no size from minimum 3");
}

static void test_nul_bytes(void **state)
{
    (void)state;
    static const char comment[] = "; a\0b\n1 0 -1 9 4" REST "\n";
    static const char job[] = "1 0 -1 9\0 4" REST "\n";
    static const char app[] = "; Pleat-App: 1 lin\0ear\n";
    struct log log;
    read_bytes(&log, comment, sizeof(comment) - 1, &plain);
    assert_int_equal(log.rc, 0);
    assert_int_equal(log.report.jobs, 1);
    pleat_workload_finish(&log.workload);
    read_bytes(&log, job, sizeof(job) - 1, &plain);
    assert_int_equal(log.rc, PLEAT_E_INVALID);
    assert_non_null(
        strstr(log.err.text, "log.swf:1: column 4 (run time): '9\\x00' is not a number"));
    pleat_workload_finish(&log.workload);
    read_bytes(&log, app, sizeof(app) - 1, &plain);
    assert_int_equal(log.rc, PLEAT_E_INVALID);
    assert_non_null(strstr(log.err.text, "log.swf:1: Pleat-App: a NUL byte"));
    pleat_workload_finish(&log.workload);
}

/* ---- files ---- */

static void write_temporary(char *path, const char *text, size_t length)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, length), (ssize_t)length);
    close(fd);
}

static int read_file(struct log *log, const char *path)
{
    memset(log, 0, sizeof(*log));
    assert_int_equal(pleat_workload_init(&log->workload), 0);
    return pleat_swf_read(path, &plain, &log->workload, &log->report, &log->err);
}

/* Larger than what is read at a time, with lines on every cut, one of them very long. */
static void test_large_file(void **state)
{
    (void)state;
    char path[] = "/tmp/pleat-swf-XXXXXX";
    struct pleat_string text = {0};
    struct log whole, parts;
    for (int i = 0; i < 20000; i++)
        pleat_string_addf(&text, "%d %d -1 %d.25 %d" REST "%s", i, i / 3, 1 + i % 977, 1 + i % 64,
                          i % 5 ? "\r\n" : "\n");
    pleat_string_add(&text, ";");
    for (int i = 0; i < 600000; i++)
        pleat_string_add(&text, "long");
    pleat_string_add(&text, "\n-5 100000 -1 3 3" REST);
    assert_int_equal(text.failed, 0);
    write_temporary(path, text.text, text.length);
    read_good(&whole, text.text);
    assert_int_equal(read_file(&parts, path), 0);
    unlink(path);
    assert_int_equal(whole.report.jobs, 20001);
    assert_int_equal(whole.report.lines, 20002);
    assert_memory_equal(&whole.report, &parts.report, sizeof(whole.report));
    assert_int_equal(parts.workload.jobs.count, whole.workload.jobs.count);
    assert_memory_equal(whole.workload.jobs.items, parts.workload.jobs.items,
                        whole.workload.jobs.count * sizeof(struct pleat_workload_job));
    pleat_workload_finish(&whole.workload);
    pleat_workload_finish(&parts.workload);
    pleat_string_finish(&text);
}

static void test_bad_files(void **state)
{
    (void)state;
    char path[] = "/tmp/pleat-swf-XXXXXX", wanted[200];
    struct log log;
    assert_int_equal(read_file(&log, "/nonexistent/log.swf"), PLEAT_E_SYSTEM);
    assert_non_null(strstr(log.err.text, "cannot open /nonexistent/log.swf: No such file"));
    pleat_workload_finish(&log.workload);
    assert_int_equal(read_file(&log, "/tmp"), PLEAT_E_SYSTEM);
    assert_non_null(strstr(log.err.text, "cannot read /tmp: Is a directory"));
    pleat_workload_finish(&log.workload);
    write_temporary(path, "1 0 -1 9 4" REST "\n2 0\n", strlen("1 0 -1 9 4" REST "\n2 0\n"));
    assert_int_equal(read_file(&log, path), PLEAT_E_INVALID);
    snprintf(wanted, sizeof(wanted), "%s:2: only 2 columns", path);
    assert_non_null(strstr(log.err.text, wanted));
    assert_int_equal(log.workload.jobs.count, 0);
    assert_int_equal(log.workload.apps.count, 1);
    pleat_workload_finish(&log.workload);
    unlink(path);
}

/* A line without end: more than any log has, and not kept until memory is full. */
static void test_endless_line(void **state)
{
    (void)state;
    char path[] = "/tmp/pleat-swf-XXXXXX", wanted[200];
    struct log log;
    write_temporary(path, "; x\n;", 5);
    assert_int_equal(truncate(path, INT64_C(80) * 1024 * 1024), 0);
    assert_int_equal(read_file(&log, path), PLEAT_E_INVALID);
    snprintf(wanted, sizeof(wanted), "%s:2: a line of more than 64 MiB", path);
    assert_non_null(strstr(log.err.text, wanted));
    pleat_workload_finish(&log.workload);
    unlink(path);
}

/* Standard input that comes in these pieces. */
static int read_pieces(struct log *log, const char *const *pieces)
{
    int ends[2], kept = dup(STDIN_FILENO);
    assert_true(kept >= 0);
    assert_int_equal(pipe2(ends, O_DIRECT), 0); /* packets: read one at a time */
    for (; *pieces; pieces++)
        assert_int_equal(write(ends[1], *pieces, strlen(*pieces)), (ssize_t)strlen(*pieces));
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    int rc = read_file(log, "-");
    assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    close(kept);
    return rc;
}

static void test_standard_input(void **state)
{
    (void)state;
    static const char *const good[] = {"\xef",
                                       "\xbb",
                                       "\xbf"
                                       "1 0 -1 9 4" REST "\r",
                                       "\n2 ",
                                       "1 -1 9 4" REST,
                                       NULL};
    static const char *const bad[] = {"1 0 -1 9 4" REST "\n2 0 -1 ", "9 x\n", NULL};
    static const char *const packed[] = {"\x1f", "\x8b\x08", NULL};
    static const char *const little[] = {";", NULL};
    struct log log;
    assert_int_equal(read_pieces(&log, good), 0);
    assert_int_equal(log.report.jobs, 2);
    assert_int_equal(log.report.lines, 2);
    assert_int_equal(log.report.crlf, 1);
    pleat_workload_finish(&log.workload);
    assert_int_equal(read_pieces(&log, bad), PLEAT_E_INVALID);
    assert_non_null(strstr(log.err.text, "standard input:2: column 5"));
    pleat_workload_finish(&log.workload);
    assert_int_equal(read_pieces(&log, packed), PLEAT_E_INVALID);
    assert_non_null(strstr(log.err.text, "standard input: is compressed"));
    pleat_workload_finish(&log.workload);
    assert_int_equal(read_pieces(&log, little), 0);
    assert_int_equal(log.report.headers, 1);
    pleat_workload_finish(&log.workload);
}

/* ---- real logs; the sums were made with awk ---- */

static void check_log(const char *name, size_t jobs, size_t zero, int32_t machine, double work_s,
                      double submits_s)
{
    const char *folder = getenv("PLEAT_DATA");
    char path[1024];
    struct log log;
    snprintf(path, sizeof(path), "%s/%s", folder ? folder : SOURCE_DIR "/../shared/data", name);
    if (access(path, R_OK)) {
        print_message("%s is not there: skipped (PLEAT_DATA names the folder of logs)\n", path);
        skip();
    }
    if (read_file(&log, path))
        fail_msg("%s", log.err.text);
    double work = 0, submits = 0;
    for (size_t i = 0; i < log.workload.jobs.count; i++) {
        const struct pleat_workload_job *job = &log.workload.jobs.items[i];
        work += (double)job->run_us / 1e6 * job->processors;
        submits += (double)job->submit_us / 1e6;
    }
    assert_int_equal(log.report.jobs, jobs);
    assert_int_equal(log.report.zero_run_time, zero);
    assert_int_equal(log.report.no_run_time, zero);
    assert_int_equal(log.report.missing_wait, jobs);
    assert_int_equal(log.report.missing_estimate, jobs);
    assert_int_equal(log.report.unsorted + log.report.no_size + log.report.no_submit, 0);
    assert_int_equal(log.workload.machine, machine);
    assert_true(work == work_s && submits == submits_s);
    assert_int_equal(pleat_workload_check(&log.workload, NULL), 0);
    pleat_workload_finish(&log.workload);
}

static void test_recorded_log(void **state)
{
    (void)state;
    check_log("NASA-iPSC-1993-3.1-cln.swf", 18066, 173, 128, 474238015, 71763055463);
}

static void test_model_log(void **state)
{
    (void)state;
    check_log("lublin_256.swf", 10000, 0, 256, 2092781168, 39781557652);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_lines),      cmocka_unit_test(test_bad_additions),
        cmocka_unit_test(test_nul_bytes),      cmocka_unit_test(test_large_file),
        cmocka_unit_test(test_bad_files),      cmocka_unit_test(test_endless_line),
        cmocka_unit_test(test_standard_input), cmocka_unit_test(test_recorded_log),
        cmocka_unit_test(test_model_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
