/* Process grids that are proposed: against all grids there are. */
#include "test.h"

#include <string.h>

#include "dist/grid.h"

static void propose(int size, const struct pleat_grid_wish *wish, int *grid)
{
    struct pleat_error err;
    if (pleat_grid_propose(size, wish, grid, &err))
        fail_msg("%s", err.text);
}

static void test_as_square_as_possible(void **state)
{
    static const int known[][3] = {{1, 1, 1},    {2, 1, 2},     {4, 2, 2},   {6, 2, 3},
                                   {7, 1, 7},    {8, 2, 4},     {12, 3, 4},  {16, 4, 4},
                                   {30, 5, 6},   {48, 6, 8},    {97, 1, 97}, {100, 10, 10},
                                   {128, 8, 16}, {1000, 25, 40}};
    const struct pleat_grid_wish plane = {.dims = 2};
    const struct pleat_grid_wish space = {.dims = 3};
    int grid[PLEAT_DIST_DIMS];
    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        propose(known[i][0], &plane, grid);
        assert_int_equal(grid[0], known[i][1]);
        assert_int_equal(grid[1], known[i][2]);
    }
    propose(24, &space, grid);
    assert_true(grid[0] == 2 && grid[1] == 3 && grid[2] == 4);
    propose(64, &space, grid);
    assert_true(grid[0] == 4 && grid[1] == 4 && grid[2] == 4);
    propose(60, &(struct pleat_grid_wish){.dims = 1}, grid);
    assert_int_equal(grid[0], 60);
}

/* What a process in the middle sends in a plane. */
static int64_t surface(int64_t n, int64_t m, int r, int c)
{
    int64_t height = (n + r - 1) / r;
    int64_t width = (m + c - 1) / c;
    return (r > 1 ? 2 * width : 0) + (c > 1 ? 2 * height : 0);
}

static void test_least_surface(void **state)
{
    (void)state;
    for (int size = 1; size <= 48; size++)
        for (int64_t n = 10; n <= 1000; n += 330)
            for (int64_t m = 1; m <= 1000; m += 111) {
                const struct pleat_grid_wish wish = {.dims = 2, .extent = {n, m}};
                int grid[PLEAT_DIST_DIMS] = {0};
                int64_t best = INT64_MAX;
                for (int r = 1; r <= size; r++)
                    if (size % r == 0 && r <= n && size / r <= m &&
                        surface(n, m, r, size / r) < best)
                        best = surface(n, m, r, size / r);
                int done = pleat_grid_propose(size, &wish, grid, NULL);
                assert_int_equal(done, best == INT64_MAX ? PLEAT_E_NOTFOUND : 0);
                if (!done) {
                    assert_int_equal(grid[0] * grid[1], size);
                    assert_int_equal(surface(n, m, grid[0], grid[1]), best);
                }
            }
    int grid[PLEAT_DIST_DIMS];
    /* a long thin array is cut along its length, whichever dimension that is */
    propose(8, &(struct pleat_grid_wish){.dims = 3, .extent = {8, 4096, 8}}, grid);
    assert_true(grid[0] == 1 && grid[1] == 8 && grid[2] == 1);
    propose(8, &(struct pleat_grid_wish){.dims = 3, .extent = {100, 100, 100}}, grid);
    assert_true(grid[0] == 2 && grid[1] == 2 && grid[2] == 2);
}

static void test_wishes(void **state)
{
    struct pleat_grid_wish wish = {.dims = 2, .fixed = {4, 0}};
    struct pleat_error err;
    int grid[PLEAT_DIST_DIMS];
    (void)state;
    propose(12, &wish, grid);
    assert_true(grid[0] == 4 && grid[1] == 3);
    assert_int_equal(pleat_grid_propose(14, &wish, grid, &err), PLEAT_E_NOTFOUND);
    assert_string_equal(err.text, "no grid of 14 processes in 2 dimensions is as wished");
    wish.fewer = true;
    propose(14, &wish, grid);
    assert_true(grid[0] == 4 && grid[1] == 3);
    wish = (struct pleat_grid_wish){.dims = 2, .most = {0, 2}};
    propose(12, &wish, grid);
    assert_true(grid[0] == 6 && grid[1] == 2);
    wish = (struct pleat_grid_wish){.dims = 2, .extent = {90, 100}, .even = true};
    propose(12, &wish, grid);
    assert_true(90 % grid[0] == 0 && 100 % grid[1] == 0);
    assert_int_equal(pleat_grid_propose(7, &wish, grid, NULL), PLEAT_E_NOTFOUND);
    /* 5 planes cannot use 8 processes */
    wish = (struct pleat_grid_wish){.dims = 1, .extent = {5}};
    assert_int_equal(pleat_grid_propose(8, &wish, grid, NULL), PLEAT_E_NOTFOUND);
    wish.fewer = true;
    propose(8, &wish, grid);
    assert_int_equal(grid[0], 5);
    wish = (struct pleat_grid_wish){.dims = 2, .aspect = 2, .fewer = true};
    propose(7, &wish, grid);
    assert_true(grid[0] == 2 && grid[1] == 3);
    wish.dims = 5;
    assert_int_equal(pleat_grid_propose(7, &wish, grid, NULL), PLEAT_E_INVALID);
    wish.dims = 2;
    assert_int_equal(pleat_grid_propose(0, &wish, grid, NULL), PLEAT_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_square_as_possible),
        cmocka_unit_test(test_least_surface),
        cmocka_unit_test(test_wishes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
