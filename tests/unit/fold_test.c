/* The segment of folding as both sides see it: what is refused, and that nothing in it is trusted.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/fold-layout.h"

static struct pleat_fold *make(uint32_t processes, uint32_t cpus, int *fd, char path[64])
{
    struct pleat_fold *fold = NULL;
    assert_int_equal(pleat_fold_create(processes, cpus, &fold, fd, NULL), 0);
    snprintf(path, 64, "/proc/self/fd/%d", *fd);
    return fold;
}

static void new_segment_has_defaults(void **state)
{
    (void)state;
    char path[64];
    int fd;
    struct pleat_fold *fold = make(8, 4, &fd, path);
    struct pleat_fold_status status;
    pleat_fold_status(fold, &status);
    assert_int_equal(status.processes, 8);
    assert_int_equal(status.attached, 0);
    pleat_fold_refuse("/dev/null"); /* no segment: nothing */
    pleat_fold_refuse("/nowhere");
    assert_int_equal(status.refused, 0);
    for (uint32_t i = 1; i <= 9; i++) { /* also more than there are places */
        pleat_fold_refuse(path);
        pleat_fold_status(fold, &status);
        assert_int_equal(status.refused, i);
        assert_int_equal(status.attached, 0);
    }
    assert_int_equal(status.processors, 0);
    assert_int_equal(status.settings.wait, PLEAT_FOLD_WAIT_AUTO);
    assert_int_equal(status.settings.next, PLEAT_FOLD_NEXT_AUTO);
    assert_int_equal(status.settings.queue, PLEAT_FOLD_QUEUE_GLOBAL);
    assert_int_equal(ftruncate(fd, 64), -1);
    assert_int_equal(ftruncate(fd, 1 << 20), -1);
    pleat_fold_close(fold);
    close(fd);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{0, 1},
                                        {1, 0},
                                        {PLEAT_FOLD_PROCESSES_MAX + 1, 1},
                                        {1, PLEAT_FOLD_CPUS_MAX + 1},
                                        {UINT32_MAX, UINT32_MAX}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct pleat_error err = {0};
        struct pleat_fold *fold = NULL;
        int fd = -1;
        assert_int_equal(pleat_fold_create(sizes[i][0], sizes[i][1], &fold, &fd, &err),
                         PLEAT_E_INVALID);
        assert_non_null(strstr(err.text, "choose 1 to 4096"));
        assert_null(fold);
        assert_int_equal(fd, -1);
    }
}

static void largest_can_be_opened(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1},
                                        {PLEAT_FOLD_TRAFFIC_MAX, 1},
                                        {PLEAT_FOLD_TRAFFIC_MAX + 1, 1},
                                        {PLEAT_FOLD_PROCESSES_MAX, PLEAT_FOLD_CPUS_MAX},
                                        {PLEAT_FOLD_TRAFFIC_MAX, PLEAT_FOLD_CPUS_MAX}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        char path[64];
        int fd;
        struct pleat_fold *fold = make(sizes[i][0], sizes[i][1], &fd, path), *opened = NULL;
        assert_int_equal(pleat_fold_open(path, &opened, NULL), 0);
        assert_int_equal(opened->processes, sizes[i][0]);
        assert_int_equal(opened->cpus_max, sizes[i][1]);
        assert_int_equal(opened->traffic != NULL, sizes[i][0] <= PLEAT_FOLD_TRAFFIC_MAX);
        pleat_fold_close(opened);
        pleat_fold_close(fold);
        close(fd);
    }
}

static void what_is_no_segment_is_refused(void **state)
{
    (void)state;
    struct pleat_fold *opened = NULL;
    struct pleat_error err;
    char path[64];
    int fd;
    assert_int_equal(pleat_fold_open("/nonexistent/fold", &opened, &err), PLEAT_E_SYSTEM);
    assert_non_null(strstr(err.text, "has its agent ended?"));
    assert_int_equal(pleat_fold_open("/dev/null", &opened, &err), PLEAT_E_CORRUPT);
    assert_int_equal(pleat_fold_open("/proc/self/exe", &opened, NULL) < 0, 1);
    struct pleat_fold *fold = make(4, 2, &fd, path);
    fold->segment->header.version++;
    assert_int_equal(pleat_fold_open(path, &opened, &err), PLEAT_E_UNSUPPORTED);
    fold->segment->header.version--;
    fold->segment->header.count = 5;
    assert_int_equal(pleat_fold_open(path, &opened, &err), PLEAT_E_CORRUPT);
    fold->segment->header.count = UINT32_MAX;
    assert_int_equal(pleat_fold_open(path, &opened, &err), PLEAT_E_CORRUPT);
    fold->segment->header.count = 4;
    fold->segment->header.magic = 0;
    assert_int_equal(pleat_fold_open(path, &opened, &err), PLEAT_E_CORRUPT);
    assert_null(opened);
    pleat_fold_close(fold);
    close(fd);
    pleat_fold_close(NULL);
}

static void partitions_are_checked(void **state)
{
    (void)state;
    static const uint32_t cpus[3] = {0, 1, 2}, good[4] = {0, 1, 0, 1}, bad[4] = {0, 1, 2, 1};
    struct pleat_fold_status status;
    struct pleat_fold_process all[5];
    char path[64];
    int fd;
    struct pleat_fold *fold = make(4, 2, &fd, path);
    assert_int_equal(pleat_fold_partition(fold, cpus, 0, good), PLEAT_E_INVALID);
    assert_int_equal(pleat_fold_partition(fold, cpus, 3, good), PLEAT_E_INVALID);
    assert_int_equal(pleat_fold_partition(fold, cpus, 2, bad), PLEAT_E_INVALID);
    pleat_fold_status(fold, &status);
    assert_int_equal(status.processors, 0);
    assert_int_equal(pleat_fold_partition(fold, cpus, 2, good), 0);
    pleat_fold_status(fold, &status);
    assert_int_equal(status.processors, 2);
    assert_int_equal(pleat_fold_processes(fold, 0, 5, all), 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(all[i].queue, good[i]);
    assert_int_equal(pleat_fold_processes(fold, 3, 5, all), 1);
    assert_int_equal(pleat_fold_processes(fold, 4, 1, all), 0);
    assert_int_equal(pleat_fold_processes(fold, UINT32_MAX, 1, all), 0);
    assert_int_equal(pleat_fold_traffic(fold, 0, 4), 0);
    assert_int_equal(pleat_fold_traffic(fold, UINT32_MAX, 0), 0);
    pleat_fold_contended(fold, 2, true); /* there is none: nothing happens */
    pleat_fold_close(fold);
    close(fd);
}

/* Whoever has a processor for itself needs nobody to hand it on. */
static void folded_says_whether_anybody_shares(void **state)
{
    (void)state;
    static const uint32_t cpus[4] = {0, 1, 2, 3}, apart[3] = {0, 1, 2}, two[3] = {0, 1, 1};
    char path[64];
    int fd;
    struct pleat_fold *fold = make(3, 4, &fd, path);
    _Atomic uint32_t *folded = &fold->segment->folded;
    assert_int_equal(pleat_fold_partition(fold, cpus, 3, apart), 0);
    assert_int_equal(*folded, 0);
    pleat_fold_contended(fold, 2, true);
    assert_int_equal(*folded, 1);
    pleat_fold_contended(fold, 2, false);
    assert_int_equal(*folded, 0);
    assert_int_equal(pleat_fold_partition(fold, cpus, 4, two), 0);
    assert_int_equal(*folded, 1);
    assert_int_equal(pleat_fold_partition(fold, cpus, 2, two), 0);
    assert_int_equal(*folded, 1);
    static const uint32_t doubled[3] = {0, 1, 0};
    assert_int_equal(pleat_fold_partition(fold, doubled, 3, apart), 0);
    assert_int_equal(*folded, 1);
    assert_int_equal(pleat_fold_partition(fold, cpus, 3, apart), 0);
    assert_int_equal(*folded, 0);
    pleat_fold_close(fold);
    close(fd);
}

static void nothing_in_it_is_trusted(void **state)
{
    (void)state;
    static const uint32_t cpus[2] = {0, 1}, where[4] = {0, 1, 0, 1};
    struct pleat_fold_status status;
    struct pleat_fold_process all[4];
    char path[64];
    int fd;
    struct pleat_fold *fold = make(4, 2, &fd, path), *opened = NULL;
    assert_int_equal(pleat_fold_open(path, &opened, NULL), 0);
    for (size_t at = PLEAT_FOLD_LINE; at < fold->bytes; at++)
        ((unsigned char *)opened->segment)[at] = 0xff;
    pleat_fold_status(fold, &status);
    assert_true(status.processors <= 2 && status.attached <= 4);
    assert_true(status.settings.wait <= PLEAT_FOLD_WAIT_BLOCK);
    assert_true(status.settings.queue <= PLEAT_FOLD_QUEUE_GLOBAL);
    assert_int_equal(pleat_fold_processes(fold, 0, 4, all), 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(all[i].queue < 2);
        assert_int_equal(all[i].pid, 0);
        assert_int_equal(all[i].tid, 0);
    }
    assert_int_equal(pleat_fold_partition(fold, cpus, 2, where), 0);
    pleat_fold_status(fold, &status);
    assert_int_equal(status.processors, 2);
    pleat_fold_close(opened);
    pleat_fold_close(fold);
    close(fd);
}

/* ---- settings ---- */

static void every_name_is_read_back(void **state)
{
    (void)state;
    char text[128];
    for (unsigned wait = PLEAT_FOLD_WAIT_AUTO; wait <= PLEAT_FOLD_WAIT_BLOCK; wait++) {
        uint8_t i = (uint8_t)wait;
        struct pleat_fold_settings settings = {.spin_us = 7, .slice_us = 8};
        uint8_t next = i <= PLEAT_FOLD_NEXT_AFFINITY ? i : 0, queue = i % 3, give = i % 2;
        snprintf(text, sizeof(text), "wait=%s,next=%s,queue=%s,begin=%s,give=%s",
                 pleat_fold_wait_name((enum pleat_fold_wait)i),
                 pleat_fold_next_name((enum pleat_fold_next)next),
                 pleat_fold_queue_name((enum pleat_fold_queue)queue),
                 pleat_fold_queue_name((enum pleat_fold_queue)(2 - queue)),
                 give == PLEAT_FOLD_GIVE_SLICE ? "slice" : "events");
        assert_int_equal(pleat_fold_settings_parse(text, &settings, NULL), 0);
        assert_int_equal(settings.wait, i);
        assert_int_equal(settings.next, next);
        assert_int_equal(settings.queue, queue);
        assert_int_equal(settings.begin, 2 - queue);
        assert_int_equal(settings.give, give);
        assert_int_equal(settings.spin_us, 7);
        assert_int_equal(settings.slice_us, 8);
    }
    assert_string_equal(pleat_fold_wait_name((enum pleat_fold_wait)99), "unknown");
    for (unsigned share = PLEAT_FOLD_SHARE_SPACE; share <= PLEAT_FOLD_SHARE_TIME; share++) {
        struct pleat_fold_settings settings = {.share = 1 - (uint8_t)share};
        snprintf(text, sizeof(text), "share=%s,wait=spin",
                 pleat_fold_share_name((enum pleat_fold_share)share));
        assert_int_equal(pleat_fold_settings_parse(text, &settings, NULL), 0);
        assert_int_equal(settings.share, share);
    }
    assert_string_equal(pleat_fold_share_name((enum pleat_fold_share)99), "unknown");
}

static void durations_are_read(void **state)
{
    (void)state;
    struct pleat_fold_settings settings = {0};
    assert_int_equal(pleat_fold_settings_parse("spin=50us, slice=10ms", &settings, NULL), 0);
    assert_int_equal(settings.spin_us, 50);
    assert_int_equal(settings.slice_us, 10000);
    assert_int_equal(pleat_fold_settings_parse("slice=2s,spin=0us", &settings, NULL), 0);
    assert_int_equal(settings.slice_us, 2000000);
    assert_int_equal(settings.spin_us, 0);
    assert_int_equal(pleat_fold_settings_parse("", &settings, NULL), 0);
}

static void wrong_settings_change_nothing(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"wait=now", "choose one of auto, native, yield, immediate, spin, block"},
        {"next=sender,queue=far", "choose one of auto, local, global"},
        {"begin=now", "begin=now is not possible: choose one of auto, local, global"},
        {"share=all", "choose one of space, time"},
        {"wait=auto,share=time,queue=global", "leave out the global one"},
        {"wait=auto,share=time,begin=global", "leave out the global one"},
        {"share=time,wait=block", "with wait=block processes do not hand"},
        {"share=time,wait=yield", "with wait=yield"},
        {"share=time,wait=native", "with wait=native"},
        {"give", "wait=, spin=, give="},
        {"colour=red", "'colour' is not a setting"},
        {"spin=5", "50us or 10ms"},
        {"spin=-5us", "is not a duration"},
        {"spin=us", "is not a duration"},
        {"slice=11s", "at most 10s"},
        {"slice=99999999999999999999s", "at most 10s"},
        {"spin=", "is not a duration"},
        {"wait=", "choose one of"}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct pleat_fold_settings settings, before;
        struct pleat_error err = {0};
        memset(&settings, 1, sizeof(settings));
        before = settings;
        assert_int_equal(pleat_fold_settings_parse(wrong[i][0], &settings, &err), PLEAT_E_INVALID);
        if (!strstr(err.text, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], err.text);
        assert_memory_equal(&settings, &before, sizeof(settings));
    }
    char text[300];
    memset(text, ',', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    struct pleat_fold_settings settings = {0};
    assert_int_equal(pleat_fold_settings_parse(text, &settings, NULL), PLEAT_E_INVALID);
}

static void only_possible_settings_are_taken(void **state)
{
    (void)state;
    char path[64];
    int fd;
    struct pleat_fold_status status;
    struct pleat_fold *fold = make(2, 1, &fd, path);
    struct pleat_fold_settings settings = {.wait = PLEAT_FOLD_WAIT_SPIN,
                                           .give = PLEAT_FOLD_GIVE_SLICE,
                                           .next = PLEAT_FOLD_NEXT_AFFINITY,
                                           .queue = PLEAT_FOLD_QUEUE_LOCAL,
                                           .spin_us = 3,
                                           .slice_us = 4};
    assert_int_equal(pleat_fold_configure(fold, &settings), 0);
    pleat_fold_status(fold, &status);
    assert_memory_equal(&status.settings, &settings, sizeof(settings));
    settings.wait = PLEAT_FOLD_WAIT_BLOCK + 1;
    assert_int_equal(pleat_fold_configure(fold, &settings), PLEAT_E_INVALID);
    settings.wait = 0;
    settings.queue = 3;
    assert_int_equal(pleat_fold_configure(fold, &settings), PLEAT_E_INVALID);
    pleat_fold_close(fold);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_segment_has_defaults),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(largest_can_be_opened),
        cmocka_unit_test(what_is_no_segment_is_refused),
        cmocka_unit_test(partitions_are_checked),
        cmocka_unit_test(folded_says_whether_anybody_shares),
        cmocka_unit_test(nothing_in_it_is_trusted),
        cmocka_unit_test(every_name_is_read_back),
        cmocka_unit_test(durations_are_read),
        cmocka_unit_test(wrong_settings_change_nothing),
        cmocka_unit_test(only_possible_settings_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
