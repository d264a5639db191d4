/* libpleat-sim by its header alone: what other tests do through Python, here also for the
 * sanitizers; and what a careless program might do. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pleat-sim.h"

static struct pleat_simulation *made(const char *model)
{
    struct pleat_simulation *simulation;
    struct pleat_error err;
    assert_int_equal(pleat_simulation_create(&simulation, &err), 0);
    if (pleat_simulation_generate(simulation, model, 1, &err))
        fail_msg("%s", err.text);
    return simulation;
}

static struct pleat_simulation *made_malleable(void)
{
    struct pleat_simulation *simulation = made("lublin --jobs 150 --machine 32 --load 1");
    struct pleat_error err;
    int64_t converted = 0;
    if (pleat_simulation_convert(simulation, "malleable", 0.8, 0.25, 2, 0, "amdahl:0.02 adapt=20s",
                                 "any", 0, 1, &converted, &err))
        fail_msg("%s", err.text);
    assert_true(converted > 100 && converted < 150);
    return simulation;
}

static void ran(struct pleat_simulation *simulation)
{
    struct pleat_error err;
    if (pleat_simulation_run(simulation, &err))
        fail_msg("%s", err.text);
}

/* A column by its name. */
static struct pleat_simulation_column column_of(struct pleat_simulation *simulation,
                                                const char *table, const char *name)
{
    struct pleat_simulation_column column = {0};
    for (size_t i = 0; !pleat_simulation_column(simulation, table, i, &column); i++)
        if (!strcmp(column.name, name))
            return column;
    fail_msg("%s has no column %s", table, name);
    return column;
}

static double real_of(struct pleat_simulation *simulation, const char *name)
{
    return *(const double *)column_of(simulation, "summary", name).values;
}

static int64_t whole_of(struct pleat_simulation *simulation, const char *name)
{
    return *(const int64_t *)column_of(simulation, "summary", name).values;
}

static void test_tables(void **state)
{
    (void)state;
    struct pleat_simulation *simulation = made_malleable();
    struct pleat_simulation_column column;
    assert_int_equal(pleat_simulation_rows(simulation, "workload"), 150);
    assert_int_equal(pleat_simulation_rows(simulation, "jobs"), 0); /* it did not run */
    assert_int_equal(pleat_simulation_column(simulation, "jobs", 0, &column), PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_simulation_column(simulation, "none", 0, &column), PLEAT_E_NOTFOUND);
    ran(simulation);
    assert_int_equal(pleat_simulation_rows(simulation, "jobs"), 150);
    assert_int_equal(pleat_simulation_rows(simulation, "summary"), 1);
    assert_true(pleat_simulation_rows(simulation, "resizes") > 10);
    column = column_of(simulation, "jobs", "kind");
    assert_int_equal(column.kind, PLEAT_COLUMN_LABEL);
    for (size_t i = 0; i < 150; i++)
        assert_in_range(((const int64_t *)column.values)[i], 0, column.label_count - 1);
    assert_string_equal(column.labels[2], "malleable");
    assert_int_equal(whole_of(simulation, "done"), 150);
    /* the workload is another one: what came of the old one is gone */
    assert_int_equal(pleat_simulation_scale_load(simulation, 2, NULL), 0);
    assert_int_equal(pleat_simulation_rows(simulation, "jobs"), 0);
    pleat_simulation_destroy(simulation);
    pleat_simulation_destroy(NULL);
}

static void test_it_can_run_again(void **state)
{
    (void)state;
    struct pleat_simulation *simulation = made_malleable();
    ran(simulation);
    double wait_s = real_of(simulation, "wait_s_mean");
    assert_int_equal(pleat_simulation_set(simulation, "queue", "fcfs", NULL), 0);
    ran(simulation);
    double other_s = real_of(simulation, "wait_s_mean");
    assert_int_equal(pleat_simulation_set(simulation, "queue", "scan", NULL), 0);
    ran(simulation);
    assert_true(fabs(real_of(simulation, "wait_s_mean") - other_s) > 1);
    struct pleat_simulation *copy = made("simple --jobs 3");
    assert_int_equal(pleat_simulation_copy_workload(copy, simulation, NULL), 0);
    pleat_simulation_destroy(simulation);
    ran(copy);
    assert_true(fabs(real_of(copy, "wait_s_mean") - wait_s) < 1e-9);
    pleat_simulation_destroy(copy);
}

static void test_mistakes(void **state)
{
    (void)state;
    struct pleat_simulation *simulation;
    struct pleat_error err = {0};
    assert_int_equal(pleat_simulation_create(&simulation, NULL), 0);
    assert_int_equal(pleat_simulation_run(simulation, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "no job to simulate"));
    assert_int_equal(pleat_simulation_site(simulation, "a", 0, &err), PLEAT_E_INVALID);
    assert_int_equal(pleat_simulation_site(simulation, "a", 4, &err), 0);
    assert_int_equal(pleat_simulation_site(simulation, "a", 4, &err), PLEAT_E_EXISTS);
    assert_int_equal(pleat_simulation_set(simulation, "queue", "none", &err), PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_simulation_set(simulation, "seed", "-1", &err), PLEAT_E_INVALID);
    assert_int_equal(pleat_simulation_set(simulation, "no", "1", &err), PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_simulation_read(simulation, "/no", "x", 0, &err), PLEAT_E_INVALID);
    assert_int_equal(
        pleat_simulation_convert(simulation, "soft", 1, 0.5, 2, 0, "", "", 0, 1, NULL, &err),
        PLEAT_E_INVALID);
    assert_int_equal(
        pleat_simulation_convert(simulation, "malleable", 2, 0.5, 2, 0, "", "", 0, 1, NULL, NULL),
        PLEAT_E_INVALID);
    assert_int_equal(pleat_simulation_own_policy(simulation, "need", NULL, NULL, &err),
                     PLEAT_E_UNSUPPORTED);
    assert_null(pleat_simulation_app(simulation, 1));
    assert_string_equal(pleat_simulation_app(simulation, 0), "linear");
    /* a workload that cannot be read leaves the old one */
    assert_int_equal(pleat_simulation_generate(simulation, "simple --jobs 5", 1, &err), 0);
    assert_int_equal(pleat_simulation_read_text(simulation, "1 2", 3, "here", &err),
                     PLEAT_E_INVALID);
    assert_int_equal(pleat_simulation_rows(simulation, "workload"), 5);
    pleat_simulation_destroy(simulation);
}

/* ---- policies of the program ---- */

enum { MOST = 64 };

struct policy {
    struct pleat_simulation *simulation;
    unsigned asked, accepted;
    unsigned fail_at; /* 0: never */
};

/* Grows the earliest started first, shrinks the latest started first: FPSMA. */
static int64_t fpsma(void *context, int asked, int64_t component, uint32_t site, int64_t processors)
{
    struct policy *policy = context;
    uint32_t jobs[MOST];
    size_t count =
        pleat_simulation_list(policy->simulation, PLEAT_LIST_MALLEABLE, site, jobs, MOST);
    assert_true(count <= MOST && (asked == PLEAT_ASKED_GROW) == (component == -1));
    if (++policy->asked == policy->fail_at)
        pleat_simulation_fail(policy->simulation, "enough");
    for (size_t i = 0; i < count && processors > 0; i++) {
        uint32_t job = jobs[asked == PLEAT_ASKED_GROW ? i : count - 1 - i];
        int64_t changed = asked == PLEAT_ASKED_GROW
                              ? pleat_simulation_offer_grow(policy->simulation, job, processors)
                              : pleat_simulation_offer_shrink(policy->simulation, job, processors);
        policy->accepted += changed > 0;
        processors -= changed;
    }
    return 0;
}

static void test_a_policy_of_the_program(void **state)
{
    (void)state;
    struct pleat_simulation *simulation = made_malleable();
    struct policy policy = {.simulation = simulation};
    assert_int_equal(pleat_simulation_set(simulation, "malleability", "fpsma", NULL), 0);
    ran(simulation);
    double response_s = real_of(simulation, "response_s_mean");
    int64_t grows = whole_of(simulation, "grows");
    assert_int_equal(pleat_simulation_own_policy(simulation, "malleability", fpsma, &policy, NULL),
                     0);
    ran(simulation);
    assert_true(fabs(real_of(simulation, "response_s_mean") - response_s) < 1e-9);
    assert_int_equal(whole_of(simulation, "grows"), grows);
    assert_true(grows > 10 && policy.accepted > 10);
    /* the default again */
    unsigned asked = policy.asked;
    assert_int_equal(pleat_simulation_own_policy(simulation, "malleability", NULL, NULL, NULL), 0);
    ran(simulation);
    assert_int_equal(policy.asked, asked);
    pleat_simulation_destroy(simulation);
}

static void test_a_policy_ends_the_run(void **state)
{
    (void)state;
    struct pleat_simulation *simulation = made_malleable();
    struct policy policy = {.simulation = simulation, .fail_at = 7};
    struct pleat_error err;
    assert_int_equal(pleat_simulation_own_policy(simulation, "malleability", fpsma, &policy, NULL),
                     0);
    assert_int_equal(pleat_simulation_run(simulation, &err), PLEAT_E_CLOSED);
    assert_string_equal(err.text, "enough");
    assert_int_equal(policy.asked, 7); /* and nothing after that */
    assert_int_equal(pleat_simulation_rows(simulation, "jobs"), 0);
    policy.fail_at = 0;
    ran(simulation);
    assert_int_equal(pleat_simulation_rows(simulation, "jobs"), 150);
    pleat_simulation_destroy(simulation);
}

/* Offers whatever it likes to whomever. */
static int64_t careless(void *context, int asked, int64_t component, uint32_t site,
                        int64_t processors)
{
    struct policy *policy = context;
    (void)component;
    (void)processors;
    policy->asked++;
    for (int64_t job = -2; job < 200; job++) {
        for (int what = -1; what < 20; what++)
            (void)pleat_simulation_of_component(policy->simulation, job, what);
        (void)pleat_simulation_offer_grow(policy->simulation, job, INT64_MAX);
        (void)pleat_simulation_offer_shrink(policy->simulation, job, INT64_MAX);
        (void)pleat_simulation_offer_grow(policy->simulation, job, INT64_MIN);
        policy->accepted += pleat_simulation_start(policy->simulation, job) > 0;
    }
    for (uint32_t at = 0; at < 4; at++)
        for (int what = -1; what < 6; what++)
            (void)pleat_simulation_of_site(policy->simulation, at + site, what);
    (void)pleat_simulation_list(policy->simulation, PLEAT_LIST_OTHERS, 99, NULL, 0);
    (void)pleat_simulation_site_name(policy->simulation, 99);
    return asked == PLEAT_ASKED_START ? 1000000 : 17;
}

static void test_a_careless_policy_does_no_harm(void **state)
{
    static const char *const questions[] = {"malleability", "queue", "order"};
    (void)state;
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        struct pleat_simulation *simulation = made_malleable();
        struct policy policy = {.simulation = simulation};
        assert_int_equal(
            pleat_simulation_own_policy(simulation, questions[i], careless, &policy, NULL), 0);
        ran(simulation);
        assert_true(policy.asked > 10 && (policy.accepted > 0) == (i == 1));
        assert_int_equal(whole_of(simulation, "done"), 150);
        assert_int_equal(careless(&policy, PLEAT_ASKED_GROW, -1, 0, 1), 17); /* nobody asks it */
        pleat_simulation_destroy(simulation);
    }
}

/* Simulates something else before it answers. */
static int64_t thinks(void *context, int asked, int64_t component, uint32_t site,
                      int64_t processors)
{
    struct policy *policy = context;
    if (policy->asked < 3) {
        struct pleat_simulation *other = made("simple --jobs 20 --machine 8");
        struct policy inner = {.simulation = other};
        assert_int_equal(pleat_simulation_own_policy(other, "malleability", fpsma, &inner, NULL),
                         0);
        ran(other);
        assert_int_equal(whole_of(other, "done"), 20);
        pleat_simulation_destroy(other);
    }
    return fpsma(policy, asked, component, site, processors);
}

static void test_a_policy_may_simulate(void **state)
{
    (void)state;
    struct pleat_simulation *simulation = made_malleable();
    struct policy policy = {.simulation = simulation};
    assert_int_equal(pleat_simulation_set(simulation, "malleability", "fpsma", NULL), 0);
    ran(simulation);
    int64_t grows = whole_of(simulation, "grows");
    assert_int_equal(pleat_simulation_own_policy(simulation, "malleability", thinks, &policy, NULL),
                     0);
    ran(simulation);
    assert_int_equal(whole_of(simulation, "grows"), grows);
    assert_true(policy.asked > 3);
    pleat_simulation_destroy(simulation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables),
                                       cmocka_unit_test(test_it_can_run_again),
                                       cmocka_unit_test(test_mistakes),
                                       cmocka_unit_test(test_a_policy_of_the_program),
                                       cmocka_unit_test(test_a_policy_ends_the_run),
                                       cmocka_unit_test(test_a_careless_policy_does_no_harm),
                                       cmocka_unit_test(test_a_policy_may_simulate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
