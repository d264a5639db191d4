/* Out of memory, at every allocation in turn: said, and nothing is left half-done. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/convert.h"
#include "workload/describe.h"
#include "workload/swf.h"

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

static int until_failure; /* allocations that are still granted; < 0: all */

static int is_refused(void)
{
    if (until_failure < 0)
        return 0;
    return until_failure-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return is_refused() ? NULL : __real_realloc(old, size);
}

static const char text[] =
    "; Computer: x\n; Pleat-App: 1 table:1=9,2=5 measured=1-2=1s phases=0.5:1-2\n"
    "; Pleat-App: 2 amdahl:0.1\n; Pleat-Columns: kind minimum app\n"
    "1 9 -1 9 2 -1 -1 2 9 -1 1 3 1 1 1 1 -1 -1 2 1 1\n"
    "2 5 -1 9 2 -1 -1 2 9 -1 1 4 1 1 1 1 -1 -1 0 2 0\n";

static int read_text(struct pleat_workload *workload, struct pleat_swf_source *source,
                     struct pleat_error *err)
{
    const struct pleat_swf_options options = {.source = source};
    return pleat_swf_read_text(text, strlen(text), "text", &options, workload, NULL, err);
}

static int read_file(const char *path, struct pleat_workload *workload, struct pleat_error *err)
{
    const struct pleat_swf_options options = {.most = 0};
    return pleat_swf_read(path, &options, workload, NULL, err);
}

static void read_well(struct pleat_workload *workload, struct pleat_swf_source *source)
{
    until_failure = -1;
    memset(workload, 0, sizeof(*workload));
    memset(source, 0, sizeof(*source));
    assert_int_equal(pleat_workload_init(workload), 0);
    assert_int_equal(read_text(workload, source, NULL), 0);
}

/* Runs `step` with the first, second, ... allocation failing, until none does. */
#define AT_EVERY_ALLOCATION(step, unchanged)                                                       \
    do {                                                                                           \
        int rc_ = PLEAT_E_NOMEM;                                                                   \
        int granted_ = 0;                                                                          \
        for (; rc_ == PLEAT_E_NOMEM; granted_++) {                                                 \
            struct pleat_error err = {0};                                                          \
            until_failure = granted_;                                                              \
            rc_ = (step);                                                                          \
            until_failure = -1;                                                                    \
            if (rc_ == 0)                                                                          \
                break;                                                                             \
            assert_int_equal(rc_, PLEAT_E_NOMEM);                                                  \
            assert_int_equal(err.code, PLEAT_E_NOMEM);                                             \
            assert_true(unchanged);                                                                \
        }                                                                                          \
        assert_int_equal(rc_, 0);                                                                  \
        assert_true(granted_ > 0);                                                                 \
    } while (0)

static void test_reading(void **state)
{
    (void)state;
    struct pleat_workload workload = {0};
    struct pleat_swf_source source = {0};
    until_failure = -1;
    assert_int_equal(pleat_workload_init(&workload), 0);
    AT_EVERY_ALLOCATION(read_text(&workload, &source, &err),
                        workload.jobs.count == 0 && workload.apps.count == 1 &&
                            source.records.count == 0 && source.header.length == 0);
    assert_int_equal(workload.jobs.count, 2);
    assert_int_equal(source.records.items[0].job, 2);
    pleat_workload_finish(&workload);
    pleat_swf_source_finish(&source);
}

static void test_reading_a_file(void **state)
{
    (void)state;
    struct pleat_workload workload = {0};
    char path[] = "/tmp/pleat-swf-XXXXXX";
    int fd = mkstemp(path);
    until_failure = -1;
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(pleat_workload_init(&workload), 0);
    AT_EVERY_ALLOCATION(read_file(path, &workload, &err),
                        workload.jobs.count == 0 && workload.apps.count == 1);
    assert_int_equal(workload.jobs.count, 2);
    pleat_workload_finish(&workload);
    (void)remove(path);
}

static void test_writing(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_swf_source source;
    FILE *file = fopen("/dev/null", "w");
    read_well(&workload, &source);
    assert_non_null(file);
    assert_int_equal(setvbuf(file, NULL, _IONBF, 0), 0);
    AT_EVERY_ALLOCATION(pleat_swf_write(&workload, &source, file, "x", &err), true);
    assert_int_equal(fclose(file), 0);
    pleat_workload_finish(&workload);
    pleat_swf_source_finish(&source);
}

static void test_converting(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_swf_source source;
    struct pleat_conversion conversion;
    read_well(&workload, &source);
    pleat_conversion_default(&conversion);
    /* so that there is no room for one more application */
    workload.apps.capacity = workload.apps.count;
    AT_EVERY_ALLOCATION(pleat_workload_convert(&workload, &conversion, NULL, &err),
                        workload.apps.count == 3 && workload.jobs.items[0].kind == PLEAT_RIGID);
    assert_int_equal(workload.jobs.items[0].app, 3);
    pleat_workload_finish(&workload);
    pleat_swf_source_finish(&source);
}

static void test_describing(void **state)
{
    (void)state;
    struct pleat_workload workload;
    struct pleat_swf_source source;
    struct pleat_description description;
    read_well(&workload, &source);
    AT_EVERY_ALLOCATION(pleat_workload_describe(&workload, &description, &err), true);
    assert_int_equal(description.jobs, 2);
    pleat_workload_finish(&workload);
    pleat_swf_source_finish(&source);
}

static void test_initializing(void **state)
{
    (void)state;
    struct pleat_workload workload = {0};
    until_failure = 0;
    int rc = pleat_workload_init(&workload);
    until_failure = -1;
    assert_int_equal(rc, PLEAT_E_NOMEM);
    assert_int_equal(workload.apps.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),    cmocka_unit_test(test_reading_a_file),
        cmocka_unit_test(test_writing),    cmocka_unit_test(test_converting),
        cmocka_unit_test(test_describing), cmocka_unit_test(test_initializing),
    };
    until_failure = -1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
