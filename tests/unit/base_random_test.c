/* Random numbers: the same everywhere, within their bounds, without a visible bias. */
#include "test.h"

#include "base/random.h"

static void test_known_sequence(void **state)
{
    (void)state;
    struct pleat_random random;
    /* computed independently from the definitions of splitmix64 and xoshiro256** */
    static const uint64_t expected[] = {UINT64_C(0x15780b2e0c2ec716), UINT64_C(0x6104d9866d113a7e),
                                        UINT64_C(0xae17533239e499a1), UINT64_C(0xecb8ad4703b360a1),
                                        UINT64_C(0xfde6dc7fe2ec5e64), UINT64_C(0xc50da53101795238)};
    pleat_random_init(&random, 42);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_true(pleat_random_next(&random) == expected[i]);
}

static void test_seeds(void **state)
{
    (void)state;
    struct pleat_random a, b, c;
    pleat_random_init(&a, 7);
    pleat_random_init(&b, 7);
    pleat_random_init(&c, 8);
    int same = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t value = pleat_random_next(&a);
        assert_true(value == pleat_random_next(&b));
        same += value == pleat_random_next(&c);
    }
    assert_int_equal(same, 0);
    /* a seed of 0 is no trap: the state is not all zero */
    pleat_random_init(&a, 0);
    assert_true(pleat_random_next(&a) != pleat_random_next(&a));
}

static void test_below(void **state)
{
    (void)state;
    struct pleat_random random;
    static const uint64_t bounds[] = {1, 2, 3, 7, 10, 1000, UINT64_C(1) << 63, UINT64_MAX};
    pleat_random_init(&random, 1);
    assert_true(pleat_random_below(&random, 0) == 0);
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
        for (int n = 0; n < 10000; n++)
            assert_true(pleat_random_below(&random, bounds[i]) < bounds[i]);
}

static void test_below_is_even(void **state)
{
    (void)state;
    enum { BOUND = 10, DRAWS = 100000 };
    struct pleat_random random;
    int counts[BOUND] = {0};
    pleat_random_init(&random, 3);
    for (int n = 0; n < DRAWS; n++)
        counts[pleat_random_below(&random, BOUND)]++;
    /* the standard deviation is about 95; the seed is fixed, so this cannot fail by chance */
    for (int i = 0; i < BOUND; i++)
        assert_in_range(counts[i], DRAWS / BOUND - 400, DRAWS / BOUND + 400);
    /* a bound just above half the range: with a plain remainder the lower half would be twice as
     * likely as the upper one */
    uint64_t bound = (UINT64_C(1) << 63) + (UINT64_C(1) << 62);
    int low = 0;
    for (int n = 0; n < DRAWS; n++)
        low += pleat_random_below(&random, bound) < bound / 3;
    assert_in_range(low, DRAWS / 3 - 700, DRAWS / 3 + 700);
}

static void test_unit(void **state)
{
    (void)state;
    struct pleat_random random;
    double sum = 0, smallest = 1, largest = 0;
    pleat_random_init(&random, 5);
    for (int n = 0; n < 100000; n++) {
        double value = pleat_random_unit(&random);
        assert_true(value >= 0 && value < 1);
        sum += value;
        smallest = value < smallest ? value : smallest;
        largest = value > largest ? value : largest;
    }
    assert_true(sum > 49500 && sum < 50500);
    assert_true(smallest < 0.001 && largest > 0.999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_sequence), cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_below),          cmocka_unit_test(test_below_is_even),
        cmocka_unit_test(test_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
