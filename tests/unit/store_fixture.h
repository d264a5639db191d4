/* store_fixture.h - a store in a directory of its own, with records of 64 bytes. */
#ifndef PLEAT_TESTS_UNIT_STORE_FIXTURE_H
#define PLEAT_TESTS_UNIT_STORE_FIXTURE_H

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store-internal.h"

struct record {
    int64_t value;
    char filling[56];
};

struct fixture {
    char directory[64];
    char path[96];
    struct pleat_store *store;
};

static inline struct pleat_store *open_store(const char *path)
{
    struct pleat_store *store = NULL;
    struct pleat_error err;
    if (pleat_store_open(path, sizeof(struct record), &store, &err))
        fail_msg("%s", err.text);
    return store;
}

static inline void reopen(struct fixture *fixture)
{
    pleat_store_close(fixture->store);
    fixture->store = NULL;
    fixture->store = open_store(fixture->path);
}

static inline int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    strcpy(fixture->directory, "/tmp/pleat-test-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->path, sizeof(fixture->path), "%s/log", fixture->directory);
    fixture->store = open_store(fixture->path);
    *state = fixture;
    return 0;
}

static inline int teardown(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    pleat_store_close(fixture->store);
    unlink(fixture->path);
    snprintf(path, sizeof(path), "%s-wal", fixture->path);
    unlink(path);
    assert_int_equal(rmdir(fixture->directory), 0);
    free(fixture);
    return 0;
}

static inline int append(struct pleat_store *store, int64_t value, struct pleat_error *err)
{
    struct record record = {.value = value};
    memset(record.filling, (int)(value % 251), sizeof(record.filling));
    return pleat_store_append(store, &record, sizeof(record), NULL, err);
}

static inline void append_committed(struct pleat_store *store, int64_t first, int64_t last)
{
    assert_int_equal(pleat_store_begin(store, NULL), 0);
    for (int64_t value = first; value <= last; value++)
        assert_int_equal(append(store, value, NULL), 0);
    assert_int_equal(pleat_store_commit(store, NULL), 0);
}

/* Checks that record n has the value n; *arg counts. */
static inline int check_record(void *arg, int64_t seq, const void *bytes)
{
    const struct record *record = bytes;
    assert_int_equal(record->value, seq);
    assert_int_equal((unsigned char)record->filling[55], seq % 251);
    ++*(int64_t *)arg;
    return 0;
}

static inline void assert_records(struct pleat_store *store, int64_t wanted)
{
    int64_t count = 0;
    struct pleat_error err;
    if (pleat_store_read(store, 1, check_record, &count, &err))
        fail_msg("%s", err.text);
    assert_int_equal(count, wanted);
    assert_int_equal(pleat_store_last_seq(store), wanted);
}

static inline void execute_sql(struct pleat_store *store, const char *text)
{
    char *why = NULL;
    if (sqlite3_exec(store->db, text, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", text, why);
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#endif
