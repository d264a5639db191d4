/* app_arrays_driver SCENARIO openmpi|mpich PROGRAM [copies] - arrays of many distributions
 * (app_arrays.c), or data whose size changes (app_items.c), through resizes, relaunches, and ranks
 * that die at each step of them. copies: without a data file. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app_job.h"
#include "support/store_bytes.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *program;
static bool mpich;
static bool copies;
static struct app_job job;

static void start(int ranks, const char *const *argv)
{
    const struct app_job_options options = {.ranks = ranks, .mpich = mpich, .without_data = copies};
    app_job_start(&job, &options, argv);
    app_job_wait_begun(&job);
}

static void end_well(void)
{
    APP_CHECK(&job, app_job_wait(&job) == 0);
    APP_CHECK(&job, strstr(job.output, "RESULT ok"));
    APP_CHECK(&job, !strstr(job.output, "wrong"));
    APP_CHECK(&job, app_job_finish(&job) == 0);
}

static void walk(const int *sizes)
{
    for (; *sizes; sizes++) {
        struct pleat_mailbox_status status = app_job_resize(&job, (uint32_t)*sizes);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED);
        APP_CHECK(&job, status.size == (uint32_t)*sizes);
    }
}

static void relaunch_walk(const int *sizes)
{
    for (; *sizes; sizes++) {
        APP_CHECK(&job, app_job_relaunch(&job, (uint32_t)*sizes).phase == PLEAT_MAILBOX_SAVED);
        APP_CHECK(&job, app_job_status(&job).size == (uint32_t)*sizes);
        APP_CHECK(&job, app_job_status(&job).loaded);
    }
}

static void check_failure(const char *part)
{
    char text[192];
    pleat_mailbox_failure(job.mailbox, text, sizeof(text));
    if (!strstr(text, part))
        app_job_fail(&job, "the mailbox says '%s', not '%s'", text, part);
}

/* ---- resizes that work ---- */

static void resizes(void)
{
    start(2, WORDS(program, "--resizes", "6"));
    walk((const int[]){4, 3, 8, 1, 6, 2, 0});
    end_well();
}

/* What the programs have registered takes 3.2 MB at most. The memory from before a resize is given
 * back: after a while the data are in memory once. */
static void await_memory(void)
{
    const uint64_t once = 4500000;
    while (!copies && store_bytes(&job.store) > once)
        app_job_listen(&job);
}

static void relaunches(void)
{
    start(2, WORDS(program, "--resizes", "5"));
    relaunch_walk((const int[]){6, 4, 0});
    for (uint32_t size = 1; size <= 3; size += 2) {
        APP_CHECK(&job, app_job_relaunch_warm(&job, size).phase == PLEAT_MAILBOX_SAVED);
        APP_CHECK(&job, app_job_status(&job).size == size && app_job_status(&job).loaded);
        await_memory();
    }
    relaunch_walk((const int[]){3, 0});
    end_well();
}

static void resizes_and_relaunches(void)
{
    start(3, WORDS(program, "--resizes", "5"));
    walk((const int[]){6, 0});
    relaunch_walk((const int[]){4, 0});
    walk((const int[]){2, 0});
    relaunch_walk((const int[]){2, 5, 0});
    end_well();
}

/* ScaLAPACK computes at each size with results of other sizes. */
static void scalapack(void)
{
    start(2, WORDS(program, "--resizes", "3"));
    if (mpich)
        relaunch_walk((const int[]){4, 1, 3, 0});
    else
        walk((const int[]){6, 3, 4, 0});
    end_well();
}

/* A resize to the size that the job has saves a copy, from which it goes on. */
static void a_copy_of_the_data(void)
{
    start(2, WORDS(program, "--resizes", "2"));
    APP_CHECK(&job, app_job_resize(&job, 2).phase == PLEAT_MAILBOX_APPLIED);
    app_job_restart(&job, 3);
    APP_CHECK(&job, app_job_status(&job).loaded);
    relaunch_walk((const int[]){2, 0});
    end_well();
}

/* ---- deaths ---- */

static char crash_file[] = "/tmp/pleat-crash-XXXXXX";

/* Also when a check fails. */
static void forget_crash(void)
{
    unlink(crash_file);
}

static void arm(const char *how, int place, int number)
{
    char order[128];
    strcpy(crash_file + sizeof(crash_file) - 7, "XXXXXX");
    int fd = mkstemp(crash_file);
    APP_CHECK(&job, fd >= 0);
    close(fd);
    unlink(crash_file);
    snprintf(order, sizeof(order), "%s:%d:%d:%s", how, place, number, crash_file);
    setenv("PLEAT_TEST_CRASH", order, 1);
}

static void trigger(void)
{
    FILE *file = fopen(crash_file, "w");
    APP_CHECK(&job, file);
    fclose(file);
}

static bool has_happened(void)
{
    if (access(crash_file, F_OK))
        return true;
    unlink(crash_file);
    return false;
}

/* Process `place` dies at its step `number` of a resize from `before` to `after` ranks. Returns
 * whether it got that far. *held: whether there was a state then; the program goes on from it, at
 * another size, with all arrays whole. */
static bool die_at(int place, int number, int before, int after, bool relaunch, bool *held)
{
    struct pleat_state_header header;
    arm("die", place, number);
    start(before, WORDS(program, "--few", "--resizes", "1"));
    trigger();
    const struct pleat_mailbox_request request = {
        .resize = 1, .target = (uint32_t)after, .relaunch = relaunch};
    APP_CHECK(&job, pleat_mailbox_post(job.mailbox, &request) == 0);
    int code = app_job_wait(&job);
    if (relaunch && code == 0) {
        app_job_start_again(&job, after);
        code = app_job_wait(&job);
    }
    bool died = has_happened();
    unsetenv("PLEAT_TEST_CRASH");
    APP_CHECK(&job, died == (code != 0));
    *held = died && pleat_state_store_held(&job.store, &header) == 0;
    if (*held) {
        app_job_restart(&job, number % 2 ? before : after + 1);
        APP_CHECK(&job, app_job_status(&job).loaded);
    }
    if (*held || !died)
        end_well();
    else
        app_job_finish(&job);
    return died;
}

/* PLEAT_TEST_STRIDE=1: at each step. Until the state is saved there is none, and once the ranks go
 * on there is none: between these steps each death leaves one. */
static void die_at_each(int place, int before, int after, bool relaunch, int stride)
{
    const char *other = getenv("PLEAT_TEST_STRIDE");
    stride = other ? atoi(other) : stride;
    bool held = false;
    bool was_held = false;
    bool is_over = false;
    int deaths = 0;
    int states = 0;
    for (int number = 3; die_at(place, number, before, after, relaunch, &held); number += stride) {
        APP_CHECK(&job, !held || !is_over);
        is_over |= was_held && !held;
        was_held = held;
        deaths++;
        states += held;
    }
    printf("place %d, %d -> %d: died at %d steps, with a state at %d\n", place, before, after,
           deaths, states);
    if (deaths < 2 || states < 1) {
        fprintf(stderr, "FAILED: too few deaths\n");
        exit(1);
    }
}

static void deaths_in_a_growth(void)
{
    die_at_each(0, 2, 3, false, 11);
    die_at_each(100, 2, 3, false, 9);
}

static void deaths_in_a_shrink(void)
{
    die_at_each(2, 3, 2, false, 9);
}

static void deaths_in_a_relaunch(void)
{
    die_at_each(0, 2, 3, true, 4);
    die_at_each(1, 2, 3, true, 5);
}

/* ---- a rank without memory ---- */

/* Posts a resize to `target` and waits until it is over, or the program is. */
static struct pleat_mailbox_status resize_or_end(uint32_t target)
{
    struct pleat_mailbox_status status;
    app_job_post(&job, target);
    do
        app_job_listen(&job);
    while (status = app_job_status(&job), !job.ended && status.phase != PLEAT_MAILBOX_APPLIED &&
                                              status.phase != PLEAT_MAILBOX_FAILED);
    return status;
}

/* Rank 1 gets no memory, at each call in turn. Before anything has moved nothing has happened;
 * half-way, when other ranks or arrays have moved already, the program ends, and goes on from the
 * state. */
static void no_memory_half_way(void)
{
    int refused = 0;
    int broken = 0;
    for (int number = 1;; number++) {
        arm("fail", 1, number);
        start(3, WORDS(program, "--few", "--resizes", "1"));
        trigger();
        struct pleat_mailbox_status status = resize_or_end(2);
        bool happened = has_happened();
        unsetenv("PLEAT_TEST_CRASH");
        if (job.ended) {
            APP_CHECK(&job, happened && app_job_wait(&job) != 0 && strstr(job.output, "of array"));
            app_job_restart(&job, number % 2 ? 3 : 4);
            APP_CHECK(&job, copies || app_job_status(&job).loaded);
            broken++;
        } else {
            APP_CHECK(&job, happened == (status.phase == PLEAT_MAILBOX_FAILED));
            APP_CHECK(&job, status.size == (happened ? 3u : 2u));
            pleat_mailbox_acknowledge(job.mailbox);
            if (happened) /* the one that the program counts */
                APP_CHECK(&job, app_job_resize(&job, 2).phase == PLEAT_MAILBOX_APPLIED);
            refused += happened;
        }
        end_well();
        if (!happened)
            break;
    }
    printf("no memory: %d times nothing has happened, %d times half-way\n", refused, broken);
    APP_CHECK(&job, refused > 0 && broken > 0);
}

/* Before anything has moved: nothing has happened. */
static void no_address_space(void)
{
    start(3, WORDS(program, "--iterations", "60", "--address", "0"));
    APP_CHECK(&job, app_job_resize(&job, 2).phase == PLEAT_MAILBOX_FAILED);
    check_failure("of array 'large'");
    APP_CHECK(&job, app_job_status(&job).size == 3);
    end_well();
}

/* An array of which no page is there yet needs all its memory at a resize. */
static void no_memory(void)
{
    start(3, WORDS(program, "--few", "--iterations", "60", "--huge"));
    APP_CHECK(&job, app_job_resize(&job, 2).phase == PLEAT_MAILBOX_FAILED);
    check_failure("array 'huge' needs 4398046511104 bytes of memory for its new parts");
    APP_CHECK(&job, app_job_relaunch(&job, 4).phase == PLEAT_MAILBOX_FAILED);
    check_failure("array 'huge' needs 4398046511104 bytes of memory for its new parts");
    APP_CHECK(&job, app_job_status(&job).size == 3);
    end_well();
}

/* The ranks may write small files only. */
static void small_files(void)
{
    const struct app_job_options options = {
        .ranks = 2, .mpich = mpich, .without_data = copies, .file_limit = (uint64_t)32 << 20};
    app_job_start(&job, &options,
                  WORDS(program, "--few", "--resizes", copies ? "1" : "3", "--large", "40000000"));
    app_job_wait_begun(&job);
    if (copies) {
        APP_CHECK(&job, app_job_relaunch(&job, 3).phase == PLEAT_MAILBOX_FAILED);
        check_failure("ulimit -f");
        walk((const int[]){3, 0});
    } else {
        walk((const int[]){4, 2, 0});
        relaunch_walk((const int[]){3, 0});
    }
    end_well();
}

/* ---- ranks that do not agree ---- */

static void refused(int ranks, const char *mismatch, const char *mine, const char *first)
{
    const struct app_job_options options = {.ranks = ranks, .mpich = mpich, .without_data = copies};
    app_job_start(&job, &options, WORDS(program, "--mismatch", mismatch));
    APP_CHECK(&job, app_job_wait(&job) != 0);
    APP_CHECK(&job, !app_job_status(&job).begun);
    check_failure(mine);
    check_failure(first);
    app_job_finish(&job);
}

static void mismatches(void)
{
    refused(2, "order", "rank 1 has registered 'cells' (array",
            "where rank 0 has 'matrix' (array, 8-byte");
    refused(
        2, "shape",
        "rank 1 has registered 'cells' (array, 8-byte elements, 13 block x 11 block x 10 block)",
        "where rank 0 has 'cells' (array, 8-byte elements, 13 block x 11 block x 9 block)");
    refused(3, "grid", "differ in distribution or in process grid", "describe them alike");
}

/* Rank 1 names another grid than the others for an odd number of ranks. */
static void different_grids(void)
{
    start(2, WORDS(program, "--few", "--resizes", "1", "--mismatch", "grid"));
    APP_CHECK(&job, app_job_resize(&job, 3).phase == PLEAT_MAILBOX_FAILED);
    check_failure("the ranks have chosen different process grids for an array");
    walk((const int[]){4, 0});
    end_well();
}

/* Rank 1's own functions refuse: nothing has happened. */
static void items_refused(void)
{
    static const struct {
        const char *how, *why;
    } cases[] = {{"open", "items of 'texts'"}, {"owner", "to rank 2, but there are ranks 0 to 1"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        start(3, WORDS(program, "--few", "--iterations", "60", "--fail", cases[i].how));
        APP_CHECK(&job, app_job_resize(&job, 2).phase == PLEAT_MAILBOX_FAILED);
        char text[192];
        pleat_mailbox_failure(job.mailbox, text, sizeof(text));
        /* rank 0 tells the agent; rank 1 knows why */
        APP_CHECK(&job, strstr(text, cases[i].why) || strstr(text, "another rank could not"));
        APP_CHECK(&job, app_job_status(&job).size == 3);
        end_well();
    }
}

/* 14 planes with a halo of two: at most 7 ranks have parts that are as wide as that. What is
 * started on more leaves some; it is not resized to more. */
static void narrow(void)
{
    struct pleat_mailbox_limits limits;
    start(8, WORDS(program, "--narrow", "--resizes", "1"));
    APP_CHECK(&job, app_job_status(&job).size == 7 && app_job_status(&job).surplus == 1);
    APP_CHECK(&job, pleat_mailbox_get_limits(job.mailbox, &limits) == 0);
    APP_CHECK(&job, !strcmp(limits.sizes, "1,2,3,4,5,6,7"));
    if (mpich) {
        relaunch_walk((const int[]){3, 0});
    } else {
        APP_CHECK(&job, app_job_resize(&job, 8).phase == PLEAT_MAILBOX_FAILED);
        check_failure("array 'narrow': with 8 ranks dimension 0 has 14 elements on 8 processes");
        walk((const int[]){3, 0});
    }
    end_well();
}

/* Rank 1 changes what it gets, packs nothing of an item, or throws away one that comes. Only the
 * sums can show it. */
static void items_lost(void)
{
    static const struct {
        const char *how, *what;
    } cases[] = {
        {"lose", "'texts' is not the same after it was moved: of 61 items 61 came, and their"},
        {"skip", "'texts': item 1 has"},
        {"drop", "'texts' is not the same after it was moved: of 61 items 60 came"}};
    setenv("PLEAT_CHECK", "sums", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        start(3, WORDS(program, "--few", "--fail", cases[i].how));
        const bool packs = !strcmp(cases[i].how, "skip");
        if (mpich) {
            const struct pleat_mailbox_request request = {
                .resize = 1, .target = 2, .relaunch = true};
            APP_CHECK(&job, pleat_mailbox_post(job.mailbox, &request) == 0);
            APP_CHECK(&job, (app_job_wait(&job) != 0) == packs);
            if (!packs)
                app_job_start_again(&job, 2);
        } else {
            app_job_post(&job, 2);
        }
        APP_CHECK(&job, app_job_wait(&job) != 0);
        check_failure(cases[i].what); /* output of a program that aborts may be lost */
        app_job_finish(&job);
    }
    unsetenv("PLEAT_CHECK");
}

/* With functions that do what they should the sums agree. */
static void items_checked(void)
{
    setenv("PLEAT_CHECK", "sums", 1);
    if (mpich)
        relaunches();
    else
        resizes_and_relaunches();
    unsetenv("PLEAT_CHECK");
}

/* Particles are in the data file while the program computes, and a save does not put them there
 * once more. 400,000 of 24 bytes at first. */
static void items_memory(void)
{
    const uint64_t once = 9600000;
    const uint64_t beside = 2000000;
    start(2, WORDS(program, "--few", "--crowd", "200000", "--resizes", "1"));
    while (store_bytes(&job.store) < once)
        app_job_listen(&job);
    const struct pleat_mailbox_request request = {.resize = 1, .target = 3, .relaunch = true};
    APP_CHECK(&job, pleat_mailbox_post(job.mailbox, &request) == 0);
    APP_CHECK(&job, app_job_wait(&job) == 0);
    APP_CHECK(&job, store_bytes(&job.store) < once + beside);
    app_job_start_again(&job, 3);
    end_well();
}

static atomic_bool sampling;
static atomic_ullong most_bytes;

static void *sample(void *unused)
{
    const struct timespec moment = {0, 100000};
    (void)unused;
    while (atomic_load(&sampling)) {
        uint64_t bytes = store_bytes(&job.store);
        if (bytes > atomic_load(&most_bytes))
            atomic_store(&most_bytes, bytes);
        nanosleep(&moment, NULL);
    }
    return NULL;
}

/* Resizes the job, and checks that its data take no more memory meanwhile than `largest` beside
 * what they took. What was left before is free first. */
static void resize_within(uint32_t size, bool warm, uint64_t once, uint64_t largest)
{
    const uint64_t beside = 2000000; /* pages that are not full, and marks */
    pthread_t sampler;
    for (uint64_t there = 0; there < once || there > once + beside; there = store_bytes(&job.store))
        app_job_listen(&job);
    atomic_store(&most_bytes, 0);
    atomic_store(&sampling, true);
    APP_CHECK(&job, pthread_create(&sampler, NULL, sample, NULL) == 0);
    struct pleat_mailbox_status status =
        warm ? app_job_relaunch_warm(&job, size) : app_job_resize(&job, size);
    atomic_store(&sampling, false);
    pthread_join(sampler, NULL);
    APP_CHECK(&job, status.phase == (warm ? PLEAT_MAILBOX_SAVED : PLEAT_MAILBOX_APPLIED));
    const uint64_t most = atomic_load(&most_bytes);
    printf("%s to %u: %.1f MB at most\n", warm ? "warm" : "merged", size, (double)most / 1e6);
    fflush(stdout);
    if (most > once + largest + 2 * beside)
        app_job_fail(&job, "the data took %" PRIu64 " bytes, and %" PRIu64 " at a resize", once,
                     most);
}

/* Two sets of 9.6 MB: particles, and the entries of a sparse matrix. Each is copied once into new
 * memory, and its old memory is free before the next one needs memory. */
static void items_bound(void)
{
    const uint64_t set = 9600000;
    start(2, WORDS(program, "--few", "--crowd", "200000", "--entries", "3107", "--resizes",
                   mpich ? "2" : "4"));
    for (int i = 0; i < (mpich ? 1 : 2); i++) {
        resize_within(4, mpich || i == 1, 2 * set, set);
        resize_within(3, mpich || i == 1, 2 * set, set);
    }
    end_well();
}

/* New ranks look where the data are while the mark that says so is written. */
static void items_late_mark(void)
{
    setenv("PLEAT_TEST_WRITES_LATE", "0:100", 1);
    start(2, WORDS(program, "--few", "--crowd", "20000", "--entries", "300", "--resizes", "2"));
    for (uint32_t size = 3; size >= 2; size--)
        APP_CHECK(&job, app_job_relaunch_warm(&job, size).phase == PLEAT_MAILBOX_SAVED);
    end_well();
    unsetenv("PLEAT_TEST_WRITES_LATE");
}

/* New ranks take the memory for their particles while the old ones compute, and change how many
 * there are. */
static void items_ahead(void)
{
    const uint64_t once = 9600000;
    start(2, WORDS(program, "--few", "--crowd", "200000", "--resizes", "2"));
    for (uint32_t size = 3; size >= 2; size--) {
        const uint64_t beside = 2000000;
        for (uint64_t there = 0; there < once || there > once + beside;
             there = store_bytes(&job.store))
            app_job_listen(&job);
        APP_CHECK(&job, app_job_relaunch_warm(&job, size).phase == PLEAT_MAILBOX_SAVED);
        APP_CHECK(&job, app_job_status(&job).size == size);
        if (job.waiting_bytes < once + once / 10 * 9)
            app_job_fail(&job, "the new ranks waited with %" PRIu64 " bytes", job.waiting_bytes);
    }
    end_well();
}

/* ---- what moves ---- */

/* A set of items of app_items.c. */
struct item_set {
    int64_t count;
    int64_t (*bytes)(int64_t item);
    bool by_owner, has_lengths;
    bool is_sent; /* also where the library's own arrays are in the data file */
};

/* Of `count` items in their order. */
static int rank_in_order(int64_t item, int64_t count, int size)
{
    int rank = 0;
    for (int64_t end = 0; rank < size; rank++) {
        end += count / size + (rank < count % size);
        if (item < end)
            break;
    }
    return rank;
}

static int rank_by_owner(int64_t item, int size)
{
    const uint64_t id = (uint64_t)(item / 30 * 1000 + item % 30);
    const uint64_t hash =
        (id + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (3 + 7) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (int)((hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) % (uint64_t)size);
}

static int64_t bytes_of_text(int64_t item)
{
    return 8 + item * 37 % 200;
}

static int64_t bytes_of_24(int64_t item)
{
    (void)item;
    return 24;
}

static int64_t bytes_of_row(int64_t item)
{
    return item * 7 % 13 * (4 + 8);
}

/* What has another rank at the other size, and nothing else. */
static void must_move(int before, int after, uint64_t *moved, uint64_t *in_messages)
{
    static const struct item_set sets[] = {{61, bytes_of_text, false, true, true},
                                           {257, bytes_of_row, false, true, false},
                                           {101, bytes_of_24, false, false, true},
                                           {2000, bytes_of_24, false, false, false},
                                           {60, bytes_of_24, true, false, true}};
    *moved = *in_messages = 0;
    for (size_t s = 0; s < sizeof(sets) / sizeof(sets[0]); s++)
        for (int64_t i = 0; i < sets[s].count; i++) {
            const struct item_set *set = &sets[s];
            const bool moves = set->by_owner ? rank_by_owner(i, before) != rank_by_owner(i, after)
                                             : rank_in_order(i, set->count, before) !=
                                                   rank_in_order(i, set->count, after);
            if (!moves)
                continue;
            *moved += (uint64_t)set->bytes(i);
            if (copies || set->is_sent)
                *in_messages += (uint64_t)set->bytes(i) + (set->has_lengths ? 8 : 0);
        }
}

/* Rank 0 counts what was sent, by all that stay: in growths by all. */
static void check_sent(int size, uint64_t in_messages)
{
    char line[64];
    snprintf(line, sizeof(line), "SENT %" PRIu64 " on %d\n", in_messages, size);
    while (!strstr(job.output, line) && !job.ended)
        app_job_listen(&job);
    if (!strstr(job.output, line))
        app_job_fail(&job, "messages do not have what must move: %s", line);
}

/* Items, particles and sparse rows that keep their rank do not move; those that change it are sent
 * once, or copied by who gets them. The first resize spreads what one rank has at first. */
static void items_moves(void)
{
    static const int sizes[] = {2, 3, 5, 4, 7, 1, 2, 0};
    start(sizes[0], WORDS(program, "--few", "--still", "--crowd", "1000", "--resizes", "6"));
    for (int i = 1; sizes[i]; i++) {
        uint64_t moved = 0;
        uint64_t in_messages = 0;
        struct pleat_mailbox_status status = app_job_resize(&job, (uint32_t)sizes[i]);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED);
        must_move(sizes[i - 1], sizes[i], &moved, &in_messages);
        if (i > 1 && status.cost.bytes != moved)
            app_job_fail(&job, "%d to %d: %" PRIu64 " bytes moved, %" PRIu64 " had to",
                         sizes[i - 1], sizes[i], status.cost.bytes, moved);
        if (i > 1 && sizes[i] > sizes[i - 1])
            check_sent(sizes[i], in_messages);
    }
    end_well();
}

static void items_mismatch(void)
{
    const struct app_job_options options = {.ranks = 2, .mpich = mpich, .without_data = copies};
    app_job_start(&job, &options, WORDS(program, "--mismatch"));
    APP_CHECK(&job, app_job_wait(&job) != 0);
    check_failure("rank 1 has registered 'matrix' (sparse matrix, 257 rows, entries of 4)");
    check_failure("where rank 0 has 'matrix' (sparse matrix, 257 rows, entries of 4+8)");
    app_job_finish(&job);
}

static const struct scenario {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"resizes", resizes},
    {"relaunches", relaunches},
    {"resizes-and-relaunches", resizes_and_relaunches},
    {"scalapack", scalapack},
    {"copy", a_copy_of_the_data},
    {"deaths-in-growth", deaths_in_a_growth},
    {"deaths-in-shrink", deaths_in_a_shrink},
    {"deaths-in-relaunch", deaths_in_a_relaunch},
    {"no-memory-half-way", no_memory_half_way},
    {"no-memory", no_memory},
    {"no-address-space", no_address_space},
    {"small-files", small_files},
    {"mismatches", mismatches},
    {"different-grids", different_grids},
    {"narrow", narrow},
    {"items-refused", items_refused},
    {"items-lost", items_lost},
    {"items-checked", items_checked},
    {"items-memory", items_memory},
    {"items-bound", items_bound},
    {"items-late-mark", items_late_mark},
    {"items-ahead", items_ahead},
    {"items-moves", items_moves},
    {"items-mismatch", items_mismatch},
};

int main(int argc, char **argv)
{
    atexit(forget_crash);
    if (argc < 4) {
        fprintf(stderr, "usage: app_arrays_driver SCENARIO openmpi|mpich ARRAYS [copies]\n");
        return 2;
    }
    mpich = !strcmp(argv[2], "mpich");
    program = argv[3];
    copies = argc == 5 && !strcmp(argv[4], "copies");
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (!strcmp(argv[1], scenarios[i].name)) {
            scenarios[i].run();
            printf("ok\n");
            return 0;
        }
    }
    fprintf(stderr, "app_arrays_driver: no scenario '%s'\n", argv[1]);
    return 2;
}
