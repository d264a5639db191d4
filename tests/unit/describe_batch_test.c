/* The options in a batch script: which lines count, how they are taken apart, what is refused. */
#include "test.h"

#include <string.h>

#include "describe/batch.h"

/* The words as "LINE:WORD|LINE:WORD". */
static void check(const char *text, size_t size, const char *expected, int directives, int late)
{
    struct pleat_batch batch;
    struct pleat_error err = {0};
    struct pleat_string words = {0};
    if (pleat_batch_read("job.sh", text, size, &batch, &err))
        fail_msg("%s: %s", text, err.text);
    for (size_t i = 0; i < batch.words.count; i++)
        pleat_string_addf(&words, "%s%d:%s", i ? "|" : "", batch.words.items[i].line,
                          batch.words.items[i].text);
    assert_string_equal(words.text ? words.text : "", expected);
    assert_int_equal(batch.directives, directives);
    assert_int_equal(batch.late, late);
    pleat_string_finish(&words);
    pleat_batch_finish(&batch);
}

static void reads(const char *text, const char *expected, int directives, int late)
{
    check(text, strlen(text), expected, directives, late);
}

static void test_which_lines_count(void **state)
{
    (void)state;
    reads("", "", 0, 0);
    reads("#!/bin/sh\necho\n", "", 0, 0);
    reads("#!/bin/sh\n#PLEAT --min 2 --max 8\necho\n", "2:--min|2:2|2:--max|2:8", 1, 0);
    reads("#!/bin/sh\n\n  \t\n# a comment\n  # another\n#PLEAT -n 4\n", "6:-n|6:4", 1, 0);
    reads("#PLEAT -n 4", "1:-n|1:4", 1, 0); /* no line end, no interpreter */
    reads("#PLEAT", "", 1, 0);
    reads("#PLEAT\t--asks\r\n#PLEAT --moldable\r\n", "1:--asks|2:--moldable", 2, 0);
    reads("#PLEATS -n 4\n##PLEAT -n 4\n # PLEAT -n 4\n #PLEAT -n 4\n#pleat -n 4\n", "", 0, 0);
}

static void test_the_head_ends_at_the_first_command(void **state)
{
    (void)state;
    reads("#!/bin/sh\ncd /\n#PLEAT -n 4\n#PLEAT -n 5\n", "", 0, 3);
    reads("#PLEAT -n 4\ntrue # no comment\n\n#PLEAT -n 5\n", "1:-n|1:4", 1, 4);
    reads("true\n#PLEAT 'not closed\n", "", 0, 2); /* not read, so not wrong */
}

static void test_quotes(void **state)
{
    (void)state;
    reads("#PLEAT --name 'a  b' --notify \"mail -s \\\"x\\\" me\"\n",
          "1:--name|1:a  b|1:--notify|1:mail -s \"x\" me", 1, 0);
    reads("#PLEAT --name a\\ b # and a comment\n#PLEAT '' x\n", "1:--name|1:a b|2:|2:x", 2, 0);
    reads("#PLEAT --name a#b\n", "1:--name|1:a#b", 1, 0);
}

static void refused(const char *text, size_t size, const char *expected)
{
    struct pleat_batch batch;
    struct pleat_error err = {0};
    static const struct pleat_batch empty;
    int rc = pleat_batch_read("job.sh", text, size, &batch, &err);
    assert_true(rc < 0);
    assert_int_equal(rc, err.code);
    assert_memory_equal(&batch, &empty, sizeof(batch));
    if (strncmp(err.text, expected, strlen(expected)) != 0)
        fail_msg("'%s' does not begin with '%s'", err.text, expected);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const char open_quote[] = "#!/bin/sh\n#PLEAT -n 2\n#PLEAT --name 'x\n";
    refused(open_quote, sizeof(open_quote) - 1, "job.sh:3: a ' is not closed");
    static const char nul[] = "#PLEAT -n\0 2\n";
    refused(nul, sizeof(nul) - 1, "job.sh:1: a NUL byte");
    struct pleat_string many = {0};
    for (int i = 0; i <= PLEAT_BATCH_WORDS_MAX; i++)
        pleat_string_add(&many, i % 64 ? " x" : "\n#PLEAT x");
    refused(many.text, many.length, "job.sh:66: more than 4096 words");
    pleat_string_finish(&many);
}

/* A NUL byte in the rest of the script is the interpreter's business. */
static void test_any_bytes_below_the_head(void **state)
{
    (void)state;
    static const char text[] = "#PLEAT -n 2\nexit\n\0\xff#PLEAT\0\n";
    check(text, sizeof(text) - 1, "1:-n|1:2", 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_lines_count),
        cmocka_unit_test(test_the_head_ends_at_the_first_command),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_any_bytes_below_the_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
