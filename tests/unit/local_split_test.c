/* On which nodes of a divided machine others are busy: from texts as /proc/stat has them. */
#include <stdio.h>
#include <string.h>

#include "test.h"

#include "site/local_split.h"

enum { CPUS = 4 };

struct bed {
    struct pleat_local_split *split;
    unsigned long long busy[CPUS];
    uint64_t ours; /* ticks of process 12 */
};

static void begin(struct bed *bed, const char *cpus, uint32_t nodes)
{
    struct pleat_cpu_list list = {0};
    memset(bed, 0, sizeof(*bed));
    assert_int_equal(pleat_cpu_list_parse(cpus, &list, NULL), 0);
    assert_int_equal(pleat_local_split_create(&list, nodes, &bed->split), 0);
    pleat_array_finish(&list);
}

/* A second passes in which CPU i is busy for busy[i] ticks, and process 12 used `ours` of them on
 * `cpu`. */
static void pass(struct bed *bed, const unsigned long long busy[CPUS], int cpu, uint64_t ours)
{
    char text[600] = "";
    for (int c = 0; c < CPUS; c++) {
        size_t used = strlen(text);
        bed->busy[c] += busy[c];
        snprintf(text + used, sizeof(text) - used, "cpu%d %llu 0 0 1000 7 0 0 0 0 0\n", c,
                 bed->busy[c]);
    }
    strcat(text, "cpu9999 1 2 3 4 5 6 7\ncpux\nintr 12345\n");
    FILE *stat = fmemopen(text, strlen(text), "r");
    assert_non_null(stat);
    pleat_local_split_begin(bed->split, stat);
    fclose(stat);
    bed->ours += ours;
    pleat_local_split_ours(bed->split, 11, -1, 5);
    pleat_local_split_ours(bed->split, 12, cpu, bed->ours);
    pleat_local_split_end(bed->split, 1000000);
}

static void expect(const struct bed *bed, int32_t whole, int32_t first, int32_t second)
{
    int32_t parts[2] = {-1, -1};
    pleat_local_split_parts(bed->split, whole, parts);
    assert_int_equal(parts[0], first);
    assert_int_equal(parts[1], second);
}

static void test_where_others_are(void **state)
{
    (void)state;
    struct bed bed;
    begin(&bed, "0-3", 2);
    expect(&bed, 0, 0, 0);
    expect(&bed, 3, 2, 1); /* nothing was measured: by the number of slots */
    pass(&bed, (const unsigned long long[]){0, 0, 100, 100}, 2, 100);
    expect(&bed, 1, 0, 1); /* on CPU 2 that is ours */
    expect(&bed, 4, 0, 4);
    for (int i = 0; i < 60; i++)
        pass(&bed, (const unsigned long long[]){100, 100, 100, 100}, 3, 100);
    expect(&bed, 3, 2, 1);
    for (int i = 0; i < 60; i++) /* ours moves to the other node, and others, too */
        pass(&bed, (const unsigned long long[]){100, 100, 100, 100}, 0, 100);
    expect(&bed, 3, 1, 2);
    pleat_local_split_destroy(bed.split);
}

/* A CPU that both nodes have counts half for each. */
static void test_shared_cpus(void **state)
{
    (void)state;
    struct bed bed;
    begin(&bed, "1,0,0,2", 2);
    pass(&bed, (const unsigned long long[]){100, 0, 0, 100}, 3, 0);
    expect(&bed, 2, 1, 1);
    pass(&bed, (const unsigned long long[]){0, 1000, 0, 0}, 3, 0);
    expect(&bed, 2, 2, 0);
    pleat_local_split_destroy(bed.split);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_others_are),
        cmocka_unit_test(test_shared_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
