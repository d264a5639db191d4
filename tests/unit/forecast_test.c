/* Forecasts: what a copy of a core comes to by itself, against what the core then really does when
 * all goes as its estimates say; and what cannot be known. */
#include <stdlib.h>
#include <string.h>

#include "core_scenarios_hand.h"
#include "forecast/forecast.h"

struct wish {
    int32_t least, most;
    int64_t estimate_s; /* 0: none */
};

static uint32_t submit(struct hand *h, struct wish wish)
{
    uint32_t component = pleat_core_next_component(h->core);
    struct pleat_event event = {
        .kind = PLEAT_EV_SUBMIT,
        .component = component,
        .u.submit = {.job = component + 1u,
                     .estimate_us = wish.estimate_s * SECONDS,
                     .minimum = wish.least,
                     .maximum = wish.most,
                     .job_kind = wish.least < wish.most ? PLEAT_MALLEABLE : PLEAT_RIGID,
                     .site = PLEAT_NONE}};
    assert_int_equal(hand_feed(h, event), 0);
    return component;
}

static bool always(void *arg)
{
    (void)arg;
    return true;
}

static bool so_often(void *arg)
{
    return (*(int *)arg)-- > 0;
}

static struct pleat_forecast forecast(const struct hand *h, bool (*go_on)(void *), void *arg)
{
    struct pleat_string bytes = {0}, again = {0};
    struct pleat_forecast made;
    struct pleat_error err = {0};
    assert_int_equal(pleat_core_save(h->core, &bytes), 0);
    if (pleat_forecast_make(bytes.text, bytes.length, h->now_us, go_on, arg, &made, &err))
        fail_msg("%s", err.text);
    assert_int_equal(pleat_core_save(h->core, &again), 0); /* the core itself is as it was */
    assert_int_equal(bytes.length, again.length);
    assert_memory_equal(bytes.text, again.text, bytes.length);
    pleat_string_finish(&bytes);
    pleat_string_finish(&again);
    return made;
}

static const struct pleat_forecast_row *row_of(const struct pleat_forecast *made,
                                               uint32_t component)
{
    for (size_t i = 0; i < made->rows.count; i++)
        if (made->rows.items[i].component == component)
            return &made->rows.items[i];
    fail_msg("no row of job %u", component);
    return NULL;
}

/* What sites and runners have to do is done at once. */
static void obey(struct hand *h)
{
    for (size_t i = 0; i < h->effects.count; i++) {
        struct pleat_effect effect = h->effects.items[i];
        if (effect.kind == PLEAT_DO_CLAIM)
            (void)hand_claimed(h, effect, effect.u.claim.count);
        else if (effect.kind == PLEAT_DO_START)
            (void)hand_started(h, effect.component);
        else if (effect.kind == PLEAT_DO_RELEASE)
            (void)hand_release_all(h);
        else if (effect.kind == PLEAT_DO_RESIZE) {
            (void)hand_change(h, PLEAT_EV_APPLIED, effect.component, effect.u.change.processes);
            (void)hand_change(h, PLEAT_EV_VACATED, effect.component, effect.u.change.processes);
        }
    }
    h->effects.count = 0;
}

/* Lets all jobs end as their estimates say, up to the last start; when each one started. */
static void live(struct hand *h, uint32_t jobs, int64_t *starts_us)
{
    for (int steps = 0; steps < 10000; steps++) {
        uint32_t next = PLEAT_NONE, waiting = 0;
        obey(h);
        for (uint32_t c = 0; c < jobs; c++) {
            const struct pleat_component *component = hand_component(h, c);
            if (component->state == PLEAT_RUNNING && starts_us[c] == PLEAT_NEVER)
                starts_us[c] = h->now_us;
            waiting += starts_us[c] == PLEAT_NEVER;
            if (component->state == PLEAT_RUNNING &&
                (next == PLEAT_NONE ||
                 component->expected_end_us < hand_component(h, next)->expected_end_us))
                next = c;
        }
        int64_t deadline_us = pleat_core_next_deadline(h->core);
        if (waiting == 0 || (next == PLEAT_NONE && deadline_us == PLEAT_NEVER))
            return;
        int64_t end_us =
            next == PLEAT_NONE ? PLEAT_NEVER : hand_component(h, next)->expected_end_us;
        if (deadline_us < end_us) {
            hand_sleep(h, deadline_us - h->now_us);
            continue;
        }
        h->now_us = end_us;
        assert_int_equal(hand_exited(h, next, 0), 0);
    }
    fail_msg("it does not come to an end");
}

/* Here there is a pass between any two answers of a site, which a forecast gives at one instant.
 * Under these queue policies jobs start at the same times all the same. All queues and approaches:
 * forecast_worlds_test.c. */
static const char *const queues[] = {"fcfs", "easy"};

/* Rigid and malleable jobs, of which some run: what was expected is what comes. */
static void test_what_is_expected_comes(void **state)
{
    (void)state;
    for (size_t q = 0; q < sizeof(queues) / sizeof(queues[0]); q++) {
        for (unsigned seed = 1; seed <= 12; seed++) {
            struct hand h;
            int64_t starts_us[24];
            uint32_t jobs = 24;
            srand(seed);
            hand_init(&h, 8);
            hand_policy(&h, PLEAT_QUEUE, queues[q]);
            for (uint32_t c = 0; c < jobs; c++) {
                int32_t least = 1 + rand() % 8;
                bool grows = seed % 2 == 0 && rand() % 3 == 0;
                int32_t most = grows ? least + rand() % (9 - least) : least;
                (void)submit(&h, (struct wish){least, most, 10 + rand() % 1000});
                starts_us[c] = PLEAT_NEVER;
                obey(&h);
                if (rand() % 3 == 0)
                    hand_sleep(&h, rand() % 5 * SECONDS);
            }
            struct pleat_forecast made = forecast(&h, always, NULL);
            assert_true(made.complete && made.rows.count > 0);
            live(&h, jobs, starts_us);
            for (size_t i = 0; i < made.rows.count; i++) {
                const struct pleat_forecast_row *row = &made.rows.items[i];
                assert_int_equal(row->why, PLEAT_FORECAST_KNOWN);
                if (row->start_us != starts_us[row->component])
                    fail_msg("%s, seed %u: job %u was expected at %lld us and started at %lld us",
                             queues[q], seed, row->component, (long long)row->start_us,
                             (long long)starts_us[row->component]);
            }
            pleat_forecast_finish(&made);
            hand_finish(&h);
        }
    }
}

static void test_without_estimates(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t open = submit(&h, (struct wish){4, 4, 0});
    uint32_t ends = submit(&h, (struct wish){4, 4, 100});
    obey(&h);
    uint32_t fits = submit(&h, (struct wish){4, 4, 0});
    uint32_t behind = submit(&h, (struct wish){8, 8, 10});
    uint32_t held = submit(&h, (struct wish){1, 1, 10});
    uint32_t needs = submit(&h, (struct wish){1, 1, 10});
    struct pleat_event hold = {.kind = PLEAT_EV_HOLD, .component = held};
    struct pleat_event depend = {
        .kind = PLEAT_EV_DEPEND,
        .component = needs,
        .u.depend = {.job = held + 1u, .component = held, .condition = PLEAT_AFTER_OK}};
    assert_int_equal(hand_feed(&h, hold), 0);
    assert_int_equal(hand_feed(&h, depend), 0);
    struct pleat_forecast made = forecast(&h, always, NULL);
    assert_int_equal(made.rows.count, 4);
    assert_int_equal(row_of(&made, fits)->start_us, hand_component(&h, ends)->expected_end_us);
    assert_int_equal(row_of(&made, behind)->why, PLEAT_FORECAST_NO_ESTIMATE);
    assert_int_equal(row_of(&made, held)->why, PLEAT_FORECAST_HELD);
    assert_int_equal(row_of(&made, needs)->why, PLEAT_FORECAST_NEEDS);
    assert_string_equal(pleat_forecast_why_name(PLEAT_FORECAST_HELD), "held by its user");
    assert_null(pleat_forecast_why_name(PLEAT_FORECAST_KNOWN));
    pleat_forecast_finish(&made);

    /* a time limit is an end, too, also of one that is later than it said */
    assert_int_equal(hand_terms(&h, open, -1, -1, 500 * SECONDS), 0);
    assert_int_equal(hand_terms(&h, fits, -1, -1, 300 * SECONDS), 0);
    made = forecast(&h, always, NULL);
    assert_int_equal(row_of(&made, behind)->start_us,
                     hand_component(&h, open)->start_us + 500 * SECONDS);
    pleat_forecast_finish(&made);
    hand_finish(&h);
}

static int program_expects(struct hand *h, uint32_t component, int64_t end_us)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_EXPECTED,
        .component = component,
        .u.expected = {.run = hand_component(h, component)->run, .end_us = end_us}};
    return hand_feed(h, event);
}

/* What programs expect of their runs goes before what their users estimated; where it is past, it
 * does not count any more. */
static void test_what_programs_expect(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    uint32_t open = submit(&h, (struct wish){4, 4, 0});
    uint32_t ends = submit(&h, (struct wish){4, 4, 100});
    obey(&h);
    uint32_t next = submit(&h, (struct wish){8, 8, 10});
    int64_t now_us = h.now_us;
    assert_int_equal(program_expects(&h, open, now_us + 30 * SECONDS), 0);
    struct pleat_forecast made = forecast(&h, always, NULL);
    assert_true(row_of(&made, next)->start_us == now_us + 100 * SECONDS);
    pleat_forecast_finish(&made);
    assert_int_equal(program_expects(&h, ends, now_us + 20 * SECONDS), 0);
    made = forecast(&h, always, NULL);
    assert_true(row_of(&made, next)->start_us == now_us + 30 * SECONDS);
    pleat_forecast_finish(&made);
    hand_sleep(&h, 40 * SECONDS); /* both are still there */
    made = forecast(&h, always, NULL);
    assert_int_equal(row_of(&made, next)->why, PLEAT_FORECAST_NO_ESTIMATE);
    pleat_forecast_finish(&made);
    hand_finish(&h);
}

static void test_it_is_told_to_stop(void **state)
{
    (void)state;
    struct hand h;
    int steps = 5;
    hand_init(&h, 1);
    uint32_t last = 0;
    for (int i = 0; i < 50; i++) {
        last = submit(&h, (struct wish){1, 1, 100});
        obey(&h);
    }
    struct pleat_forecast made = forecast(&h, so_often, &steps);
    assert_false(made.complete);
    assert_int_equal(made.steps, 5);
    assert_int_equal(made.rows.items[0].start_us, 100 * SECONDS + hand_component(&h, 0)->start_us);
    assert_int_equal(row_of(&made, last)->why, PLEAT_FORECAST_TOO_FAR);
    pleat_forecast_finish(&made);
    hand_finish(&h);
}

/* Whatever is under way when the copy is taken: claims, starts, resizes, ends, an agent away. */
static void test_in_the_middle_of_things(void **state)
{
    (void)state;
    struct hand h;
    hand_init(&h, 8);
    struct pleat_event back = {.kind = PLEAT_EV_AGENT_BACK, .u.agent = {.number = 3}};
    assert_int_equal(hand_feed(&h, back), 0);
    uint32_t shrinks = submit(&h, (struct wish){2, 8, 100});
    obey(&h);
    assert_int_equal(hand_demand(&h, shrinks, 4, true), 0); /* told, and has not done so */
    uint32_t claims = submit(&h, (struct wish){4, 4, 100});
    struct pleat_event away = {.kind = PLEAT_EV_AGENT_AWAY};
    assert_int_equal(hand_feed(&h, away), 0);
    struct pleat_forecast made = forecast(&h, always, NULL);
    assert_true(made.complete);
    assert_int_equal(row_of(&made, claims)->why, PLEAT_FORECAST_KNOWN);
    pleat_forecast_finish(&made);
    assert_int_equal(pleat_forecast_make("nonsense", 8, 0, always, NULL, &made, NULL),
                     PLEAT_E_CORRUPT);
    pleat_forecast_finish(&made);
    hand_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_expected_comes),  cmocka_unit_test(test_without_estimates),
        cmocka_unit_test(test_what_programs_expect),    cmocka_unit_test(test_it_is_told_to_stop),
        cmocka_unit_test(test_in_the_middle_of_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
