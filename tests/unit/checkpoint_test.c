/* Checkpoints: written and read back, in parts; damaged, cut, foreign; what a failure leaves. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "checkpoint/checkpoint.h"

#define ROWS 700
#define ROW_BYTES 4104u /* rows cross pieces, and the last piece is a short one */
#define PARTS 3

static struct pleat_error err;
static char directory[64];
static char path[96];
static char part[112];

static const struct pleat_checkpoint_entry entries[] = {
    {.name = "u", .kind = "rows", .shape = {ROWS}, .dimensions = 1, .element_bytes = ROW_BYTES},
    {.name = "none", .kind = "array", .shape = {0, 9}, .dimensions = 2, .element_bytes = 8},
    {.name = "step", .kind = "value", .shape = {1}, .dimensions = 1, .element_bytes = 4}};
static const struct pleat_checkpoint_origin origin = {.iteration = 77,
                                                      .created_us = 1700000000000000,
                                                      .launch = 2,
                                                      .ranks = PARTS,
                                                      .program = "heat",
                                                      .mpi = "Open MPI"};

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/pleat-checkpoint-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof(path), "%s/c", directory);
    snprintf(part, sizeof(part), "%s.part", path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(part);
    return rmdir(directory);
}

static bool exists(const char *file)
{
    return access(file, F_OK) == 0;
}

static unsigned char byte_of(size_t i, unsigned salt)
{
    return (unsigned char)(i * 7 + i / 251 + salt);
}

/* One of PARTS writers writes every third row. */
static void write_rows(const struct pleat_checkpoint *plan, int fd, int which, unsigned salt)
{
    unsigned char row[ROW_BYTES];
    for (size_t r = (size_t)which; r < ROWS; r += PARTS) {
        for (size_t i = 0; i < ROW_BYTES; i++)
            row[i] = byte_of(r * ROW_BYTES + i, salt);
        assert_int_equal(pleat_checkpoint_write(fd, plan->entries[0].offset + r * ROW_BYTES, row,
                                                ROW_BYTES, &err),
                         0);
    }
}

static void begin(struct pleat_checkpoint *plan, struct pleat_checkpoint_writer *writer)
{
    assert_int_equal(pleat_checkpoint_plan(plan, entries, 3, &origin, &err), 0);
    assert_int_equal(pleat_checkpoint_create(path, plan->file_bytes, writer, &err), 0);
}

static void write_all(unsigned salt)
{
    struct pleat_checkpoint plan;
    struct pleat_checkpoint_writer writer[PARTS];
    const int step = (int)salt;
    begin(&plan, &writer[0]);
    for (int i = 1; i < PARTS; i++)
        assert_int_equal(
            pleat_checkpoint_join(path, writer[0].device, writer[0].inode, &writer[i], &err), 0);
    for (int i = PARTS; i-- > 0;)
        write_rows(&plan, writer[i].fd, i, salt);
    assert_int_equal(
        pleat_checkpoint_write(writer[0].fd, plan.entries[2].offset, &step, sizeof(step), &err), 0);
    for (uint32_t i = 0; i < PARTS; i++) {
        uint64_t first, count;
        pleat_checkpoint_share(&plan, i, PARTS, &first, &count);
        assert_int_equal(
            pleat_checkpoint_sum(writer[i].fd, &plan, first, count, plan.sums + first, &err), 0);
    }
    for (int i = 1; i < PARTS; i++)
        pleat_checkpoint_close(&writer[i], true);
    assert_int_equal(pleat_checkpoint_flush(&writer[0], &plan, &err), 0);
    assert_int_equal(pleat_checkpoint_name(&writer[0], &err), 0);
    pleat_checkpoint_close(&writer[0], true);
    pleat_checkpoint_finish(&plan);
}

static int verify(uint32_t parts)
{
    struct pleat_checkpoint found;
    int fd = -1;
    int code = pleat_checkpoint_open(path, &found, &fd, &err);
    if (code)
        return code;
    for (uint32_t i = 0; i < parts && !code; i++)
        code = pleat_checkpoint_verify(fd, &found, i, parts, &err);
    if (code)
        pleat_error_prefix(&err, code, "%s", path);
    pleat_checkpoint_finish(&found);
    close(fd);
    return code;
}

static void check_content(unsigned salt)
{
    struct pleat_checkpoint found;
    int fd = -1;
    int step = -1;
    unsigned char *rows = malloc((size_t)ROWS * ROW_BYTES);
    assert_non_null(rows);
    assert_int_equal(pleat_checkpoint_open(path, &found, &fd, &err), 0);
    assert_int_equal(
        pleat_checkpoint_read(fd, found.entries[0].offset, rows, (size_t)ROWS * ROW_BYTES, &err),
        0);
    for (size_t i = 0; i < (size_t)ROWS * ROW_BYTES; i++)
        if (rows[i] != byte_of(i, salt))
            fail_msg("byte %zu differs", i);
    const struct pleat_checkpoint_entry *value = pleat_checkpoint_find(&found, "step");
    assert_non_null(value);
    assert_int_equal(pleat_checkpoint_read(fd, value->offset, &step, sizeof(step), &err), 0);
    assert_int_equal(step, salt);
    pleat_checkpoint_finish(&found);
    close(fd);
    free(rows);
}

static void test_written_in_parts_and_read_back(void **state)
{
    (void)state;
    struct stat st;
    struct pleat_checkpoint found;
    int fd = -1;
    umask(0);
    write_all(5);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_false(exists(part));
    check_content(5);
    for (uint32_t parts = 1; parts < 9; parts++)
        assert_int_equal(verify(parts), 0);
    assert_int_equal(pleat_checkpoint_open(path, &found, &fd, &err), 0);
    assert_memory_equal(&found.origin, &origin, sizeof(origin));
    assert_int_equal(found.count, 3);
    assert_int_equal(found.entries[0].bytes, ROWS * ROW_BYTES);
    assert_int_equal(found.entries[0].offset % 4096, 0);
    assert_int_equal(found.entries[1].bytes, 0);
    assert_int_equal(found.pieces, 3 + 0 + 1);
    pleat_checkpoint_finish(&found);
    close(fd);
}

static void test_the_old_one_stays_until_the_new_one_is_whole(void **state)
{
    (void)state;
    struct pleat_checkpoint plan;
    struct pleat_checkpoint_writer writer;
    write_all(1);
    begin(&plan, &writer); /* killed in the middle: nothing is closed or removed by it */
    write_rows(&plan, writer.fd, 0, 2);
    close(writer.fd);
    writer.fd = -1;
    assert_true(exists(part));
    check_content(1);
    pleat_checkpoint_close(&writer, true);
    pleat_checkpoint_finish(&plan);
    begin(&plan, &writer); /* given up: its own part is removed */
    pleat_checkpoint_finish(&plan);
    pleat_checkpoint_close(&writer, false);
    assert_false(exists(part));
    check_content(1);
    write_all(3);
    check_content(3);
}

static void test_one_writer_at_a_time(void **state)
{
    (void)state;
    struct pleat_checkpoint plan;
    struct pleat_checkpoint_writer writer, other;
    begin(&plan, &writer);
    assert_int_equal(pleat_checkpoint_create(path, plan.file_bytes, &other, &err), PLEAT_E_BUSY);
    assert_non_null(strstr(err.text, "another program"));
    assert_true(exists(part));
    assert_int_equal(pleat_checkpoint_join(path, writer.device, writer.inode + 1, &other, &err),
                     PLEAT_E_CORRUPT);
    pleat_checkpoint_close(&writer, false);
    pleat_checkpoint_finish(&plan);
}

/* What is there already and is no part of a checkpoint is not touched. */
static void test_others_files(void **state)
{
    (void)state;
    struct pleat_checkpoint_writer writer;
    struct stat st;
    assert_int_equal(symlink("/dev/null", part), 0);
    assert_int_equal(pleat_checkpoint_create(path, 9000, &writer, &err), PLEAT_E_SYSTEM);
    assert_int_equal(lstat(part, &st), 0);
    assert_int_equal(unlink(part), 0);
    assert_int_equal(mkfifo(part, 0600), 0);
    assert_int_equal(pleat_checkpoint_create(path, 9000, &writer, &err), PLEAT_E_PERMISSION);
    assert_int_equal(unlink(part), 0);
    assert_int_equal(pleat_checkpoint_create(directory, 9000, &writer, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "a directory"));
    char nowhere[128];
    snprintf(nowhere, sizeof(nowhere), "%s/no/c", directory);
    assert_int_equal(pleat_checkpoint_create(nowhere, 9000, &writer, &err), PLEAT_E_SYSTEM);
    struct pleat_checkpoint found;
    int fd = -1;
    assert_int_equal(pleat_checkpoint_open(path, &found, &fd, &err), PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_checkpoint_open(directory, &found, &fd, &err), PLEAT_E_CORRUPT);
}

static void test_no_room(void **state)
{
    (void)state;
    struct pleat_checkpoint_writer writer;
    struct rlimit before;
    write_all(1);
    /* more than any disk has; where a sparse file is all that can be had, writing finds it */
    int code = pleat_checkpoint_create(path, (uint64_t)1 << 59, &writer, &err);
    assert_true(code == PLEAT_E_TOOBIG || code == PLEAT_E_SYSTEM);
    assert_false(exists(part));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = 100000, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    code = pleat_checkpoint_create(path, 1000000, &writer, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(code, PLEAT_E_TOOBIG);
    assert_non_null(strstr(err.text, "ulimit -f"));
    check_content(1);
}

/* Every byte that means something is protected. */
static void test_damage(void **state)
{
    (void)state;
    struct stat st;
    write_all(1);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    const off_t heads = 256 + 3 * 184 + 4 * 8;
    for (off_t at = 0; at < st.st_size; at += at < heads ? 1 : 300007) {
        unsigned char was, now;
        if (at >= heads && at < 4096) /* between the head and the data is nothing */
            continue;
        assert_int_equal(pread(fd, &was, 1, at), 1);
        now = was ^ 0x20;
        assert_int_equal(pwrite(fd, &now, 1, at), 1);
        int code = verify(2);
        if (code != PLEAT_E_CORRUPT && code != PLEAT_E_UNSUPPORTED)
            fail_msg("damage at %lld was not noticed", (long long)at);
        assert_non_null(strstr(err.text, path));
        assert_int_equal(pwrite(fd, &was, 1, at), 1);
    }
    assert_int_equal(verify(1), 0);
    for (off_t cut = 0; cut < st.st_size; cut = cut * 2 + 100) {
        assert_int_equal(ftruncate(fd, cut), 0);
        assert_int_equal(verify(1), PLEAT_E_CORRUPT);
    }
    assert_int_equal(ftruncate(fd, st.st_size), 0); /* zeros now */
    assert_int_equal(verify(1), PLEAT_E_CORRUPT);
    close(fd);
    write_all(1);
    fd = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "", 1), 1);
    close(fd);
    assert_int_equal(verify(1), PLEAT_E_CORRUPT);
}

static void compare(struct pleat_checkpoint_entry *others, uint32_t count, int wanted,
                    const char *text)
{
    struct pleat_checkpoint found, own;
    assert_int_equal(pleat_checkpoint_plan(&found, entries, 3, &origin, &err), 0);
    assert_int_equal(pleat_checkpoint_plan(&own, others, count, &origin, &err), 0);
    assert_int_equal(pleat_checkpoint_compare(&found, &own, &err), wanted);
    if (wanted && !strstr(err.text, text))
        fail_msg("'%s' has no '%s'", err.text, text);
    pleat_checkpoint_finish(&found);
    pleat_checkpoint_finish(&own);
}

static void test_another_program(void **state)
{
    (void)state;
    struct pleat_checkpoint_entry others[4];
    memcpy(others, entries, sizeof(entries));
    compare(others, 3, 0, "");
    others[0] = entries[2]; /* in any order */
    others[2] = entries[0];
    compare(others, 3, 0, "");
    compare(others, 2, PLEAT_E_INVALID, "it has 'u'");
    others[3] = (struct pleat_checkpoint_entry){
        .name = "v", .kind = "value", .shape = {1}, .dimensions = 1, .element_bytes = 8};
    compare(others, 4, PLEAT_E_INVALID, "it has no 'v'");
    others[2].shape[0] = 701;
    compare(others, 3, PLEAT_E_INVALID,
            "'u' is rows of 700 times 4104 bytes there, and rows of 701");
    others[2] = entries[0];
    strcpy(others[2].kind, "array");
    compare(others, 3, PLEAT_E_INVALID, "and array of 700");
}

static void test_plans_that_cannot_be(void **state)
{
    (void)state;
    struct pleat_checkpoint plan;
    struct pleat_checkpoint_entry others[2] = {entries[0], entries[0]};
    assert_int_equal(pleat_checkpoint_plan(&plan, others, 2, &origin, &err), PLEAT_E_INVALID);
    others[0].name[0] = '\n';
    assert_int_equal(pleat_checkpoint_plan(&plan, others, 1, &origin, &err), PLEAT_E_INVALID);
    others[0] = entries[0];
    others[0].shape[0] = INT64_MAX;
    assert_int_equal(pleat_checkpoint_plan(&plan, others, 1, &origin, &err), PLEAT_E_TOOBIG);
    assert_int_equal(
        pleat_checkpoint_plan(&plan, others, PLEAT_CHECKPOINT_ENTRIES_MAX + 1, &origin, &err),
        PLEAT_E_TOOBIG);
    assert_int_equal(pleat_checkpoint_plan(&plan, NULL, 0, &origin, &err), 0);
    assert_int_equal(plan.file_bytes, 4096);
    pleat_checkpoint_finish(&plan);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_written_in_parts_and_read_back),
        TEST(test_the_old_one_stays_until_the_new_one_is_whole),
        TEST(test_one_writer_at_a_time),
        TEST(test_others_files),
        TEST(test_no_room),
        TEST(test_damage),
        TEST(test_another_program),
        TEST(test_plans_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
