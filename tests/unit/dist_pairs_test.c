/* Redistributions of arrays between all kinds of distributions: every element is compared with what
 * dealing it out by hand gives. */
#include "dist_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/copy.h"

#define RANKS_MAX 16

static struct pleat_random random_numbers;

static int below(int bound)
{
    return (int)pleat_random_below(&random_numbers, (uint64_t)bound);
}

static struct pleat_dist dist_of(int dims, int64_t element_bytes)
{
    return (struct pleat_dist){
        .name = "a", .dims = dims, .ranks = 1, .element_bytes = element_bytes};
}

static void set_ranks(struct pleat_dist *dist, int more)
{
    dist->ranks = more;
    int size = 1;
    for (int d = 0; d < dist->dims; d++)
        size *= dist->dim[d].processes;
    dist->ranks += size;
}

/* A matrix on an r x c grid, as ScaLAPACK would have it. */
static struct pleat_dist matrix(const int64_t extent[2], int rows, int columns,
                                const int64_t block[2])
{
    struct pleat_dist dist = dist_of(2, 8);
    dist.storage = PLEAT_DIST_COLUMN_MAJOR;
    dist.dim[0] = dim_cyclic(extent[0], rows, block[0], below(rows));
    dist.dim[1] = dim_cyclic(extent[1], columns, block[1], below(columns));
    dist.grid = below(2) ? PLEAT_DIST_ROW_MAJOR : PLEAT_DIST_COLUMN_MAJOR;
    set_ranks(&dist, 0);
    return dist;
}

static void test_all_pairs_of_grids(void **state)
{
    (void)state;
    for (int r1 = 1; r1 <= RANKS_MAX; r1++)
        for (int c1 = 1; r1 * c1 <= RANKS_MAX; c1++)
            for (int r2 = 1; r2 <= RANKS_MAX; r2++)
                for (int c2 = 1; r2 * c2 <= RANKS_MAX; c2++) {
                    const int64_t extent[] = {below(30), 1 + below(25)};
                    const int64_t block[] = {1 + below(5), 1 + below(7)};
                    const int64_t block2[] = {below(2) ? block[0] : 1 + below(40),
                                              below(2) ? block[1] : 1 + below(3)};
                    struct pleat_dist old = matrix(extent, r1, c1, block);
                    struct pleat_dist new = matrix(extent, r2, c2, block2);
                    oracle_check_pair(&old, &new, 0, &random_numbers);
                }
}

/* Sizes at which something is empty or of one element, and those that blocks divide. */
static void test_one_dimension(void **state)
{
    static const int64_t extents[] = {0, 1, 2, 3, 7, 8, 64, 97};
    static const int64_t blocks[] = {1, 2, 3, 8, 100};
    (void)state;
    for (size_t n = 0; n < sizeof(extents) / sizeof(extents[0]); n++)
        for (int p = 1; p <= 9; p += 2)
            for (int q = 1; q <= 8; q++)
                for (size_t b = 0; b < 5; b++) {
                    struct pleat_dist cyclic = dist_of(1, 1 + below(20));
                    struct pleat_dist block = cyclic;
                    struct pleat_dist other = cyclic;
                    cyclic.dim[0] = dim_cyclic(extents[n], p, blocks[b], below(p));
                    block.dim[0] = dim_block(extents[n], q);
                    other.dim[0] = dim_cyclic(extents[n], q, blocks[below(5)], below(q));
                    set_ranks(&cyclic, 0);
                    set_ranks(&block, below(3));
                    set_ranks(&other, 0);
                    oracle_check_pair(&cyclic, &block, 0, &random_numbers);
                    oracle_check_pair(&block, &cyclic, 0, &random_numbers);
                    oracle_check_pair(&cyclic, &other, 0, &random_numbers);
                }
}

static void test_general_blocks(void **state)
{
    static const int64_t bounds[][6] = {
        {0, 0, 5, 5, 17, 17}, {0, 17, 17, 17, 17, 17}, {0, 3, 6, 9, 12, 17}, {0, 0, 0, 0, 0, 17}};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            struct pleat_dist old = dist_of(2, 24);
            struct pleat_dist new = old;
            old.dim[0] = dim_general(17, 5, bounds[i]);
            old.dim[1] = dim_collapsed(3);
            new.dim[0] = dim_general(17, 3 + (int)j % 2, (const int64_t[]){0, 2, 2, 17, 17});
            new.dim[1] = dim_collapsed(3);
            set_ranks(&old, 0);
            set_ranks(&new, 1);
            oracle_check_pair(&old, &new, 0, &random_numbers);
            oracle_check_pair(&new, &old, PLEAT_DIST_PLAN_HALOS, &random_numbers);
            new.dim[0] = dim_general(17, 5, bounds[j]);
            set_ranks(&new, 0);
            oracle_check_pair(&old, &new, 0, &random_numbers);
            new.dim[0] = dim_cyclic(17, 4, 2, 3);
            set_ranks(&new, 0);
            oracle_check_pair(&old, &new, 0, &random_numbers);
            oracle_check_pair(&new, &old, 0, &random_numbers);
        }
}

/* Slabs and pencils of a 3-D array, with halos, as FFTs and stencils use them. */
static void test_slabs_and_pencils(void **state)
{
    static const int grids[][3] = {{4, 1, 1}, {1, 4, 1}, {1, 1, 4}, {2, 3, 1}, {1, 3, 2},
                                   {2, 1, 3}, {2, 2, 2}, {1, 1, 1}, {7, 1, 1}, {1, 2, 5}};
    enum { GRIDS = sizeof(grids) / sizeof(grids[0]) };
    (void)state;
    for (int i = 0; i < GRIDS; i++)
        for (int j = 0; j < GRIDS; j++)
            for (int halos = 0; halos < 4; halos++) {
                struct pleat_dist old = dist_of(3, 8);
                old.storage = below(2) ? PLEAT_DIST_ROW_MAJOR : PLEAT_DIST_COLUMN_MAJOR;
                struct pleat_dist new = old;
                for (int d = 0; d < 3; d++) {
                    old.dim[d] = dim_block(5 + d, grids[i][d]);
                    new.dim[d] = dim_block(5 + d, grids[j][d]);
                    if (halos & 1)
                        old.dim[d].halo_low = old.dim[d].halo_high = 1;
                    if (halos & 2) {
                        new.dim[d].halo_low = d;
                        new.dim[d].halo_high = 2;
                    }
                }
                set_ranks(&old, 0);
                set_ranks(&new, below(2));
                oracle_check_pair(&old, &new, 0, &random_numbers);
                if (halos & 2)
                    oracle_check_pair(&old, &new, PLEAT_DIST_PLAN_HALOS, &random_numbers);
            }
}

static void test_replicated_arrays(void **state)
{
    (void)state;
    for (int p = 1; p <= 6; p++)
        for (int q = 1; q <= 6; q++) {
            struct pleat_dist copies = dist_of(2, 4);
            struct pleat_dist others = copies;
            struct pleat_dist spread = copies;
            copies.dim[0] = others.dim[0] = dim_collapsed(5);
            copies.dim[1] = others.dim[1] = spread.dim[1] = dim_collapsed(4);
            spread.dim[0] = dim_cyclic(5, q, 1, 0);
            copies.ranks = p;
            others.ranks = q;
            set_ranks(&spread, 1);
            oracle_check_pair(&copies, &others, 0, &random_numbers);
            oracle_check_pair(&copies, &spread, 0, &random_numbers);
            oracle_check_pair(&spread, &copies, 0, &random_numbers);
        }
}

/* ---- any pair ---- */

static struct pleat_dim random_dim(int64_t extent, int processes, int64_t *bounds)
{
    struct pleat_dim dim = dim_collapsed(extent);
    switch (processes == 1 ? below(4) : 1 + below(3)) {
    case 0:
        break;
    case 1:
        dim = dim_block(extent, processes);
        break;
    case 2:
        return dim_cyclic(extent, processes, 1 + below((int)extent + 3), below(processes));
    default:
        for (int i = 0; i < processes; i++)
            bounds[i] = i == 0 ? 0 : bounds[i - 1] + below((int)(extent - bounds[i - 1]) + 1);
        bounds[processes] = extent;
        dim = dim_general(extent, processes, bounds);
        break;
    }
    dim.halo_low = below(3) ? 0 : below(4);
    dim.halo_high = below(3) ? 0 : below(4);
    return dim;
}

static struct pleat_dist random_dist(int dims, const int64_t *extent, int64_t element_bytes,
                                     int64_t bounds[PLEAT_DIST_DIMS][17])
{
    struct pleat_dist dist = dist_of(dims, element_bytes);
    int left = 12;
    for (int d = 0; d < dims; d++) {
        int processes = 1 + below(left);
        left /= processes;
        dist.dim[d] = random_dim(extent[d], processes, bounds[d]);
        if (below(4) == 0)
            dist.dim[d].allocated = pleat_dim_count_max(&dist.dim[d]) + dist.dim[d].halo_low +
                                    dist.dim[d].halo_high + below(3);
    }
    dist.storage = below(2) ? PLEAT_DIST_ROW_MAJOR : PLEAT_DIST_COLUMN_MAJOR;
    dist.grid = below(2) ? PLEAT_DIST_ROW_MAJOR : PLEAT_DIST_COLUMN_MAJOR;
    set_ranks(&dist, below(3));
    return dist;
}

static void test_any_pair(void **state)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 8, 12, 16, 32, 40, 300};
    static int64_t bounds[2][PLEAT_DIST_DIMS][17];
    (void)state;
    for (int i = 0; i < 3000; i++) {
        int dims = 1 + below(PLEAT_DIST_DIMS);
        int64_t extent[PLEAT_DIST_DIMS];
        for (int d = 0; d < dims; d++)
            extent[d] = below(20) ? 1 + below(dims == 1 ? 300 : dims == 2 ? 30 : 8) : 0;
        int64_t bytes = sizes[below(10)];
        struct pleat_dist old = random_dist(dims, extent, bytes, bounds[0]);
        struct pleat_dist new = random_dist(dims, extent, bytes, bounds[1]);
        if (below(4))
            new.storage = old.storage;
        oracle_check_pair(&old, &new, below(2) ? PLEAT_DIST_PLAN_HALOS : 0, &random_numbers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs_of_grids), cmocka_unit_test(test_one_dimension),
        cmocka_unit_test(test_general_blocks),     cmocka_unit_test(test_slabs_and_pencils),
        cmocka_unit_test(test_replicated_arrays),  cmocka_unit_test(test_any_pair),
    };
    const char *given = getenv("PLEAT_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 20261123;
    printf("seed %llu (PLEAT_TEST_SEED)\n", (unsigned long long)seed);
    pleat_random_init(&random_numbers, seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
