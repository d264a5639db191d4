/* Reading members of a message's params. */
#include "test.h"

#include <string.h>

#include "wire/message.h"

static json_t *sample(void)
{
    json_t *object = json_loads("{\"s\":\"text\",\"i\":7,\"b\":true,\"r\":2.5,\"n\":null,"
                                "\"low\":-9223372036854775808}",
                                0, NULL);
    assert_non_null(object);
    return object;
}

static void test_values(void **state)
{
    (void)state;
    json_t *object = sample();
    const char *text = NULL;
    int64_t number = 0;
    bool flag = false;
    double real = 0;
    assert_int_equal(pleat_get_string(object, "s", true, &text, NULL), 0);
    assert_string_equal(text, "text");
    assert_int_equal(pleat_get_int(object, "i", true, 7, 7, &number, NULL), 0);
    assert_int_equal(number, 7);
    assert_int_equal(pleat_get_int(object, "low", true, INT64_MIN, 0, &number, NULL), 0);
    assert_true(number == INT64_MIN);
    assert_int_equal(pleat_get_bool(object, "b", true, &flag, NULL), 0);
    assert_true(flag);
    assert_int_equal(pleat_get_real(object, "r", true, &real, NULL), 0);
    assert_true(real > 2.4 && real < 2.6);
    assert_int_equal(pleat_get_real(object, "i", true, &real, NULL), 0);
    assert_true(real > 6.9 && real < 7.1);
    json_decref(object);
}

static void test_absent(void **state)
{
    (void)state;
    json_t *object = sample();
    struct pleat_error err;
    const char *text = "as it was";
    int64_t number = 42;
    bool flag = true;
    double real = 1;
    assert_int_equal(pleat_get_string(object, "x", false, &text, &err), 0);
    assert_string_equal(text, "as it was");
    assert_int_equal(pleat_get_int(NULL, "i", false, 0, 1, &number, &err), 0);
    assert_int_equal(number, 42);
    assert_int_equal(pleat_get_bool(object, "x", false, &flag, &err), 0);
    assert_true(flag);
    assert_int_equal(pleat_get_real(object, "x", false, &real, &err), 0);
    assert_int_equal(pleat_get_int(NULL, "walltime_s", true, 0, 1, &number, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "'walltime_s' is missing"));
    assert_int_equal(pleat_get_string(object, "x", true, &text, &err), PLEAT_E_INVALID);
    assert_int_equal(pleat_get_bool(object, "x", true, &flag, &err), PLEAT_E_INVALID);
    assert_int_equal(pleat_get_real(object, "x", true, &real, &err), PLEAT_E_INVALID);
    json_decref(object);
}

static void test_wrong(void **state)
{
    (void)state;
    json_t *object = sample();
    struct pleat_error err;
    const char *text = "as it was";
    int64_t number = 42;
    bool flag = true;
    double real = 1;
    assert_int_equal(pleat_get_string(object, "i", false, &text, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "'i' must be a string"));
    assert_string_equal(text, "as it was");
    assert_int_equal(pleat_get_int(object, "r", false, 0, 9, &number, &err), PLEAT_E_INVALID);
    assert_int_equal(pleat_get_int(object, "n", false, 0, 9, &number, &err), PLEAT_E_INVALID);
    assert_int_equal(pleat_get_int(object, "i", false, 8, 9, &number, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "'i' is 7; it must be from 8 to 9"));
    assert_int_equal(pleat_get_int(object, "i", false, 0, 6, &number, &err), PLEAT_E_INVALID);
    assert_int_equal(number, 42);
    assert_int_equal(pleat_get_bool(object, "i", false, &flag, &err), PLEAT_E_INVALID);
    assert_int_equal(pleat_get_real(object, "s", false, &real, &err), PLEAT_E_INVALID);
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
