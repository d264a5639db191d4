/* app_driver SCENARIO openmpi|mpich LOOP HEAT MATMUL FOURIER NBODY [copies] - libpleat with real
 * mpirun: ranks that are spawned and released, and whole programs that are started again from their
 * state. copies: without a data file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app_job.h"
#include "support/store_bytes.h"

#define PROGRAMS 5
static const char *programs[PROGRAMS]; /* loop, heat, matmul, fourier, nbody */
static bool mpich;

#define SIZES_MAX 32
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct app_job job;

static bool copies; /* there is no data file: states are copies, and data move in messages */

static void start(int ranks, const char *const *argv)
{
    const struct app_job_options options = {.ranks = ranks, .mpich = mpich, .without_data = copies};
    app_job_start(&job, &options, argv);
    app_job_wait_begun(&job);
    APP_CHECK(&job, app_job_status(&job).size == (uint32_t)ranks);
}

/* A copy that is held is that of the last resize: not later than what ranks have done since. The
 * data file is no state any more, as they go on in it. */
static void check_held(bool copied, uint64_t iteration)
{
    struct pleat_state_header header = {0};
    if (!copied) {
        APP_CHECK(&job, pleat_state_store_held(&job.store, &header) == PLEAT_E_NOTFOUND);
        return;
    }
    APP_CHECK(&job, pleat_state_store_held(&job.store, &header) == 0);
    APP_CHECK(&job, header.iteration >= 1 && header.iteration <= iteration);
}

/* Resizes through a list that ends with 0, each of which must be applied. */
static void walk(const int *sizes)
{
    bool copied = copies;
    for (; *sizes; sizes++) {
        uint32_t before = app_job_status(&job).size;
        struct pleat_mailbox_status status = app_job_resize(&job, (uint32_t)*sizes);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED);
        APP_CHECK(&job, status.size == (uint32_t)*sizes);
        APP_CHECK(&job, status.resize == job.resize);
        APP_CHECK(&job, status.cost.total_ns > 0);
        APP_CHECK(&job, status.size == before || status.cost.processes_ns > 0);
        APP_CHECK(&job, status.cost.save_ns > 0);
        copied |= status.size == before;
        check_held(copied, status.iteration);
        printf("%u -> %u: total %.1f ms (processes %.1f, data %.1f), waited %.1f ms\n", before,
               status.size, (double)status.cost.total_ns / 1e6,
               (double)status.cost.processes_ns / 1e6, (double)status.cost.redistribute_ns / 1e6,
               (double)status.cost.wait_ns / 1e6);
    }
}

/* Relaunches at each size of a list that ends with 0. */
static void relaunch_walk_by(const int *sizes,
                             struct pleat_mailbox_status (*way)(struct app_job *, uint32_t))
{
    for (; *sizes; sizes++) {
        struct pleat_state_header header = {0};
        struct pleat_mailbox_status before = way(&job, (uint32_t)*sizes);
        struct pleat_mailbox_status after = app_job_status(&job);
        APP_CHECK(&job, before.phase == PLEAT_MAILBOX_SAVED);
        APP_CHECK(&job, before.resize == job.resize);
        APP_CHECK(&job, before.cost.save_ns > 0 && before.cost.bytes > 0);
        APP_CHECK(&job, copies || pleat_state_store_held(&job.store, &header) == PLEAT_E_NOTFOUND);
        APP_CHECK(&job, job.saved.bytes == before.cost.bytes);
        APP_CHECK(&job, after.loaded && after.cost.load_ns > 0);
        APP_CHECK(&job, after.cost.bytes == before.cost.bytes);
        APP_CHECK(&job, after.size + after.surplus == (uint32_t)*sizes);
        APP_CHECK(&job, after.iteration >= job.saved.iteration);
        printf("%u -> %u: save %.1f ms, load %.1f ms\n", before.size, after.size,
               (double)before.cost.save_ns / 1e6, (double)after.cost.load_ns / 1e6);
    }
}

static void relaunch_walk(const int *sizes)
{
    relaunch_walk_by(sizes, app_job_relaunch);
}

static void check_failure(const char *part)
{
    char text[192];
    pleat_mailbox_failure(job.mailbox, text, sizeof(text));
    if (!strstr(text, part))
        app_job_fail(&job, "the mailbox says '%s', not '%s'", text, part);
}

static void end_well(void)
{
    APP_CHECK(&job, app_job_wait(&job) == 0);
    APP_CHECK(&job, strstr(job.output, "RESULT ok"));
    APP_CHECK(&job, !strstr(job.output, "RESULT wrong"));
    APP_CHECK(&job, !job.mailbox || app_job_status(&job).finished);
    int left = app_job_finish(&job);
    if (left) {
        fprintf(stderr, "FAILED: the job left %d processes or files behind\n", left);
        exit(1);
    }
}

static void end_badly(void)
{
    APP_CHECK(&job, app_job_wait(&job) != 0);
    APP_CHECK(&job, !strstr(job.output, "RESULT ok"));
    app_job_finish(&job);
}

/* ---- resizes that work ---- */

static void doubling(void)
{
    start(2, WORDS(programs[0], "--resizes", "4", "--state", "4M"));
    walk((const int[]){4, 8, 4, 2, 0});
    end_well();
}

static void odd_sizes(void)
{
    start(1, WORDS(programs[0], "--resizes", "7", "--rows", "997", "--halo", "2"));
    walk((const int[]){3, 2, 5, 4, 7, 1, 2, 0});
    end_well();
}

/* Blocks of more than one message each. */
static void large_state(void)
{
    start(1, WORDS(programs[0], "--resizes", "3", "--state", "150M", "--rows", "1009"));
    walk((const int[]){2, 3, 1, 0});
    end_well();
}

static void initial_ranks_leave(void)
{
    start(8, WORDS(programs[0], "--resizes", "3"));
    walk((const int[]){4, 1, 4, 0});
    end_well();
}

static void more_ranks_than_rows(void)
{
    start(2, WORDS(programs[0], "--resizes", "5", "--rows", "3", "--state", "96K"));
    walk((const int[]){6, 4, 5, 1, 6, 0});
    end_well();
}

static void ranks_at_their_own_speed(void)
{
    start(3, WORDS(programs[0], "--resizes", "4", "--loose"));
    walk((const int[]){5, 2, 4, 1, 0});
    end_well();
}

static void again_and_again(void)
{
    int sizes[SIZES_MAX] = {0};
    for (int i = 0; i < 20; i++)
        sizes[i] = i % 2 ? 2 : 6;
    start(2, WORDS(programs[0], "--resizes", "20", "--state", "1M"));
    walk(sizes);
    end_well();
}

static void same_size(void)
{
    start(2, WORDS(programs[0], "--resizes", "1"));
    walk((const int[]){2, 2, 3, 0});
    end_well();
}

static void heat(void)
{
    start(2, WORDS(programs[1], "--n", "257", "--iterations", "1000", "--pause", "8"));
    walk((const int[]){4, 3, 6, 1, 2, 0});
    end_well();
}

static void matmul(void)
{
    start(2, WORDS(programs[2], "--n", "96", "--iterations", "800", "--pause", "10"));
    walk((const int[]){4, 3, 6, 1, 2, 0});
    end_well();
}

/* What "bits=" of a result says. */
static void get_bits(char bits[17])
{
    const char *at = strstr(job.output, "bits=");
    APP_CHECK(&job, at && strlen(at) > 21);
    memcpy(bits, at + 5, 16);
    bits[16] = '\0';
}

/* Runs a program with one size, and remembers its result. */
static void run_unresized(const char *const *argv, char bits[17])
{
    start(2, argv);
    APP_CHECK(&job, app_job_wait(&job) == 0);
    get_bits(bits);
    end_well();
}

/* As end_well, with the result of a run that was not resized. */
static void end_with(const char *expected)
{
    char bits[17];
    APP_CHECK(&job, app_job_wait(&job) == 0);
    get_bits(bits);
    APP_CHECK(&job, !strcmp(bits, expected));
    end_well();
}

#define FOURIER "--n", "16", "--iterations", "600"

/* It takes powers of two only: of seven ranks three leave, and six and three are refused. */
static void fourier(void)
{
    char bits[17];
    run_unresized(WORDS(programs[3], FOURIER), bits);
    const struct app_job_options options = {.ranks = 7, .without_data = copies};
    app_job_start(&job, &options, WORDS(programs[3], FOURIER, "--pause", "5"));
    app_job_wait_begun(&job);
    APP_CHECK(&job, app_job_status(&job).size == 4 && app_job_status(&job).surplus == 3);
    walk((const int[]){2, 4, 0});
    APP_CHECK(&job, app_job_resize(&job, 6).phase == PLEAT_MAILBOX_FAILED);
    check_failure("cannot use 6 ranks");
    APP_CHECK(&job, app_job_resize(&job, 3).phase == PLEAT_MAILBOX_FAILED);
    check_failure("cannot use 3 ranks");
    walk((const int[]){8, 1, 2, 0});
    end_with(bits);
}

#define NBODY "--n", "600", "--iterations", "200"

/* Any size will do. */
static void nbody(void)
{
    char bits[17];
    run_unresized(WORDS(programs[4], NBODY), bits);
    start(2, WORDS(programs[4], NBODY, "--pause", "10"));
    walk((const int[]){4, 8, 3, 1, 2, 0});
    end_with(bits);
}

/* ---- limits that the program says itself ---- */

/* Ranks that are too many at the start leave there; later sizes are those of the program. */
static void limits_at_the_start(void)
{
    struct pleat_mailbox_limits limits;
    const struct app_job_options options = {.ranks = 7, .mpich = mpich, .without_data = copies};
    app_job_start(&job, &options,
                  WORDS(programs[0], "--resizes", "2", "--rows", "101", "--sizes", "2:6:powers"));
    app_job_wait_begun(&job);
    struct pleat_mailbox_status status = app_job_status(&job);
    APP_CHECK(&job, status.size == 4 && status.surplus == 3);
    APP_CHECK(&job, pleat_mailbox_get_limits(job.mailbox, &limits) == 0);
    APP_CHECK(&job, limits.least == 2 && limits.most == 6 && !strcmp(limits.sizes, "powers"));
    if (mpich) {
        APP_CHECK(&job, app_job_relaunch(&job, 7).phase == PLEAT_MAILBOX_FAILED);
        check_failure("cannot use 7 ranks");
        relaunch_walk((const int[]){2, 0});
        const struct pleat_mailbox_request request = {.resize = 9, .target = 4, .relaunch = true};
        APP_CHECK(&job, pleat_mailbox_post(job.mailbox, &request) == 0);
        APP_CHECK(&job, app_job_wait(&job) == 0);
        app_job_restart(&job, 5); /* ranks that are too many leave before the state is loaded */
        status = app_job_status(&job);
        APP_CHECK(&job, status.loaded && status.size == 4 && status.surplus == 1);
    } else {
        APP_CHECK(&job, app_job_resize(&job, 5).phase == PLEAT_MAILBOX_FAILED);
        check_failure("cannot use 5 ranks");
        walk((const int[]){2, 4, 0});
        APP_CHECK(&job, app_job_status(&job).surplus == 0);
    }
    end_well();
}

/* The same program without Pleat. */
static void limits_without_pleat(void)
{
    const struct app_job_options options = {.ranks = 7, .mpich = mpich, .without_pleat = true};
    app_job_start(&job, &options, WORDS(programs[0], "--iterations", "20", "--sizes", "1:5:"));
    APP_CHECK(&job, app_job_wait(&job) == 0);
    APP_CHECK(&job, strstr(job.output, "RESULT ok iterations=20 resizes=0 ranks=5"));
    app_job_finish(&job);
    app_job_start(&job, &options, WORDS(programs[0], "--iterations", "20", "--even"));
    APP_CHECK(&job, app_job_wait(&job) == 0);
    APP_CHECK(&job, strstr(job.output, "RESULT ok iterations=20 resizes=0 ranks=6"));
    app_job_finish(&job);
    app_job_start(&job, &options, WORDS(programs[0], "--iterations", "20", "--sizes", "8:0:"));
    APP_CHECK(&job, app_job_wait(&job) != 0);
    APP_CHECK(&job, mpich || strstr(job.output, "can use none of these sizes (at least 8)"));
    app_job_finish(&job);
}

/* Starts fewer ranks than the program needs: all wait, and it asks for what it needs. */
static void start_with_fewer(void)
{
    struct pleat_mailbox_ask ask;
    const struct app_job_options options = {.ranks = 2, .mpich = mpich};
    app_job_start(&job, &options, WORDS(programs[0], "--sizes", "4:0:multiples:3"));
    while (!app_job_status(&job).lacks)
        app_job_listen(&job);
    do
        pleat_mailbox_get_ask(job.mailbox, &ask);
    while (!ask.number);
    APP_CHECK(&job, ask.wanted == 6 && ask.mandatory);
    APP_CHECK(&job, !app_job_status(&job).begun);
}

static void fewer_than_its_limits(void)
{
    start_with_fewer();
    pleat_mailbox_answer_ask(job.mailbox, 1, false, "there are 5");
    pleat_mailbox_decide(job.mailbox, PLEAT_VERDICT_REFUSED);
    APP_CHECK(&job, app_job_wait(&job) != 0);
    APP_CHECK(&job, !app_job_status(&job).begun);
    check_failure("started with 2 ranks and can use none of these sizes (at least 4");
    check_failure("it got no more: there are 5");
    app_job_finish(&job);
    start_with_fewer();
    pleat_mailbox_decide(job.mailbox, PLEAT_VERDICT_LEAVE);
    APP_CHECK(&job, app_job_wait(&job) == 0);
    APP_CHECK(&job, !app_job_status(&job).begun && !strstr(job.output, "RESULT"));
    app_job_finish(&job);
}

/* ---- relaunches ---- */

static void relaunch(void)
{
    start(2, WORDS(programs[0], "--resizes", "5", "--rows", "997", "--halo", "2"));
    relaunch_walk((const int[]){4, 3, 8, 1, 2, 0});
    end_well();
}

/* The new ranks wait while the old ones compute; also with rows that private pages share. */
static void warm(void)
{
    start(2, WORDS(programs[0], "--resizes", "4", "--rows", "997", "--halo", "2", "--state", "4M"));
    relaunch_walk_by((const int[]){4, 0}, app_job_relaunch_warm);
    job.lingers = true;
    relaunch_walk_by((const int[]){1, 0}, app_job_relaunch_warm);
    job.lingers = false;
    relaunch_walk((const int[]){2, 0});
    relaunch_walk_by((const int[]){3, 0}, app_job_relaunch_warm);
    end_well();
}

/* From every size to every size, itself included. */
static void relaunch_every_size(void)
{
    enum { MOST = 8 };
    int walk[MOST * MOST + MOST + 1];
    int count = 0;
    for (int a = 1; a <= MOST; a++) {
        walk[count++] = a;
        walk[count++] = a;
        for (int b = a + 1; b <= MOST; b++) {
            walk[count++] = b;
            walk[count++] = a;
        }
    }
    walk[count] = 0;
    char resizes[16];
    snprintf(resizes, sizeof(resizes), "%d", count);
    const struct app_job_options options = {.ranks = 1, .mpich = mpich, .limit_s = 170};
    app_job_start(&job, &options,
                  WORDS(programs[0], "--resizes", resizes, "--state", "8K", "--rows", "6",
                        "--loose", "--pause", "1"));
    app_job_wait_begun(&job);
    relaunch_walk(walk);
    end_well();
}

static void relaunch_large(void)
{
    start(2, WORDS(programs[0], "--resizes", "3", "--state", "150M", "--rows", "1009"));
    relaunch_walk((const int[]){3, 1, 2, 0});
    end_well();
}

static void relaunch_more_ranks_than_rows(void)
{
    start(2, WORDS(programs[0], "--resizes", "3", "--rows", "3", "--state", "96K"));
    relaunch_walk((const int[]){6, 5, 1, 0});
    end_well();
}

static void relaunch_heat(void)
{
    start(2, WORDS(programs[1], "--n", "257", "--iterations", "300", "--pause", "4"));
    relaunch_walk((const int[]){4, 3, 1, 2, 0});
    end_well();
}

static void relaunch_matmul(void)
{
    start(2, WORDS(programs[2], "--n", "96", "--iterations", "200", "--pause", "5"));
    relaunch_walk((const int[]){4, 3, 1, 2, 0});
    end_well();
}

static void relaunch_fourier(void)
{
    char bits[17];
    run_unresized(WORDS(programs[3], FOURIER), bits);
    start(2, WORDS(programs[3], FOURIER, "--pause", "3"));
    relaunch_walk((const int[]){4, 8, 1, 0});
    end_with(bits);
}

static void relaunch_nbody(void)
{
    char bits[17];
    run_unresized(WORDS(programs[4], NBODY, "--direct"), bits);
    start(2, WORDS(programs[4], NBODY, "--direct", "--pause", "5"));
    relaunch_walk((const int[]){4, 8, 3, 1, 0});
    end_with(bits);
}

/* Ranks that were spawned save as well as those that were there from the start. */
static void relaunch_and_merge(void)
{
    start(2, WORDS(programs[0], "--resizes", "6", "--rows", "101"));
    walk((const int[]){4, 0});
    relaunch_walk((const int[]){3, 0});
    walk((const int[]){5, 2, 0});
    relaunch_walk((const int[]){4, 0});
    walk((const int[]){1, 0});
    end_well();
}

/* All processes are killed, wherever they are: it goes on from the last copy. */
static void restart_from_what_is_held(void)
{
    struct pleat_state_header header;
    start(2, WORDS(programs[0], "--iterations", "60", "--pause", "20"));
    if (mpich)
        relaunch_walk((const int[]){3, 0});
    else
        walk((const int[]){3, 0});
    APP_CHECK(&job, app_job_resize(&job, 3).phase == PLEAT_MAILBOX_APPLIED);
    uint64_t iteration = app_job_status(&job).iteration;
    app_job_restart(&job, 4);
    APP_CHECK(&job, app_job_status(&job).loaded);
    APP_CHECK(&job, pleat_state_store_held(&job.store, &header) == 0);
    APP_CHECK(&job, header.iteration <= iteration);
    app_job_restart(&job, 1);
    APP_CHECK(&job, app_job_status(&job).loaded);
    end_well();
}

/* Its user wants a copy at each resize: that is there when all processes are killed later. */
static void a_copy_at_each_resize(void)
{
    setenv("PLEAT_SAVE", "resize", 1);
    copies = true;
    start(2, WORDS(programs[0], "--iterations", "60", "--pause", "20"));
    if (mpich)
        relaunch_walk((const int[]){3, 0});
    else
        walk((const int[]){3, 2, 0});
    app_job_restart(&job, 4);
    APP_CHECK(&job, app_job_status(&job).loaded);
    end_well();
    setenv("PLEAT_SAVE", "always", 1);
    const struct app_job_options options = {.ranks = 2, .mpich = mpich};
    app_job_start(&job, &options, WORDS(programs[0]));
    APP_CHECK(&job, app_job_wait(&job) != 0);
    APP_CHECK(&job, mpich || strstr(job.output, "PLEAT_SAVE is 'always'")); /* see no_mailbox */
    app_job_finish(&job);
}

/* Without a state that is held it begins from its beginning. */
static void restart_from_the_beginning(void)
{
    start(2, WORDS(programs[0], "--iterations", "40", "--pause", "20"));
    while (app_job_status(&job).iteration < 3)
        app_job_listen(&job);
    app_job_restart(&job, 3);
    APP_CHECK(&job, app_job_status(&job).begun && !app_job_status(&job).loaded);
    end_well();
}

static void relaunch_with_nowhere_to_save(void)
{
    const struct app_job_options options = {.ranks = 2, .mpich = mpich, .without_state = true};
    app_job_start(&job, &options, WORDS(programs[0], "--iterations", "100", "--pause", "10"));
    app_job_wait_begun(&job);
    APP_CHECK(&job, app_job_relaunch(&job, 3).phase == PLEAT_MAILBOX_FAILED);
    APP_CHECK(&job, app_job_status(&job).size == 2);
    check_failure("nobody holds the application's state");
    if (!mpich) {
        struct pleat_mailbox_status status = app_job_resize(&job, 3);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED && status.cost.save_ns == 0);
        check_failure("");
    }
    end_well();
}

/* No memory for the state: a relaunch fails, merging and splitting go on without it. */
static void no_room_to_save(void)
{
    copies = true;
    struct pleat_state_header header;
    const struct app_job_options options = {
        .ranks = 2, .mpich = mpich, .file_limit = (uint64_t)96 << 20, .without_data = true};
    app_job_start(&job, &options,
                  WORDS(programs[0], "--iterations", "60", "--pause", "20", "--state", "100M"));
    app_job_wait_begun(&job);
    APP_CHECK(&job, app_job_relaunch(&job, 3).phase == PLEAT_MAILBOX_FAILED);
    check_failure("ulimit -f");
    if (!mpich) {
        struct pleat_mailbox_status status = app_job_resize(&job, 3);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED && status.size == 3);
        check_failure("ulimit -f");
    }
    APP_CHECK(&job, pleat_state_store_held(&job.store, &header) == PLEAT_E_NOTFOUND);
    APP_CHECK(&job, store_bytes(&job.store) == 0);
    end_well();
}

static void this_mpi_cannot_spawn(void)
{
    start(2, WORDS(programs[0], "--resizes", "1"));
    APP_CHECK(&job, app_job_resize(&job, 3).phase == PLEAT_MAILBOX_FAILED);
    check_failure("has to be relaunched");
    APP_CHECK(&job, app_job_resize(&job, 1).phase == PLEAT_MAILBOX_FAILED);
    relaunch_walk((const int[]){3, 0});
    end_well();
}

/* One rank registers other data than those saved: no rank begins, and the state stays. */
static void a_state_of_another_shape(void)
{
    struct pleat_state_header header;
    start(2, WORDS(programs[0], "--resizes", "1", "--mismatch"));
    const struct pleat_mailbox_request request = {.resize = 1, .target = 3, .relaunch = true};
    APP_CHECK(&job, pleat_mailbox_post(job.mailbox, &request) == 0);
    APP_CHECK(&job, app_job_wait(&job) == 0);
    APP_CHECK(&job, app_job_status(&job).phase == PLEAT_MAILBOX_SAVED);
    app_job_start_again(&job, 3);
    APP_CHECK(&job, app_job_wait(&job) != 0);
    APP_CHECK(&job, !app_job_status(&job).begun);
    check_failure("other data registered");
    APP_CHECK(&job, mpich || strstr(job.output, "other data registered")); /* see no_mailbox */
    APP_CHECK(&job, pleat_state_store_held(&job.store, &header) == 0);
    app_job_finish(&job);
}

/* The same file and the same values, other arguments; then the same again. */
static void a_state_of_another_program(void)
{
    const char *const *const before = WORDS(programs[0], "--resizes", "1");
    start(2, before);
    const struct pleat_mailbox_request request = {.resize = 1, .target = 3, .relaunch = true};
    APP_CHECK(&job, pleat_mailbox_post(job.mailbox, &request) == 0);
    APP_CHECK(&job, app_job_wait(&job) == 0);
    job.argv = WORDS(programs[0], "--resizes", "2");
    app_job_start_again(&job, 3);
    APP_CHECK(&job, app_job_wait(&job) != 0);
    APP_CHECK(&job, !app_job_status(&job).begun);
    check_failure("another program's: of 'loop' (launch 0)");
    job.argv = before;
    app_job_restart(&job, 3);
    APP_CHECK(&job, app_job_status(&job).loaded);
    end_well();
}

/* Ranks that run at their own speed know of each resize one adaptation point ahead, all of them:
 * they do something together just before it. */
static void announced(void)
{
    start(2, WORDS(programs[0], "--resizes", "6", "--announce", "--loose", "--pause", "1"));
    if (!mpich)
        walk((const int[]){4, 3, 0});
    else
        relaunch_walk((const int[]){4, 3, 0});
    relaunch_walk((const int[]){1, 5, 2, 3, 0});
    end_well();
}

/* Rank `rank` dies at its write number `number` of the second save. What is held then is the first
 * state, whole, and the program goes on from there. */
static void die_while_saving(int rank, int number)
{
    struct pleat_state_header first;
    struct pleat_state_header held;
    char file[] = "/tmp/pleat-die-XXXXXX";
    char order[128];
    int fd = mkstemp(file);
    APP_CHECK(&job, fd >= 0);
    close(fd);
    snprintf(order, sizeof(order), "%d:%d:%s", rank, number, file);
    const struct app_job_options options = {
        .ranks = 2, .mpich = mpich, .preload = "LD_PRELOAD=" APP_DIE, .without_data = true};
    app_job_start(&job, &options, WORDS(programs[0], "--iterations", "60", "--pause", "20"));
    app_job_wait_begun(&job);
    relaunch_walk((const int[]){2, 0});
    first = job.saved;
    /* Armed from the next world on. */
    setenv("PLEAT_TEST_DIE", order, 1);
    app_job_restart(&job, 2);
    const struct pleat_mailbox_request request = {.resize = 9, .target = 3, .relaunch = true};
    APP_CHECK(&job, pleat_mailbox_post(job.mailbox, &request) == 0);
    APP_CHECK(&job, app_job_wait(&job) != 0);
    APP_CHECK(&job, app_job_status(&job).phase == PLEAT_MAILBOX_ENTERED);
    APP_CHECK(&job, access(file, F_OK) != 0);
    APP_CHECK(&job, pleat_state_store_held(&job.store, &held) == 0);
    APP_CHECK(&job, held.generation == first.generation);
    APP_CHECK(&job, held.iteration == first.iteration);
    app_job_restart(&job, 3);
    APP_CHECK(&job, app_job_status(&job).loaded);
    relaunch_walk((const int[]){2, 0});
    end_well();
}

/* Rank 0 writes header, value, rows, completion; the others their rows. */
static void a_death_while_saving(void)
{
    copies = true;
    for (int number = 1; number <= 4; number++)
        die_while_saving(0, number);
    die_while_saving(1, 1);
}

/* ---- offers and requests taken back ---- */

static void offers(void)
{
    start(2, WORDS(programs[0], "--resizes", "1", "--accept", "1,2,4,8"));
    APP_CHECK(&job, app_job_ask(&job, 7, false) == 4);
    APP_CHECK(&job, app_job_ask(&job, 3, false) == 2);
    APP_CHECK(&job, app_job_ask(&job, 1, false) == 1);
    APP_CHECK(&job, app_job_ask(&job, 3, true) == 3);
    APP_CHECK(&job, app_job_status(&job).iteration_ns > 0);
    walk((const int[]){4, 0});
    end_well();
}

static void offers_to_one_that_takes_all(void)
{
    start(2, WORDS(programs[0], "--resizes", "1"));
    APP_CHECK(&job, app_job_ask(&job, 7, false) == 7);
    walk((const int[]){3, 0});
    end_well();
}

static void offers_to_a_greedy_one(void)
{
    start(2, WORDS(programs[0], "--resizes", "1", "--greedy"));
    APP_CHECK(&job, app_job_ask(&job, 5, false) == 5);
    APP_CHECK(&job, app_job_ask(&job, 1, false) == 2);
    walk((const int[]){3, 0});
    end_well();
}

/* Either outcome of a withdrawal is right; a third one is wrong. */
static void withdrawals(void)
{
    start(2, WORDS(programs[0], "--iterations", "800", "--pause", "5"));
    uint32_t size = 2;
    for (int i = 0; i < 8; i++) {
        uint32_t target = size == 2 ? 3 : 2;
        app_job_post(&job, target);
        for (int wait = 0; wait < i % 3; wait++)
            app_job_listen(&job);
        if (pleat_mailbox_withdraw(job.mailbox) == 0) {
            APP_CHECK(&job, app_job_status(&job).phase == PLEAT_MAILBOX_IDLE);
            APP_CHECK(&job, app_job_status(&job).size == size);
            continue;
        }
        while (app_job_status(&job).phase != PLEAT_MAILBOX_APPLIED)
            app_job_listen(&job);
        APP_CHECK(&job, app_job_status(&job).size == target);
        pleat_mailbox_acknowledge(job.mailbox);
        size = target;
    }
    end_well();
}

static void an_end_while_posted(void)
{
    /* From iteration 1 on, one iteration is left: the resize agreed on is never reached. */
    start(2, WORDS(programs[0], "--iterations", "2", "--pause", "700"));
    while (app_job_status(&job).iteration < 1)
        app_job_listen(&job);
    while (app_job_status(&job).iteration < 2)
        app_job_listen(&job);
    app_job_post(&job, 3);
    while (!app_job_status(&job).finished)
        app_job_listen(&job);
    APP_CHECK(&job, pleat_mailbox_withdraw(job.mailbox) == 0);
    end_well();
}

/* ---- trouble ---- */

static void one_that_never_arrives(void)
{
    start(2, WORDS(programs[0], "--stuck-at", "3"));
    while (app_job_status(&job).iteration < 3)
        app_job_listen(&job);
    app_job_post(&job, 4);
    for (int i = 0; i < 5; i++)
        app_job_listen(&job);
    APP_CHECK(&job, app_job_status(&job).phase == PLEAT_MAILBOX_POSTED);
    APP_CHECK(&job, pleat_mailbox_withdraw(job.mailbox) == 0);
    APP_CHECK(&job, app_job_status(&job).phase == PLEAT_MAILBOX_IDLE);
    app_job_finish(&job);
}

static void a_death_in_an_iteration(void)
{
    start(2, WORDS(programs[0], "--die-at", "20", "--die-rank", "1", "--pause", "5"));
    end_badly();
}

static void a_death_in_a_growth(void)
{
    start(2, WORDS(programs[0], "--resizes", "1", "--die-joining"));
    app_job_post(&job, 4);
    end_badly();
    /* Nobody may have said that it was done. */
}

static void joiners_that_do_not_fit(void)
{
    start(2, WORDS(programs[0], "--resizes", "1", "--mismatch"));
    for (int i = 0; i < 2; i++) {
        struct pleat_mailbox_status status = app_job_resize(&job, 4);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_FAILED);
        APP_CHECK(&job, status.size == 2);
        char text[192];
        pleat_mailbox_failure(job.mailbox, text, sizeof(text));
        APP_CHECK(&job, strstr(text, "1001 rows") && strstr(text, "rank 0 has 'state' (1000 rows"));
    }
    walk((const int[]){1, 0});
    end_well();
}

static void no_room_to_spawn(void)
{
    const struct app_job_options options = {.ranks = 2, .no_oversubscribe = true};
    app_job_start(&job, &options, WORDS(programs[0], "--resizes", "1"));
    app_job_wait_attached(&job);
    struct pleat_mailbox_status status = app_job_resize(&job, 16);
    APP_CHECK(&job, status.phase == PLEAT_MAILBOX_FAILED);
    APP_CHECK(&job, status.size == 2);
    char text[192];
    pleat_mailbox_failure(job.mailbox, text, sizeof(text));
    APP_CHECK(&job, strstr(text, "--oversubscribe"));
    walk((const int[]){1, 0});
    end_well();
}

/* MPICH's launcher sometimes ends, after MPI_Abort, before it has passed on what the ranks wrote:
 * there once in a number of runs must do. */
static void no_mailbox(void)
{
    const struct app_job_options options = {
        .ranks = 2, .mpich = mpich, .mailbox_path = "/dev/null"};
    bool told = false;
    for (int runs = mpich ? 20 : 1; !told && runs > 0; runs--) {
        app_job_start(&job, &options, WORDS(programs[0]));
        APP_CHECK(&job, app_job_wait(&job) != 0);
        told = strstr(job.output, "/dev/null is not a mailbox");
        APP_CHECK(&job, told || runs > 1);
        app_job_finish(&job);
    }
}

static void without_pleat(void)
{
    static const int ranks[PROGRAMS] = {1, 3, 5, 3, 2};
    for (int i = 0; i < PROGRAMS; i++) {
        const struct app_job_options options = {.ranks = ranks[i], .without_pleat = true};
        app_job_start(&job, &options, WORDS(programs[i], "--iterations", "50"));
        end_well();
    }
}

static const struct scenario {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"doubling", doubling},
    {"odd-sizes", odd_sizes},
    {"large-state", large_state},
    {"initial-ranks-leave", initial_ranks_leave},
    {"more-ranks-than-rows", more_ranks_than_rows},
    {"own-speed", ranks_at_their_own_speed},
    {"again-and-again", again_and_again},
    {"same-size", same_size},
    {"heat", heat},
    {"matmul", matmul},
    {"fourier", fourier},
    {"nbody", nbody},
    {"limits", limits_at_the_start},
    {"limits-without-pleat", limits_without_pleat},
    {"limits-not-met", fewer_than_its_limits},
    {"relaunch", relaunch},
    {"relaunch-every-size", relaunch_every_size},
    {"warm", warm},
    {"relaunch-large", relaunch_large},
    {"relaunch-more-ranks-than-rows", relaunch_more_ranks_than_rows},
    {"relaunch-heat", relaunch_heat},
    {"relaunch-matmul", relaunch_matmul},
    {"relaunch-fourier", relaunch_fourier},
    {"relaunch-nbody", relaunch_nbody},
    {"relaunch-and-merge", relaunch_and_merge},
    {"restart-from-held", restart_from_what_is_held},
    {"copy-at-each-resize", a_copy_at_each_resize},
    {"restart-from-beginning", restart_from_the_beginning},
    {"nowhere-to-save", relaunch_with_nowhere_to_save},
    {"no-room-to-save", no_room_to_save},
    {"cannot-spawn", this_mpi_cannot_spawn},
    {"another-shape", a_state_of_another_shape},
    {"another-program", a_state_of_another_program},
    {"announced", announced},
    {"death-while-saving", a_death_while_saving},
    {"offers", offers},
    {"offers-taken", offers_to_one_that_takes_all},
    {"offers-greedy", offers_to_a_greedy_one},
    {"withdrawals", withdrawals},
    {"end-while-posted", an_end_while_posted},
    {"never-arrives", one_that_never_arrives},
    {"death-in-iteration", a_death_in_an_iteration},
    {"death-in-growth", a_death_in_a_growth},
    {"joiners-do-not-fit", joiners_that_do_not_fit},
    {"no-room-to-spawn", no_room_to_spawn},
    {"no-mailbox", no_mailbox},
    {"without-pleat", without_pleat},
};

int main(int argc, char **argv)
{
    if (argc < 3 + PROGRAMS) {
        fprintf(
            stderr,
            "usage: app_driver SCENARIO openmpi|mpich LOOP HEAT MATMUL FOURIER NBODY [copies]\n");
        return 2;
    }
    mpich = !strcmp(argv[2], "mpich");
    copies = argc == 4 + PROGRAMS && !strcmp(argv[3 + PROGRAMS], "copies");
    for (int i = 0; i < PROGRAMS; i++)
        programs[i] = argv[3 + i];
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (!strcmp(argv[1], scenarios[i].name)) {
            scenarios[i].run();
            printf("ok\n");
            return 0;
        }
    }
    fprintf(stderr, "app_driver: no scenario '%s'\n", argv[1]);
    return 2;
}
