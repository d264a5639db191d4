/* The mailbox in every order of calls: two ranks of four iterations and three of three, an
 * agent that asks, posts merges and relaunches, and withdraws. Whatever the order: ranks enter a
 * resize in the same iteration, all or none; what was withdrawn is entered by none; after a
 * relaunch nobody goes on. Where resizes are announced, all ranks say the same about the next
 * iteration, and none is entered that was not announced. While a rank is in a section in which
 * nothing may change no resize is done, and nobody waits for its end. (mailbox_agreement_test.c
 * looks at orders within calls, by chance.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "shm/mailbox-rank.h"

#define RANKS 3
#define ROOM 4096
#define ITERATIONS 8

static struct pleat_mailbox *mailbox;
static unsigned char *raw;
static size_t raw_bytes;

struct world {
    unsigned char segment[ROOM];
    struct pleat_mailbox_rank ranks[RANKS];
    uint64_t inside[RANKS]; /* K of the resize a rank is in; 0: none */
    bool asked;             /* rank 0 owes an answer */
    bool outstanding;       /* the agent's: it waits for an outcome */
    bool relaunch;
    int requests;                    /* left */
    int sections[RANKS];             /* left to begin */
    signed char pending[ITERATIONS]; /* what ranks said after this many iterations; -1: none yet */
    bool ended;                      /* relaunched */
};

struct limits {
    uint32_t ranks;
    uint64_t iterations;
};

static bool announces;
static int sections; /* of the last rank */
static unsigned long put_off, held, orders, merges, relaunches, withdrawals, failures, answers,
    dropped;

/* All but the path of a checkpoint, the named points and what is told at meetings, which are not
 * used here. */
#define BEFORE offsetof(struct pleat_mailbox_segment, path)
#define BEHIND offsetof(struct pleat_mailbox_segment, limits)

static void save(struct world *world)
{
    memcpy(world->segment, raw, BEFORE);
    memcpy(world->segment + BEFORE, raw + BEHIND, raw_bytes - BEHIND);
}

static void restore(const struct world *world)
{
    memcpy(raw, world->segment, BEFORE);
    memcpy(raw + BEHIND, world->segment + BEFORE, raw_bytes - BEHIND);
}

static enum pleat_mailbox_phase phase(void)
{
    struct pleat_mailbox_status status;
    pleat_mailbox_status(mailbox, &status);
    return status.phase;
}

static uint32_t count_inside(const struct world *world, const struct limits *limits)
{
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < limits->ranks; rank++)
        count += world->inside[rank] != 0;
    return count;
}

/* A rank that is past K and not inside would never come. */
static void check(const struct world *world, const struct limits *limits)
{
    uint64_t k = 0;
    for (uint32_t rank = 0; rank < limits->ranks; rank++)
        k = world->inside[rank] ? world->inside[rank] : k;
    for (uint32_t rank = 0; k && rank < limits->ranks; rank++) {
        assert_true(world->inside[rank] == 0 || world->inside[rank] == k);
        assert_true(world->inside[rank] == k || world->ranks[rank].iteration < k);
    }
}

/* The first rank that comes there says it for all. */
static void check_pending(struct world *world, uint32_t rank, bool enters)
{
    const struct pleat_mailbox_rank *self = &world->ranks[rank];
    bool pending = pleat_mailbox_pending(self);
    signed char *said = &world->pending[self->iteration];
    assert_true(!enters || world->pending[self->iteration - 1] == 1);
    assert_true(*said < 0 || *said == pending);
    *said = pending;
}

static void arrive(struct world *world, uint32_t rank)
{
    int arrival = pleat_mailbox_arrive(&world->ranks[rank]);
    if (announces)
        check_pending(world, rank, arrival == PLEAT_ARRIVAL_ENTER);
    if (arrival == PLEAT_ARRIVAL_ENTER) {
        struct pleat_mailbox_request request;
        assert_true(world->outstanding);
        assert_int_equal(pleat_mailbox_request(&world->ranks[rank], &request), 0);
        assert_true(request.relaunch == world->relaunch);
        world->inside[rank] = world->ranks[rank].iteration;
        return;
    }
    if (arrival == PLEAT_ARRIVAL_ANSWER) {
        assert_int_equal(rank, 0);
        assert_false(world->ranks[0].not_now);
        world->asked = true;
        return;
    }
    assert_int_equal(arrival, PLEAT_ARRIVAL_QUIET);
}

/* Actions; each returns whether it is possible now. */

static bool try_arrive(struct world *world, const struct limits *limits, int which)
{
    uint32_t rank = (uint32_t)which;
    if (rank >= limits->ranks || world->inside[rank] || world->ended ||
        (rank == 0 && world->asked) || world->ranks[rank].iteration >= limits->iterations)
        return false;
    arrive(world, rank);
    return true;
}

static bool try_answer(struct world *world, const struct limits *limits, int which)
{
    (void)limits;
    (void)which;
    if (!world->asked)
        return false;
    pleat_mailbox_answer(&world->ranks[0], 2);
    world->asked = false;
    answers++;
    return true;
}

static uint32_t count_sections(const struct world *world, const struct limits *limits)
{
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < limits->ranks; rank++)
        count += world->ranks[rank].not_now;
    return count;
}

/* A rank begins a section, or ends it. */
static bool try_section(struct world *world, const struct limits *limits, int which)
{
    struct pleat_mailbox_rank *self = &world->ranks[which];
    if ((uint32_t)which >= limits->ranks || world->inside[which] || world->ended ||
        (which == 0 && world->asked) || (!self->not_now && !world->sections[which]))
        return false;
    world->sections[which] -= !self->not_now;
    held += phase() == PLEAT_MAILBOX_POSTED && !self->not_now;
    pleat_mailbox_not_now(self, !self->not_now);
    return true;
}

static bool try_conclude(struct world *world, const struct limits *limits, int fails)
{
    const struct pleat_mailbox_cost cost = {.bytes = 1};
    if (count_inside(world, limits) < limits->ranks)
        return false;
    if (count_sections(world, limits)) {
        if (fails)
            return false;
        pleat_mailbox_put_off(&world->ranks[0]);
        assert_int_equal(phase(), PLEAT_MAILBOX_POSTED);
        memset(world->inside, 0, sizeof(world->inside));
        put_off++;
        return true;
    }
    if (fails)
        pleat_mailbox_failed(&world->ranks[0], "no");
    else if (world->relaunch)
        pleat_mailbox_saved(&world->ranks[0], limits->ranks, &cost);
    else
        pleat_mailbox_applied(&world->ranks[0], limits->ranks, limits->ranks, &cost, "");
    assert_int_equal(phase(), fails             ? PLEAT_MAILBOX_FAILED
                              : world->relaunch ? PLEAT_MAILBOX_SAVED
                                                : PLEAT_MAILBOX_APPLIED);
    world->ended = !fails && world->relaunch;
    merges += !fails && !world->relaunch;
    relaunches += !fails && world->relaunch;
    failures += fails != 0;
    memset(world->inside, 0, sizeof(world->inside));
    return true;
}

enum { MERGE, RELAUNCH, ASK };

static bool try_request(struct world *world, const struct limits *limits, int kind)
{
    const struct pleat_mailbox_request request = {
        .resize = 1, .target = limits->ranks, .relaunch = kind == RELAUNCH};
    if (world->outstanding || world->ended || !world->requests)
        return false;
    int code =
        kind == ASK ? pleat_mailbox_ask(mailbox, &request) : pleat_mailbox_post(mailbox, &request);
    if (announces && code == PLEAT_E_BUSY) { /* somebody has still to learn of the last one */
        dropped++;
        return false;
    }
    assert_int_equal(code, 0);
    world->requests--;
    world->outstanding = true;
    world->relaunch = kind == RELAUNCH;
    return true;
}

static bool try_withdraw(struct world *world, const struct limits *limits, int which)
{
    (void)which;
    if (!world->outstanding || world->ended)
        return false;
    enum pleat_mailbox_phase before = phase();
    int code = pleat_mailbox_withdraw(mailbox);
    if (code) {
        assert_int_equal(code, PLEAT_E_STATE);
        assert_int_equal(phase(), before);
        return false; /* nothing has changed */
    }
    assert_int_equal(count_inside(world, limits), 0);
    assert_int_equal(phase(), PLEAT_MAILBOX_IDLE);
    world->outstanding = false;
    withdrawals++;
    return true;
}

static bool try_acknowledge(struct world *world, const struct limits *limits, int which)
{
    (void)limits;
    (void)which;
    enum pleat_mailbox_phase now = phase();
    if (now != PLEAT_MAILBOX_APPLIED && now != PLEAT_MAILBOX_FAILED &&
        now != PLEAT_MAILBOX_ANSWERED)
        return false;
    pleat_mailbox_acknowledge(mailbox);
    assert_int_equal(phase(), PLEAT_MAILBOX_IDLE);
    world->outstanding = false;
    return true;
}

static const struct {
    bool (*try)(struct world *world, const struct limits *limits, int which);
    int which;
} actions[] = {{try_arrive, 0},    {try_arrive, 1},   {try_arrive, 2},      {try_answer, 0},
               {try_conclude, 0},  {try_conclude, 1}, {try_request, MERGE}, {try_request, RELAUNCH},
               {try_request, ASK}, {try_withdraw, 0}, {try_acknowledge, 0}, {try_section, 0},
               {try_section, 1},   {try_section, 2}};

static void explore(const struct world *from, const struct limits *limits)
{
    bool any = false;
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        struct world next = *from;
        restore(from);
        if (!actions[i].try(&next, limits, actions[i].which))
            continue;
        any = true;
        check(&next, limits);
        save(&next);
        explore(&next, limits);
    }
    orders += !any;
}

static void explore_all(uint32_t ranks, uint64_t iterations, int requests, bool ahead)
{
    const struct limits limits = {.ranks = ranks, .iterations = iterations};
    struct world world = {.requests = requests};
    struct pleat_error err;
    int fd;
    world.sections[ranks - 1] = sections;
    put_off = held = orders = merges = relaunches = withdrawals = failures = answers = dropped = 0;
    announces = ahead;
    memset(world.pending, -1, sizeof(world.pending));
    world.pending[0] = 0;
    assert_int_equal(pleat_mailbox_create(ranks, &mailbox, &fd, &err), 0);
    raw_bytes = sizeof(struct pleat_mailbox_segment) + ranks * sizeof(struct pleat_mailbox_slot);
    assert_true(raw_bytes - (BEHIND - BEFORE) <= ROOM);
    raw = mmap(NULL, raw_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(raw != MAP_FAILED);
    for (uint32_t rank = 0; rank < ranks; rank++)
        assert_int_equal(pleat_mailbox_attach(mailbox, rank, 0, -1, &world.ranks[rank]), 0);
    assert_int_equal(pleat_mailbox_set_size(&world.ranks[0], ranks), 0);
    if (ahead)
        pleat_mailbox_announce(&world.ranks[0]);
    save(&world);
    explore(&world, &limits);
    assert_true(!ahead || requests == 1 || dropped);
    print_message("%lu orders\n", orders);
    assert_true(!sections || (put_off && held));
    assert_true(merges && relaunches && withdrawals && failures && answers);
    munmap(raw, raw_bytes);
    pleat_mailbox_close(mailbox);
    close(fd);
}

static void test_two_ranks(void **state)
{
    (void)state;
    explore_all(2, 4, 2, false);
}

static void test_two_ranks_that_know_ahead(void **state)
{
    (void)state;
    explore_all(2, 4, 2, true);
}

static void test_three_ranks(void **state)
{
    (void)state;
    explore_all(3, 3, 1, false);
}

static void test_three_ranks_that_know_ahead(void **state)
{
    (void)state;
    explore_all(3, 3, 1, true);
}

/* A section of one rank, which begins and ends anywhere. */
static void test_sections(void **state)
{
    (void)state;
    sections = 1;
    explore_all(2, 3, 1, false);
    sections = 0;
}

static void test_sections_of_ranks_that_know_ahead(void **state)
{
    (void)state;
    sections = 1;
    explore_all(2, 3, 1, true);
    sections = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_ranks),
        cmocka_unit_test(test_three_ranks),
        cmocka_unit_test(test_two_ranks_that_know_ahead),
        cmocka_unit_test(test_three_ranks_that_know_ahead),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_sections_of_ranks_that_know_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
