/* Checkpoints, records moved aside, accounts, shared texts. */
#include "store_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static void archive_path(const struct fixture *fixture, int64_t first, char *path, size_t size)
{
    snprintf(path, size, "%s-archive/%020lld", fixture->path, (long long)first);
}

static int teardown_archive(void **state)
{
    struct fixture *fixture = *state;
    char directory[128], path[400];
    snprintf(directory, sizeof(directory), "%s-archive", fixture->path);
    DIR *dir = opendir(directory);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(directory);
    return teardown(state);
}

#define with_archive(test) cmocka_unit_test_setup_teardown(test, setup, teardown_archive)

static int checkpoint(struct pleat_store *store, const char *state)
{
    return pleat_store_put_checkpoint(store, state, strlen(state), NULL);
}

/* As the daemon does it. */
static void checkpoint_and_trim(struct pleat_store *store, const char *state, int64_t to_seq)
{
    assert_int_equal(pleat_store_set_aside(store, to_seq, NULL), 0);
    assert_int_equal(pleat_store_begin(store, NULL), 0);
    assert_int_equal(checkpoint(store, state), 0);
    assert_int_equal(pleat_store_trim(store, to_seq, NULL), 0);
    assert_int_equal(pleat_store_commit(store, NULL), 0);
}

static void assert_checkpoint(struct pleat_store *store, int64_t most, int64_t seq,
                              const char *text)
{
    struct pleat_string state = {0};
    int64_t found = 0;
    int rc = pleat_store_get_checkpoint(store, most, &found, &state, NULL);
    if (!text) {
        assert_int_equal(rc, PLEAT_E_NOTFOUND);
        return;
    }
    assert_int_equal(rc, 0);
    assert_int_equal(found, seq);
    assert_string_equal(state.text, text);
    pleat_string_finish(&state);
}

static int64_t rows_of_log(struct pleat_store *store)
{
    sqlite3_stmt *statement;
    assert_int_equal(
        sqlite3_prepare_v2(store->db, "SELECT count(*) FROM log", -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return count;
}

static void test_trimmed_log_reads_as_before(void **state)
{
    struct fixture *fixture = *state;
    append_committed(fixture->store, 1, 100);
    assert_checkpoint(fixture->store, INT64_MAX, 0, NULL);
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    assert_int_equal(checkpoint(fixture->store, "at 100"), 0);
    assert_int_equal(pleat_store_commit(fixture->store, NULL), 0);
    append_committed(fixture->store, 101, 150);
    checkpoint_and_trim(fixture->store, "at 150", 100);
    append_committed(fixture->store, 151, 180);
    checkpoint_and_trim(fixture->store, "at 180", 150);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(rows_of_log(fixture->store), 30);
        assert_int_equal(pleat_store_first_seq(fixture->store), 151);
        assert_records(fixture->store, 180);
        assert_checkpoint(fixture->store, INT64_MAX, 180, "at 180");
        assert_checkpoint(fixture->store, 179, 150, "at 150");
        assert_checkpoint(fixture->store, 149, 0, NULL);
        reopen(fixture);
    }
    checkpoint_and_trim(fixture->store, "at 180 again", 180); /* nothing is left in the log */
    assert_int_equal(rows_of_log(fixture->store), 0);
    reopen(fixture);
    assert_records(fixture->store, 180);
    append_committed(fixture->store, 181, 190);
    assert_records(fixture->store, 190);
    assert_int_equal(pleat_store_first_seq(fixture->store), 181);
}

/* Whatever was done when the process was killed, the log is what it was. */
static void test_interrupted(void **state)
{
    struct fixture *fixture = *state;
    append_committed(fixture->store, 1, 40);
    assert_int_equal(pleat_store_set_aside(fixture->store, 20, NULL), 0);
    reopen(fixture); /* both have them */
    assert_records(fixture->store, 40);
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    assert_int_equal(checkpoint(fixture->store, "lost"), 0);
    assert_int_equal(pleat_store_trim(fixture->store, 20, NULL), 0);
    assert_int_equal(pleat_store_first_seq(fixture->store), 21);
    pleat_store_rollback(fixture->store);
    assert_int_equal(pleat_store_first_seq(fixture->store), 1);
    assert_records(fixture->store, 40);
    assert_checkpoint(fixture->store, INT64_MAX, 0, NULL);
    /* done again, with more: the same file anew */
    checkpoint_and_trim(fixture->store, "kept", 30);
    reopen(fixture);
    assert_records(fixture->store, 40);
    assert_int_equal(rows_of_log(fixture->store), 10);
}

static void test_trimming_needs_a_checkpoint(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_error err;
    append_committed(fixture->store, 1, 10);
    assert_int_equal(pleat_store_trim(fixture->store, 5, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    assert_int_equal(pleat_store_trim(fixture->store, 5, &err), PLEAT_E_STATE);
    assert_non_null(strstr(err.text, "no later checkpoint"));
    assert_int_equal(pleat_store_set_aside(fixture->store, 5, &err), PLEAT_E_STATE);
    pleat_store_rollback(fixture->store);
    assert_int_equal(pleat_store_set_aside(fixture->store, 11, &err), PLEAT_E_INVALID);
    assert_records(fixture->store, 10);
}

static void flip(const char *path, off_t at)
{
    char byte;
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 16;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void test_damaged_segment(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_error err;
    char path[200];
    struct stat st;
    int64_t count = 0;
    append_committed(fixture->store, 1, 20);
    checkpoint_and_trim(fixture->store, "at 20", 10);
    archive_path(fixture, 1, path, sizeof(path));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    for (off_t at = 0; at < st.st_size; at += 37) {
        flip(path, at);
        int rc = pleat_store_read(fixture->store, 1, check_record, &count, &err);
        assert_true(rc == PLEAT_E_CORRUPT);
        assert_non_null(strstr(err.text, path));
        flip(path, at);
    }
    assert_records(fixture->store, 20);
    assert_int_equal(truncate(path, st.st_size - 1), 0);
    assert_int_equal(pleat_store_read(fixture->store, 1, check_record, &count, &err),
                     PLEAT_E_CORRUPT);
    unlink(path);
    assert_int_equal(pleat_store_read(fixture->store, 1, check_record, &count, &err),
                     PLEAT_E_NOTFOUND);
    assert_non_null(strstr(err.text, "records 1 to 10"));
    count = 0;
    assert_int_equal(pleat_store_read(fixture->store, 11, check_record, &count, NULL), 0);
    assert_int_equal(count, 10);
}

static void test_archive_cannot_be_written(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_error err;
    char directory[128];
    snprintf(directory, sizeof(directory), "%s-archive", fixture->path);
    append_committed(fixture->store, 1, 10);
    int fd = open(directory, O_CREAT | O_WRONLY, 0600); /* a file is where it should be */
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(pleat_store_set_aside(fixture->store, 5, &err), PLEAT_E_SYSTEM);
    assert_non_null(strstr(err.text, "-archive"));
    unlink(directory);
    assert_records(fixture->store, 10);
}

/* ---- shared texts ---- */

static void put_with(struct pleat_store *store, int64_t id, const char *shared)
{
    assert_int_equal(pleat_store_begin(store, NULL), 0);
    assert_int_equal(pleat_store_put_spec(store, id, "own", shared, NULL), 0);
    assert_int_equal(pleat_store_commit(store, NULL), 0);
}

static void assert_shared(struct pleat_store *store, int64_t id, const char *wanted)
{
    struct pleat_string text = {0};
    int rc = pleat_store_get_shared(store, id, &text, NULL);
    if (!wanted) {
        assert_int_equal(rc, PLEAT_E_NOTFOUND);
        return;
    }
    assert_int_equal(rc, 0);
    assert_string_equal(text.text, wanted);
    pleat_string_finish(&text);
}

static int64_t count_shared(struct pleat_store *store)
{
    sqlite3_stmt *statement;
    assert_int_equal(
        sqlite3_prepare_v2(store->db, "SELECT count(*) FROM shared", -1, &statement, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return count;
}

static void test_shared_texts(void **state)
{
    struct fixture *fixture = *state;
    for (int64_t id = 1; id <= 10; id++)
        put_with(fixture->store, id, id % 2 ? "odd" : "even");
    put_with(fixture->store, 11, NULL);
    put_with(fixture->store, 12, "");
    assert_int_equal(count_shared(fixture->store), 3);
    reopen(fixture);
    assert_shared(fixture->store, 3, "odd");
    assert_shared(fixture->store, 4, "even");
    assert_shared(fixture->store, 11, NULL);
    assert_shared(fixture->store, 12, "");
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    for (int64_t id = 1; id <= 10; id += 2)
        assert_int_equal(pleat_store_drop_job(fixture->store, id, NULL), 0);
    assert_int_equal(pleat_store_drop_unshared(fixture->store, NULL), 0);
    assert_int_equal(pleat_store_commit(fixture->store, NULL), 0);
    assert_int_equal(count_shared(fixture->store), 2);
    assert_shared(fixture->store, 3, NULL);
    assert_shared(fixture->store, 4, "even");
    execute_sql(fixture->store, "UPDATE shared SET text = 'eve'");
    struct pleat_string text = {0};
    assert_int_equal(pleat_store_get_shared(fixture->store, 4, &text, NULL), PLEAT_E_CORRUPT);
    pleat_string_finish(&text);
}

/* A store of the first schema is brought up to the present one, and what was in it is there. */
static void test_first_schema(void **state)
{
    struct fixture *fixture = *state;
    append_committed(fixture->store, 1, 5);
    put_with(fixture->store, 1, NULL);
    execute_sql(fixture->store, "DROP TABLE shared; DROP TABLE account; DROP TABLE checkpoint;"
                                "ALTER TABLE spec DROP COLUMN shared;"
                                "UPDATE meta SET value = '1' WHERE key = 'schema'");
    reopen(fixture);
    assert_records(fixture->store, 5);
    assert_shared(fixture->store, 1, NULL);
    put_with(fixture->store, 2, "new");
    assert_shared(fixture->store, 2, "new");
    reopen(fixture);
    assert_shared(fixture->store, 2, "new");
}

/* ---- accounts ---- */

static int add_number(void *arg, const struct pleat_account_row *row)
{
    char *text = arg;
    char wanted[40];
    snprintf(wanted, sizeof(wanted), "{\"job\":%lld}", (long long)row->job);
    assert_string_equal(row->text, wanted);
    sprintf(text + strlen(text), " %lld", (long long)row->job);
    return strlen(text) > 900;
}

static void assert_accounts(struct pleat_store *store, struct pleat_account_filter filter,
                            const char *wanted)
{
    char text[1000] = "";
    struct pleat_error err;
    if (pleat_store_read_accounts(store, &filter, add_number, text, &err))
        fail_msg("%s", err.text);
    assert_string_equal(text, wanted);
}

static void test_accounts(void **state)
{
    struct fixture *fixture = *state;
    char text[40];
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    for (int64_t job = 1; job <= 6; job++) {
        struct pleat_account_row row = {job, job * 10, job * 10 + 25, text};
        snprintf(text, sizeof(text), "{\"job\":%lld}", (long long)job);
        assert_int_equal(pleat_store_put_account(fixture->store, &row, NULL), 0);
        assert_int_equal(pleat_store_put_account(fixture->store, &row, NULL), 0); /* replaces */
    }
    assert_int_equal(pleat_store_commit(fixture->store, NULL), 0);
    reopen(fixture);
    struct pleat_store *store = fixture->store;
    assert_accounts(store, (struct pleat_account_filter){0}, " 1 2 3 4 5 6");
    assert_accounts(store, (struct pleat_account_filter){.after_job = 4}, " 5 6");
    assert_accounts(store, (struct pleat_account_filter){.after_job = 1, .last_job = 3}, " 2 3");
    assert_accounts(store, (struct pleat_account_filter){.from_us = 60}, " 4 5 6");
    assert_accounts(store, (struct pleat_account_filter){.to_us = 30}, " 1 2");
    assert_accounts(store, (struct pleat_account_filter){.from_us = 45, .to_us = 41}, " 2 3 4");
    assert_accounts(store, (struct pleat_account_filter){.ended_before_us = 56}, " 1 2 3");
    assert_int_equal(pleat_store_begin(store, NULL), 0);
    assert_int_equal(pleat_store_drop_job(store, 2, NULL), 0);
    assert_int_equal(pleat_store_drop_job(store, 2, NULL), 0); /* not there: no error */
    assert_int_equal(pleat_store_commit(store, NULL), 0);
    assert_accounts(store, (struct pleat_account_filter){0}, " 1 3 4 5 6");
    execute_sql(store, "UPDATE account SET text = '{}' WHERE job = 3");
    char out[1000] = "";
    struct pleat_error err;
    struct pleat_account_filter all = {0};
    assert_int_equal(pleat_store_read_accounts(store, &all, add_number, out, &err),
                     PLEAT_E_CORRUPT);
    assert_non_null(strstr(err.text, "job 3"));
}

static int count_note(void *arg, const struct pleat_note *note)
{
    (void)note;
    ++*(int *)arg;
    return 0;
}

static void test_dropping_notes(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(pleat_store_begin(fixture->store, NULL), 0);
    for (int i = 0; i < 10; i++) {
        struct pleat_note note = {.kind = "x", .job = i % 2 ? 1 : -1, .time_us = i};
        assert_int_equal(pleat_store_append_note(fixture->store, &note, NULL, NULL), 0);
    }
    assert_int_equal(pleat_store_drop_notes(fixture->store, 1, 0, NULL), 0);
    assert_int_equal(pleat_store_drop_notes(fixture->store, -1, 4, NULL), 0);
    assert_int_equal(pleat_store_commit(fixture->store, NULL), 0);
    int count = 0;
    struct pleat_note_filter all = {.job = -1};
    assert_int_equal(pleat_store_read_notes(fixture->store, &all, count_note, &count, NULL), 0);
    assert_int_equal(count, 3); /* at 4, 6, 8 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_archive(test_trimmed_log_reads_as_before),
        with_archive(test_interrupted),
        with_archive(test_trimming_needs_a_checkpoint),
        with_archive(test_damaged_segment),
        with_archive(test_archive_cannot_be_written),
        with_archive(test_shared_texts),
        with_archive(test_first_schema),
        with_archive(test_accounts),
        with_archive(test_dropping_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
