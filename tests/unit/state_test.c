/* The state that an agent holds for an application: saved and found again, torn saves, damage. A
 * rank that dies while it saves is one that stops calling: the tests stop at every call. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
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

#include "base/random.h"
#include "shm/state.h"
#include "support/store_bytes.h"

#define RANKS 3
#define BYTES 30000

/* An agent, and the ranks of an application. */
struct job {
    struct pleat_state_store store;
    struct pleat_state *ranks[RANKS];
};

static struct pleat_error err;

static void job_open(struct job *job)
{
    char paths[PLEAT_STATE_PATHS_SIZE];
    assert_int_equal(pleat_state_store_init(&job->store, &err), 0);
    pleat_state_store_paths(&job->store, paths);
    for (int rank = 0; rank < RANKS; rank++)
        assert_int_equal(pleat_state_open(paths, &job->ranks[rank], &err), 0);
}

static void job_close(struct job *job)
{
    for (int rank = 0; rank < RANKS; rank++)
        pleat_state_close(job->ranks[rank]);
    pleat_state_store_finish(&job->store);
    pleat_state_store_finish(&job->store);
}

static unsigned char byte_of(uint64_t iteration, size_t i)
{
    return (unsigned char)(iteration * 37 + i * 11 + i / 251);
}

/* What one rank of `ranks` saves: a share of every 1000 bytes. */
static void write_share(struct job *job, int rank, uint64_t iteration)
{
    unsigned char data[1000];
    for (size_t at = (size_t)rank * 1000; at < BYTES; at += RANKS * 1000) {
        for (size_t i = 0; i < sizeof(data); i++)
            data[i] = byte_of(iteration, at + i);
        assert_int_equal(pleat_state_write(job->ranks[rank], at, data, sizeof(data), &err), 0);
    }
}

/* Saves the state of an iteration, but only the first `calls` calls; returns how many there are. */
static int save(struct job *job, uint64_t iteration, int calls)
{
    const struct pleat_state_header wanted = {.shape = 5, .iteration = iteration, .bytes = BYTES};
    uint64_t generation = 0;
    int done = 0;
    if (done++ < calls)
        assert_int_equal(pleat_state_begin(job->ranks[0], &wanted, false, &generation, &err), 0);
    for (int rank = 1; rank < RANKS; rank++)
        if (done++ < calls)
            assert_int_equal(pleat_state_join(job->ranks[rank], generation, &err), 0);
    for (int rank = 0; rank < RANKS; rank++)
        if (done++ < calls)
            write_share(job, rank, iteration);
    if (done++ < calls)
        assert_int_equal(pleat_state_commit(job->ranks[0], &err), 0);
    return done;
}

/* What is held is all of the state of that iteration, for the agent and for every rank. */
static void check_held(struct job *job, uint64_t iteration)
{
    struct pleat_state_header header;
    assert_int_equal(pleat_state_store_held(&job->store, &header), 0);
    assert_int_equal(header.iteration, iteration);
    for (int rank = 0; rank < RANKS; rank++) {
        unsigned char data[BYTES];
        assert_int_equal(pleat_state_find(job->ranks[rank], &header, &err), 0);
        assert_int_equal(header.iteration, iteration);
        assert_int_equal(header.shape, 5);
        assert_int_equal(header.bytes, BYTES);
        assert_int_equal(pleat_state_read(job->ranks[rank], 0, data, BYTES, &err), 0);
        for (size_t i = 0; i < BYTES; i++)
            assert_int_equal(data[i], byte_of(iteration, i));
    }
}

static void test_saved_and_loaded_in_turn(void **state)
{
    (void)state;
    struct job job;
    struct pleat_state_header header;
    job_open(&job);
    assert_int_equal(pleat_state_store_held(&job.store, &header), PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_state_find(job.ranks[1], &header, &err), PLEAT_E_NOTFOUND);
    for (uint64_t iteration = 10; iteration < 17; iteration++) {
        int calls = save(&job, iteration, 1000);
        assert_int_equal(calls, 2 * RANKS + 1);
        check_held(&job, iteration);
        assert_int_equal(pleat_state_store_held(&job.store, &header), 0);
        assert_int_equal(header.generation, iteration - 9);
        /* Never more than two. */
        assert_in_range(store_bytes(&job.store), BYTES, 2 * (BYTES + 2 * 4096));
    }
    job_close(&job);
}

static void test_a_state_of_no_bytes(void **state)
{
    (void)state;
    struct job job;
    struct pleat_state_header header = {.iteration = 4};
    uint64_t generation;
    job_open(&job);
    assert_int_equal(pleat_state_begin(job.ranks[0], &header, false, &generation, &err), 0);
    assert_int_equal(pleat_state_write(job.ranks[0], 0, "", 0, &err), 0);
    assert_int_equal(pleat_state_write(job.ranks[0], 0, "x", 1, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_commit(job.ranks[0], &err), 0);
    assert_int_equal(pleat_state_find(job.ranks[1], &header, &err), 0);
    assert_int_equal(header.iteration, 4);
    assert_int_equal(pleat_state_read(job.ranks[1], 0, &header, 0, &err), 0);
    assert_int_equal(pleat_state_read(job.ranks[1], 0, &header, 1, &err), PLEAT_E_CORRUPT);
    job_close(&job);
}

/* Whoever saves may die at any point: before the commit the former state is held, whole. */
static void test_torn_saves(void **state)
{
    (void)state;
    struct job job;
    for (int former = 0; former < 2; former++) {
        for (int calls = 0; calls <= 2 * RANKS; calls++) {
            struct pleat_state_header header;
            job_open(&job);
            for (uint64_t i = 0; i <= (uint64_t)former; i++)
                save(&job, 1 + i, 1000);
            save(&job, 50, calls);
            check_held(&job, 1 + (uint64_t)former);
            /* New processes, that know of nothing, can save again. */
            for (int rank = 0; rank < RANKS; rank++) {
                char paths[PLEAT_STATE_PATHS_SIZE];
                pleat_state_close(job.ranks[rank]);
                pleat_state_store_paths(&job.store, paths);
                assert_int_equal(pleat_state_open(paths, &job.ranks[rank], &err), 0);
            }
            save(&job, 60, 1000);
            check_held(&job, 60);
            assert_int_equal(pleat_state_store_held(&job.store, &header), 0);
            job_close(&job);
        }
    }
    /* The very first save torn: there is no state. */
    for (int calls = 0; calls <= 2 * RANKS; calls++) {
        struct pleat_state_header header;
        job_open(&job);
        save(&job, 50, calls);
        assert_int_equal(pleat_state_store_held(&job.store, &header), PLEAT_E_NOTFOUND);
        assert_int_equal(pleat_state_find(job.ranks[0], &header, &err), PLEAT_E_NOTFOUND);
        job_close(&job);
    }
}

static void test_a_save_given_up(void **state)
{
    (void)state;
    struct job job;
    job_open(&job);
    save(&job, 7, 1000);
    uint64_t before = store_bytes(&job.store);
    save(&job, 8, 2 * RANKS);
    assert_true(store_bytes(&job.store) > before);
    for (int rank = RANKS - 1; rank >= 0; rank--)
        pleat_state_abandon(job.ranks[rank]);
    assert_int_equal(store_bytes(&job.store), before);
    check_held(&job, 7);
    assert_int_equal(pleat_state_commit(job.ranks[0], &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_write(job.ranks[1], 0, "x", 1, &err), PLEAT_E_STATE);
    job_close(&job);
}

/* Large enough for the way that goes through a mapping where a slot is used again. */
static void test_large_saves(void **state)
{
    enum { LARGE = 5 << 20, FIRST = (3 << 20) + 4321 };
    (void)state;
    struct job job;
    struct pleat_state_header header;
    uint64_t generation = 0;
    unsigned char *data = malloc(LARGE);
    unsigned char *found = malloc(LARGE);
    assert_true(data && found);
    job_open(&job);
    for (uint64_t iteration = 1; iteration <= 5; iteration++) {
        const struct pleat_state_header wanted = {.iteration = iteration, .bytes = LARGE};
        for (size_t i = 0; i < LARGE; i++)
            data[i] = byte_of(iteration, i);
        assert_int_equal(pleat_state_begin(job.ranks[0], &wanted, false, &generation, &err), 0);
        assert_int_equal(pleat_state_join(job.ranks[1], generation, &err), 0);
        assert_int_equal(pleat_state_write(job.ranks[1], FIRST, data + FIRST, LARGE - FIRST, &err),
                         0);
        assert_int_equal(pleat_state_write(job.ranks[0], 0, data, FIRST, &err), 0);
        assert_int_equal(pleat_state_commit(job.ranks[0], &err), 0);
        pleat_state_abandon(job.ranks[1]);
        assert_int_equal(pleat_state_find(job.ranks[2], &header, &err), 0);
        assert_int_equal(header.iteration, iteration);
        assert_int_equal(pleat_state_read(job.ranks[2], 0, found, LARGE, &err), 0);
        assert_memory_equal(found, data, LARGE);
    }
    job_close(&job);
    free(found);
    free(data);
}

/* Another rank may still be copying when rank 0 gives a save up. */
static void test_given_up_under_a_writer(void **state)
{
    (void)state;
    struct job job;
    job_open(&job);
    save(&job, 7, 1000);
    uint64_t before = store_bytes(&job.store);
    save(&job, 8, 2 * RANKS);
    size_t length = PLEAT_STATE_OFFSET + BYTES;
    char *at =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, job.store.fd[1], 0); /* the second */
    assert_ptr_not_equal(at, MAP_FAILED);
    pleat_state_abandon(job.ranks[0]);
    assert_int_equal(store_bytes(&job.store), before);
    memset(at + length - 100, 1, 100);
    munmap(at, length);
    check_held(&job, 7);
    job_close(&job);
}

static void test_calls_out_of_turn(void **state)
{
    (void)state;
    struct job job;
    struct pleat_state_header header;
    uint64_t generation;
    char byte;
    job_open(&job);
    assert_int_equal(pleat_state_write(job.ranks[0], 0, "x", 1, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_commit(job.ranks[0], &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_read(job.ranks[0], 0, &byte, 1, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_join(job.ranks[1], 1, &err), PLEAT_E_CORRUPT);
    save(&job, 9, 1000);
    /* A state that is complete is not written to. */
    assert_int_equal(pleat_state_store_held(&job.store, &header), 0);
    assert_int_equal(pleat_state_join(job.ranks[1], header.generation, &err), PLEAT_E_CORRUPT);
    header.bytes = 100;
    assert_int_equal(pleat_state_begin(job.ranks[0], &header, false, &generation, &err), 0);
    assert_int_equal(pleat_state_join(job.ranks[1], generation, &err), 0);
    assert_int_equal(pleat_state_commit(job.ranks[1], &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_write(job.ranks[1], 99, "xy", 2, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_write(job.ranks[1], UINT64_MAX, "xy", 2, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_read(job.ranks[1], 0, &byte, 1, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_write(job.ranks[1], 99, "x", 1, &err), 0);
    check_held(&job, 9);
    job_close(&job);
}

static void test_reading_beyond(void **state)
{
    (void)state;
    struct job job;
    struct pleat_state_header header;
    char data[8];
    job_open(&job);
    save(&job, 2, 1000);
    assert_int_equal(pleat_state_find(job.ranks[0], &header, &err), 0);
    assert_int_equal(pleat_state_read(job.ranks[0], BYTES - 8, data, 8, &err), 0);
    assert_int_equal(pleat_state_read(job.ranks[0], BYTES - 7, data, 8, &err), PLEAT_E_CORRUPT);
    assert_int_equal(pleat_state_read(job.ranks[0], UINT64_MAX, data, 8, &err), PLEAT_E_CORRUPT);
    assert_int_equal(pleat_state_read(job.ranks[0], 0, data, SIZE_MAX, &err), PLEAT_E_CORRUPT);
    /* The slot was cut off after it was found. */
    for (int i = 0; i < 2; i++)
        assert_int_equal(ftruncate(job.store.fd[i], PLEAT_STATE_OFFSET + 16), 0);
    assert_int_equal(pleat_state_read(job.ranks[0], 8, data, 8, &err), 0);
    assert_int_equal(pleat_state_read(job.ranks[0], 12, data, 8, &err), PLEAT_E_CORRUPT);
    assert_int_equal(pleat_state_find(job.ranks[0], &header, &err), PLEAT_E_NOTFOUND);
    job_close(&job);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct job job;
    struct pleat_state_header wanted = {.bytes = UINT64_C(1) << 50};
    uint64_t generation;
    job_open(&job);
    save(&job, 4, 1000);
    uint64_t before = store_bytes(&job.store);
    const uint64_t sizes[] = {UINT64_C(1) << 50, PLEAT_STATE_BYTES_MAX, PLEAT_STATE_BYTES_MAX + 1,
                              UINT64_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        wanted.bytes = sizes[i];
        assert_int_equal(pleat_state_begin(job.ranks[0], &wanted, false, &generation, &err),
                         PLEAT_E_NOMEM);
        assert_non_null(strstr(err.text, "no room to save"));
    }
    assert_int_equal(store_bytes(&job.store), before);
    check_held(&job, 4);
    job_close(&job);
}

/* Files in memory count as files: beyond `ulimit -f` a write would raise SIGXFSZ. */
static void test_a_limit_on_the_size_of_files(void **state)
{
    (void)state;
    struct job job;
    struct rlimit before;
    struct pleat_state_header wanted = {.bytes = 20000};
    uint64_t generation;
    job_open(&job);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = 16384, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int first = pleat_state_begin(job.ranks[0], &wanted, false, &generation, &err);
    char text[PLEAT_ERROR_TEXT_SIZE];
    memcpy(text, err.text, sizeof(text));
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(first, PLEAT_E_NOMEM);
    assert_non_null(strstr(text, "ulimit -f"));
    assert_int_equal(pleat_state_begin(job.ranks[0], &wanted, false, &generation, &err), 0);
    /* Another rank has the limit, and one gets it while it writes. */
    assert_int_equal(pleat_state_join(job.ranks[2], generation, &err), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    int second = pleat_state_join(job.ranks[1], generation, &err);
    char data[20000] = {0};
    int third = pleat_state_write(job.ranks[2], 0, data, sizeof(data), &err);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(second, PLEAT_E_NOMEM);
    assert_int_equal(third, PLEAT_E_NOMEM);
    job_close(&job);
}

static int open_paths(const char *paths)
{
    struct pleat_state *opened = NULL;
    int code = pleat_state_open(paths, &opened, &err);
    pleat_state_close(opened);
    assert_true(code == 0 || (err.code == code && err.text[0]));
    return code;
}

static void test_paths_are_checked(void **state)
{
    (void)state;
    struct pleat_state_store store;
    char paths[PLEAT_STATE_PATHS_SIZE];
    assert_int_equal(pleat_state_store_init(&store, &err), 0);
    pleat_state_store_paths(&store, paths);
    assert_int_equal(open_paths(paths), 0);
    assert_int_equal(open_paths(""), PLEAT_E_INVALID);
    assert_int_equal(open_paths(":"), PLEAT_E_INVALID);
    assert_int_equal(open_paths("/dev/null"), PLEAT_E_INVALID);
    assert_int_equal(open_paths("a:b:"), PLEAT_E_INVALID);
    assert_int_equal(open_paths("a::b"), PLEAT_E_INVALID);
    assert_int_equal(open_paths("a:b:c:d"), PLEAT_E_INVALID);
    assert_int_equal(open_paths("/nowhere:/nowhere"), PLEAT_E_SYSTEM);
    assert_int_equal(open_paths("/dev/null:/dev/null"), PLEAT_E_CORRUPT);
    pleat_state_store_finish(&store);
    assert_int_equal(open_paths(paths), PLEAT_E_SYSTEM);
    pleat_state_close(NULL);
}

/* Every single bit of both headers, turned over: what is found is a state that was saved, or none;
 * never a mixture of the two. */
static void test_damaged_headers(void **state)
{
    (void)state;
    struct job job;
    job_open(&job);
    save(&job, 6, 1000);
    struct pleat_state_header found;
    assert_int_equal(pleat_state_find(job.ranks[0], &found, &err), 0);
    int fd = job.store.fd[0];
    struct pleat_state_header good;
    assert_int_equal(pread(fd, &good, sizeof(good), 0), sizeof(good));
    assert_int_equal(good.iteration, 6);
    for (size_t bit = 0; bit < 8 * sizeof(good); bit++) {
        unsigned char bad[sizeof(good)];
        struct pleat_state_header header;
        memcpy(bad, &good, sizeof(good));
        bad[bit / 8] = (unsigned char)(bad[bit / 8] ^ 1u << bit % 8);
        assert_int_equal(pwrite(fd, bad, sizeof(bad), 0), sizeof(bad));
        assert_int_equal(pleat_state_store_held(&job.store, &header), PLEAT_E_NOTFOUND);
        assert_int_equal(pleat_state_find(job.ranks[1], &header, &err), PLEAT_E_NOTFOUND);
    }
    assert_int_equal(pwrite(fd, &good, sizeof(good), 0), sizeof(good));
    /* A file too short for what its header says. */
    assert_int_equal(ftruncate(fd, PLEAT_STATE_OFFSET + BYTES - 1), 0);
    assert_int_equal(pleat_state_store_held(&job.store, &found), PLEAT_E_NOTFOUND);
    assert_int_equal(ftruncate(fd, 10), 0);
    assert_int_equal(pleat_state_store_held(&job.store, &found), PLEAT_E_NOTFOUND);
    job_close(&job);
}

/* Of another launch, or of another program in the same one. */
static void test_a_state_of_another_program(void **state)
{
    (void)state;
    const struct pleat_state_header own = {.launch = 2, .program = 7, .name = "solver"};
    struct pleat_state_header held = own;
    assert_int_equal(pleat_state_check_owner(&held, &own, &err), 0);
    held.launch = 1;
    assert_int_equal(pleat_state_check_owner(&held, &own, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "'solver' (launch 1)"));
    held = own;
    held.program = 8;
    assert_int_equal(pleat_state_check_owner(&held, &own, &err), PLEAT_E_INVALID);
}

/* One round of the loop below: any call, with damage before it. */
static void any_call(struct job *job, struct pleat_random *random)
{
    struct pleat_state *rank = job->ranks[pleat_random_below(random, RANKS)];
    struct pleat_state_header header = {.bytes = pleat_random_below(random, 2 * BYTES),
                                        .iteration = pleat_random_below(random, 100)};
    uint64_t generation = pleat_random_below(random, 1000);
    static unsigned char data[2 * BYTES];
    uint64_t offset = pleat_random_below(random, BYTES);
    int code = 0;
    switch (pleat_random_below(random, 10)) {
    case 0:
        code = pleat_state_begin(rank, &header, pleat_random_below(random, 2), &generation, &err);
        break;
    case 1:
        code = pleat_state_join(rank, generation, &err);
        break;
    case 2:
        code = pleat_state_write(rank, offset, data, BYTES, &err);
        break;
    case 3:
        code = pleat_state_commit(rank, &err);
        break;
    case 4:
        code = pleat_state_find(rank, &header, &err);
        break;
    case 5:
        code = pleat_state_read(rank, offset, data, BYTES, &err);
        break;
    case 6:
        pleat_state_abandon(rank);
        break;
    case 7:
        code = pleat_state_go_on(rank, &err);
        break;
    case 8:
        code = pleat_state_take_data(rank, pleat_random_below(random, 2), &err);
        break;
    default:
        code = pleat_state_store_held(&job->store, &header);
        /* Whatever is called a state has the bytes that it says. */
        if (!code && !pleat_state_find(rank, &header, &err) && header.bytes <= sizeof(data))
            assert_int_equal(pleat_state_read(rank, 0, data, header.bytes, &err), 0);
    }
    assert_true(code <= 0);
}

static void damage(struct job *job, struct pleat_random *random)
{
    int fd = job->store.fd[pleat_random_below(random, PLEAT_STATE_FILES)];
    uint64_t value = pleat_random_below(random, 2) ? pleat_random_below(random, 8)
                                                   : UINT64_MAX - pleat_random_below(random, 8);
    if (pleat_random_below(random, 4) == 0)
        assert_int_equal(ftruncate(fd, (off_t)pleat_random_below(random, 3 * BYTES)), 0);
    else
        assert_int_equal(pwrite(fd, &value, sizeof(value), (off_t)pleat_random_below(random, 60)),
                         sizeof(value));
}

static void test_random_damage(void **state)
{
    (void)state;
    struct pleat_random random;
    pleat_random_init(&random, 11);
    for (int world = 0; world < 300; world++) {
        struct job job;
        job_open(&job);
        save(&job, 1, 1000);
        for (int i = 0; i < 100; i++) {
            if (pleat_random_below(&random, 5) == 0)
                damage(&job, &random);
            any_call(&job, &random);
        }
        /* After all of that it can be used again. */
        save(&job, 77, 1000);
        check_held(&job, 77);
        job_close(&job);
    }
}

/* ---- the data file ---- */

/* Three ranks write an iteration into the data file; *generation: the save's number. */
static void save_in_data(struct job *job, uint64_t iteration, uint64_t *generation)
{
    const struct pleat_state_header wanted = {.shape = 5, .iteration = iteration, .bytes = BYTES};
    assert_int_equal(pleat_state_begin(job->ranks[0], &wanted, true, generation, &err), 0);
    for (int rank = 1; rank < RANKS; rank++)
        assert_int_equal(pleat_state_join(job->ranks[rank], *generation, &err), 0);
    for (int rank = 0; rank < RANKS; rank++)
        write_share(job, rank, iteration);
}

/* It is the state from its commit until the ranks go on; the copy before and after that. */
static void test_the_data_file_is_the_state_for_a_while(void **state)
{
    (void)state;
    struct job job;
    struct pleat_state_header header;
    uint64_t generation = 0;
    job_open(&job);
    assert_true(pleat_state_data(job.ranks[0]) >= 0);
    assert_int_equal(pleat_state_take_data(job.ranks[0], false, &err), 0);
    save_in_data(&job, 3, &generation);
    assert_int_equal(pleat_state_store_held(&job.store, &header), PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_state_commit(job.ranks[0], &err), 0);
    check_held(&job, 3);
    assert_true(pleat_state_is_data(job.ranks[1]));
    assert_int_equal(pleat_state_go_on(job.ranks[0], &err), 0);
    assert_int_equal(pleat_state_store_held(&job.store, &header), PLEAT_E_NOTFOUND);
    save(&job, 4, 1000);
    check_held(&job, 4);
    assert_false(pleat_state_is_data(job.ranks[1]));
    /* A rank dies while it writes: the copy is still there. */
    save_in_data(&job, 5, &generation);
    check_held(&job, 4);
    save_in_data(&job, 6, &generation);
    assert_int_equal(pleat_state_commit(job.ranks[0], &err), 0);
    check_held(&job, 6);
    assert_int_equal(pleat_state_go_on(job.ranks[0], &err), 0);
    check_held(&job, 4);
    /* The copies take turns as before. */
    save(&job, 7, 1000);
    check_held(&job, 7);
    save(&job, 8, 2 * RANKS);
    check_held(&job, 7);
    job_close(&job);
}

static void test_what_is_missing_in_the_data_file(void **state)
{
    (void)state;
    struct job job;
    const size_t page = 4096;
    job_open(&job);
    int fd = pleat_state_data(job.ranks[0]);
    assert_int_equal(pleat_state_take_data(job.ranks[0], false, &err), 0);
    assert_int_equal(pleat_state_data_missing(fd, 0, 10 * page, 100 * page), 10 * page);
    assert_int_equal(pleat_state_put(fd, 2 * page, "x", 1, &err), 0);
    assert_int_equal(pleat_state_put(fd, 7 * page, "x", 1, &err), 0);
    assert_int_equal(pleat_state_data_missing(fd, 0, 10 * page, 100 * page), 8 * page);
    assert_int_equal(pleat_state_data_missing(fd, 2 * page, page, 100 * page), 0);
    assert_int_equal(pleat_state_data_missing(fd, 2 * page + 5, 1, 100 * page), 0);
    assert_int_equal(pleat_state_data_missing(fd, 8 * page, 2 * page, 100 * page), 2 * page);
    assert_true(pleat_state_data_missing(fd, 0, 10 * page, page) > page);
    job_close(&job);
}

/* What is given up stays in the file: the ranks have mapped it. */
static void test_the_data_file_is_never_freed_under_its_ranks(void **state)
{
    (void)state;
    struct job job;
    uint64_t generation = 0;
    unsigned char byte = 0;
    job_open(&job);
    assert_int_equal(pleat_state_take_data(job.ranks[0], false, &err), 0);
    unsigned char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                             pleat_state_data(job.ranks[1]), PLEAT_STATE_OFFSET);
    assert_ptr_not_equal(at, MAP_FAILED);
    save_in_data(&job, 3, &generation);
    pleat_state_abandon(job.ranks[0]);
    assert_int_equal(at[77], byte_of(3, 77));
    at[77] = 99;
    assert_int_equal(pleat_state_read_data(pleat_state_data(job.ranks[2]), 77, &byte, 1, &err), 0);
    assert_int_equal(byte, 99);
    pleat_state_store_finish(&job.store);
    assert_int_equal(at[77], 99);
    munmap(at, BYTES);
    job_close(&job);
}

/* A program gets an empty file, or the state to go on from, and no other program has it then. */
static void test_one_program_has_the_data_file(void **state)
{
    (void)state;
    struct job job;
    uint64_t generation = 0;
    unsigned char byte = 1;
    job_open(&job);
    assert_int_equal(pleat_state_take_data(job.ranks[0], false, &err), 0);
    assert_int_equal(pleat_state_take_data(job.ranks[1], false, &err), PLEAT_E_BUSY);
    save_in_data(&job, 3, &generation);
    assert_int_equal(pleat_state_commit(job.ranks[0], &err), 0);
    pleat_state_close(job.ranks[0]);
    job.ranks[0] = NULL;
    assert_int_equal(pleat_state_take_data(job.ranks[1], true, &err), 0);
    struct pleat_state_header header;
    assert_int_equal(pleat_state_find(job.ranks[1], &header, &err), 0);
    assert_int_equal(header.iteration, 3);
    assert_int_equal(pleat_state_read(job.ranks[1], 500, &byte, 1, &err), 0);
    assert_int_equal(byte, byte_of(3, 500));
    assert_int_equal(pleat_state_take_data(job.ranks[1], false, &err), 0);
    assert_int_equal(pleat_state_find(job.ranks[1], &header, &err), PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_state_read_data(pleat_state_data(job.ranks[1]), 500, &byte, 1, &err), 0);
    assert_int_equal(byte, 0);
    job_close(&job);
}

/* A limit on the size of files binds pwrite, and not what is mapped. */
static void test_the_data_file_under_a_limit(void **state)
{
    (void)state;
    struct job job;
    struct rlimit before, limit;
    uint64_t generation = 0;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    job_open(&job);
    limit = before;
    limit.rlim_cur = PLEAT_STATE_OFFSET + 100;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    save_in_data(&job, 3, &generation);
    assert_int_equal(pleat_state_commit(job.ranks[0], &err), 0);
    check_held(&job, 3);
    struct pleat_state_store other;
    assert_int_equal(pleat_state_store_init(&other, &err), 0);
    assert_int_equal(other.fd[PLEAT_STATE_DATA], -1);
    pleat_state_store_finish(&other);
    limit.rlim_cur = 100;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct pleat_state_header wanted = {.bytes = 8};
    assert_int_equal(pleat_state_begin(job.ranks[0], &wanted, true, &generation, &err),
                     PLEAT_E_NOMEM);
    assert_int_equal(pleat_state_go_on(job.ranks[0], &err), PLEAT_E_NOMEM);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    job_close(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_state_of_another_program),
        cmocka_unit_test(test_saved_and_loaded_in_turn),
        cmocka_unit_test(test_a_state_of_no_bytes),
        cmocka_unit_test(test_torn_saves),
        cmocka_unit_test(test_a_save_given_up),
        cmocka_unit_test(test_large_saves),
        cmocka_unit_test(test_given_up_under_a_writer),
        cmocka_unit_test(test_calls_out_of_turn),
        cmocka_unit_test(test_reading_beyond),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_a_limit_on_the_size_of_files),
        cmocka_unit_test(test_paths_are_checked),
        cmocka_unit_test(test_damaged_headers),
        cmocka_unit_test(test_random_damage),
        cmocka_unit_test(test_the_data_file_is_the_state_for_a_while),
        cmocka_unit_test(test_the_data_file_is_never_freed_under_its_ranks),
        cmocka_unit_test(test_what_is_missing_in_the_data_file),
        cmocka_unit_test(test_one_program_has_the_data_file),
        cmocka_unit_test(test_the_data_file_under_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
