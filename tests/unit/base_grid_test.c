/* Process grids as numbers and as texts. */
#include "test.h"

#include "base/grid.h"

static void test_there_and_back(void **state)
{
    (void)state;
    static const struct {
        int dims, grid[4];
        const char *text;
    } cases[] = {{1, {7}, "7"},
                 {2, {2, 3}, "2x3"},
                 {2, {1, 1}, "1x1"},
                 {3, {4, 1, 2}, "4x1x2"},
                 {4, {65535, 65535, 65535, 65535}, "65535x65535x65535x65535"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[PLEAT_GRID_TEXT];
        int grid[PLEAT_GRID_DIMS];
        uint64_t packed = pleat_grid_pack(cases[i].dims, cases[i].grid);
        assert_string_equal(pleat_grid_text(packed, text), cases[i].text);
        assert_true(pleat_grid_parse(cases[i].text) == packed);
        assert_int_equal(pleat_grid_unpack(packed, grid), cases[i].dims);
        for (int d = 0; d < PLEAT_GRID_DIMS; d++)
            assert_int_equal(grid[d], d < cases[i].dims ? cases[i].grid[d] : 1);
    }
}

static void test_what_is_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "x",
                                        "2x",
                                        "0x2",
                                        "2x-1",
                                        "65536x1",
                                        "2 x",
                                        " 2x3",
                                        "2X3",
                                        "2x3x1x1x1",
                                        "99999999999999999999"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (pleat_grid_parse(texts[i]))
            fail_msg("'%s' is a grid", texts[i]);
    assert_true(pleat_grid_parse(NULL) == 0);
    char text[PLEAT_GRID_TEXT];
    assert_string_equal(pleat_grid_text(0, text), "");
    int grid[5] = {2, 0, 2, 2, 2};
    assert_true(pleat_grid_pack(0, grid) == 0 && pleat_grid_pack(2, grid) == 0);
    grid[1] = 65536;
    assert_true(pleat_grid_pack(2, grid) == 0 && pleat_grid_pack(5, grid) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
