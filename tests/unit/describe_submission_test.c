/* The options that describe a job: one table, which --help lists too, and each of them changes what
 * it is about and nothing else. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe/submission.h"
#include "describe/submission_help.h"

static struct pleat_submit_options read_line(int argc, char **argv, const char *wrong)
{
    struct pleat_option_reader reader;
    struct pleat_submit_options submission;
    struct pleat_string notes = {0};
    struct pleat_error err = {0};
    pleat_submission_reader_init(&reader, argc, argv);
    int status = pleat_submission_read(
        &submission, &(struct pleat_submission_place){.reader = &reader}, &notes, &err);
    pleat_string_finish(&notes);
    if (!wrong && status)
        fail_msg("%s: %s", argv[1], err.text);
    if (wrong) {
        assert_int_equal(status, PLEAT_E_INVALID);
        assert_string_equal(err.text, wrong);
    }
    return submission;
}

#define READ(...)                                                                                  \
    read_line((int)(sizeof((char *[]){"", __VA_ARGS__}) / sizeof(char *)),                         \
              (char *[]){"", __VA_ARGS__, NULL}, NULL)
#define REFUSE(wrong, ...)                                                                         \
    do {                                                                                           \
        struct pleat_submit_options refused =                                                      \
            read_line((int)(sizeof((char *[]){"", __VA_ARGS__}) / sizeof(char *)),                 \
                      (char *[]){"", __VA_ARGS__, NULL}, wrong);                                   \
        pleat_submission_finish(&refused);                                                         \
    } while (0)

static void test_every_option_is_in_the_help(void **state)
{
    struct option options[PLEAT_SUBMISSION_OPTIONS];
    size_t shorts = 0;
    (void)state;
    pleat_submission_list_options(options);
    for (int i = 0; options[i].name; i++) {
        char line[64];
        snprintf(line, sizeof(line), "--%s%s", options[i].name,
                 options[i].has_arg == required_argument ? " " : "");
        if (!strstr(PLEAT_SUBMISSION_HELP, line))
            fail_msg("the help has no '%s'", line);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(options[i].val, options[j].val);
        shorts += options[i].val < 256;
    }
    assert_int_equal(shorts, strlen(PLEAT_SUBMISSION_SHORTS) / 2); /* each has a value */
    assert_null(options[PLEAT_SUBMISSION_OPTIONS - 1].name);
}

static void test_numbers_and_times(void **state)
{
    (void)state;
    struct pleat_submit_options s = READ(
        "-c", "2", "--min", "1", "--max", "8", "--initial", "4", "--priority", "-7", "--estimate",
        "90s", "--lifetime", "1min", "--notice", "2h", "--deadline", "1d", "--begin", "3h",
        "--time-limit", "1h30m", "--memory", "2M", "--mpl", "3", "prog", "-n");
    assert_int_equal(s.cpus, 2);
    assert_int_equal(s.least, 1);
    assert_int_equal(s.most, 8);
    assert_int_equal(s.initial, 4);
    assert_int_equal(s.priority, -7);
    assert_true(s.estimate_s == 90 && s.lifetime_s == 60 && s.notice_s == 7200);
    assert_true(s.deadline_s == 86400 && s.begin_s == 10800 && s.limit_s == 5400);
    assert_int_equal(s.memory_kb, 2048);
    assert_int_equal(s.mpl, 3);
    assert_int_equal(s.argc, 2); /* what follows the program is the program's */
    assert_string_equal(s.argv[1], "-n");
    assert_int_equal(s.processors, -1);
    pleat_submission_finish(&s);
}

static void test_texts_and_words(void **state)
{
    (void)state;
    struct pleat_submit_options s =
        READ("--site", "here", "--chdir", "/tmp", "--output", "o-%j", "--error", "e", "--input",
             "i", "--notify", "mail", "--notify-on", "start,end", "--export", "A,B", "--env", "A=1",
             "--env", "B=2", "--sizes", "2,4", "--runner", "mpi", "--mpi", "mpich", "--on-resize",
             "merge", "--class", "short", "--processes", "4", "--fold", "wait=spin", "--count-word",
             "N", "--dependency", "afterok:3", "--signal", "USR1@90s", "prog");
    assert_string_equal(s.site, "here");
    assert_string_equal(s.chdir, "/tmp");
    assert_string_equal(s.output, "o-%j");
    assert_string_equal(s.error, "e");
    assert_string_equal(s.input, "i");
    assert_string_equal(s.notify, "mail");
    assert_string_equal(s.notify_on, "start,end");
    assert_string_equal(s.exported, "A,B");
    assert_int_equal(s.env.count, 2);
    assert_string_equal(s.env.items[1], "B=2");
    assert_string_equal(s.sizes, "2,4");
    assert_string_equal(s.runner, "mpi");
    assert_string_equal(s.mpi, "mpich");
    assert_string_equal(s.resize, "merge");
    assert_string_equal(s.job_class, "short");
    assert_string_equal(s.processes, "4");
    assert_string_equal(s.fold, "wait=spin");
    assert_string_equal(s.count_word, "N");
    assert_string_equal(s.dependency, "afterok:3");
    assert_string_equal(s.signal, "USR1@90s");
    assert_string_equal(s.argv[0], "prog");
    pleat_submission_finish(&s);
}

static void test_marks(void **state)
{
    (void)state;
    struct pleat_submit_options s =
        READ("--asks", "--append", "--hold", "--no-fold", "--no-requeue", "--one-node", "--sbatch",
             "--malleable", "prog");
    assert_true(s.asks && s.append && s.hold && s.unfolded && s.once && s.one_node && s.sbatch);
    assert_string_equal(s.runner, "malleable");
    assert_false(s.moldable || s.pty);
    pleat_submission_finish(&s);
    s = READ("--malleable", "--moldable", "prog");
    assert_true(s.moldable);
    assert_string_equal(s.runner, "auto");
    pleat_submission_finish(&s);
    s = READ("--evolving", "prog");
    assert_string_equal(s.runner, "evolving");
    pleat_submission_finish(&s);
    s = READ("--evolving", "--sites", "there,far", "--any-site", "prog");
    assert_true(s.any_site);
    assert_string_equal(s.at_sites, "there,far");
    pleat_submission_finish(&s);
    s = READ("prog");
    assert_false(s.any_site || s.asks || s.append || s.hold || s.unfolded || s.once || s.one_node ||
                 s.sbatch || s.moldable);
    pleat_submission_finish(&s);
}

static void test_refused(void **state)
{
    (void)state;
    REFUSE("the program is missing", "-n", "2");
    REFUSE("option '-n' needs a value", "-n");
    REFUSE("--min: 'x' is not a whole number from 0 to 16777216", "--min", "x", "prog");
    REFUSE("--class: 'long short' is none of: short long unknown", "--class", "long short", "prog");
    REFUSE("--site: it must not be empty", "--site", "", "prog");
    REFUSE("unknown option '--ntasks'; did you mean '--processors'?", "--ntasks", "2", "prog");
    REFUSE("unknown option '--json'", "--json", "prog"); /* a command's, not a job's */
    REFUSE("--wrap takes the place of a program", "--wrap", "true", "prog");
    REFUSE("--array makes many jobs of one: only 'pleat submit' can do that", "--array", "1-3",
           "prog");
    REFUSE("--pty shows the job's terminal on this one: only 'pleat run' can do that", "--pty",
           "prog");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_option_is_in_the_help),
        cmocka_unit_test(test_numbers_and_times),
        cmocka_unit_test(test_texts_and_words),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
