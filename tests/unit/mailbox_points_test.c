/* Several adaptation points in the mailbox: an inner and an outer loop, whose passages are counted
 * together. However far two ranks are apart, they enter a resize in the same passage of the same
 * point, or, where the program ends before, neither does. And what the agent sees of named points.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shm/mailbox-rank.h"

#define INNER 3
#define ROUND                                                                                      \
    (INNER + 1) /* passages in a round of the outer loop: the last one is the outer point */
#define PASSAGES (3 * ROUND)

struct pair {
    struct pleat_mailbox *mailbox;
    struct pleat_mailbox_rank ranks[2];
    int fd;
};

static void pair_open(struct pair *pair)
{
    struct pleat_error err;
    assert_int_equal(pleat_mailbox_create(4, &pair->mailbox, &pair->fd, &err), 0);
    for (uint32_t rank = 0; rank < 2; rank++)
        assert_int_equal(pleat_mailbox_attach(pair->mailbox, rank, 0, -1, &pair->ranks[rank]), 0);
    assert_int_equal(pleat_mailbox_set_size(&pair->ranks[0], 2), 0);
}

static void pair_close(struct pair *pair)
{
    pleat_mailbox_close(pair->mailbox);
    close(pair->fd);
}

static bool is_outer(uint64_t passage)
{
    return passage % ROUND == 0;
}

/* Passes points until the rank enters, or its program ends. Returns the passage; 0: it ended. */
static uint64_t pass_on(struct pleat_mailbox_rank *self)
{
    while (self->iteration < PASSAGES) {
        int arrival = pleat_mailbox_arrive(self);
        if (arrival == PLEAT_ARRIVAL_ENTER)
            return self->iteration;
        assert_int_equal(arrival, PLEAT_ARRIVAL_QUIET);
    }
    return 0;
}

/* Rank 0 has passed `first` points when the resize is posted, and rank 1 `second`; then one rank
 * goes as far as it can before the other moves. Returns the passage that both enter. */
static uint64_t resize_from(uint64_t first, uint64_t second, int ahead)
{
    const struct pleat_mailbox_request request = {.resize = 1, .target = 2};
    const uint64_t passed[2] = {first, second};
    uint64_t where[2];
    struct pair pair;
    pair_open(&pair);
    for (int rank = 0; rank < 2; rank++)
        for (uint64_t i = 0; i < passed[rank]; i++)
            assert_int_equal(pleat_mailbox_arrive(&pair.ranks[rank]), PLEAT_ARRIVAL_QUIET);
    assert_int_equal(pleat_mailbox_post(pair.mailbox, &request), 0);
    where[ahead] = pass_on(&pair.ranks[ahead]);
    where[1 - ahead] = pass_on(&pair.ranks[1 - ahead]);
    assert_int_equal(where[0], where[1]);
    assert_true(is_outer(where[0]) == is_outer(where[1]));
    /* nobody is inside: what no rank comes to any more is taken back */
    assert_int_equal(pleat_mailbox_withdraw(pair.mailbox), where[0] ? PLEAT_E_STATE : 0);
    pair_close(&pair);
    return where[0];
}

static void test_ranks_at_any_two_points(void **state)
{
    (void)state;
    bool inner = false, outer = false, none = false;
    for (uint64_t first = 0; first <= PASSAGES; first++)
        for (uint64_t second = 0; second <= PASSAGES; second++)
            for (int ahead = 0; ahead < 2; ahead++) {
                uint64_t where = resize_from(first, second, ahead);
                inner |= where && !is_outer(where);
                outer |= where && is_outer(where);
                none |= !where;
            }
    assert_true(inner && outer && none);
}

/* One at the last inner point, the other at the outer one behind it: they meet behind that. */
static void test_last_inner_point_and_outer_one(void **state)
{
    (void)state;
    assert_int_equal(resize_from(INNER, ROUND, 0), ROUND + 1);
    assert_int_equal(resize_from(ROUND, INNER, 1), ROUND + 1);
}

static void test_what_the_agent_sees(void **state)
{
    (void)state;
    struct pleat_mailbox_point points[PLEAT_MAILBOX_POINTS];
    struct pleat_mailbox_status status;
    struct pair pair;
    char longest[80];
    pair_open(&pair);
    assert_int_equal(pleat_mailbox_points(pair.mailbox, points), 0);
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    longest[3] = '\n'; /* the application may write anything */
    pleat_mailbox_name_point(&pair.ranks[0], "outer", true);
    pleat_mailbox_name_point(&pair.ranks[0], longest, false);
    pleat_mailbox_passed(&pair.ranks[0], 1, 12, 4, 4000);
    assert_int_equal(pleat_mailbox_points(pair.mailbox, points), 2);
    assert_string_equal(points[0].name, "outer");
    assert_true(points[0].resizes && !points[1].resizes);
    assert_true(points[0].passed == 0 && points[0].mean_ns == 0);
    assert_true(points[1].passed == 12 && points[1].mean_ns == 1000);
    assert_int_equal(strlen(points[1].name), PLEAT_MAILBOX_NAME - 1);
    assert_int_equal(points[1].name[3], '?');
    pleat_mailbox_status(pair.mailbox, &status);
    assert_int_equal(status.passages, 12);
    for (int i = 2; i < PLEAT_MAILBOX_POINTS + 3; i++)
        pleat_mailbox_name_point(&pair.ranks[0], "more", true);
    assert_int_equal(pleat_mailbox_points(pair.mailbox, points), PLEAT_MAILBOX_POINTS);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_at_any_two_points),
        cmocka_unit_test(test_last_inner_point_and_outer_one),
        cmocka_unit_test(test_what_the_agent_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
