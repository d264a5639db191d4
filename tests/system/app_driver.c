/* app_driver SCENARIO LOOP [HEAT MATMUL] - libpleat with real mpirun, spawned and released ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app_job.h"

static const char *programs[3]; /* loop, heat, matmul */

#define SIZES_MAX 32
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct app_job job;

static void start(int ranks, const char *const *argv)
{
    const struct app_job_options options = {.ranks = ranks};
    app_job_start(&job, &options, argv);
    app_job_wait_attached(&job);
    APP_CHECK(&job, app_job_status(&job).size == (uint32_t)ranks);
}

/* Resizes through a list that ends with 0, each of which must be applied. */
static void walk(const int *sizes)
{
    for (; *sizes; sizes++) {
        uint32_t before = app_job_status(&job).size;
        struct pleat_mailbox_status status = app_job_resize(&job, (uint32_t)*sizes);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED);
        APP_CHECK(&job, status.size == (uint32_t)*sizes);
        APP_CHECK(&job, status.resize == job.resize);
        APP_CHECK(&job, status.cost.total_ns > 0);
        APP_CHECK(&job, status.size == before || status.cost.processes_ns > 0);
        printf("%u -> %u: total %.1f ms (processes %.1f, data %.1f), waited %.1f ms\n", before,
               status.size, (double)status.cost.total_ns / 1e6,
               (double)status.cost.processes_ns / 1e6, (double)status.cost.redistribute_ns / 1e6,
               (double)status.cost.wait_ns / 1e6);
    }
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

/* Either outcome of a withdrawal is right; what must not be is a third one. */
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
        APP_CHECK(&job, strstr(text, "could not take part"));
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

static void no_mailbox(void)
{
    const struct app_job_options options = {.ranks = 2, .mailbox_path = "/dev/null"};
    app_job_start(&job, &options, WORDS(programs[0]));
    APP_CHECK(&job, app_job_wait(&job) != 0);
    APP_CHECK(&job, strstr(job.output, "/dev/null is not a mailbox"));
    app_job_finish(&job);
}

static void without_pleat(void)
{
    for (int i = 0; i < 3; i++) {
        const struct app_job_options options = {.ranks = 1 + 2 * i, .without_pleat = true};
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
    if (argc != 5) {
        fprintf(stderr, "usage: app_driver SCENARIO LOOP HEAT MATMUL\n");
        return 2;
    }
    for (int i = 0; i < 3; i++)
        programs[i] = argv[2 + i];
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
