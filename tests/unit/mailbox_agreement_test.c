/* Agreement without a collective, under stress: threads are ranks that run at different speeds, the
 * main thread is the agent, which posts and often withdraws. For every request: either the
 * withdrawal succeeded and no rank entered, or every rank entered, all at the same iteration. Now
 * and then the ranks are relaunched: all of them end, and others go on in a new mailbox. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/random.h"
#include "shm/mailbox-rank.h"

#define REQUESTS 1500 /* of which a busy machine makes half a minute */
#define MOST_RANKS 8
#define LIMIT_US (60 * PLEAT_US_PER_S) /* for one request: longer is for ever */
#define RELAUNCH_EVERY 11
#define MOST_AHEAD 64 /* of the slowest rank: an SPMD code's messages hold its ranks together */

struct stress {
    struct pleat_mailbox *mailbox;
    int fd;
    uint32_t ranks;
    uint64_t first; /* iteration at which this world began */
    pthread_barrier_t inside;
    atomic_bool stop;
    atomic_int errors;
    _Atomic uint64_t done[MOST_RANKS]; /* iterations */
    /* iteration at which each rank entered each request; 0: it did not */
    _Atomic uint64_t entered[REQUESTS + 1][MOST_RANKS];
};

struct worker {
    struct stress *stress;
    uint32_t rank;
    pthread_t thread;
};

/* True: this rank leaves. */
static bool resize(struct worker *worker, struct pleat_mailbox_rank *self)
{
    struct stress *stress = worker->stress;
    struct pleat_mailbox_request request;
    if (pleat_mailbox_request(self, &request) || request.resize < 1 || request.resize > REQUESTS) {
        atomic_fetch_add(&stress->errors, 1);
        return false;
    }
    if (atomic_exchange(&stress->entered[request.resize][worker->rank], self->iteration))
        atomic_fetch_add(&stress->errors, 1);
    /* The collectives of a resize keep everybody until all are here. */
    pthread_barrier_wait(&stress->inside);
    const struct pleat_mailbox_cost cost = {.bytes = request.resize};
    if (worker->rank == 0 && request.relaunch)
        pleat_mailbox_saved(self, stress->ranks, &cost);
    else if (worker->rank == 0)
        pleat_mailbox_applied(self, stress->ranks, stress->ranks, &cost, "");
    return request.relaunch;
}

static void compute(struct worker *worker, struct pleat_random *random, uint64_t iteration)
{
    struct stress *stress = worker->stress;
    atomic_store(&stress->done[worker->rank], iteration);
    /* Some ranks race ahead, some give way at nearly every iteration. */
    if (pleat_random_below(random, 1 + worker->rank))
        sched_yield();
    for (uint32_t rank = 0; rank < stress->ranks; rank++)
        while (atomic_load(&stress->done[rank]) + MOST_AHEAD < iteration &&
               !atomic_load(&stress->stop))
            usleep(10); /* a yield would leave the processor to others that only wait */
}

static void *rank_main(void *arg)
{
    struct worker *worker = arg;
    struct stress *stress = worker->stress;
    struct pleat_mailbox_rank self;
    struct pleat_random random;
    pleat_random_init(&random, 1000 + worker->rank);
    if (pleat_mailbox_attach(stress->mailbox, worker->rank, stress->first, -1, &self))
        abort();
    pthread_barrier_wait(&stress->inside);
    if (worker->rank == 0 && pleat_mailbox_set_size(&self, stress->ranks))
        abort();
    pthread_barrier_wait(&stress->inside);
    while (!atomic_load(&stress->stop)) {
        int arrival = pleat_mailbox_arrive(&self);
        if (arrival == PLEAT_ARRIVAL_ENTER && resize(worker, &self))
            break;
        if (arrival != PLEAT_ARRIVAL_ENTER && arrival != PLEAT_ARRIVAL_QUIET)
            atomic_fetch_add(&stress->errors, 1);
        compute(worker, &random, self.iteration);
    }
    return NULL;
}

static enum pleat_mailbox_phase phase_now(const struct stress *stress)
{
    struct pleat_mailbox_status status;
    pleat_mailbox_status(stress->mailbox, &status);
    return status.phase;
}

/* What became of a request: IDLE (withdrawn), APPLIED or SAVED. */
static enum pleat_mailbox_phase drive(struct stress *stress, struct pleat_random *random,
                                      uint64_t number)
{
    const int64_t deadline_us = pleat_clock_monotonic_us() + LIMIT_US;
    const struct pleat_mailbox_request request = {
        .resize = number, .target = stress->ranks, .relaunch = number % RELAUNCH_EVERY == 0};
    const enum pleat_mailbox_phase done =
        request.relaunch ? PLEAT_MAILBOX_SAVED : PLEAT_MAILBOX_APPLIED;
    assert_int_equal(pleat_mailbox_post(stress->mailbox, &request), 0);
    if (number % 2) {
        for (uint64_t turn = pleat_random_below(random, 4); turn; turn--)
            sched_yield();
        int code = pleat_mailbox_withdraw(stress->mailbox);
        if (code == 0)
            return PLEAT_MAILBOX_IDLE;
        assert_int_equal(code, PLEAT_E_STATE);
    }
    while (phase_now(stress) != done) {
        assert_true(pleat_clock_monotonic_us() < deadline_us);
        sched_yield();
    }
    pleat_mailbox_acknowledge(stress->mailbox);
    return done;
}

static void begin_world(struct stress *stress, struct worker *workers, uint64_t first)
{
    struct pleat_error err;
    assert_int_equal(pleat_mailbox_create(stress->ranks, &stress->mailbox, &stress->fd, &err), 0);
    stress->first = first;
    for (uint32_t rank = 0; rank < stress->ranks; rank++) {
        atomic_store(&stress->done[rank], first);
        workers[rank] = (struct worker){.stress = stress, .rank = rank};
    }
    for (uint32_t rank = 0; rank < stress->ranks; rank++)
        assert_int_equal(pthread_create(&workers[rank].thread, NULL, rank_main, &workers[rank]), 0);
}

static void end_world(struct stress *stress, struct worker *workers)
{
    for (uint32_t rank = 0; rank < stress->ranks; rank++)
        pthread_join(workers[rank].thread, NULL);
    pleat_mailbox_close(stress->mailbox);
    close(stress->fd);
}

static void run_stress(uint32_t ranks)
{
    static struct stress stress;
    memset(&stress, 0, sizeof(stress));
    stress.ranks = ranks;
    struct pleat_random random;
    pleat_random_init(&random, ranks);
    pthread_barrier_init(&stress.inside, NULL, ranks);
    struct worker workers[MOST_RANKS];
    begin_world(&stress, workers, 0);
    /* Posting starts at once: a request may meet ranks that have not attached yet. */
    bool applied[REQUESTS + 1];
    for (uint64_t number = 1; number <= REQUESTS; number++) {
        enum pleat_mailbox_phase phase = drive(&stress, &random, number);
        applied[number] = phase != PLEAT_MAILBOX_IDLE;
        if (phase == PLEAT_MAILBOX_SAVED) {
            end_world(&stress, workers);
            begin_world(&stress, workers, atomic_load(&stress.entered[number][0]));
        }
    }
    atomic_store(&stress.stop, true);
    end_world(&stress, workers);

    uint64_t before = 0;
    for (uint64_t number = 1; number <= REQUESTS; number++) {
        uint64_t first = atomic_load(&stress.entered[number][0]);
        assert_true(applied[number] ? first > before : first == 0);
        for (uint32_t rank = 1; rank < ranks; rank++)
            assert_int_equal(atomic_load(&stress.entered[number][rank]), first);
        before = first ? first : before;
    }
    assert_int_equal(atomic_load(&stress.errors), 0);
    pthread_barrier_destroy(&stress.inside);
}

static void test_one_rank(void **state)
{
    (void)state;
    run_stress(1);
}

static void test_two_ranks(void **state)
{
    (void)state;
    run_stress(2);
}

static void test_eight_ranks(void **state)
{
    (void)state;
    run_stress(8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_rank),
        cmocka_unit_test(test_two_ranks),
        cmocka_unit_test(test_eight_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
