/* What of a state is on which node: compared with maps of every single byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "dist/spread.h"

#define BYTES 60
#define NODES 4
#define MOST 12

typedef bool map[NODES][BYTES];

static size_t some_stretches(struct pleat_random *random, struct pleat_stretch *held, map has)
{
    const size_t count = (size_t)pleat_random_below(random, MOST + 1);
    memset(has, 0, sizeof(map));
    for (size_t i = 0; i < count; i++) {
        held[i].first = pleat_random_below(random, BYTES);
        held[i].end = held[i].first + pleat_random_below(random, BYTES - held[i].first + 1);
        held[i].node = (int32_t)pleat_random_below(random, NODES);
        held[i].rank = (int32_t)i;
        for (uint64_t at = held[i].first; at < held[i].end; at++)
            has[held[i].node][at] = true;
    }
    return count;
}

/* The lowest node that has a byte. */
static int who_has(map has, uint64_t at)
{
    for (int node = 0; node < NODES; node++)
        if (has[node][at])
            return node;
    return PLEAT_SPREAD_NOBODY;
}

/* Every byte that the node lacks is in one piece, which one node has as a whole. */
static void check_pieces(const struct pleat_stretch *held, size_t count, map has, int node,
                         uint64_t first, uint64_t end)
{
    bool lacks[BYTES] = {false};
    struct pleat_stretch piece;
    uint64_t at = first;
    uint64_t last = first;
    while (pleat_spread_next(held, count, node, &at, end, &piece)) {
        assert_true(piece.first >= last && piece.first < piece.end && piece.end <= end);
        last = piece.end;
        for (uint64_t i = piece.first; i < piece.end; i++) {
            assert_true(piece.node == PLEAT_SPREAD_NOBODY ? who_has(has, i) == PLEAT_SPREAD_NOBODY
                                                          : has[piece.node][i]);
            lacks[i] = true;
        }
        assert_int_equal(piece.node, who_has(has, piece.first));
    }
    for (uint64_t i = first; i < end; i++)
        assert_int_equal(lacks[i], !has[node][i]);
}

static void test_pieces_that_are_lacked(void **state)
{
    (void)state;
    struct pleat_random random;
    struct pleat_stretch held[MOST];
    map has;
    pleat_random_init(&random, 7);
    for (int round = 0; round < 20000; round++) {
        size_t count = some_stretches(&random, held, has);
        const int node = (int)pleat_random_below(&random, NODES);
        const uint64_t first = pleat_random_below(&random, BYTES);
        const uint64_t end = first + pleat_random_below(&random, BYTES - first + 1);
        check_pieces(held, count, has, node, first, end);
        count = pleat_spread_tidy(held, count);
        check_pieces(held, count, has, node, first, end);
    }
}

/* The same bytes, in order, with gaps between. */
static void test_tidying(void **state)
{
    (void)state;
    struct pleat_random random;
    struct pleat_stretch held[MOST];
    map has;
    pleat_random_init(&random, 8);
    for (int round = 0; round < 20000; round++) {
        map then;
        const size_t count = pleat_spread_tidy(held, some_stretches(&random, held, has));
        memset(then, 0, sizeof(map));
        for (size_t i = 0; i < count; i++) {
            assert_true(held[i].first < held[i].end);
            for (uint64_t at = held[i].first; at < held[i].end; at++)
                then[held[i].node][at] = true;
            if (i && held[i - 1].node == held[i].node)
                assert_true(held[i - 1].end < held[i].first);
            if (i)
                assert_true(held[i - 1].node <= held[i].node);
        }
        assert_memory_equal(then, has, sizeof(map));
    }
    assert_int_equal(pleat_spread_tidy(NULL, 0), 0);
}

/* Ends beyond any state do not wrap around. */
static void test_all_of_it(void **state)
{
    (void)state;
    const struct pleat_stretch all = {0, UINT64_MAX, 1, 0};
    struct pleat_stretch piece;
    uint64_t at = 5;
    assert_false(pleat_spread_next(&all, 1, 1, &at, UINT64_MAX - 1, &piece));
    at = 5;
    assert_true(pleat_spread_next(&all, 1, 0, &at, UINT64_MAX - 1, &piece));
    assert_true(piece.first == 5 && piece.end == UINT64_MAX - 1 && piece.node == 1);
    assert_false(pleat_spread_next(&all, 1, 0, &at, UINT64_MAX - 1, &piece));
    at = 9;
    assert_true(pleat_spread_next(NULL, 0, 0, &at, 10, &piece));
    assert_int_equal(piece.node, PLEAT_SPREAD_NOBODY);
}

static void test_ranks_of_a_node(void **state)
{
    (void)state;
    static const int of[] = {0, 2, 0, 2, 2};
    assert_int_equal(pleat_spread_rank(of, 5, 2, 0), 1);
    assert_int_equal(pleat_spread_rank(of, 5, 2, 2), 4);
    assert_int_equal(pleat_spread_rank(of, 5, 2, 3), 1);
    assert_int_equal(pleat_spread_rank(of, 5, 0, 5), 2);
    assert_int_equal(pleat_spread_rank(of, 5, 1, 0), PLEAT_SPREAD_NOBODY);
    assert_int_equal(pleat_spread_rank(of, 1, 2, 0), PLEAT_SPREAD_NOBODY);
}

static void test_homes_by_example(void **state)
{
    (void)state;
    static const int of[] = {0, 0, 1, 1, 2, 2};
    static const bool first[] = {true, false, true};
    static const bool last[] = {false, false, true};
    static const bool none[] = {false, false, false};
    int home[6];
    assert_true(pleat_spread_homes(of, 6, first, 3, home));
    static const int split[] = {0, 0, 0, 2, 2, 2};
    assert_memory_equal(home, split, sizeof(home));
    assert_true(pleat_spread_homes(of, 6, last, 3, home));
    for (int i = 0; i < 6; i++)
        assert_int_equal(home[i], 2);
    assert_false(pleat_spread_homes(of, 6, none, 3, home));
    assert_false(pleat_spread_homes(of, 0, first, 3, home));
}

/* A rank whose node stays keeps what it has there; all else goes to nodes that stay and have ranks.
 */
static void test_homes_of_all_kinds(void **state)
{
    (void)state;
    struct pleat_random random;
    pleat_random_init(&random, 9);
    for (int round = 0; round < 20000; round++) {
        int of[9], home[9];
        bool stays[NODES], some = false;
        const int ranks = 1 + (int)pleat_random_below(&random, 9);
        for (int node = 0; node < NODES; node++)
            stays[node] = pleat_random_below(&random, 2) != 0;
        for (int i = 0; i < ranks; i++) {
            of[i] = (int)pleat_random_below(&random, NODES);
            some |= stays[of[i]];
        }
        assert_int_equal(pleat_spread_homes(of, ranks, stays, NODES, home), some);
        for (int i = 0; i < ranks && some; i++) {
            assert_true(stays[home[i]] &&
                        pleat_spread_rank(of, ranks, home[i], 0) != PLEAT_SPREAD_NOBODY);
            assert_true(!stays[of[i]] || home[i] == of[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces_that_are_lacked),
                                       cmocka_unit_test(test_tidying),
                                       cmocka_unit_test(test_all_of_it),
                                       cmocka_unit_test(test_ranks_of_a_node),
                                       cmocka_unit_test(test_homes_by_example),
                                       cmocka_unit_test(test_homes_of_all_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
