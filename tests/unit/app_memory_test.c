/* libpleat's parts that need no MPI: who has which rows, and memory that comes and goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/blocks.h"
#include "app/memory.h"
#include "base/random.h"
#include "shm/state.h"

static void test_blocks_cover_every_row_once(void **state)
{
    (void)state;
    for (int64_t rows = 1; rows < 40; rows++)
        for (int size = 1; size < 50; size++) {
            int64_t next = 0;
            for (int rank = 0; rank < size; rank++) {
                struct pleat_block block = pleat_block_of(rows, size, rank);
                int64_t count = pleat_block_count(block);
                assert_true(count == rows / size || count == rows / size + 1);
                if (count)
                    assert_int_equal(block.first, next);
                next += count;
            }
            assert_int_equal(next, rows);
            assert_int_equal(pleat_block_count(pleat_block_of(rows, size, size)), 0);
            assert_int_equal(pleat_block_count(pleat_block_of(rows, size, -1)), 0);
        }
}

static void test_blocks_of_huge_arrays(void **state)
{
    (void)state;
    struct pleat_block last = pleat_block_of(INT64_MAX, 65536, 65535);
    assert_true(last.end == INT64_MAX);
    assert_true(pleat_block_count(last) == INT64_MAX / 65536);
}

static void test_common_rows(void **state)
{
    (void)state;
    struct pleat_block common =
        pleat_block_common((struct pleat_block){0, 10}, (struct pleat_block){5, 20});
    assert_int_equal(common.first, 5);
    assert_int_equal(common.end, 10);
    common = pleat_block_common((struct pleat_block){0, 5}, (struct pleat_block){5, 9});
    assert_int_equal(pleat_block_count(common), 0);
}

/* A window wanders over the array; what it keeps must keep its contents. */
static void test_a_wandering_window(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    struct pleat_memory memory;
    struct pleat_error err = {0};
    struct pleat_random random;
    pleat_random_init(&random, 1);
    assert_int_equal(pleat_memory_reserve(&memory, BYTES, &err), 0);
    size_t first = 0;
    size_t end = 0;
    for (int round = 0; round < 300; round++) {
        size_t to = 1 + pleat_random_below(&random, BYTES);
        size_t from = pleat_random_below(&random, to);
        assert_int_equal(pleat_memory_open(&memory, from, to, &err), 0);
        if (round % 2)
            pleat_memory_populate(&memory, from, to);
        for (size_t i = first > from ? first : from; i < end && i < to; i += 97)
            assert_int_equal(memory.base[i], (unsigned char)(i * 31));
        for (size_t i = from; i < to; i++)
            memory.base[i] = (unsigned char)(i * 31);
        pleat_memory_keep(&memory, from, to);
        for (size_t i = from; i < to; i++)
            assert_int_equal(memory.base[i], (unsigned char)(i * 31));
        first = from;
        end = to;
    }
    pleat_memory_keep(&memory, 0, 0);
    assert_int_equal(memory.open.first, memory.open.end);
    pleat_memory_release(&memory);
    pleat_memory_release(&memory);
}

/* ---- memory of a file ---- */

enum { FILE_BYTES = 1 << 20, MAPPERS = 3, PAGE = 4096 };

/* Some ranks, each with its own mapping of one file. */
struct mappers {
    int fd;
    struct pleat_memory memory[MAPPERS];
    struct pleat_span block[MAPPERS];
};

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(1 + i * 31 % 251);
}

static void mappers_open(struct mappers *m)
{
    struct pleat_error err = {0};
    memset(m, 0, sizeof(*m));
    m->fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(m->fd >= 0);
    assert_int_equal(ftruncate(m->fd, 2 * PAGE + FILE_BYTES), 0);
    for (int i = 0; i < MAPPERS; i++) {
        assert_int_equal(pleat_memory_reserve(&m->memory[i], FILE_BYTES, &err), 0);
        pleat_memory_share(&m->memory[i], m->fd, 2 * PAGE);
    }
}

static void mappers_close(struct mappers *m)
{
    for (int i = 0; i < MAPPERS; i++)
        pleat_memory_release(&m->memory[i]);
    close(m->fd);
}

/* What libpleat does before a resize: what is on private pages goes to the file. */
static void publish(struct mappers *m, int i)
{
    const struct pleat_span block = m->block[i], shared = m->memory[i].shared;
    for (size_t at = block.first; at < block.end; at++)
        if (at < shared.first || at >= shared.end)
            assert_int_equal(pwrite(m->fd, m->memory[i].base + at, 1, (off_t)(2 * PAGE + at)), 1);
}

/* And after it: what is on private pages comes from the file. */
static void fetch(struct mappers *m, int i)
{
    const struct pleat_span block = m->block[i], shared = m->memory[i].shared;
    for (size_t at = block.first; at < block.end; at++)
        if (at < shared.first || at >= shared.end)
            assert_int_equal(pread(m->fd, m->memory[i].base + at, 1, (off_t)(2 * PAGE + at)), 1);
}

static void cut(struct pleat_random *random, size_t bound[MAPPERS + 1])
{
    /* often at, or just beside, the beginning of a page */
    for (int i = 1; i < MAPPERS; i++) {
        bound[i] = pleat_random_below(random, FILE_BYTES + 1);
        if (pleat_random_below(random, 2))
            bound[i] = bound[i] / PAGE * PAGE + pleat_random_below(random, 3);
        bound[i] = bound[i] > FILE_BYTES ? FILE_BYTES : bound[i];
    }
    if (bound[1] > bound[2]) {
        size_t swap = bound[1];
        bound[1] = bound[2];
        bound[2] = swap;
    }
    bound[0] = 0;
    bound[MAPPERS] = FILE_BYTES;
}

/* Blocks move over the array: nothing is copied but parts of pages, everything is where it belongs,
 * what is around a block is zero, and nobody writes into another one's block. */
static void test_blocks_of_a_file_move(void **state)
{
    (void)state;
    struct mappers m;
    struct pleat_random random;
    struct pleat_error err = {0};
    size_t bound[MAPPERS + 1];
    pleat_random_init(&random, 5);
    mappers_open(&m);
    for (int round = 0; round < 60; round++) {
        cut(&random, bound);
        for (int i = 0; i < MAPPERS; i++)
            publish(&m, i);
        for (int i = 0; i < MAPPERS; i++) {
            const size_t halo = pleat_random_below(&random, 3 * PAGE);
            m.block[i] = (struct pleat_span){bound[i], bound[i + 1]};
            struct pleat_span open = {bound[i] > halo ? bound[i] - halo : 0,
                                      bound[i + 1] + halo < FILE_BYTES ? bound[i + 1] + halo
                                                                       : FILE_BYTES};
            if (m.block[i].first == m.block[i].end)
                open = (struct pleat_span){0, 0};
            if (round % 3) /* a move that is given up changes nothing */
                assert_int_equal(pleat_memory_prepare(&m.memory[i], m.block[i], &err), 0);
            if (round % 3 == 2)
                pleat_memory_unprepare(&m.memory[i], m.block[i]);
            assert_int_equal(pleat_memory_move(&m.memory[i], m.block[i], open, &err), 0);
            for (size_t at = open.first; at < m.block[i].first; at++)
                assert_int_equal(m.memory[i].base[at], 0);
            for (size_t at = m.block[i].end; at < open.end; at++)
                assert_int_equal(m.memory[i].base[at], 0);
            memset(m.memory[i].base + open.first, 255, m.block[i].first - open.first);
            memset(m.memory[i].base + m.block[i].end, 255, open.end - m.block[i].end);
            fetch(&m, i);
        }
        for (int i = 0; i < MAPPERS; i++)
            for (size_t at = bound[i]; at < bound[i + 1]; at++) {
                assert_int_equal(m.memory[i].base[at], round ? byte_at(at + (size_t)round - 1) : 0);
                m.memory[i].base[at] = byte_at(at + (size_t)round);
            }
    }
    mappers_close(&m);
}

static void test_what_is_detached_does_not_reach_the_file(void **state)
{
    (void)state;
    struct mappers m;
    struct pleat_error err = {0};
    unsigned char byte = 0;
    const struct pleat_span all = {0, FILE_BYTES};
    mappers_open(&m);
    assert_int_equal(pleat_memory_move(&m.memory[0], all, all, &err), 0);
    m.memory[0].base[PAGE] = 7;
    pleat_memory_detach(&m.memory[0]);
    assert_int_equal(m.memory[0].base[PAGE], 7);
    m.memory[0].base[PAGE] = 8;
    assert_int_equal(pread(m.fd, &byte, 1, 3 * PAGE), 1);
    assert_int_equal(byte, 7);
    mappers_close(&m);
}

/* Page tables are moved as a whole only where old and new place are aligned alike. */
static void test_many_pages_are_cut_off(void **state)
{
    (void)state;
    const size_t bytes = ((size_t)5 << 20) + PAGE;
    unsigned char byte = 0;
    int fd = memfd_create("many", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)(bytes + PAGE)), 0);
    unsigned char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PAGE);
    assert_true(at != MAP_FAILED);
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(i * 7);
    assert_int_equal(pleat_memory_cut_off(at, bytes, fd, PAGE), 0);
    for (size_t i = 0; i < bytes; i++) {
        assert_int_equal(at[i], (unsigned char)(i * 7));
        at[i] = 200;
    }
    for (size_t i = 0; i < bytes; i += 997) {
        assert_int_equal(pread(fd, &byte, 1, (off_t)(i + PAGE)), 1);
        assert_int_equal(byte, (unsigned char)(i * 7));
    }
    munmap(at, bytes);
    close(fd);
}

static long resident_pages(void)
{
    long total = 0;
    long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &total, &resident), 2);
    fclose(file);
    return resident;
}

static void test_memory_is_given_back(void **state)
{
    (void)state;
    const size_t bytes = (size_t)64 << 20;
    const long page = sysconf(_SC_PAGESIZE);
    struct pleat_memory memory;
    struct pleat_error err = {0};
    assert_int_equal(pleat_memory_reserve(&memory, 100 * bytes, &err), 0);
    long before = resident_pages();
    assert_int_equal(pleat_memory_open(&memory, bytes, 2 * bytes, &err), 0);
    memset(memory.base + bytes, 1, bytes);
    long full = resident_pages();
    assert_true(full - before >= (long)bytes / page * 9 / 10);
    pleat_memory_keep(&memory, bytes, bytes + bytes / 4);
    assert_true(full - resident_pages() >= (long)bytes / page / 2);
    assert_int_equal(memory.base[bytes + 5], 1);
    /* Opened again, it is zero. */
    assert_int_equal(pleat_memory_open(&memory, bytes, 2 * bytes, &err), 0);
    assert_int_equal(memory.base[2 * bytes - 1], 0);
    pleat_memory_release(&memory);
}

static void test_too_much(void **state)
{
    (void)state;
    struct pleat_memory memory;
    struct pleat_error err = {0};
    assert_int_equal(pleat_memory_reserve(&memory, SIZE_MAX, &err), PLEAT_E_NOMEM);
    assert_int_equal(pleat_memory_reserve(&memory, (size_t)1 << 60, &err), PLEAT_E_NOMEM);
    assert_non_null(strstr(err.text, "ulimit"));
}

/* Bytes of memory that the file has. */
static int64_t bytes_of_file(int fd)
{
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    return (int64_t)status.st_blocks * 512;
}

/* Page faults that reading the span takes. The sanitizer's own memory would have some, too. */
__attribute__((no_sanitize_address)) static long faults_reading(const struct pleat_memory *memory,
                                                                struct pleat_span span)
{
    struct rusage before, after;
    unsigned sum = 0;
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    for (size_t at = span.first; at < span.end; at += pleat_page_bytes())
        sum += ((const volatile unsigned char *)memory->base)[at];
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true(sum > 0);
    return after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt;
}

/* Others fill the file: what is there is mapped as it comes, and only that. */
static void test_ahead_of_those_who_fill_the_file(void **state)
{
    (void)state;
    enum { PIECES = 5, PIECE = 2 << 20 };
    const size_t bytes = (size_t)PIECES * PIECE;
    const int64_t origin = (int64_t)PLEAT_STATE_OFFSET;
    const struct pleat_span block = {0, bytes}, first = {0, 2 * PIECE};
    struct pleat_error err = {0};
    struct pleat_memory memory;
    struct pleat_memory_ahead ahead;
    unsigned char *filled = malloc(bytes);
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0 && filled);
    assert_int_equal(ftruncate(fd, origin + (off_t)bytes), 0);
    memset(filled, 7, bytes);
    assert_int_equal(pleat_memory_reserve(&memory, bytes, &err), 0);
    pleat_memory_share(&memory, fd, origin);
    assert_int_equal(pleat_memory_ahead_begin(&ahead, &memory, block, &err), 0);
    assert_int_equal(pleat_memory_ahead_go_on(&ahead), PLEAT_FORESEEN_NOTHING);
    assert_int_equal(bytes_of_file(fd), 0);

    assert_int_equal(pwrite(fd, filled, 2 * PIECE, origin), 2 * PIECE);
    int64_t before = bytes_of_file(fd);
    assert_int_equal(pleat_memory_ahead_go_on(&ahead), PLEAT_FORESEEN_MORE);
    assert_int_equal(pleat_memory_ahead_go_on(&ahead), PLEAT_FORESEEN_NOTHING);
    assert_int_equal(bytes_of_file(fd), before);
    /* no fault for each sixteen pages, as there is without */
    assert_true(faults_reading(&memory, first) < 8);

    assert_int_equal(pwrite(fd, filled, 2 * PIECE, origin + 3 * PIECE), 2 * PIECE);
    assert_int_equal(pleat_memory_ahead_go_on(&ahead), PLEAT_FORESEEN_MORE);
    assert_int_equal(pleat_memory_ahead_end(&ahead, &err), 0); /* the one between */
    assert_int_equal(pleat_memory_move(&memory, block, block, &err), 0);
    assert_true(faults_reading(&memory, block) < 8);
    assert_int_equal(memory.base[3 * PIECE], 7);
    assert_int_equal(memory.base[2 * PIECE], 0);
    pleat_memory_release(&memory);

    /* all is there at once; and given up in the middle */
    assert_int_equal(pleat_memory_reserve(&memory, bytes, &err), 0);
    pleat_memory_share(&memory, fd, origin);
    assert_int_equal(pleat_memory_ahead_begin(&ahead, &memory, block, &err), 0);
    assert_int_equal(pleat_memory_ahead_go_on(&ahead), PLEAT_FORESEEN_ALL);
    pleat_memory_ahead_drop(&ahead);
    pleat_memory_unprepare(&memory, block);
    pleat_memory_release(&memory);
    close(fd);
    free(filled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_cover_every_row_once),
        cmocka_unit_test(test_blocks_of_huge_arrays),
        cmocka_unit_test(test_common_rows),
        cmocka_unit_test(test_a_wandering_window),
        cmocka_unit_test(test_memory_is_given_back),
        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_blocks_of_a_file_move),
        cmocka_unit_test(test_what_is_detached_does_not_reach_the_file),
        cmocka_unit_test(test_many_pages_are_cut_off),
        cmocka_unit_test(test_ahead_of_those_who_fill_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
