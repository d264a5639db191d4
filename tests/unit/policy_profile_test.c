/* Profiles of free processors, against an array with an entry for every second. */
#include "test.h"

#include "base/random.h"
#include "model/types.h"
#include "policy/profile.h"

enum { SPAN = 60, BEGIN = 100 };

static void take(struct pleat_profile *profile, int64_t from, int64_t to, int32_t processors)
{
    assert_int_equal(pleat_profile_take(profile, from, to, processors), 0);
}

static void test_by_hand(void **state)
{
    (void)state;
    struct pleat_profile profile = {0};
    assert_int_equal(pleat_profile_begin(&profile, BEGIN, 10), 0);
    take(&profile, 100, 110, 6);
    take(&profile, 105, 120, 3); /* free: 4, from 105 on 1, from 110 on 7, from 120 on 10 */
    assert_int_equal(pleat_profile_earliest(&profile, 100, 5, 4), 100);
    assert_int_equal(pleat_profile_earliest(&profile, 100, 6, 4), 110);
    assert_int_equal(pleat_profile_earliest(&profile, 100, 10, 7), 110);
    assert_int_equal(pleat_profile_earliest(&profile, 100, PLEAT_NEVER, 8), 120);
    assert_int_equal(pleat_profile_earliest(&profile, 115, 1, 7), 115);
    assert_int_equal(pleat_profile_earliest(&profile, 100, 1, 11), PLEAT_NEVER);
    assert_int_equal(pleat_profile_least(&profile, 100, 5), 4);
    assert_int_equal(pleat_profile_least(&profile, 100, 6), 1);
    assert_int_equal(pleat_profile_least(&profile, 110, PLEAT_NEVER), 7);
    take(&profile, 105, 120, -3);
    take(&profile, 100, 110, -6);
    assert_int_equal(profile.steps.count, 1); /* nothing is left of what was given back */
    take(&profile, 0, 110, 2);                /* what is over takes nothing */
    take(&profile, 120, PLEAT_NEVER, 12);
    pleat_profile_advance(&profile, 105);
    assert_int_equal(profile.steps.items[0].from_us, 105);
    assert_int_equal(pleat_profile_least(&profile, 105, 10), 8);
    assert_int_equal(pleat_profile_least(&profile, 105, 16), -2);
    assert_int_equal(pleat_profile_earliest(&profile, 105, PLEAT_NEVER, 1), PLEAT_NEVER);
    pleat_profile_finish(&profile);
}

static int32_t least(const int32_t *free, int64_t from, int64_t length)
{
    int32_t sum = free[from];
    for (int64_t t = from; t < from + length && t < SPAN; t++)
        sum = free[t] < sum ? free[t] : sum;
    return sum;
}

static int64_t earliest(const int32_t *free, int64_t from, int64_t length, int32_t processors)
{
    int64_t at = from;
    while (at < SPAN && least(free, at, length) < processors)
        at++;
    return at < SPAN ? at : PLEAT_NEVER;
}

static void compare(const struct pleat_profile *profile, const int32_t *free, int64_t now,
                    struct pleat_random *random)
{
    for (int i = 0; i < 10; i++) {
        int64_t from = now + (int64_t)pleat_random_below(random, (uint64_t)(SPAN - now));
        int64_t length = 1 + (int64_t)pleat_random_below(random, SPAN);
        int32_t processors = 1 + (int32_t)pleat_random_below(random, 20);
        assert_int_equal(pleat_profile_least(profile, from, length), least(free, from, length));
        assert_int_equal(pleat_profile_earliest(profile, from, length, processors),
                         earliest(free, from, length, processors));
    }
    for (size_t s = 1; s < profile->steps.count; s++) /* none that says nothing */
        assert_int_not_equal(profile->steps.items[s].free, profile->steps.items[s - 1].free);
}

/* The earliest place for a job that has one already is found without taking that one out: it is the
 * one that is found after taking it out. */
static void compare_earlier(struct pleat_profile *profile, int64_t now, struct pleat_random *random)
{
    int64_t place = now + (int64_t)pleat_random_below(random, (uint64_t)(SPAN - now));
    int64_t length = 1 + (int64_t)pleat_random_below(random, SPAN);
    int32_t processors = 1 + (int32_t)pleat_random_below(random, 12);
    if (pleat_profile_least(profile, place, length) < processors)
        return;
    int64_t without = pleat_profile_earliest(profile, now, length, processors);
    take(profile, place, place + length, processors);
    int64_t before = now + (int64_t)pleat_random_below(random, SPAN);
    assert_int_equal(pleat_profile_earlier(profile, now, length, processors, place, PLEAT_NEVER),
                     without);
    assert_int_equal(pleat_profile_earlier(profile, now, length, processors, place, before),
                     without < before ? without : place);
    take(profile, place, place + length, -processors);
}

static void test_at_random(void **state)
{
    (void)state;
    struct pleat_profile profile = {0};
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct pleat_random random;
        pleat_random_init(&random, seed);
        int32_t free[SPAN];
        for (int t = 0; t < SPAN; t++)
            free[t] = 16;
        assert_int_equal(pleat_profile_begin(&profile, 0, 16), 0);
        int64_t now = 0;
        for (int step = 0; step < 30; step++) {
            int64_t from = (int64_t)pleat_random_below(&random, SPAN);
            int64_t to = from + (int64_t)pleat_random_below(&random, 20);
            int32_t taken = (int32_t)pleat_random_below(&random, 9) - 4;
            take(&profile, from, to < SPAN ? to : PLEAT_NEVER, taken);
            for (int64_t t = from > now ? from : now; t < to && t < SPAN; t++)
                free[t] -= taken;
            if (pleat_random_below(&random, 8) == 0 && now < SPAN - 2)
                pleat_profile_advance(&profile, ++now);
            compare(&profile, free, now, &random);
            compare_earlier(&profile, now, &random);
        }
    }
    pleat_profile_finish(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
