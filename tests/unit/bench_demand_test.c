/* The simulation that stands beside live runs of an application that asks for processes: what the
 * order of a review and a request of the same moment changes, and what it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "demand/demand.h"

enum { OBJECTS = 400, STEPS = 30, LEARNT = 4 };

double demand_speed(int round, int execution)
{
    (void)round;
    (void)execution;
    return 1;
}

/* As flow: one more at steps 1, 2, 4, 10, 14 and 20. PP looks at the buffer at each second step. */
static struct demand recorded(void)
{
    static const int more[] = {1, 2, 4, 10, 14, 20};
    struct demand demand = {.scale = {.objects = OBJECTS,
                                      .step_s = 0.4,
                                      .claim_s = 1,
                                      .review_s = 0.6,
                                      .executions = DEMAND_EXECUTIONS},
                            .steps = STEPS};
    for (int step = 0; step < STEPS; step++) {
        demand.rows[step].wanted = 1;
        for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
            demand.rows[step].wanted += step >= more[i];
        demand.rows[step].cells = demand.rows[step].wanted * OBJECTS;
    }
    return demand;
}

static struct demand_outcome last_of(int policy, bool known)
{
    const struct demand demand = recorded();
    const struct demand_delay delay = {.mean_s = 1.009, .deviation_s = 0, .count = 1};
    struct demand_outcome outcomes[DEMAND_EXECUTIONS];
    demand_simulate(&demand, policy, 0, &delay, known, outcomes);
    for (int e = LEARNT; e < DEMAND_EXECUTIONS; e++) {
        assert_int_equal(outcomes[e].requests, 6);
        assert_int_equal(outcomes[e].satisfied, outcomes[DEMAND_EXECUTIONS - 1].satisfied);
    }
    return outcomes[DEMAND_EXECUTIONS - 1];
}

/* PP has predicted the request of step 4 when that of step 2 is made. If it knows of that by then,
 * it asks for both, else for one. */
static void test_a_prediction_serves_a_request_that_it_did_not_know(void **state)
{
    (void)state;
    assert_int_equal(last_of(DEMAND_PP, false).satisfied, 3);
    assert_int_equal(last_of(DEMAND_PP, true).satisfied, 4);
}

/* ... but not if each request has an allocation of its own: then both orders ask for the same. */
static void test_the_order_is_the_same_to_a_request_with_its_own(void **state)
{
    (void)state;
    assert_int_equal(last_of(DEMAND_PP_OWN, false).satisfied,
                     last_of(DEMAND_PP_OWN, true).satisfied);
    assert_int_equal(last_of(DEMAND_P_OWN, false).satisfied, last_of(DEMAND_P_OWN, true).satisfied);
}

static void test_other_policies_satisfy_the_same_in_either_order(void **state)
{
    (void)state;
    assert_int_equal(last_of(DEMAND_NONE, false).satisfied, 0);
    assert_int_equal(last_of(DEMAND_NONE, true).satisfied, 0);
    assert_int_equal(last_of(DEMAND_COMBINED, false).satisfied,
                     last_of(DEMAND_COMBINED, true).satisfied);
    /* and combined, which goes by what is on its way, more than PP */
    assert_true(last_of(DEMAND_COMBINED, false).satisfied > last_of(DEMAND_PP, true).satisfied);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_prediction_serves_a_request_that_it_did_not_know),
        cmocka_unit_test(test_the_order_is_the_same_to_a_request_with_its_own),
        cmocka_unit_test(test_other_policies_satisfy_the_same_in_either_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
