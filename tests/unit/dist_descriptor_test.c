/* ScaLAPACK's descriptors and index functions: those of its tools (NUMROC, INDXG2P, INDXG2L,
 * INDXL2G), written down from their definitions. */
#include "dist_oracle.h"

#include <limits.h>

#include "dist/descriptor.h"

/* TOOLS/numroc.f */
static int numroc(int n, int nb, int iproc, int isrcproc, int nprocs)
{
    int mydist = (nprocs + iproc - isrcproc) % nprocs;
    int nblocks = n / nb;
    int result = nblocks / nprocs * nb;
    int extrablks = nblocks % nprocs;
    if (mydist < extrablks)
        result += nb;
    else if (mydist == extrablks)
        result += n % nb;
    return result;
}

/* TOOLS/indxg2p.f, indxg2l.f, indxl2g.f: indices from 1 */
static int indxg2p(int indxglob, int nb, int isrcproc, int nprocs)
{
    return (isrcproc + (indxglob - 1) / nb) % nprocs;
}

static int indxg2l(int indxglob, int nb, int nprocs)
{
    return nb * ((indxglob - 1) / (nb * nprocs)) + (indxglob - 1) % nb + 1;
}

static int indxl2g(int indxloc, int nb, int iproc, int isrcproc, int nprocs)
{
    return nprocs * nb * ((indxloc - 1) / nb) + (indxloc - 1) % nb +
           (nprocs + iproc - isrcproc) % nprocs * nb + 1;
}

static void test_index_functions(void **state)
{
    (void)state;
    for (int n = 0; n <= 33; n++)
        for (int nb = 1; nb <= 12; nb += 1 + nb / 3)
            for (int p = 1; p <= 6; p++)
                for (int first = 0; first < p; first++) {
                    struct pleat_dim dim = dim_cyclic(n, p, nb, first);
                    for (int i = 0; i < p; i++) {
                        int count = numroc(n, nb, i, first, p);
                        assert_int_equal(pleat_dim_count(&dim, i), count);
                        for (int l = 1; l <= count; l++)
                            assert_int_equal(pleat_dim_global(&dim, i, l - 1) + 1,
                                             indxl2g(l, nb, i, first, p));
                    }
                    for (int g = 1; g <= n; g++) {
                        assert_int_equal(pleat_dim_owner(&dim, g - 1), indxg2p(g, nb, first, p));
                        assert_int_equal(pleat_dim_local(&dim, g - 1) + 1, indxg2l(g, nb, p));
                    }
                }
}

static const struct pleat_descriptor_grid grid = {2, 3, PLEAT_DIST_ROW_MAJOR};

static void test_there_and_back(void **state)
{
    (void)state;
    for (int m = 0; m <= 20; m += 5)
        for (int rank = 0; rank < 6; rank++) {
            int rows = numroc(m, 4, rank / 3, 1, 2);
            int wanted[PLEAT_DESCRIPTOR_SIZE] = {1, 17, m, 11, 4, 2, 1, 2, rows > 1 ? rows : 1};
            int got[PLEAT_DESCRIPTOR_SIZE];
            int64_t allocated[2];
            struct pleat_dist dist;
            assert_int_equal(
                pleat_descriptor_read(wanted, &grid, rank, "A", 8, &dist, allocated, NULL), 0);
            assert_int_equal(pleat_descriptor_write(&dist, rank, 17, 0, got, NULL), 0);
            assert_memory_equal(got, wanted, sizeof(got));
            wanted[PLEAT_LLD] += 3;
            assert_int_equal(
                pleat_descriptor_read(wanted, &grid, rank, "A", 8, &dist, allocated, NULL), 0);
            struct pleat_layout layout;
            assert_int_equal(pleat_dist_layout(&dist, rank, allocated, &layout, NULL), 0);
            if (layout.bytes > 0)
                assert_int_equal(layout.stride[1], 8 * wanted[PLEAT_LLD]);
            assert_int_equal(pleat_descriptor_write(&dist, rank, 17, wanted[PLEAT_LLD], got, NULL),
                             0);
            assert_memory_equal(got, wanted, sizeof(got));
        }
}

static void refuse(const int *descriptor, int rank, int code, const char *text)
{
    struct pleat_dist dist;
    int64_t allocated[2];
    struct pleat_error err = {0};
    assert_int_equal(pleat_descriptor_read(descriptor, &grid, rank, "A", 8, &dist, allocated, &err),
                     code);
    assert_string_equal(err.text, text);
}

static void test_descriptors_that_contradict(void **state)
{
    (void)state;
    refuse((const int[]){501, 0, 9, 9, 2, 2, 0, 0, 5}, 0, PLEAT_E_UNSUPPORTED,
           "A: its descriptor has DTYPE_ 501; only dense matrices (1) can be redistributed");
    refuse((const int[]){1, 0, 9, 9, 2, 2, 2, 0, 9}, 0, PLEAT_E_INVALID,
           "A: dimension 0 begins at process 2 of 2");
    refuse((const int[]){1, 0, 9, -9, 2, 2, 0, 0, 9}, 0, PLEAT_E_INVALID,
           "A: dimension 1 has -9 elements");
    refuse((const int[]){1, 0, 9, 9, 2, 2, 0, 0, 4}, 0, PLEAT_E_INVALID,
           "A: LLD_ of rank 0 is 4, but it must be at least 5 (5 local rows)");
    refuse((const int[]){1, 0, 0, 9, 2, 2, 0, 0, 0}, 0, PLEAT_E_INVALID,
           "A: LLD_ of rank 0 is 0, but it must be at least 1 (0 local rows)");
}

static struct pleat_dist matrix(struct pleat_dim rows, struct pleat_dim columns)
{
    return (struct pleat_dist){.name = "A",
                               .dims = 2,
                               .ranks = rows.processes * columns.processes,
                               .element_bytes = 8,
                               .storage = PLEAT_DIST_COLUMN_MAJOR,
                               .dim = {rows, columns}};
}

/* Blocks are block-cyclic where one block size gives the same parts. */
static void test_blocks_as_block_cyclic(void **state)
{
    int got[PLEAT_DESCRIPTOR_SIZE];
    struct pleat_error err;
    (void)state;
    for (int n = 0; n <= 30; n++)
        for (int p = 1; p <= 7; p++) {
            struct pleat_dist dist = matrix(dim_block(n, p), dim_collapsed(4));
            bool can = false;
            for (int nb = 1; nb <= n + 1 && !can; nb++) {
                can = (int64_t)nb * p >= n;
                for (int i = 0; i < p; i++)
                    can = can && numroc(n, nb, i, 0, p) == pleat_dim_count(&dist.dim[0], i);
            }
            int done = pleat_descriptor_write(&dist, 0, 0, 0, got, NULL);
            assert_int_equal(done, can ? 0 : PLEAT_E_UNSUPPORTED);
            for (int i = 0; can && i < p; i++)
                assert_int_equal(numroc(n, got[PLEAT_MB], i, got[PLEAT_RSRC], p),
                                 pleat_dim_count(&dist.dim[0], i));
        }
    struct pleat_dist dist = matrix(dim_block(7, 3), dim_collapsed(4));
    assert_int_equal(pleat_descriptor_write(&dist, 0, 0, 0, got, &err), PLEAT_E_UNSUPPORTED);
    assert_string_equal(err.text,
                        "A: dimension 0: process 1 of 3 has 2 of 7 indices, which no block "
                        "size of ScaLAPACK gives; use block-cyclic");
}

static void test_what_a_descriptor_cannot_say(void **state)
{
    int got[PLEAT_DESCRIPTOR_SIZE];
    struct pleat_error err;
    struct pleat_dist dist = matrix(dim_cyclic(9, 2, 2, 0), dim_collapsed(4));
    (void)state;
    dist.storage = PLEAT_DIST_ROW_MAJOR;
    assert_int_equal(pleat_descriptor_write(&dist, 0, 0, 0, got, &err), PLEAT_E_UNSUPPORTED);
    assert_string_equal(err.text,
                        "A is stored row-major: a descriptor of ScaLAPACK cannot say this");
    dist = matrix(dim_cyclic((int64_t)INT_MAX + 1, 2, 2, 0), dim_collapsed(4));
    assert_int_equal(pleat_descriptor_write(&dist, 0, 0, 0, got, NULL), PLEAT_E_UNSUPPORTED);
    dist = matrix(dim_block(9, 3), dim_collapsed(4));
    dist.dim[0].halo_low = 1;
    assert_int_equal(pleat_descriptor_write(&dist, 0, 0, 0, got, NULL), PLEAT_E_UNSUPPORTED);
    dist = matrix(dim_collapsed(9), dim_collapsed(4));
    dist.ranks = 3;
    assert_int_equal(pleat_descriptor_write(&dist, 0, 0, 0, got, NULL), PLEAT_E_UNSUPPORTED);
    dist = matrix(dim_cyclic(9, 2, 2, 0), dim_collapsed(4));
    assert_int_equal(pleat_descriptor_write(&dist, 0, 0, 4, got, &err), PLEAT_E_INVALID);
    assert_string_equal(err.text, "A: a leading dimension of 4 for rank 0, which has 5 rows");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index_functions),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_descriptors_that_contradict),
        cmocka_unit_test(test_blocks_as_block_cyclic),
        cmocka_unit_test(test_what_a_descriptor_cannot_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
