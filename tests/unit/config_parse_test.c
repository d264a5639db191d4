/* What is wrong in a text comes back with its own name and line, whoever else reads one then. */
#include "test.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "config/parse.h"

enum { THREADS = 8, TIMES = 200 };

static int check_size(cfg_t *cfg, cfg_opt_t *option)
{
    long value = cfg_opt_getnint(option, cfg_opt_size(option) - 1);
    if (value < 100)
        return 0;
    cfg_error(cfg, "%s = %ld", option->name, value);
    return -1;
}

/* 0, with the number of things; or the error. -1 things: the defaults are wrong. For any thread, so
 * nothing is asserted. */
static int read_text(const char *name, const char *text, int *things, struct pleat_error *err)
{
    cfg_opt_t thing[] = {CFG_INT("size", 1, CFGF_NONE), CFG_END()};
    cfg_opt_t options[] = {CFG_SEC("thing", thing, CFGF_MULTI | CFGF_TITLE),
                           CFG_STR_LIST("words", "{a, b}", CFGF_NONE), CFG_END()};
    cfg_t *cfg = pleat_config_open(options);
    if (!cfg)
        return PLEAT_E_NOMEM;
    cfg_set_validate_func(cfg, "thing|size", check_size);
    int rc = pleat_config_parse(cfg, name, text, err);
    if (!rc)
        *things = strcmp(cfg_getnstr(cfg, "words", 1), "b") ? -1 : (int)cfg_size(cfg, "thing");
    pleat_config_close(cfg);
    return rc;
}

static void refuses(const char *text, const char *wrong)
{
    struct pleat_error err = {0};
    int things;
    assert_int_equal(read_text("file", text, &things, &err), PLEAT_E_INVALID);
    assert_string_equal(err.text, wrong);
}

static void test_errors_have_name_and_line(void **state)
{
    struct pleat_error err = {0};
    int things = 0;
    (void)state;
    refuses("thing a {\n  size = 1\n  size = 100\n  size = 200\n}\n", "file:3: size = 100");
    refuses("\nnothing = 1\n", "file:2: no such option 'nothing'");
    refuses("thing a {\n size = x }", "file:2: invalid integer value for option 'size'");
    assert_int_equal(read_text("file", "thing a {}\nthing b { size = 99 }\n", &things, &err), 0);
    assert_int_equal(things, 2);
    assert_int_equal(read_text("file", "", &things, &err), 0);
    assert_int_equal(things, 0);
    assert_int_equal(read_text("file", "x = 1", &things, NULL), PLEAT_E_INVALID);
}

/* Every second one has a mistake in a line of its own. */
static void *read_many(void *arg)
{
    long number = (long)arg, wrong = 0;
    char name[32], text[256] = "", expected[128];
    bool good = number % 2;
    snprintf(name, sizeof(name), "file-%ld", number);
    for (long i = 0; i < number; i++)
        strcat(text, "\n");
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "thing t { size = %ld }\n",
             good ? number : number + 100);
    snprintf(expected, sizeof(expected), "%s:%ld: size = %ld", name, number + 1, number + 100);
    for (int i = 0; i < TIMES; i++) {
        struct pleat_error err = {0};
        int things = 0, rc = read_text(name, text, &things, &err);
        wrong +=
            good ? rc || things != 1 : rc != PLEAT_E_INVALID || strcmp(err.text, expected) != 0;
    }
    return (void *)wrong; /* NOLINT(performance-no-int-to-ptr) */
}

static void test_threads_do_not_mix(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (long i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_many, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

/* Two that are open at once: each has its own. */
static void test_two_at_once(void **state)
{
    cfg_opt_t options[] = {CFG_INT("size", 1, CFGF_NONE), CFG_END()};
    struct pleat_error first = {0}, second = {0};
    cfg_t *a = pleat_config_open(options), *b = pleat_config_open(options);
    (void)state;
    cfg_set_validate_func(a, "size", check_size);
    cfg_set_validate_func(b, "size", check_size);
    assert_int_equal(pleat_config_parse(a, "a", "size = 100", &first), PLEAT_E_INVALID);
    assert_int_equal(pleat_config_parse(b, "b", "\nsize = 101", &second), PLEAT_E_INVALID);
    cfg_error(a, "nobody reads it any more");
    pleat_config_fail(b, &first);
    assert_string_equal(first.text, "a:1: size = 100");
    assert_string_equal(second.text, "b:2: size = 101");
    pleat_config_close(a);
    pleat_config_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_have_name_and_line),
        cmocka_unit_test(test_threads_do_not_mix),
        cmocka_unit_test(test_two_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
