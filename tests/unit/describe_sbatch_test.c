/* What the lines #SBATCH of a script mean here, and what is said to mean nothing. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "describe/sbatch.h"

static struct pleat_error err;

/* The words as "LINE:WORD|LINE:WORD". */
static void reads(const char *text, bool sized, const char *expected, const char *left, int first)
{
    struct pleat_sbatch sbatch;
    struct pleat_string words = {0};
    if (pleat_sbatch_read("job.sh", text, strlen(text), sized, &sbatch, &err))
        fail_msg("%s: %s", text, err.text);
    for (size_t i = 0; i < sbatch.words.count; i++)
        pleat_string_addf(&words, "%s%d:%s", i ? "|" : "", sbatch.words.items[i].line,
                          sbatch.words.items[i].text);
    assert_string_equal(words.text ? words.text : "", expected);
    assert_string_equal(sbatch.left.text ? sbatch.left.text : "", left);
    assert_int_equal(sbatch.first, first);
    pleat_string_finish(&words);
    pleat_sbatch_finish(&sbatch);
}

static void refuses(const char *text, const char *part)
{
    struct pleat_sbatch sbatch;
    assert_int_equal(pleat_sbatch_read("job.sh", text, strlen(text), false, &sbatch, &err),
                     PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, part));
    assert_non_null(strstr(err.text, "job.sh:2: "));
}

static void test_which_lines_count(void **state)
{
    (void)state;
    reads("", false, "", "", 0);
    reads("#!/bin/sh\n#SBATCHX -n 4\n##SBATCH -n 4\n #SBATCH -n 4\n", false, "", "", 0);
    reads("#!/bin/sh\n\n# x\n#SBATCH -J a\ntrue\n#SBATCH -J b\n", false, "4:--name|4:a", "", 4);
}

static void test_equivalents(void **state)
{
    (void)state;
    reads("#SBATCH --job-name='a b' -D /x # comment\n", false, "1:--name|1:a b|1:--chdir|1:/x", "",
          1);
    reads("#SBATCH -o out-%j.txt --error=%x.%u --input in\n", false,
          "1:--output|1:out-%j.txt|1:--error|1:%x.%u|1:--input|1:in", "", 1);
    reads("#SBATCH --open-mode=append --export=NONE\n#SBATCH --export A,B\n", false,
          "1:--append|1:--export|1:none|2:--export|2:A,B", "", 1);
    reads("#SBATCH -H --dependency=afterok:7\n", false, "1:--hold|1:--dependency|1:afterok:7", "",
          1);
    reads("#SBATCH -a 0-9%2 -o out-%A_%a\n#SBATCH --mem=4G\n#SBATCH --mem 700 --mem=0\n", false,
          "1:--array|1:0-9%2|1:--output|1:out-%A_%a|2:--memory|2:4G|3:--memory|3:700M", "", 1);
    refuses("#!/bin/sh\n#SBATCH --mem=much\n", "--mem wants");
    reads("#SBATCH --open-mode=truncate --export=ALL\n", false, "1:--export|1:all", "", 1);
}

static void test_times(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"90", "5400s"},      {"1:30", "90s"},
                                           {"1:30:00", "5400s"}, {"2-12", "216000s"},
                                           {"1-0:30", "88200s"}, {"1-1:1:1", "90061s"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[64], words[64];
        snprintf(text, sizeof(text), "#SBATCH --time=%s\n", cases[i][0]);
        snprintf(words, sizeof(words), "1:--time-limit|1:%s", cases[i][1]);
        reads(text, false, words, "", 1);
    }
    reads("#SBATCH -t0\n", false, "", "", 1);
    refuses("#!/bin/sh\n#SBATCH -t 1h\n", "not '1h'");
    refuses("#!/bin/sh\n#SBATCH --time=1:2:3:4\n", "--time wants");
    refuses("#!/bin/sh\n#SBATCH --time=-1\n", "--time wants");
    refuses("#!/bin/sh\n#SBATCH --time=\n", "--time wants");
}

static void test_sizes(void **state)
{
    (void)state;
    reads("#SBATCH -n4\n", false, "1:--processors|1:4", "", 1);
    reads("#SBATCH -n 4\n#SBATCH -c 2\n", false, "2:--cpus-per-task|2:2|2:--processors|2:4", "", 1);
    reads("#SBATCH -c 6\n", false, "1:--cpus-per-task|1:6", "", 1);
    reads("#SBATCH -c 6\n", true, "", "", 1);
    reads("#SBATCH -N 2 --ntasks-per-node=3\n", false, "1:--processors|1:6", "", 1);
    reads("#SBATCH -N 1 -n 5\n", false, "1:--processors|1:5", "", 1);
    reads("#SBATCH -N 1\n", false, "", "", 1);
    reads("#SBATCH -N 2\n", false, "", "--nodes", 1);
    reads("#SBATCH -N 2-4 -n 3\n", false, "1:--processors|1:3", "--nodes", 1);
    reads("#SBATCH -n 4\n", true, "", "", 1); /* #PLEAT says otherwise */
    refuses("#!/bin/sh\n#SBATCH -n x\n", "--ntasks wants a number");
    refuses("#!/bin/sh\n#SBATCH -n 0\n", "--ntasks wants a number");
    refuses("#!/bin/sh\n#SBATCH --ntasks\n", "--ntasks wants a value");
    refuses("#!/bin/sh\n#SBATCH --job-name 'x\n", "closed");
}

static void test_what_has_no_equivalent(void **state)
{
    (void)state;
    reads("#SBATCH --mem-per-cpu=4G -p long\n#SBATCH --exclusive -n 2\n#SBATCH --mem-per-cpu 2G\n",
          false, "2:--processors|2:2", "--mem-per-cpu, -p, --exclusive", 1);
    reads("#SBATCH -o out-%N --export=A=1\n", false, "", "--output, --export", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_which_lines_count),
                                       cmocka_unit_test(test_equivalents),
                                       cmocka_unit_test(test_times), cmocka_unit_test(test_sizes),
                                       cmocka_unit_test(test_what_has_no_equivalent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
