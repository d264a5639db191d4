/* Growable arrays, the string builder, and errors' texts. */
#include "test.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"

PLEAT_ARRAY(numbers, int64_t);

static void test_push(void **state)
{
    (void)state;
    struct numbers numbers = {0};
    for (int64_t i = 0; i < 100000; i++)
        assert_int_equal(pleat_array_push(&numbers, i * 3), 0);
    assert_int_equal(numbers.count, 100000);
    assert_true(numbers.capacity >= numbers.count && numbers.capacity < 4 * numbers.count);
    for (int64_t i = 0; i < 100000; i++)
        assert_int_equal(numbers.items[i], i * 3);
    pleat_array_finish(&numbers);
    assert_null(numbers.items);
    assert_int_equal(numbers.count + numbers.capacity, 0);
}

static void test_reserve(void **state)
{
    (void)state;
    struct numbers numbers = {0};
    assert_int_equal(pleat_array_push(&numbers, 7), 0);
    assert_int_equal(pleat_array_reserve(&numbers, 1000), 0);
    assert_true(numbers.capacity >= 1001);
    int64_t *place = numbers.items;
    for (int64_t i = 0; i < 1000; i++)
        assert_int_equal(pleat_array_push(&numbers, i), 0);
    assert_ptr_equal(numbers.items, place); /* it had been made room for */
    assert_int_equal(pleat_array_reserve(&numbers, 0), 0);
    /* more than there can be: refused, nothing changed */
    size_t capacity = numbers.capacity;
    assert_int_equal(pleat_array_reserve(&numbers, SIZE_MAX / 16), PLEAT_E_NOMEM);
    assert_int_equal(pleat_array_reserve(&numbers, SIZE_MAX), PLEAT_E_NOMEM);
    assert_int_equal(pleat_array_reserve(&numbers, SIZE_MAX - 500), PLEAT_E_NOMEM);
    assert_int_equal(numbers.capacity, capacity);
    assert_int_equal(numbers.count, 1001);
    assert_int_equal(numbers.items[0], 7);
    pleat_array_finish(&numbers);
}

static void test_string(void **state)
{
    (void)state;
    struct pleat_string string = {0};
    pleat_string_add(&string, "");
    assert_string_equal(string.text, "");
    pleat_string_add(&string, "one");
    pleat_string_addf(&string, " %d %s", 2, "three");
    pleat_string_add_bytes(&string, "\0x", 2);
    assert_int_equal(string.length, 13);
    assert_memory_equal(string.text, "one 2 three\0x", 14);
    pleat_string_finish(&string);
    assert_null(string.text);
    assert_int_equal(string.length + string.capacity, 0);
}

static void test_string_at_every_length(void **state)
{
    (void)state;
    /* the terminating NUL must fit at every capacity */
    for (size_t length = 0; length < 200; length++) {
        struct pleat_string added = {0}, formatted = {0};
        for (size_t i = 0; i < length; i++)
            pleat_string_add_bytes(&added, "x", 1);
        pleat_string_addf(&formatted, "%.*s", (int)length, added.text ? added.text : "");
        assert_int_equal(formatted.length, length);
        assert_int_equal(strlen(formatted.text), length);
        if (length > 0)
            assert_string_equal(added.text, formatted.text);
        pleat_string_finish(&added);
        pleat_string_finish(&formatted);
    }
}

static void test_string_that_failed(void **state)
{
    (void)state;
    struct pleat_string string = {0};
    pleat_string_add(&string, "kept");
    string.failed = 1;
    pleat_string_add(&string, "lost");
    pleat_string_addf(&string, "%d", 1);
    assert_string_equal(string.text, "kept");
    pleat_string_finish(&string);
    assert_int_equal(string.failed, 0);
}

static void test_errors(void **state)
{
    (void)state;
    struct pleat_error err;
    char longer[2 * PLEAT_ERROR_TEXT_SIZE];
    assert_int_equal(pleat_error_set(&err, PLEAT_E_BUSY, "%s has %d", "x", 3), PLEAT_E_BUSY);
    assert_int_equal(err.code, PLEAT_E_BUSY);
    assert_string_equal(err.text, "x has 3");
    assert_int_equal(pleat_error_prefix(&err, PLEAT_E_BUSY, "line %d", 7), PLEAT_E_BUSY);
    assert_string_equal(err.text, "line 7: x has 3");
    assert_int_equal(pleat_error_sys(&err, ENOENT, "cannot open %s", "f"), PLEAT_E_SYSTEM);
    assert_string_equal(err.text, "cannot open f: No such file or directory");
    assert_int_equal(pleat_error_prefix(NULL, PLEAT_E_NOMEM, "nobody listens"), PLEAT_E_NOMEM);
    assert_int_equal(pleat_error_set(NULL, PLEAT_E_BUSY, "nobody listens"), PLEAT_E_BUSY);
    memset(longer, 'l', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(pleat_error_sys(&err, ENOENT, "%s", longer), PLEAT_E_SYSTEM);
    assert_int_equal(strlen(err.text), PLEAT_ERROR_TEXT_SIZE - 1);
    assert_int_equal(pleat_error_prefix(&err, PLEAT_E_SYSTEM, "%s", longer), PLEAT_E_SYSTEM);
    assert_int_equal(strlen(err.text), PLEAT_ERROR_TEXT_SIZE - 1);
}

static void test_error_names(void **state)
{
    (void)state;
    assert_string_equal(pleat_error_name(0), "ok");
    for (int code = PLEAT_E_MPI; code < 0; code++) {
        assert_string_not_equal(pleat_error_name(code), "unknown");
        for (int other = code + 1; other < 0; other++)
            assert_string_not_equal(pleat_error_name(code), pleat_error_name(other));
    }
    assert_string_equal(pleat_error_name(PLEAT_E_MPI - 1), "unknown");
    assert_string_equal(pleat_error_name(1), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_string),
        cmocka_unit_test(test_string_at_every_length),
        cmocka_unit_test(test_string_that_failed),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_error_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
