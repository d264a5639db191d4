/* The mailboxes of a run over several nodes. First every order of calls on two nodes of one rank
 * each: agents that post, settle, withdraw, hold again, begin again; ranks that pass adaptation
 * points and begin sections. Whatever the order: ranks enter at the same iteration, all or none;
 * where resizes are announced all say the same about the next iteration. Then by chance: threads
 * are the ranks of three nodes, the main thread is their agents. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/random.h"
#include "shm/mailbox-word.h"

#define NODES 2
#define ITERATIONS 8
#define ROOM 4096

/* ---- every order ---- */

/* All but the path of a checkpoint, the named points and what is told at meetings, which are not
 * used here. */
#define BEFORE offsetof(struct pleat_mailbox_segment, path)
#define BEHIND offsetof(struct pleat_mailbox_segment, limits)

static struct pleat_mailbox *boxes[NODES];
static unsigned char *raw[NODES];
static size_t raw_bytes;
static bool announces;
static int sections;
static unsigned long orders, entries, withdrawals, agains, put_offs, refusals;

struct world {
    unsigned char segments[NODES][ROOM];
    struct pleat_mailbox_rank ranks[NODES];
    uint64_t inside[NODES];
    bool posted[NODES], settled[NODES], was_settled[NODES];
    uint64_t k; /* of all nodes, once the agent that leads has decided; 0: not yet */
    int requests, sections;
    signed char pending[ITERATIONS]; /* what ranks said after this many iterations; -1: none yet */
};

static void save(struct world *world)
{
    for (int n = 0; n < NODES; n++) {
        world->was_settled[n] = boxes[n]->was_settled;
        memcpy(world->segments[n], raw[n], BEFORE);
        memcpy(world->segments[n] + BEFORE, raw[n] + BEHIND, raw_bytes - BEHIND);
    }
}

static void restore(const struct world *world)
{
    for (int n = 0; n < NODES; n++) {
        boxes[n]->was_settled = world->was_settled[n];
        memcpy(raw[n], world->segments[n], BEFORE);
        memcpy(raw[n] + BEHIND, world->segments[n] + BEFORE, raw_bytes - BEHIND);
    }
}

static enum pleat_mailbox_phase phase(int n)
{
    struct pleat_mailbox_status status;
    pleat_mailbox_status(boxes[n], &status);
    return status.phase;
}

static bool would_sleep(const struct world *world, int n, bool arrives)
{
    uint64_t k;
    bool held = pleat_mailbox_held(boxes[n], &k);
    return held && (!arrives || world->ranks[n].iteration + 1 + announces >= k);
}

static bool try_arrive(struct world *world, int n)
{
    struct pleat_mailbox_rank *self = &world->ranks[n];
    if (world->inside[n] || self->iteration + 1 >= ITERATIONS || would_sleep(world, n, true))
        return false;
    /* messages of an SPMD code hold its ranks together */
    if (self->iteration > world->ranks[1 - n].iteration + 1)
        return false;
    int arrival = pleat_mailbox_arrive(self);
    assert_true(arrival == PLEAT_ARRIVAL_QUIET || arrival == PLEAT_ARRIVAL_ENTER);
    if (announces) {
        signed char *said = &world->pending[self->iteration];
        bool pending = pleat_mailbox_pending(self);
        assert_true(arrival != PLEAT_ARRIVAL_ENTER || world->pending[self->iteration - 1] == 1);
        assert_true(*said < 0 || *said == pending);
        *said = pending;
    }
    if (arrival == PLEAT_ARRIVAL_ENTER) {
        assert_int_equal(self->iteration, world->k);
        world->inside[n] = self->iteration;
    }
    return true;
}

static bool try_section(struct world *world, int n)
{
    struct pleat_mailbox_rank *self = &world->ranks[n];
    if (world->inside[n] || (!self->not_now && !world->sections) ||
        (!self->not_now && would_sleep(world, n, false)))
        return false;
    world->sections -= !self->not_now;
    pleat_mailbox_not_now(self, !self->not_now);
    return true;
}

static void forget(struct world *world)
{
    memset(world->posted, 0, sizeof(world->posted));
    memset(world->settled, 0, sizeof(world->settled));
    memset(world->inside, 0, sizeof(world->inside));
    world->k = 0;
}

/* An agent posts: where it cannot be held all withdraw, those that have posted already. */
static bool try_post(struct world *world, int n)
{
    const struct pleat_mailbox_request request = {
        .resize = 1, .target = NODES, .relaunch = true, .margin = (uint32_t)n};
    uint64_t k;
    if (world->posted[n] || world->k || (!world->posted[1 - n] && !world->requests))
        return false;
    int code = pleat_mailbox_post(boxes[n], &request);
    if (code == PLEAT_E_BUSY) /* a rank has still to learn of the last one */
        return false;
    assert_int_equal(code, 0);
    world->requests -= !world->posted[1 - n];
    world->posted[n] = true;
    if (pleat_mailbox_held(boxes[n], &k))
        return true;
    assert_true(world->ranks[n].not_now);
    refusals++;
    for (int i = 0; i < NODES; i++)
        if (world->posted[i])
            assert_int_equal(pleat_mailbox_withdraw(boxes[i]), 0);
    forget(world);
    return true;
}

static bool try_settle(struct world *world, int n)
{
    if (!world->posted[0] || !world->posted[1] || world->settled[n])
        return false;
    for (int i = 0; i < NODES && !world->k; i++) {
        uint64_t one = 0, other = 0;
        assert_true(pleat_mailbox_held(boxes[0], &one) && pleat_mailbox_held(boxes[1], &other));
        world->k = one > other ? one : other;
    }
    uint64_t own;
    assert_true(pleat_mailbox_held(boxes[n], &own));
    assert_int_equal(pleat_mailbox_settle(boxes[n], own - 1), PLEAT_E_INVALID);
    assert_int_equal(pleat_mailbox_settle(boxes[n], world->k), 0);
    world->settled[n] = true;
    return true;
}

/* Before K is decided all withdraw; after that only when it was settled everywhere, and is held
 * again everywhere. */
static bool try_withdraw(struct world *world, int n)
{
    (void)n;
    if (!world->posted[0] && !world->posted[1])
        return false;
    bool all = true;
    for (int i = 0; i < NODES && world->k; i++) {
        if (!world->settled[i])
            assert_int_equal(pleat_mailbox_settle(boxes[i], world->k), 0);
        world->settled[i] = true;
        assert_int_equal(pleat_mailbox_withdraw(boxes[i]), PLEAT_E_STATE);
    }
    for (int i = 0; i < NODES && all; i++)
        if (world->settled[i]) {
            all = !pleat_mailbox_hold_again(boxes[i]);
            world->settled[i] = !all;
        }
    if (!all) { /* somebody is inside: it goes on */
        for (int i = 0; i < NODES; i++)
            if (!world->settled[i])
                assert_int_equal(pleat_mailbox_settle(boxes[i], world->k), 0);
        world->settled[0] = world->settled[1] = true;
        agains++;
        return phase(0) == PLEAT_MAILBOX_POSTED && phase(1) == PLEAT_MAILBOX_POSTED;
    }
    for (int i = 0; i < NODES; i++)
        if (world->posted[i])
            assert_int_equal(pleat_mailbox_withdraw(boxes[i]), 0);
    withdrawals++;
    forget(world);
    return true;
}

static bool try_conclude(struct world *world, int fails)
{
    const struct pleat_mailbox_cost cost = {.bytes = 1};
    if (!world->inside[0] || !world->inside[1])
        return false;
    assert_int_equal(world->inside[0], world->inside[1]);
    entries++;
    bool off = world->ranks[0].not_now || world->ranks[1].not_now;
    for (int n = 0; n < NODES; n++) {
        if (off)
            pleat_mailbox_put_off(&world->ranks[n]);
        else if (fails)
            pleat_mailbox_failed(&world->ranks[n], "no");
        else
            pleat_mailbox_applied(&world->ranks[n], NODES, NODES, &cost, "");
        assert_int_equal(phase(n), off     ? PLEAT_MAILBOX_PUT_OFF
                                   : fails ? PLEAT_MAILBOX_FAILED
                                           : PLEAT_MAILBOX_APPLIED);
        pleat_mailbox_acknowledge(boxes[n]);
        assert_int_equal(phase(n), PLEAT_MAILBOX_IDLE);
    }
    put_offs += off;
    forget(world);
    return true;
}

static const struct {
    bool (*try)(struct world *world, int which);
    int which;
} actions[] = {{try_arrive, 0},   {try_arrive, 1},  {try_post, 0},     {try_post, 1},
               {try_settle, 0},   {try_settle, 1},  {try_withdraw, 0}, {try_conclude, 0},
               {try_conclude, 1}, {try_section, 0}, {try_section, 1}};

/* A rank that is past K and not inside would never come. */
static void check(const struct world *world)
{
    for (int n = 0; n < NODES; n++)
        assert_true(!world->inside[n] || world->inside[1 - n] ||
                    world->ranks[1 - n].iteration < world->inside[n]);
}

static void explore(const struct world *from)
{
    bool any = false;
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        struct world next = *from;
        restore(from);
        if (!actions[i].try(&next, actions[i].which))
            continue;
        any = true;
        check(&next);
        save(&next);
        explore(&next);
    }
    orders += !any;
}

static void explore_all(uint64_t begin, bool ahead, int in_sections)
{
    struct world world = {.requests = 1, .sections = in_sections};
    struct pleat_error err;
    int fds[NODES];
    announces = ahead;
    sections = in_sections;
    orders = entries = withdrawals = agains = put_offs = refusals = 0;
    memset(world.pending, -1, sizeof(world.pending));
    raw_bytes = sizeof(struct pleat_mailbox_segment) + NODES * sizeof(struct pleat_mailbox_slot);
    assert_true(raw_bytes - (BEHIND - BEFORE) <= ROOM);
    for (uint32_t n = 0; n < NODES; n++) {
        uint32_t node, nodes;
        assert_int_equal(pleat_mailbox_create(NODES, &boxes[n], &fds[n], &err), 0);
        pleat_mailbox_place(boxes[n], n, NODES);
        pleat_mailbox_node(boxes[n], &node, &nodes);
        assert_true(node == n && nodes == NODES);
        raw[n] = mmap(NULL, raw_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fds[n], 0);
        assert_true(raw[n] != MAP_FAILED);
        assert_int_equal(pleat_mailbox_attach(boxes[n], n, begin, -1, &world.ranks[n]), 0);
        assert_int_equal(pleat_mailbox_set_size(&world.ranks[n], NODES), 0);
        if (ahead)
            pleat_mailbox_announce(&world.ranks[n]);
    }
    world.pending[begin] = 0;
    save(&world);
    explore(&world);
    print_message("%lu orders\n", orders);
    assert_true(entries && withdrawals && agains);
    assert_true(!in_sections || (put_offs && refusals));
    for (int n = 0; n < NODES; n++) {
        munmap(raw[n], raw_bytes);
        pleat_mailbox_close(boxes[n]);
        close(fds[n]);
    }
}

static void test_orders(void **state)
{
    (void)state;
    explore_all(2, false, 0);
}

static void test_orders_of_ranks_that_know_ahead(void **state)
{
    (void)state;
    explore_all(2, true, 0);
}

static void test_sections(void **state)
{
    (void)state;
    explore_all(4, false, 1);
}

/* ---- what ranks are told ---- */

static void test_request(void **state)
{
    (void)state;
    struct pleat_mailbox *mailbox;
    struct pleat_mailbox_rank self;
    struct pleat_mailbox_status status;
    struct pleat_mailbox_request request = {
        .resize = 9, .target = 3, .relaunch = true, .stays = true, .next_nodes = 4, .margin = 10};
    struct pleat_error err;
    uint32_t node, nodes;
    uint64_t k;
    int fd;
    assert_int_equal(pleat_mailbox_create(4, &mailbox, &fd, &err), 0);
    pleat_mailbox_node(mailbox, &node, &nodes);
    assert_true(node == 0 && nodes == 1);
    pleat_mailbox_place(mailbox, 1, 2);
    /* ranks 0 and 1 are on another node */
    assert_int_equal(pleat_mailbox_attach(mailbox, 2, 7, -1, &self), 0);
    assert_int_equal(pleat_mailbox_set_size(&self, 3), 0);
    pleat_mailbox_status(mailbox, &status);
    assert_true(status.size == 3 && status.iteration == 7);
    assert_int_equal(pleat_mailbox_settle(mailbox, 20), PLEAT_E_STATE);
    assert_int_equal(pleat_mailbox_hold_again(mailbox), PLEAT_E_STATE);
    assert_int_equal(pleat_mailbox_post(mailbox, &request), 0);
    assert_true(pleat_mailbox_held(mailbox, &k));
    assert_int_equal(k, 18);
    assert_int_equal(pleat_mailbox_arrive(&self), PLEAT_ARRIVAL_QUIET);
    assert_int_equal(pleat_mailbox_settle(mailbox, 17), PLEAT_E_INVALID);
    assert_int_equal(pleat_mailbox_settle(mailbox, 18), 0);
    assert_false(pleat_mailbox_held(mailbox, &k));
    assert_int_equal(pleat_mailbox_request(&self, &request), 0);
    assert_true(request.stays && request.next_nodes == 4 && request.target == 3);
    while (self.iteration < 17)
        assert_int_equal(pleat_mailbox_arrive(&self), PLEAT_ARRIVAL_QUIET);
    assert_int_equal(pleat_mailbox_arrive(&self), PLEAT_ARRIVAL_ENTER);
    pleat_mailbox_close(mailbox);
    close(fd);
}

/* ---- by chance ---- */

#define STRESS_NODES 3
#define STRESS_RANKS 6
#define REQUESTS 400
#define LIMIT_US (60 * PLEAT_US_PER_S)
#define MOST_APART 16

static struct {
    struct pleat_mailbox *boxes[STRESS_NODES];
    pthread_barrier_t inside;
    atomic_bool stop;
    atomic_int errors;
    _Atomic uint64_t done[STRESS_RANKS];
    _Atomic uint64_t entered[REQUESTS + 1][STRESS_RANKS];
} stress;

static void compute(uint32_t rank, struct pleat_random *random, uint64_t iteration)
{
    atomic_store(&stress.done[rank], iteration);
    if (pleat_random_below(random, 1 + rank))
        sched_yield();
    for (uint32_t other = 0; other < STRESS_RANKS; other++)
        while (atomic_load(&stress.done[other]) + MOST_APART < iteration &&
               !atomic_load(&stress.stop))
            sched_yield();
}

static void enter(struct pleat_mailbox_rank *self, uint32_t rank)
{
    const struct pleat_mailbox_cost cost = {.bytes = 1};
    struct pleat_mailbox_request request;
    if (pleat_mailbox_request(self, &request) || request.resize < 1 || request.resize > REQUESTS ||
        atomic_exchange(&stress.entered[request.resize][rank], self->iteration))
        atomic_fetch_add(&stress.errors, 1);
    pthread_barrier_wait(&stress.inside); /* the collectives of a resize */
    if (rank < STRESS_NODES)              /* the first one of its node */
        pleat_mailbox_applied(self, STRESS_RANKS, STRESS_RANKS, &cost, "");
}

static void *rank_main(void *arg)
{
    const uint32_t rank = (uint32_t)(uintptr_t)arg;
    struct pleat_mailbox_rank self;
    struct pleat_random random;
    pleat_random_init(&random, 77 + rank);
    if (pleat_mailbox_attach(stress.boxes[rank % STRESS_NODES], rank, 0, -1, &self) ||
        (rank < STRESS_NODES && pleat_mailbox_set_size(&self, STRESS_RANKS)))
        abort();
    pthread_barrier_wait(&stress.inside);
    while (!atomic_load(&stress.stop)) {
        int arrival = pleat_mailbox_arrive(&self);
        if (arrival == PLEAT_ARRIVAL_ENTER)
            enter(&self, rank);
        else if (arrival != PLEAT_ARRIVAL_QUIET)
            atomic_fetch_add(&stress.errors, 1);
        compute(rank, &random, self.iteration);
    }
    return NULL;
}

static void pause_for(struct pleat_random *random)
{
    for (uint64_t turn = pleat_random_below(random, 5); turn; turn--)
        sched_yield();
}

/* Withdraws everywhere, or nowhere. */
static bool take_back(uint64_t k, struct pleat_random *random)
{
    int held = 0;
    while (held < STRESS_NODES && !pleat_mailbox_hold_again(stress.boxes[held]))
        held++;
    pause_for(random);
    for (int n = 0; n < held; n++)
        assert_int_equal(held == STRESS_NODES ? pleat_mailbox_withdraw(stress.boxes[n])
                                              : pleat_mailbox_settle(stress.boxes[n], k),
                         0);
    return held == STRESS_NODES;
}

/* Whether it was applied. */
static bool drive(struct pleat_random *random, uint64_t number, int64_t deadline_us)
{
    uint64_t k = 0;
    for (int n = 0; n < STRESS_NODES; n++) {
        uint64_t one;
        const struct pleat_mailbox_request request = {.resize = number,
                                                      .target = STRESS_RANKS,
                                                      .margin =
                                                          (uint32_t)pleat_random_below(random, 4)};
        assert_int_equal(pleat_mailbox_post(stress.boxes[n], &request), 0);
        while (!pleat_mailbox_held(stress.boxes[n], &one)) /* it is met by a rank, or by chance */
            assert_true(pleat_clock_monotonic_us() < deadline_us);
        k = one > k ? one : k;
        pause_for(random);
    }
    for (int n = 0; n < STRESS_NODES; n++) {
        if (number % 3 == 0)
            assert_int_equal(pleat_mailbox_withdraw(stress.boxes[n]), 0);
        else
            assert_int_equal(pleat_mailbox_settle(stress.boxes[n], k), 0);
        pause_for(random);
    }
    if (number % 3 == 0 || (number % 3 == 1 && take_back(k, random)))
        return false;
    for (int n = 0; n < STRESS_NODES; n++) {
        struct pleat_mailbox_status status;
        while (pleat_mailbox_status(stress.boxes[n], &status),
               status.phase != PLEAT_MAILBOX_APPLIED) {
            assert_true(pleat_clock_monotonic_us() < deadline_us);
            sched_yield();
        }
    }
    for (int n = 0; n < STRESS_NODES; n++)
        pleat_mailbox_acknowledge(stress.boxes[n]);
    return true;
}

static void test_by_chance(void **state)
{
    (void)state;
    static pthread_t threads[STRESS_RANKS];
    static bool applied[REQUESTS + 1];
    struct pleat_random random;
    struct pleat_error err;
    int fds[STRESS_NODES];
    pleat_random_init(&random, 5);
    pthread_barrier_init(&stress.inside, NULL, STRESS_RANKS);
    for (uint32_t n = 0; n < STRESS_NODES; n++) {
        assert_int_equal(pleat_mailbox_create(STRESS_RANKS, &stress.boxes[n], &fds[n], &err), 0);
        pleat_mailbox_place(stress.boxes[n], n, STRESS_NODES);
    }
    for (uint32_t rank = 0; rank < STRESS_RANKS; rank++)
        assert_int_equal(pthread_create(&threads[rank], NULL, rank_main, (void *)(uintptr_t)rank),
                         0);
    int64_t deadline_us = pleat_clock_monotonic_us() + LIMIT_US;
    for (uint32_t rank = 0; rank < STRESS_RANKS; rank++) /* all have begun */
        while (!atomic_load(&stress.done[rank])) {
            assert_true(pleat_clock_monotonic_us() < deadline_us);
            sched_yield();
        }
    for (uint64_t number = 1; number <= REQUESTS; number++)
        applied[number] = drive(&random, number, deadline_us);
    atomic_store(&stress.stop, true);
    for (uint32_t rank = 0; rank < STRESS_RANKS; rank++)
        pthread_join(threads[rank], NULL);
    unsigned done = 0;
    for (uint64_t number = 1; number <= REQUESTS; number++) {
        uint64_t first = atomic_load(&stress.entered[number][0]);
        assert_true(applied[number] == (first != 0));
        done += applied[number];
        for (uint32_t rank = 1; rank < STRESS_RANKS; rank++)
            assert_int_equal(atomic_load(&stress.entered[number][rank]), first);
    }
    assert_true(done > 0);
    assert_int_equal(atomic_load(&stress.errors), 0);
    for (uint32_t n = 0; n < STRESS_NODES; n++) {
        pleat_mailbox_close(stress.boxes[n]);
        close(fds[n]);
    }
    pthread_barrier_destroy(&stress.inside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_orders_of_ranks_that_know_ahead),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_by_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
