/* Damaged stores: what is good of them becomes a store again. */
#include "store/salvage.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "store/store-internal.h"
#include "test.h"

enum { RECORDS = 400, SPECS = 30, RECORD_SIZE = 64, ROUNDS = 60 };

static char directory[] = "/tmp/pleat-salvage-XXXXXX";
static char path[PATH_MAX];

static void fill_record(int64_t seq, unsigned char *record)
{
    for (int i = 0; i < RECORD_SIZE; i++)
        record[i] = (unsigned char)(seq * 7 + i);
}

/* Every third is longer than a page, so that it goes over several. */
static void fill_spec(int64_t id, char *text, size_t size)
{
    size_t length = id % 3 ? 100 : size - 1;
    memset(text, 'a' + (int)(id % 26), length);
    text[length] = '\0';
}

static void make_store(void)
{
    struct pleat_store *store = NULL;
    unsigned char record[RECORD_SIZE];
    static char text[20000];
    char command[PATH_MAX + 32];
    snprintf(command, sizeof(command), "rm -rf %s/*", directory);
    assert_int_equal(system(command), 0);
    assert_int_equal(pleat_store_open(path, RECORD_SIZE, &store, NULL), 0);
    assert_int_equal(pleat_store_begin(store, NULL), 0);
    assert_int_equal(pleat_store_put_meta(store, "instance", "0123456789abcdef", NULL), 0);
    for (int64_t seq = 1; seq <= RECORDS; seq++) {
        struct pleat_note note = {.kind = "state", .job = seq % SPECS + 1, .data = "{}"};
        fill_record(seq, record);
        assert_int_equal(pleat_store_append(store, record, sizeof(record), NULL, NULL), 0);
        assert_int_equal(pleat_store_append_note(store, &note, NULL, NULL), 0);
    }
    for (int64_t id = 1; id <= SPECS; id++) {
        fill_spec(id, text, sizeof(text));
        assert_int_equal(pleat_store_put_spec(store, id, text, NULL, NULL), 0);
    }
    assert_int_equal(pleat_store_commit(store, NULL), 0);
    pleat_store_close(store);
}

static int check_record(void *arg, int64_t seq, const void *record)
{
    unsigned char expected[RECORD_SIZE];
    fill_record(seq, expected);
    assert_memory_equal(record, expected, sizeof(expected));
    ++*(int64_t *)arg;
    return 0;
}

/* All that is in the store is as it was written; how many specs there are. */
static int check_store(int64_t records)
{
    struct pleat_store *store = NULL;
    static char text[20000];
    int64_t read = 0;
    int specs = 0;
    assert_int_equal(pleat_store_open(path, RECORD_SIZE, &store, NULL), 0);
    assert_int_equal(pleat_store_last_seq(store), records);
    assert_int_equal(pleat_store_read(store, 1, check_record, &read, NULL), 0);
    assert_int_equal(read, records);
    for (int64_t id = 1; id <= SPECS; id++) {
        struct pleat_string spec = {0};
        if (pleat_store_get_spec(store, id, &spec, NULL) == 0) {
            fill_spec(id, text, sizeof(text));
            assert_string_equal(spec.text, text);
            specs++;
        }
        pleat_string_finish(&spec);
    }
    pleat_store_close(store);
    return specs;
}

static void sql(struct pleat_store *store, const char *text)
{
    assert_int_equal(sqlite3_exec(store->db, text, NULL, NULL, NULL), SQLITE_OK);
}

/* As the daemon does it, with checkpoints at 100, 200 and 300: records up to 200 are aside. */
static void trim_store(void)
{
    struct pleat_store *store = NULL;
    assert_int_equal(pleat_store_open(path, RECORD_SIZE, &store, NULL), 0);
    for (int64_t at = 100; at <= 200; at += 100) {
        assert_int_equal(pleat_store_set_aside(store, at, NULL), 0);
        assert_int_equal(pleat_store_begin(store, NULL), 0);
        assert_int_equal(pleat_store_put_checkpoint(store, "end", 3, NULL), 0);
        assert_int_equal(pleat_store_trim(store, at, NULL), 0);
        assert_int_equal(pleat_store_commit(store, NULL), 0);
    }
    sql(store, "DELETE FROM checkpoint; INSERT INTO checkpoint (seq, state) VALUES (200, CAST('at "
               "200' AS BLOB)), (300, CAST('at 300' AS BLOB))");
    pleat_store_close(store);
}

static void overwrite(const char *file, off_t at, const void *bytes, size_t size)
{
    int fd = open(file, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, at), (ssize_t)size);
    close(fd);
}

static struct pleat_salvage salvage(int64_t most_seq)
{
    struct pleat_salvage result;
    struct pleat_error err = {0};
    int rc = pleat_store_salvage(path, RECORD_SIZE, most_seq, 1795287483000000, &result, &err);
    if (rc)
        fail_msg("%s", err.text);
    assert_int_equal(access(result.aside, F_OK), 0);
    return result;
}

static void test_without_its_header(void **state)
{
    (void)state;
    struct pleat_store *store = NULL;
    make_store();
    overwrite(path, 0, "This was the header of a database, once.", 40);
    assert_int_equal(pleat_store_open(path, RECORD_SIZE, &store, NULL), PLEAT_E_CORRUPT);
    struct pleat_salvage result = salvage(INT64_MAX);
    assert_int_equal(result.records, RECORDS);
    assert_int_equal(result.after, 0);
    assert_int_equal(result.specs, SPECS);
    assert_int_equal(result.last_job, SPECS);
    assert_non_null(strstr(result.aside, ".damaged-20261121T"));
    assert_int_equal(check_store(RECORDS), SPECS);
    assert_int_equal(pleat_store_open(path, RECORD_SIZE, &store, NULL), 0);
    struct pleat_string instance = {0};
    assert_int_equal(pleat_store_get_meta(store, "instance", &instance, NULL), 0);
    assert_string_equal(instance.text, "0123456789abcdef");
    pleat_string_finish(&instance);
    pleat_store_close(store);
}

static void test_up_to_a_record(void **state)
{
    (void)state;
    make_store();
    struct pleat_salvage result = salvage(100);
    assert_int_equal(result.records, 100);
    assert_int_equal(result.after, RECORDS - 100);
    assert_int_equal(check_store(100), SPECS);
}

static void test_nothing_but_garbage(void **state)
{
    (void)state;
    static const char text[] = "garbage";
    make_store();
    assert_int_equal(truncate(path, 0), 0);
    overwrite(path, 0, text, sizeof(text));
    struct pleat_salvage result = salvage(INT64_MAX);
    assert_int_equal(result.records, 0);
    assert_int_equal(result.last_job, 0);
    assert_int_equal(check_store(0), 0);
}

/* It was interrupted when the new file was complete and the old one not yet, or just, renamed. */
static void test_interrupted(void **state)
{
    (void)state;
    char ready[PATH_MAX + 16], other[PATH_MAX + 16];
    for (int renamed = 0; renamed < 2; renamed++) {
        make_store();
        struct pleat_salvage result = salvage(50);
        snprintf(ready, sizeof(ready), "%s.salvaged", path);
        snprintf(other, sizeof(other), "%s.other", path);
        assert_int_equal(rename(path, ready), 0);
        if (!renamed)
            assert_int_equal(rename(result.aside, path), 0);
        assert_int_equal(check_store(50), SPECS);
        assert_int_equal(access(ready, F_OK), -1);
    }
}

/* ---- a log of which records were moved aside ---- */

static struct pleat_salvage trim_and_spoil(const char *how)
{
    struct pleat_store *store = NULL;
    make_store();
    trim_store();
    assert_int_equal(pleat_store_open(path, RECORD_SIZE, &store, NULL), 0);
    assert_int_equal(pleat_store_first_seq(store), 201);
    sql(store, how);
    pleat_store_close(store);
    overwrite(path, 0, "This was the header of a database, once.", 40);
    return salvage(INT64_MAX);
}

/* Where the store begins, and its checkpoints. */
static void check_trimmed(int64_t first, int64_t last, int64_t newest, int64_t oldest)
{
    struct pleat_store *store = NULL;
    assert_int_equal(pleat_store_open(path, RECORD_SIZE, &store, NULL), 0);
    assert_int_equal(pleat_store_first_seq(store), first);
    assert_int_equal(pleat_store_last_seq(store), last);
    int64_t seq = INT64_MAX, found[2] = {0};
    for (int i = 0; i < 2; i++, seq--) {
        struct pleat_string text = {0};
        if (pleat_store_get_checkpoint(store, seq, &seq, &text, NULL))
            break;
        found[i] = seq;
        assert_non_null(strstr(text.text, "at "));
        pleat_string_finish(&text);
    }
    assert_int_equal(found[0], newest);
    assert_int_equal(found[1], oldest);
    pleat_store_close(store);
}

static void test_trimmed(void **state)
{
    (void)state;
    struct pleat_salvage result = trim_and_spoil("SELECT 1");
    assert_int_equal(result.records, RECORDS);
    assert_int_equal(result.after, 0);
    check_trimmed(201, RECORDS, 300, 200);
    assert_int_equal(check_store(RECORDS), SPECS); /* those that are aside are read there */

    result = trim_and_spoil("UPDATE log SET checksum = 0 WHERE seq = 350");
    assert_int_equal(result.records, 349);
    assert_int_equal(result.after, RECORDS - 350);
    check_trimmed(201, 349, 300, 200);
    assert_int_equal(check_store(349), SPECS);

    result = trim_and_spoil("UPDATE log SET checksum = 0 WHERE seq = 250;"
                            "DELETE FROM checkpoint WHERE seq = 300");
    assert_int_equal(result.records, 249);
    assert_int_equal(result.after, RECORDS - 250);
    check_trimmed(201, 249, 200, 0);
    assert_int_equal(check_store(249), SPECS);

    result = trim_and_spoil("DELETE FROM log");
    assert_int_equal(result.records, 300);
    check_trimmed(301, 300, 300, 200);
}

/* A later checkpoint makes up for it; and what is between does not keep the log from being trimmed.
 */
static void test_a_gap_before_a_checkpoint(void **state)
{
    (void)state;
    struct pleat_store *store = NULL;
    int64_t read = 0;
    struct pleat_salvage result = trim_and_spoil("UPDATE log SET checksum = 0 WHERE seq = 250");
    assert_int_equal(result.records, RECORDS);
    assert_int_equal(result.after, 0);
    check_trimmed(201, RECORDS, 300, 200);
    assert_int_equal(pleat_store_open(path, RECORD_SIZE, &store, NULL), 0);
    assert_int_equal(pleat_store_read(store, 301, check_record, &read, NULL), 0);
    assert_int_equal(read, RECORDS - 300);
    assert_int_equal(pleat_store_set_aside(store, 300, NULL), PLEAT_E_CORRUPT);
    assert_int_equal(pleat_store_begin(store, NULL), 0);
    assert_int_equal(pleat_store_put_checkpoint(store, "at 400", 6, NULL), 0);
    assert_int_equal(pleat_store_trim(store, 300, NULL), 0);
    assert_int_equal(pleat_store_commit(store, NULL), 0);
    pleat_store_close(store);
    check_trimmed(301, RECORDS, 400, 300);
}

static void test_trimmed_without_checkpoints(void **state)
{
    (void)state;
    struct pleat_salvage result = trim_and_spoil("DELETE FROM checkpoint");
    assert_int_equal(result.records, RECORDS);
    check_trimmed(1, RECORDS, 0, 0);
    assert_int_equal(check_store(RECORDS), SPECS);

    result = trim_and_spoil("DELETE FROM checkpoint; DELETE FROM log");
    assert_int_equal(result.records, 200);
    check_trimmed(1, 200, 0, 0);
    assert_int_equal(check_store(200), SPECS);
}

static int count_aside(void)
{
    char command[PATH_MAX + 64];
    int count = -1;
    snprintf(command, sizeof(command), "ls %s-archive | wc -l", path);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    assert_int_equal(fscanf(output, "%d", &count), 1);
    assert_int_equal(pclose(output), 0);
    return count;
}

/* Also some that were moved aside are damaged: the new log has other records with the same numbers,
 * and none of the old ones may come between them. */
static void test_trimmed_and_begun_anew(void **state)
{
    (void)state;
    struct pleat_store *store = NULL;
    unsigned char record[RECORD_SIZE];
    char segment[PATH_MAX + 32];
    make_store();
    trim_store();
    overwrite(path, 0, "This was the header of a database, once.", 40);
    assert_int_equal(truncate(path, 4096), 0);
    snprintf(segment, sizeof(segment), "%s-archive/%020d", path, 1);
    overwrite(segment, 500, "damage", 6);
    struct pleat_salvage result = salvage(INT64_MAX);
    assert_int_equal(result.records, 0);
    assert_int_equal(count_aside(), 2);
    assert_int_equal(pleat_store_open(path, RECORD_SIZE, &store, NULL), 0);
    assert_int_equal(pleat_store_begin(store, NULL), 0);
    for (int64_t seq = 1; seq <= 160; seq++) {
        fill_record(seq, record);
        assert_int_equal(pleat_store_append(store, record, sizeof(record), NULL, NULL), 0);
    }
    assert_int_equal(pleat_store_commit(store, NULL), 0);
    for (int64_t at = 50; at <= 150; at += 100) {
        assert_int_equal(pleat_store_set_aside(store, at, NULL), 0);
        assert_int_equal(pleat_store_begin(store, NULL), 0);
        assert_int_equal(pleat_store_put_checkpoint(store, "at 160", 6, NULL), 0);
        assert_int_equal(pleat_store_trim(store, at, NULL), 0);
        assert_int_equal(pleat_store_commit(store, NULL), 0);
        assert_int_equal(count_aside(), at < 100 ? 1 : 2);
    }
    pleat_store_close(store);
    check_trimmed(151, 160, 160, 0);
    assert_int_equal(check_store(160), 0);
}

static void test_random_damage(void **state)
{
    (void)state;
    struct pleat_random random;
    pleat_random_init(&random, 17);
    for (int round = 0; round < ROUNDS; round++) {
        struct stat st;
        make_store();
        assert_int_equal(stat(path, &st), 0);
        uint64_t what = pleat_random_below(&random, 3);
        unsigned char bytes[4096];
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (unsigned char)pleat_random_below(&random, 256);
        off_t at = (off_t)pleat_random_below(&random, (uint64_t)st.st_size);
        if (what == 0)
            assert_int_equal(truncate(path, at), 0);
        else if (what == 1)
            overwrite(path, at - at % 4096, bytes, sizeof(bytes));
        else
            for (int i = 0; i < 20; i++)
                overwrite(path, (off_t)pleat_random_below(&random, (uint64_t)st.st_size), bytes + i,
                          1);
        struct pleat_salvage result = salvage(INT64_MAX);
        assert_in_range(result.records, 0, RECORDS);
        assert_int_equal(check_store(result.records), result.specs);
        if (what == 1)
            assert_true(result.records + result.after > RECORDS / 2 || result.specs > SPECS / 2);
    }
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof(path), "%s/log.sqlite", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[PATH_MAX + 32];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_its_header),
        cmocka_unit_test(test_up_to_a_record),
        cmocka_unit_test(test_nothing_but_garbage),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_random_damage),
        cmocka_unit_test(test_trimmed),
        cmocka_unit_test(test_a_gap_before_a_checkpoint),
        cmocka_unit_test(test_trimmed_without_checkpoints),
        cmocka_unit_test(test_trimmed_and_begun_anew),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
