/* Forecasts against what then happens: random workloads are simulated with exact estimates; the log
 * up to the last submission gives a core, whose forecast must name the starts to which the
 * simulator came. Under every queue policy with every approach, and others of the other questions.
 *
 * Not under policies that ask for iteration times: what applications report is known when they have
 * reported it, and each report is a reason to look again. Times are exact: those of jobs that
 * change size are whole multiples of a large power of two, and so are their sizes; an end that
 * comes a microsecond after it was expected may decide otherwise what starts next. */
#include <stdio.h>

#include "base/random.h"
#include "forecast/forecast.h"
#include "sim_fixture.h"

enum { JOBS = 40, PROCESSORS = 16, SEEDS = 12 };

/* What there is in a world. */
enum variant {
    RIGID,     /* hardly anything happens at the same instant */
    TOGETHER,  /* much does */
    MALLEABLE, /* that, and jobs that are started at sizes chosen for them, and change them */
    VARIANT_COUNT
};

static unsigned worlds, compared;

static bool always(void *arg)
{
    (void)arg;
    return true;
}

static int64_t some(struct pleat_random *random, int64_t least, int64_t most)
{
    return least + (int64_t)pleat_random_below(random, (uint64_t)(most - least + 1));
}

/* A random time of `most_s` seconds at most, or about that. */
static int64_t some_time(struct pleat_random *random, enum variant variant, int64_t most_s)
{
    return variant == RIGID ? some(random, S, most_s * S) : some(random, 1, most_s) << 20;
}

static void make_jobs(struct sim_world *world, struct pleat_random *random, enum variant variant)
{
    int64_t at_us = 0;
    for (int i = 0; i < JOBS; i++) {
        struct pleat_workload_job *job =
            sim_rigid(world, 0, (int32_t)some(random, 1, PROCESSORS / 2), 0);
        at_us += some(random, 0, 2) ? some_time(random, variant, 10) : 0;
        job->submit_us = at_us;
        job->run_us = some_time(random, variant, 300);
        job->priority = (int16_t)some(random, -2, 2);
        job->job_class = (uint8_t)some(random, 0, 2);
        if (some(random, 0, 7) == 0)
            job->deadline_us = at_us + some_time(random, variant, 500);
        if (some(random, 0, 19) == 0)
            job->begin_us = at_us + some_time(random, variant, 300);
        if (variant != MALLEABLE || some(random, 0, 1))
            continue;
        job->kind = some(random, 0, 3) ? PLEAT_MALLEABLE : PLEAT_MOLDABLE;
        job->sizes_kind = PLEAT_SIZES_POWERS;
        job->processors = job->minimum = 1 << some(random, 0, 2);
        job->maximum = job->minimum << some(random, 0, 2);
    }
}

/* The state when all have been submitted, and the policies have looked at them. */
static struct pleat_core *core_of(const struct pleat_events *log, int64_t *now_us)
{
    struct pleat_core *core;
    struct pleat_effects effects = {0};
    size_t last = 0;
    for (size_t i = 0; i < log->count; i++)
        if (log->items[i].kind == PLEAT_EV_SUBMIT)
            last = i;
    *now_us = log->items[last].time_us;
    assert_int_equal(pleat_core_create(&core), 0);
    for (size_t i = 0; i < log->count && log->items[i].time_us <= *now_us; i++)
        assert_int_equal(pleat_core_apply(core, &log->items[i], &effects, NULL), 0);
    pleat_array_finish(&effects);
    return core;
}

/* One that is preempted starts again; the first start is what was forecast. */
static int64_t first_start(const struct sim_world *world, size_t job, int64_t now_us)
{
    for (size_t i = 0; i < world->change_count; i++) {
        const struct pleat_sim_change *change = &world->changes[i];
        if (change->job == job && change->from == 0 && change->time_us > now_us)
            return change->time_us;
    }
    return PLEAT_NEVER;
}

static void compare(const struct sim_world *world, const struct pleat_forecast *made,
                    int64_t now_us, uint64_t seed)
{
    assert_true(made->complete);
    for (size_t i = 0; i < made->rows.count; i++) {
        const struct pleat_forecast_row *row = &made->rows.items[i];
        int64_t start_us = first_start(world, (size_t)row->job - 1, now_us);
        compared++;
        if (row->start_us == start_us)
            continue;
        for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
            print_message("%s=%s ", pleat_question_name((enum pleat_question)q),
                          world->options.policies[q]->name);
        fail_msg("seed %u: job %u was expected at %.6f s (%d) and started at %.6f s",
                 (unsigned)seed, (unsigned)row->job, (double)row->start_us / 1e6, row->why,
                 (double)start_us / 1e6);
    }
}

static void forecast_and_compare(const struct sim_world *world, const struct pleat_events *log,
                                 uint64_t seed)
{
    int64_t now_us;
    struct pleat_core *core = core_of(log, &now_us);
    struct pleat_string bytes = {0};
    struct pleat_forecast made;
    struct pleat_error err;
    assert_int_equal(pleat_core_save(core, &bytes), 0);
    if (pleat_forecast_make(bytes.text, bytes.length, now_us, always, NULL, &made, &err))
        fail_msg("%s", err.text);
    compare(world, &made, now_us, seed);
    pleat_forecast_finish(&made);
    pleat_string_finish(&bytes);
    pleat_core_destroy(core);
}

static void choose_others(struct sim_world *world, struct pleat_random *random)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        const struct pleat_policy *policy;
        uint64_t seen = 0;
        if (q == PLEAT_QUEUE || q == PLEAT_APPROACH)
            continue;
        for (size_t i = 0; (policy = pleat_policy_at(i)); i++)
            if ((int)policy->question == q && !(policy->needs & PLEAT_NEEDS_TIMES) &&
                pleat_random_below(random, ++seen) == 0)
                world->options.policies[q] = policy;
    }
}

static void live(const struct pleat_policy *queue, const struct pleat_policy *approach,
                 enum variant variant, uint64_t seed)
{
    struct pleat_random random;
    struct pleat_events log = {0};
    struct sim_world *world = sim_world_create(PROCESSORS);
    pleat_random_init(&random, seed);
    make_jobs(world, &random, variant);
    choose_others(world, &random);
    world->options.policies[PLEAT_QUEUE] = queue;
    world->options.policies[PLEAT_APPROACH] = approach;
    world->options.estimates = PLEAT_ESTIMATES_EXACT;
    world->options.check = false;
    world->options.log = &log;
    sim_run(world);
    forecast_and_compare(world, &log, seed);
    pleat_array_finish(&log);
    sim_world_destroy(world);
    worlds++;
}

static void test_what_was_expected_comes(void **state)
{
    const struct pleat_policy *queue, *approach;
    uint64_t seed = 1;
    (void)state;
    for (size_t i = 0; (queue = pleat_policy_at(i)); i++)
        for (size_t j = 0; queue->question == PLEAT_QUEUE && (approach = pleat_policy_at(j)); j++)
            for (int n = 0; approach->question == PLEAT_APPROACH && n < SEEDS; n++)
                for (int variant = RIGID; variant < VARIANT_COUNT; variant++)
                    live(queue, approach, (enum variant)variant, seed++);
    print_message("%u worlds, %u starts\n", worlds, compared);
    assert_true(compared > 10 * worlds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_was_expected_comes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
