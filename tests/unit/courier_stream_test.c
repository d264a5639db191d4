/* A file into which a courier writes what a run has written, and pieces that come again. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "courier/stream.h"

static char directory[64], path[96], beside[96];

static int begin(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/pleat-courier-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/out", directory);
    snprintf(beside, sizeof(beside), "%s/record", directory);
    return 0;
}

static int end(void **state)
{
    (void)state;
    (void)unlink(path);
    (void)unlink(beside);
    return rmdir(directory);
}

static void put_file(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void assert_file(const char *text)
{
    char found[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    found[fread(found, 1, sizeof(found) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, text);
}

static struct stream open_for(uint64_t run, bool truncate)
{
    struct stream stream = {.fd = -1};
    assert_int_equal(stream_open(&stream, path, beside, run, truncate), 0);
    return stream;
}

static int put(struct stream *stream, int64_t offset, const char *text)
{
    return stream_put(stream, offset, text, strlen(text));
}

static void test_pieces_that_come_again(void **state)
{
    (void)state;
    put_file("old ");
    struct stream stream = open_for(7, false);
    assert_int_equal(put(&stream, 0, "one "), 0);
    assert_int_equal(put(&stream, 0, "one "), 0);
    assert_int_equal(put(&stream, 0, "one two "), 0);
    assert_int_equal(put(&stream, 6, "o three"), 0);
    assert_int_equal(put(&stream, 20, "a gap"), EPROTO);
    assert_file("old one two three");
    close(stream.fd);
}

/* Emptied when the run begins, not by the next courier of the same run; the next run goes on. */
static void test_emptied_once(void **state)
{
    (void)state;
    put_file("what was there");
    struct stream stream = open_for(7, true);
    assert_file("");
    assert_int_equal(put(&stream, 0, "one "), 0);
    close(stream.fd);
    stream = open_for(7, true);
    assert_int_equal(put(&stream, 0, "one two "), 0);
    close(stream.fd);
    stream = open_for(8, false);
    assert_int_equal(put(&stream, 0, "again"), 0);
    assert_file("one two again");
    close(stream.fd);
}

/* The courier was killed when it had written the first `landed` bytes of a piece of eight. What its
 * agent tells again begins where that was last heard: at the piece, or, where it was written whole
 * and heard, behind it; and it may be in pieces of another length. */
static void killed(size_t landed, int64_t from, size_t length)
{
    static const char said[] = "0123abcdefghXYZ";
    char there[64];
    snprintf(there, sizeof(there), "0123%.*s", (int)landed, "abcdefgh");
    put_file(there);
    struct record record = {.run = 7, .done = 4, .place = 4, .count = 8};
    assert_int_equal(record_write(beside, &record), 0);
    struct stream stream = open_for(7, true);
    for (size_t at = (size_t)from; at < strlen(said); at += length) {
        size_t count = strlen(said) - at < length ? strlen(said) - at : length;
        assert_int_equal(stream_put(&stream, (int64_t)at, said + at, count), 0);
    }
    assert_file(said);
    close(stream.fd);
}

static void test_killed_while_it_wrote(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 3, 8, 15};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        for (size_t landed = 0; landed <= 8; landed++)
            for (int64_t from = 0; from <= 4; from += 2)
                killed(landed, from, lengths[i]);
        killed(8, 12, lengths[i]);
        killed(8, 9, lengths[i]);
    }
}

/* Another one has written to the same file meanwhile. */
static void test_others_write_to_it(void **state)
{
    (void)state;
    put_file("");
    struct stream stream = open_for(7, false);
    assert_int_equal(put(&stream, 0, "mine "), 0);
    int other = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(other, "other ", 6), 6);
    close(other);
    assert_int_equal(put(&stream, 0, "mine more "), 0);
    assert_file("mine other more ");
    close(stream.fd);
}

/* A FIFO has no places: what comes again after another courier began is written again. Without a
 * reader it cannot be opened; when its reader has gone, nobody wants the rest. */
static void test_a_pipe(void **state)
{
    struct stream stream = {.fd = -1};
    char found[64] = "";
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(stream_open(&stream, path, beside, 7, true), ENXIO);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    stream = open_for(7, true);
    assert_int_equal(put(&stream, 10, "ten "), 0);
    assert_int_equal(put(&stream, 10, "ten eleven"), 0);
    assert_int_equal(read(reader, found, sizeof(found) - 1), 10);
    assert_string_equal(found, "ten eleven");
    close(reader);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(put(&stream, 20, "gone"), 0);
    close(stream.fd);
}

/* A record that makes no sense is none. */
static void test_records(void **state)
{
    static const char *const bad[] = {"", "7", "7 1 2", "7 -1 2 3", "x 1 2 3"};
    struct record record = {.run = 1};
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        FILE *file = fopen(beside, "w");
        assert_non_null(file);
        fputs(bad[i], file);
        fclose(file);
        assert_int_not_equal(record_read(beside, &record), 0);
        assert_int_equal(record.run, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pieces_that_come_again, begin, end),
        cmocka_unit_test_setup_teardown(test_emptied_once, begin, end),
        cmocka_unit_test_setup_teardown(test_killed_while_it_wrote, begin, end),
        cmocka_unit_test_setup_teardown(test_others_write_to_it, begin, end),
        cmocka_unit_test_setup_teardown(test_a_pipe, begin, end),
        cmocka_unit_test_setup_teardown(test_records, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
