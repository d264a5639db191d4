/* The store when nothing goes wrong, and when what is in the file is wrong. */
#include "store_fixture.h"

#include <sys/stat.h>

static void test_records_survive_reopening(void **state)
{
    struct fixture *fixture = *state;
    struct stat st;
    assert_records(fixture->store, 0);
    append_committed(fixture->store, 1, 1000);
    assert_records(fixture->store, 1000);
    reopen(fixture);
    assert_records(fixture->store, 1000);
    append_committed(fixture->store, 1001, 1010);
    assert_records(fixture->store, 1010);
    assert_int_equal(stat(fixture->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static int stop_at(void *arg, int64_t seq, const void *record)
{
    int64_t *where = arg;
    (void)record;
    return seq == *where ? 77 : 0;
}

static int first_seq(void *arg, int64_t seq, const void *record)
{
    (void)record;
    *(int64_t *)arg = seq;
    return 1;
}

static void test_reading_from_and_stopping(void **state)
{
    struct fixture *fixture = *state;
    append_committed(fixture->store, 1, 10);
    int64_t where = 4, first = 0;
    assert_int_equal(pleat_store_read(fixture->store, 1, stop_at, &where, NULL), 77);
    where = 4;
    assert_int_equal(pleat_store_read(fixture->store, 5, stop_at, &where, NULL), 0);
    assert_int_equal(pleat_store_read(fixture->store, 7, first_seq, &first, NULL), 1);
    assert_int_equal(first, 7);
    assert_int_equal(pleat_store_read(fixture->store, -3, first_seq, &first, NULL), 1);
    assert_int_equal(first, 1);
    first = 0;
    assert_int_equal(pleat_store_read(fixture->store, 11, first_seq, &first, NULL), 0);
    assert_int_equal(first, 0);
}

static void test_rollback_leaves_no_trace(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_string text = {0};
    struct pleat_note note = {.kind = "x", .job = 1};
    append_committed(fixture->store, 1, 3);
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    assert_int_equal(append(fixture->store, 99, NULL), 0);
    assert_int_equal(pleat_store_put_spec(fixture->store, 1, "spec", NULL, NULL), 0);
    assert_int_equal(pleat_store_put_meta(fixture->store, "k", "v", NULL), 0);
    assert_int_equal(pleat_store_append_note(fixture->store, &note, NULL, NULL), 0);
    assert_int_equal(pleat_store_last_seq(fixture->store), 4);
    pleat_store_rollback(fixture->store);
    assert_int_equal(pleat_store_commit(fixture->store, NULL), PLEAT_E_STATE); /* none is open */
    assert_records(fixture->store, 3);
    assert_int_equal(pleat_store_get_spec(fixture->store, 1, &text, NULL), PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_store_get_meta(fixture->store, "k", &text, NULL), PLEAT_E_NOTFOUND);
    append_committed(fixture->store, 4, 5);
    assert_records(fixture->store, 5);
    pleat_store_rollback(fixture->store); /* none open: nothing happens */
    /* closing rolls back as well */
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    assert_int_equal(append(fixture->store, 99, NULL), 0);
    reopen(fixture);
    assert_records(fixture->store, 5);
}

static void test_wrong_state(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_error err;
    struct pleat_note note = {.kind = "x", .job = 1};
    assert_int_equal(append(fixture->store, 1, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_store_put_spec(fixture->store, 1, "", NULL, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_store_put_meta(fixture->store, "k", "", &err), PLEAT_E_STATE);
    assert_int_equal(pleat_store_append_note(fixture->store, &note, NULL, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_store_commit(fixture->store, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_store_begin(fixture->store, &err), 0);
    assert_int_equal(pleat_store_begin(fixture->store, &err), PLEAT_E_STATE);
    /* these leave the transaction as it was */
    assert_int_equal(pleat_store_append(fixture->store, "short", 5, NULL, &err), PLEAT_E_INVALID);
    assert_int_equal(pleat_store_put_meta(fixture->store, "schema", "7", &err), PLEAT_E_INVALID);
    note.kind = "";
    assert_int_equal(pleat_store_append_note(fixture->store, &note, NULL, &err), PLEAT_E_INVALID);
    assert_int_equal(append(fixture->store, 1, &err), 0);
    assert_int_equal(pleat_store_commit(fixture->store, &err), 0);
    assert_records(fixture->store, 1);
}

struct reader {
    struct pleat_store *store;
    int64_t specs;
};

static int read_spec_too(void *arg, int64_t seq, const void *record)
{
    struct reader *reader = arg;
    struct pleat_string text = {0};
    (void)record;
    assert_int_equal(pleat_store_get_spec(reader->store, seq, &text, NULL), 0);
    assert_string_equal(text.text, "text");
    pleat_string_finish(&text);
    assert_int_equal(append(reader->store, 1, NULL), PLEAT_E_STATE);
    assert_int_equal(pleat_store_begin(reader->store, NULL), PLEAT_E_STATE);
    assert_int_equal(pleat_store_read(reader->store, 1, first_seq, arg, NULL), PLEAT_E_STATE);
    reader->specs++;
    return 0;
}

static void test_specs_while_reading(void **state)
{
    struct fixture *fixture = *state;
    struct reader reader = {.store = fixture->store};
    append_committed(fixture->store, 1, 3);
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    for (int id = 1; id <= 3; id++)
        assert_int_equal(pleat_store_put_spec(fixture->store, id, "text", NULL, NULL), 0);
    assert_int_equal(pleat_store_commit(fixture->store, NULL), 0);
    assert_int_equal(pleat_store_read(fixture->store, 1, read_spec_too, &reader, NULL), 0);
    assert_int_equal(reader.specs, 3);
}

static void test_specs_and_meta(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_error err;
    struct pleat_string text = {0};
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    assert_int_equal(pleat_store_put_spec(fixture->store, 17, "{\"argv\":[\"a\\n\"]}", NULL, NULL),
                     0);
    assert_int_equal(pleat_store_put_spec(fixture->store, 18, "", NULL, NULL), 0);
    assert_int_equal(pleat_store_put_spec(fixture->store, 17, "other", NULL, &err), PLEAT_E_EXISTS);
    assert_non_null(strstr(err.text, "17"));
    assert_int_equal(pleat_store_put_meta(fixture->store, "instance", "abc", NULL), 0);
    assert_int_equal(pleat_store_put_meta(fixture->store, "instance", "def", NULL), 0);
    assert_int_equal(pleat_store_commit(fixture->store, NULL), 0);
    reopen(fixture);
    pleat_string_add(&text, ">");
    assert_int_equal(pleat_store_get_spec(fixture->store, 17, &text, NULL), 0);
    assert_string_equal(text.text, ">{\"argv\":[\"a\\n\"]}");
    text.length = 0;
    assert_int_equal(pleat_store_get_spec(fixture->store, 18, &text, NULL), 0);
    assert_int_equal(text.length, 0);
    assert_int_equal(pleat_store_get_spec(fixture->store, 19, &text, &err), PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_store_get_meta(fixture->store, "instance", &text, NULL), 0);
    assert_string_equal(text.text, "def");
    execute_sql(fixture->store, "UPDATE spec SET text = 'tampered' WHERE id = 18");
    assert_int_equal(pleat_store_get_spec(fixture->store, 18, &text, &err), PLEAT_E_CORRUPT);
    assert_string_equal(text.text, "def");
    pleat_string_finish(&text);
}

/* ---- notes ---- */

static int list_note(void *arg, const struct pleat_note *note)
{
    pleat_string_addf(arg, "%lld:%s:%lld.%d:%s ", (long long)note->seq, note->kind,
                      (long long)note->job, note->component, note->data);
    return 0;
}

static void assert_notes(struct pleat_store *store, struct pleat_note_filter filter,
                         const char *wanted)
{
    struct pleat_string list = {0};
    pleat_string_add(&list, "");
    assert_int_equal(pleat_store_read_notes(store, &filter, list_note, &list, NULL), 0);
    assert_string_equal(list.text, wanted);
    pleat_string_finish(&list);
}

static void test_notes(void **state)
{
    struct fixture *fixture = *state;
    static const struct pleat_note notes[] = {
        {.time_us = 100, .kind = "started", .job = 7, .component = 1, .data = "{\"n\":4}"},
        {.time_us = 200, .kind = "started", .job = 8},
        {.time_us = 300, .kind = "site", .job = -1, .data = "[]"},
        {.time_us = 400, .kind = "ended", .job = 7},
    };
    int64_t seq = 0;
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pleat_store_append_note(fixture->store, &notes[i], &seq, NULL), 0);
        assert_int_equal(seq, i + 1);
    }
    assert_int_equal(pleat_store_commit(fixture->store, NULL), 0);
    reopen(fixture);
    struct pleat_store *store = fixture->store;
#define FILTER(...) ((struct pleat_note_filter){__VA_ARGS__})
    assert_notes(store, FILTER(.job = -1),
                 "1:started:7.1:{\"n\":4} 2:started:8.0:{} 3:site:-1.0:[] 4:ended:7.0:{} ");
    assert_notes(store, FILTER(.job = 7), "1:started:7.1:{\"n\":4} 4:ended:7.0:{} ");
    assert_notes(store, FILTER(.job = 9), "");
    assert_notes(store, FILTER(.job = 7, .after_seq = 1), "4:ended:7.0:{} ");
    assert_notes(store, FILTER(.job = -1, .from_us = 200, .to_us = 400),
                 "2:started:8.0:{} 3:site:-1.0:[] ");
    assert_notes(store, FILTER(.job = -1, .limit = 1, .newest_first = true), "4:ended:7.0:{} ");
    assert_notes(store, FILTER(.job = 7, .newest_first = true),
                 "4:ended:7.0:{} 1:started:7.1:{\"n\":4} ");
    assert_notes(store, FILTER(.job = -1, .limit = 2, .after_seq = 1),
                 "2:started:8.0:{} 3:site:-1.0:[] ");
}

static int refuse_note(void *arg, const struct pleat_note *note)
{
    ++*(int *)arg;
    return note->seq == 2 ? -99 : 0;
}

static void test_note_reading_stops(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_note note = {.kind = "x", .job = 1};
    struct pleat_note_filter filter = {.job = 1};
    int calls = 0;
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(pleat_store_append_note(fixture->store, &note, NULL, NULL), 0);
    assert_int_equal(pleat_store_commit(fixture->store, NULL), 0);
    assert_int_equal(pleat_store_read_notes(fixture->store, &filter, refuse_note, &calls, NULL),
                     -99);
    assert_int_equal(calls, 2);
}

/* ---- what is in the file is wrong ---- */

/* The record of this number must be named as corrupt, after those before it were read. */
static void assert_corrupt_at(struct pleat_store *store, int64_t seq)
{
    struct pleat_error err;
    char number[32];
    int64_t count = 0;
    assert_int_equal(pleat_store_read(store, 1, check_record, &count, &err), PLEAT_E_CORRUPT);
    assert_int_equal(count, seq - 1);
    snprintf(number, sizeof(number), "record %lld ", (long long)seq);
    assert_non_null(strstr(err.text, number));
}

static void test_corrupt_records_are_named(void **state)
{
    struct fixture *fixture = *state;
    append_committed(fixture->store, 1, 20);
    execute_sql(fixture->store, "DELETE FROM log WHERE seq = 20");
    assert_corrupt_at(fixture->store, 20); /* cut off while open */
    execute_sql(fixture->store, "DELETE FROM log WHERE seq = 15");
    assert_corrupt_at(fixture->store, 15);
    /* two records that changed places have good sums of their own, but not for their numbers */
    execute_sql(fixture->store,
                "UPDATE log SET record = (SELECT record FROM log WHERE seq = 11), checksum = "
                "(SELECT checksum FROM log WHERE seq = 11) WHERE seq = 12");
    assert_corrupt_at(fixture->store, 12);
    execute_sql(fixture->store, "UPDATE log SET record = zeroblob(64) WHERE seq = 9");
    assert_corrupt_at(fixture->store, 9);
    execute_sql(fixture->store, "UPDATE log SET record = zeroblob(63) WHERE seq = 6");
    assert_corrupt_at(fixture->store, 6);
    execute_sql(fixture->store, "UPDATE log SET checksum = checksum + 1 WHERE seq = 4");
    assert_corrupt_at(fixture->store, 4);
    execute_sql(fixture->store, "DELETE FROM log WHERE seq = 1");
    assert_corrupt_at(fixture->store, 1);
}

static void assert_refused(const char *path, int code, const char *word)
{
    struct pleat_store *store = NULL;
    struct pleat_error err;
    assert_int_equal(pleat_store_open(path, sizeof(struct record), &store, &err), code);
    assert_null(store);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, path));
    if (!strstr(err.text, word))
        fail_msg("'%s' is not in: %s", word, err.text);
}

static void test_schema(void **state)
{
    struct fixture *fixture = *state;
    execute_sql(fixture->store, "UPDATE meta SET value = '3' WHERE key = 'schema'");
    pleat_store_close(fixture->store);
    fixture->store = NULL;
    assert_refused(fixture->path, PLEAT_E_UNSUPPORTED, "newer Pleat (schema 3");
    /* and again: the refusal left the file as it was */
    assert_refused(fixture->path, PLEAT_E_UNSUPPORTED, "newer Pleat (schema 3");
}

static void test_schema_missing(void **state)
{
    struct fixture *fixture = *state;
    execute_sql(fixture->store, "DELETE FROM meta WHERE key = 'schema'");
    pleat_store_close(fixture->store);
    fixture->store = NULL;
    assert_refused(fixture->path, PLEAT_E_CORRUPT, "which schema it has; a pleatd that starts");
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_other_files(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    struct pleat_error err;
    struct pleat_store *store = NULL;
    snprintf(path, sizeof(path), "%s/other", fixture->directory);
    write_file(path, "This is a letter, and long enough to be taken for the header of a database "
                     "file, which has a hundred bytes.\n");
    assert_refused(path, PLEAT_E_CORRUPT, "not a database");
    unlink(path);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE a (b)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_refused(path, PLEAT_E_INVALID, "another program");
    unlink(path);
    assert_refused(fixture->directory, PLEAT_E_SYSTEM, "cannot open");
    snprintf(path, sizeof(path), "%s/no/such", fixture->directory);
    assert_refused(path, PLEAT_E_SYSTEM, "No such file");
    assert_int_equal(pleat_store_open(fixture->path, 0, &store, &err), PLEAT_E_INVALID);
}

static void test_truncated_file(void **state)
{
    struct fixture *fixture = *state;
    append_committed(fixture->store, 1, 5000);
    pleat_store_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(truncate(fixture->path, 40960), 0);
    struct pleat_error err;
    int64_t count = 0;
    int status = pleat_store_open(fixture->path, sizeof(struct record), &fixture->store, &err);
    if (!status)
        status = pleat_store_read(fixture->store, 1, check_record, &count, &err);
    assert_int_equal(status, PLEAT_E_CORRUPT);
    assert_non_null(strstr(err.text, fixture->path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fixture(test_records_survive_reopening),
        with_fixture(test_reading_from_and_stopping),
        with_fixture(test_rollback_leaves_no_trace),
        with_fixture(test_wrong_state),
        with_fixture(test_specs_while_reading),
        with_fixture(test_specs_and_meta),
        with_fixture(test_notes),
        with_fixture(test_note_reading_stops),
        with_fixture(test_corrupt_records_are_named),
        with_fixture(test_schema),
        with_fixture(test_schema_missing),
        with_fixture(test_other_files),
        with_fixture(test_truncated_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
