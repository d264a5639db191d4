/* Descriptions of distributed arrays: who owns what, in which memory, and what is refused. */
#include "dist_oracle.h"

#include <limits.h>
#include <string.h>

#include "dist/copy.h"
#include "support/dist_elements.h"

/* ---- one dimension ---- */

static void check_dim(struct pleat_dim dim)
{
    const struct pleat_dist dist = {
        .dims = 1, .ranks = dim.processes, .element_bytes = 1, .dim = {dim}};
    struct oracle oracle;
    int64_t most = 0;
    assert_int_equal(pleat_dist_check(&dist, NULL), 0);
    oracle_init(&oracle, &dist);
    for (int64_t global = 0; global < dim.extent; global++) {
        int owner = oracle.dim[0].owner[global];
        int64_t local = oracle.dim[0].local[global];
        assert_int_equal(pleat_dim_owner(&dim, global), owner);
        assert_int_equal(pleat_dim_local(&dim, global), local);
        assert_int_equal(pleat_dim_global(&dim, owner, local), global);
    }
    for (int i = 0; i < dim.processes; i++) {
        assert_int_equal(pleat_dim_count(&dim, i), oracle.dim[0].count[i]);
        most = oracle.dim[0].count[i] > most ? oracle.dim[0].count[i] : most;
    }
    assert_int_equal(pleat_dim_count_max(&dim), most);
    oracle_finish(&oracle);
}

static void test_every_index_of_a_dimension(void **state)
{
    static const int64_t bounds[] = {0, 0, 4, 4, 9};
    (void)state;
    for (int64_t extent = 0; extent <= 40; extent++)
        for (int processes = 1; processes <= 7; processes++) {
            check_dim(dim_block(extent, processes));
            for (int64_t block = 1; block <= extent + 2; block += 1 + block / 4)
                for (int first = 0; first < processes; first++)
                    check_dim(dim_cyclic(extent, processes, block, first));
        }
    check_dim(dim_collapsed(12));
    check_dim(dim_general(9, 4, bounds));
}

/* Whether each element in the halos of any process, as they would lie in the whole dimension, is
 * the process's next one's. */
static bool is_neighbours(int64_t extent, int processes, int64_t halo, bool wraps)
{
    const struct pleat_dim dim = dim_block(extent, processes);
    for (int i = 0; i < processes; i++) {
        struct pleat_interval own = pleat_dim_interval(&dim, i);
        for (int64_t k = 1; k <= halo && own.first < own.end; k++)
            for (int side = -1; side <= 1; side += 2) {
                int64_t at = side < 0 ? own.first - k : own.end - 1 + k;
                int next = (i + side + processes) % processes;
                struct pleat_interval theirs = pleat_dim_interval(&dim, next);
                if ((at < 0 || at >= extent) && !wraps)
                    continue;
                if (at < 0 || at >= extent) { /* once around, and no further */
                    bool around = next == (side < 0 ? processes - 1 : 0);
                    at += at < 0 ? extent : -extent;
                    if (!around || at < 0 || at >= extent)
                        return false;
                }
                if (at < theirs.first || at >= theirs.end)
                    return false;
            }
    }
    return true;
}

static void test_halos_and_narrow_parts(void **state)
{
    (void)state;
    for (int64_t extent = 0; extent <= 24; extent++)
        for (int64_t halo = 0; halo <= 6; halo++)
            for (int wraps = 0; wraps < 2; wraps++) {
                int64_t most = pleat_dim_halo_processes(extent, halo, wraps);
                for (int processes = 1; processes <= 30; processes++)
                    assert_int_equal(processes <= most,
                                     is_neighbours(extent, processes, halo, wraps));
            }
}

/* ---- arrays ---- */

static void test_ranks_of_a_grid(void **state)
{
    struct pleat_dist dist = {.dims = 3,
                              .ranks = 25,
                              .element_bytes = 8,
                              .dim = {dim_block(9, 2), dim_block(9, 3), dim_block(9, 4)}};
    int at[PLEAT_DIST_DIMS];
    (void)state;
    for (int order = 0; order < 2; order++) {
        dist.grid = order ? PLEAT_DIST_COLUMN_MAJOR : PLEAT_DIST_ROW_MAJOR;
        assert_int_equal(pleat_dist_check(&dist, NULL), 0);
        assert_int_equal(pleat_dist_grid_size(&dist), 24);
        for (int rank = 0; rank < 24; rank++) {
            assert_true(pleat_dist_coordinates(&dist, rank, at));
            assert_int_equal(oracle_rank(&dist, at), rank);
            assert_int_equal(pleat_dist_rank(&dist, at), rank);
        }
        assert_false(pleat_dist_coordinates(&dist, 24, at));
        assert_false(pleat_dist_coordinates(&dist, -1, at));
    }
    /* row-major: the last coordinate is the fastest (BLACS 'R') */
    dist.grid = PLEAT_DIST_ROW_MAJOR;
    assert_true(pleat_dist_coordinates(&dist, 1, at));
    assert_int_equal(at[2], 1);
}

static void test_every_element_of_a_matrix(void **state)
{
    struct pleat_dist dist = {.dims = 2,
                              .ranks = 7,
                              .element_bytes = 4,
                              .storage = PLEAT_DIST_COLUMN_MAJOR,
                              .dim = {dim_cyclic(11, 2, 3, 1), dim_block(7, 3)}};
    int64_t global[PLEAT_DIST_DIMS] = {0};
    struct oracle oracle;
    (void)state;
    dist.dim[0].allocated = 9;
    dist.dim[1].halo_low = 2;
    dist.dim[1].halo_high = 1;
    assert_int_equal(pleat_dist_check(&dist, NULL), 0);
    oracle_init(&oracle, &dist);
    do {
        int64_t local[PLEAT_DIST_DIMS];
        int64_t back[PLEAT_DIST_DIMS];
        struct pleat_layout layout;
        int coordinates[PLEAT_DIST_DIMS] = {0};
        for (int d = 0; d < dist.dims; d++) {
            coordinates[d] = pleat_dim_owner(&dist.dim[d], global[d]);
            local[d] = pleat_dim_local(&dist.dim[d], global[d]);
        }
        int rank = pleat_dist_rank(&dist, coordinates);
        assert_int_equal(rank, oracle_owner(&oracle, global));
        dist_global(&dist, rank, local, back);
        assert_memory_equal(back, global, 2 * sizeof(*back));
        assert_int_equal(pleat_dist_layout(&dist, rank, NULL, &layout, NULL), 0);
        assert_int_equal(dist_offset(&dist, &layout, local), oracle_place(&oracle, global) * 4);
    } while (oracle_next(&dist, global));
    oracle_finish(&oracle);
    assert_int_equal(pleat_dist_bytes(&dist), 11 * 7 * 4);
}

static void test_memory_of_a_rank(void **state)
{
    struct pleat_dist dist = {
        .dims = 2, .ranks = 4, .element_bytes = 8, .dim = {dim_block(2, 3), dim_collapsed(5)}};
    struct pleat_layout layout;
    const int64_t padded[] = {0, 9};
    const int64_t too_few[] = {0, 4};
    (void)state;
    dist.dim[0].halo_low = 1;
    assert_int_equal(pleat_dist_layout(&dist, 0, NULL, &layout, NULL), 0);
    assert_int_equal(layout.bytes, 2 * 5 * 8);
    assert_int_equal(layout.owned[0], 1);
    assert_int_equal(layout.stride[0], 40);
    assert_int_equal(pleat_dist_layout(&dist, 1, padded, &layout, NULL), 0);
    assert_int_equal(layout.bytes, 2 * 9 * 8);
    /* ranks 2 (owns nothing) and 3 (not in the grid) have no memory */
    for (int rank = 2; rank < 5; rank++) {
        assert_int_equal(pleat_dist_layout(&dist, rank, too_few, &layout, NULL), 0);
        assert_int_equal(layout.bytes, 0);
        assert_int_equal(layout.owned[1], 0);
    }
    struct pleat_error err;
    assert_int_equal(pleat_dist_layout(&dist, 0, too_few, &layout, &err), PLEAT_E_INVALID);
    assert_string_equal(err.text,
                        "array: dimension 1: rank 0 has allocated 4 indices, but it has 5, halos "
                        "included");
}

/* ---- what is refused ---- */

static struct pleat_dist good(void)
{
    return (struct pleat_dist){.name = "u",
                               .dims = 2,
                               .ranks = 6,
                               .element_bytes = 8,
                               .dim = {dim_cyclic(10, 2, 3, 1), dim_block(9, 3)}};
}

static void refuse(const struct pleat_dist *dist, int code, const char *text)
{
    struct pleat_error err = {0};
    assert_int_equal(pleat_dist_check(dist, &err), code);
    assert_string_equal(err.text, text);
}

static void test_what_contradicts_itself(void **state)
{
    static const int64_t overlap[] = {0, 6, 5, 9};
    static const int64_t gap[] = {0, 3, 5, 8};
    struct pleat_dist dist = good();
    (void)state;
    assert_int_equal(pleat_dist_check(&dist, NULL), 0);
    dist.ranks = 5;
    refuse(&dist, PLEAT_E_INVALID, "u: its grid has 6 processes, but there are 5 ranks");
    dist = good();
    dist.dim[0].first = 2;
    refuse(&dist, PLEAT_E_INVALID, "u: dimension 0 begins at process 2 of 2");
    dist = good();
    dist.dim[0].block = 0;
    refuse(&dist, PLEAT_E_INVALID, "u: dimension 0: a block size of 0; it must be at least 1");
    dist = good();
    dist.dim[0].halo_low = 1;
    refuse(&dist, PLEAT_E_INVALID,
           "u: dimension 0 is block-cyclic, and has halos of 1 and 0; only contiguous blocks can "
           "have halos");
    dist = good();
    dist.dim[1].halo_high = 2;
    dist.dim[1].allocated = 4;
    refuse(&dist, PLEAT_E_INVALID,
           "u: dimension 1: 4 indices are allocated, but a process has 5, halos included");
    dist = good();
    dist.dim[1] = dim_general(9, 3, overlap);
    refuse(&dist, PLEAT_E_INVALID, "u: dimension 1: bound 1 is 6, the next one 5: blocks overlap");
    dist.dim[1].bounds = gap;
    refuse(&dist, PLEAT_E_INVALID,
           "u: dimension 1: its bounds go from 0 to 8, the dimension from 0 to 9");
    dist.dim[1].bounds = NULL;
    refuse(&dist, PLEAT_E_INVALID, "u: dimension 1: general block has no bounds");
    dist = good();
    dist.dim[1].format = PLEAT_DIM_COLLAPSED;
    refuse(&dist, PLEAT_E_INVALID, "u: dimension 1 is not distributed, but has 3 processes");
    dist = good();
    dist.dim[1].extent = -1;
    refuse(&dist, PLEAT_E_INVALID, "u: dimension 1 has -1 elements");
    dist = good();
    dist.dims = 5;
    refuse(&dist, PLEAT_E_INVALID, "u has 5 dimensions, not 1 to 4");
}

static void test_what_is_too_big(void **state)
{
    struct pleat_dist dist = good();
    struct pleat_layout layout;
    const int64_t padded[] = {(int64_t)1 << 62, 0};
    (void)state;
    dist.dim[0].extent = PLEAT_DIM_EXTENT_MAX + 1;
    refuse(&dist, PLEAT_E_TOOBIG,
           "u: dimension 0 has 4398046511105 elements, at most 4398046511104 are possible");
    dist = good();
    dist.dim[0].extent = dist.dim[1].extent = (int64_t)1 << 31;
    refuse(&dist, PLEAT_E_TOOBIG, "u: the size of the array in bytes does not fit into 63 bits");
    dist.dim[0].extent = dist.dim[1].extent = (int64_t)1 << 29;
    assert_int_equal(pleat_dist_check(&dist, NULL), 0);
    /* as large as it may be with halos, which make it too big */
    dist.dim[1].halo_low = (int64_t)1 << 40;
    refuse(&dist, PLEAT_E_TOOBIG, "u: the size of the array in bytes does not fit into 63 bits");
    dist.dim[1].halo_low = 0;
    assert_int_equal(pleat_dist_layout(&dist, 0, padded, &layout, NULL), PLEAT_E_TOOBIG);
    dist = good();
    dist.dim[0].processes = dist.dim[1].processes = PLEAT_DIM_PROCESSES_MAX;
    refuse(&dist, PLEAT_E_INVALID,
           "u: its grid has at least 1099511627776 processes, but there are 6 ranks");
}

/* ---- pairs that do not fit together ---- */

static void refuse_pair(const struct pleat_dist *new, const char *text)
{
    struct pleat_dist old = good();
    struct pleat_dist_plan plan;
    struct pleat_error err = {0};
    int64_t moved;
    assert_int_equal(pleat_dist_plan_receive(&old, new, 0, NULL, 0, &plan, &err), PLEAT_E_INVALID);
    assert_string_equal(err.text, text);
    assert_int_equal(pleat_dist_plan_send(&old, new, 0, NULL, 0, &plan, NULL), PLEAT_E_INVALID);
    assert_int_equal(pleat_dist_plan_moved(&old, new, &moved, NULL), PLEAT_E_INVALID);
    pleat_dist_plan_finish(&plan);
}

static void test_pairs_that_do_not_fit(void **state)
{
    struct pleat_dist new = good();
    (void)state;
    new.dim[1].extent = 8;
    refuse_pair(&new, "u: dimension 1 has 9 elements before the redistribution, 8 after it");
    new = good();
    new.element_bytes = 4;
    refuse_pair(&new, "u has elements of 8 bytes before the redistribution, of 4 after it");
    new = good();
    new.dims = 1;
    refuse_pair(&new, "u has 2 dimensions before the redistribution, 1 after it");
}

/* A source whose leading dimension is its own. */
static void test_padding_of_a_peer(void **state)
{
    struct pleat_dist old = {.dims = 2,
                             .ranks = 1,
                             .element_bytes = 1,
                             .storage = PLEAT_DIST_COLUMN_MAJOR,
                             .dim = {dim_cyclic(3, 1, 2, 0), dim_cyclic(2, 1, 2, 0)}};
    struct pleat_dist new = old;
    struct pleat_dist_plan plan;
    const int64_t leading[] = {5, 0};
    const int64_t short_one[] = {2, 0};
    struct pleat_copy_source source = {"abc--def--", leading};
    char got[] = "....|....|";
    (void)state;
    assert_int_equal(
        pleat_dist_plan_receive(&old, &new, 0, (const int64_t[]){4, 0}, 0, &plan, NULL), 0);
    assert_int_equal(pleat_copy_all(&plan, &source, got, NULL), 0);
    assert_string_equal(got, "abc.def..|");
    source.allocated = short_one;
    assert_int_equal(pleat_copy_peer(&plan, 0, &source, got, NULL), PLEAT_E_INVALID);
    assert_int_equal(pleat_copy_all(&plan, &source, got, NULL), PLEAT_E_INVALID);
    pleat_dist_plan_finish(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_index_of_a_dimension),
        cmocka_unit_test(test_ranks_of_a_grid),
        cmocka_unit_test(test_halos_and_narrow_parts),
        cmocka_unit_test(test_every_element_of_a_matrix),
        cmocka_unit_test(test_memory_of_a_rank),
        cmocka_unit_test(test_what_contradicts_itself),
        cmocka_unit_test(test_what_is_too_big),
        cmocka_unit_test(test_pairs_that_do_not_fit),
        cmocka_unit_test(test_padding_of_a_peer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
