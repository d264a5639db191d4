/* Plans of arrays that are larger than any memory here: indices above 2^31, products above 2^32
 * bytes. Elements are looked up in the plan, and nothing is allocated but the plan. */
#include "test.h"

#include <stdio.h>

#include "base/random.h"
#include "dist/plan.h"

static struct pleat_random random_numbers;

static int64_t below(int64_t bound)
{
    return (int64_t)pleat_random_below(&random_numbers, (uint64_t)bound);
}

/* ScaLAPACK's INDXG2P and INDXG2L by their definitions (from 0), in numbers that cannot overflow.
 */
static int64_t owner_of(const struct pleat_dim *dim, int64_t global)
{
    return (int64_t)(((__int128)global / dim->block + dim->first) % dim->processes);
}

static int64_t local_of(const struct pleat_dim *dim, int64_t global)
{
    __int128 cycle = (__int128)dim->block * dim->processes;
    return (int64_t)((__int128)global / cycle * dim->block + global % dim->block);
}

/* The place in memory on the peer's side of what has index `mine` on this side; -1: not of it. */
static int64_t look_up(const struct pleat_runs *runs, int64_t mine)
{
    for (size_t i = 0; i < runs->count; i++) {
        const struct pleat_index_run *run = &runs->run[i];
        int64_t ahead = mine - run->mine;
        if (ahead < 0)
            continue;
        int64_t period = runs->mine_step > 0 ? ahead / runs->mine_step : 0;
        int64_t in_run = ahead - period * runs->mine_step;
        int64_t element = period * runs->per_period + run->before + in_run;
        if (in_run < run->length && element < runs->elements)
            return run->peer + period * runs->peer_step + in_run;
    }
    return -1;
}

/* Chooses elements at random: each is in the plan of its new owner, once, where it belongs. */
static void check_elements(const struct pleat_dist *old, const struct pleat_dist *new)
{
    for (int i = 0; i < 200; i++) {
        int64_t mine[2];
        int64_t theirs[2];
        int from[PLEAT_DIST_DIMS] = {0};
        int to[PLEAT_DIST_DIMS] = {0};
        for (int d = 0; d < 2; d++) {
            int64_t last = old->dim[d].extent - 1;
            int64_t global = i == 0   ? last
                             : i < 20 ? last - below(last < 999 ? last + 1 : 1000)
                                      : below(last + 1);
            from[d] = (int)owner_of(&old->dim[d], global);
            to[d] = (int)owner_of(&new->dim[d], global);
            theirs[d] = local_of(&old->dim[d], global);
            mine[d] = local_of(&new->dim[d], global);
        }
        struct pleat_dist_plan plan;
        struct pleat_error err;
        int rank = pleat_dist_rank(new, to);
        if (pleat_dist_plan_receive(old, new, rank, NULL, 0, &plan, &err))
            fail_msg("%s", err.text);
        int found = 0;
        for (size_t p = 0; p < plan.peers; p++) {
            struct pleat_dist_plan_peer peer;
            pleat_dist_plan_peer(&plan, p, &peer);
            int64_t at[2] = {look_up(peer.part[0], mine[0]), look_up(peer.part[1], mine[1])};
            if (at[0] < 0 || at[1] < 0)
                continue;
            found++;
            assert_int_equal(peer.rank, pleat_dist_rank(old, from));
            assert_int_equal(at[0], theirs[0]);
            assert_int_equal(at[1], theirs[1]);
        }
        assert_int_equal(found, 1);
        assert_int_equal(plan.bytes, plan.mine.bytes);
        pleat_dist_plan_finish(&plan);
    }
}

static struct pleat_dim cyclic(int64_t extent, int processes, int64_t block, int first)
{
    return (struct pleat_dim){.extent = extent,
                              .format = PLEAT_DIM_BLOCK_CYCLIC,
                              .processes = processes,
                              .block = block,
                              .first = first};
}

static void test_indices_above_2_to_31(void **state)
{
    static const int64_t extents[][2] = {{((int64_t)1 << 33) + 17, 3},
                                         {((int64_t)5 << 30) + 1, ((int64_t)1 << 25) - 3},
                                         {PLEAT_DIM_EXTENT_MAX, 64}};
    static const int64_t blocks[] = {1, 64, 1000, 4096};
    (void)state;
    for (size_t e = 0; e < 3; e++)
        for (size_t b = 0; b < 16; b++) {
            const int64_t *extent = extents[e];
            struct pleat_dist old = {.dims = 2,
                                     .ranks = 12,
                                     .element_bytes = 16,
                                     .storage = PLEAT_DIST_COLUMN_MAJOR,
                                     .dim = {cyclic(extent[0], 4, blocks[b % 4], (int)below(4)),
                                             cyclic(extent[1], 3, 64, (int)below(3))}};
            struct pleat_dist new = old;
            new.dim[0] = cyclic(extent[0], 6, blocks[b / 4], (int)below(6));
            new.dim[1] = cyclic(extent[1], 2, 32, (int)below(2));
            check_elements(&old, &new);
        }
}

/* What ranks have in common does not grow with the array where block sizes repeat. */
static void test_plans_stay_small(void **state)
{
    struct pleat_dist old = {
        .dims = 1, .ranks = 4, .element_bytes = 8, .dim = {cyclic((int64_t)1 << 40, 4, 1, 0)}};
    struct pleat_dist new = old;
    struct pleat_dist_plan plan;
    (void)state;
    new.ranks = 6;
    new.dim[0].processes = 6;
    for (int rank = 0; rank < 6; rank++) {
        assert_int_equal(pleat_dist_plan_receive(&old, &new, rank, NULL, 0, &plan, NULL), 0);
        assert_true(plan.peers == 2 && plan.dim[0].lists == 1);
        assert_true(plan.dim[0].all[0].count <= 2);
        pleat_dist_plan_finish(&plan);
    }
    new.dim[0].format = PLEAT_DIM_BLOCK;
    assert_int_equal(pleat_dist_plan_send(&old, &new, 3, NULL, 0, &plan, NULL), 0);
    assert_int_equal(plan.peers, 6);
    for (size_t i = 0; i < 6; i++)
        assert_true(plan.dim[0].peer[i].count <= 2);
    assert_int_equal(plan.bytes, (int64_t)8 << 38);
    pleat_dist_plan_finish(&plan);
}

static void test_blocks_above_2_to_31(void **state)
{
    struct pleat_dist old = {
        .dims = 2,
        .ranks = 3,
        .element_bytes = 8,
        .dim = {cyclic((int64_t)1 << 36, 3, ((int64_t)1 << 31) + 5, 1), cyclic(7, 1, 1, 0)}};
    struct pleat_dist new = old;
    struct pleat_dist_plan plan;
    struct pleat_error err;
    (void)state;
    new.ranks = 5;
    new.dim[0] = cyclic((int64_t)1 << 36, 5, ((int64_t)1 << 32) - 3, 4);
    check_elements(&old, &new);
    check_elements(&new, &old);
    /* every element by itself, and no short pattern that repeats */
    new.dim[0].block = 1;
    assert_int_equal(pleat_dist_plan_receive(&old, &new, 0, NULL, 0, &plan, &err), PLEAT_E_TOOBIG);
    assert_string_equal(err.text,
                        "array: dimension 0: a dimension of 68719476736 indices would move in more "
                        "than 2097152 different runs; choose block sizes that have more in common");
}

static void test_sums_above_2_to_32(void **state)
{
    struct pleat_dist old = {
        .dims = 1,
        .ranks = 2,
        .element_bytes = 1 << 20,
        .dim = {{.extent = (int64_t)1 << 40, .format = PLEAT_DIM_BLOCK, .processes = 2}}};
    struct pleat_dist new = old;
    int64_t moved;
    (void)state;
    new.ranks = new.dim[0].processes = 4;
    assert_int_equal(pleat_dist_plan_moved(&old, &new, &moved, NULL), 0);
    /* rank 0 keeps its first half, rank 1 has the fourth quarter no more */
    assert_int_equal(moved, (int64_t)3 << 58);
    /* many copies of a large array */
    new.dim[0] = (struct pleat_dim){
        .extent = (int64_t)1 << 40, .format = PLEAT_DIM_COLLAPSED, .processes = 1};
    new.ranks = 16;
    struct pleat_dist_plan plan;
    struct pleat_error err;
    assert_int_equal(pleat_dist_plan_moved(&old, &new, &moved, &err), PLEAT_E_TOOBIG);
    assert_string_equal(err.text, "array: its copies do not fit into 63 bits");
    assert_int_equal(pleat_dist_plan_send(&old, &new, 0, NULL, 0, &plan, &err), PLEAT_E_TOOBIG);
    assert_string_equal(err.text, "array: what rank 0 exchanges does not fit into 63 bits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indices_above_2_to_31),
        cmocka_unit_test(test_plans_stay_small),
        cmocka_unit_test(test_blocks_above_2_to_31),
        cmocka_unit_test(test_sums_above_2_to_32),
    };
    pleat_random_init(&random_numbers, 31);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
