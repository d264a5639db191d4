/* Users whose estimates are wrong on purpose and change all the time, and storms of preempting: by
 * policies, and all that run at once.
 *
 * Whatever policies are in force: everything is recounted after every event (support/world.c), each
 * job ends well, none is preempted more often than is allowed, and the log gives the same again.
 * Where jobs start in the order of their arrival but for what overtakes them (the policies that
 * preempt, and fcfs), the first that waits starts within a bounded time, however many come behind
 * it: nobody starves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "model/spec.h"
#include "world.h"
#include "world_log.h"

enum {
    ARRIVALS = 90,
    ARRIVAL_US = 6000000,
    PROCESSORS_MAX = 12,
    PREEMPTIONS = 3,
    PASSES_MAX = 20000
};

static const int64_t work_us = INT64_C(300000000); /* processor-microseconds of a job, at most */
static const int64_t huge_us = INT64_C(1000000000) * 1000000;

/* Totals of all worlds: a storm that never was says nothing. */
static uint32_t preempted, by_policies, most_preempted, revised, worlds;
static int64_t longest_us;

/* One world, and when the jobs in it began to wait and first started. */
struct storm {
    struct world world;
    struct pleat_random random;
    int64_t submitted_us[ARRIVALS], started_us[ARRIVALS];
    uint32_t count; /* of jobs */
    const char *names[PLEAT_QUESTION_COUNT];
};

static int64_t wrong_estimate(struct pleat_random *random)
{
    switch (pleat_random_below(random, 7)) {
    case 6: /* far below what the command line lets through */
        return 1 + (int64_t)pleat_random_below(random, 1000);
    case 0:
        return 0; /* none */
    case 1:
    case 2:
        return PLEAT_ESTIMATE_LEAST_US;
    case 3:
        return huge_us - (int64_t)pleat_random_below(random, 1000000);
    case 4:
        return INT64_C(3600) * 1000000;
    default:
        return PLEAT_ESTIMATE_LEAST_US + (int64_t)pleat_random_below(random, 100000000);
    }
}

static void arrive(struct storm *storm)
{
    struct pleat_random *random = &storm->random;
    int32_t minimum = 1 + (int32_t)pleat_random_below(random, PROCESSORS_MAX);
    int32_t maximum = minimum + (int32_t)pleat_random_below(random, 5);
    bool malleable = pleat_random_below(random, 2) == 0;
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .component = storm->count,
                                .u.submit = {.job = storm->count + 1,
                                             .minimum = minimum,
                                             .maximum = malleable ? maximum : minimum,
                                             .site = PLEAT_NONE,
                                             .job_kind = malleable ? PLEAT_MALLEABLE : PLEAT_RIGID,
                                             .job_class = (uint8_t)pleat_random_below(random, 3),
                                             .estimate_us = wrong_estimate(random)}};
    struct pleat_error err = {0};
    assert_int_equal(pleat_core_next_component(storm->world.core), storm->count);
    if (world_event(&storm->world, event, &err))
        fail_msg("submit was refused: %s", err.text);
    storm->submitted_us[storm->count++] = storm->world.now_us;
}

/* As `pleat set` does; refused where the job does not wait. */
static void revise(struct storm *storm)
{
    struct pleat_event event = {.kind = PLEAT_EV_REVISE,
                                .component =
                                    (uint32_t)pleat_random_below(&storm->random, storm->count),
                                .flags = (uint16_t)pleat_random_below(&storm->random, 4)};
    event.u.revise.estimate_us = wrong_estimate(&storm->random);
    event.u.revise.priority = (int16_t)((int)pleat_random_below(&storm->random, 5) - 2);
    revised += world_event(&storm->world, event, NULL) == 0;
}

/* All that run, in the place of a policy. */
static void preempt_all(struct storm *storm)
{
    for (uint32_t c = 0; c < storm->count; c++) {
        struct pleat_event event = {.kind = PLEAT_EV_PREEMPT, .component = c};
        preempted += world_event(&storm->world, event, NULL) == 0;
    }
}

static void look(struct storm *storm)
{
    for (uint32_t c = 0; c < storm->count; c++) {
        const struct pleat_component *job = world_job(&storm->world, c);
        assert_true(job->preempted <= PREEMPTIONS);
        if (!storm->started_us[c] && job->state != PLEAT_NEW && job->state != PLEAT_QUEUED)
            storm->started_us[c] = storm->world.now_us;
    }
}

static void go_on(struct storm *storm, int64_t us)
{
    struct world *world = &storm->world;
    for (int64_t until = world->now_us + us; world->now_us < until;) {
        int64_t step = until - world->now_us;
        if (world_run(world, world->now_us + (step < 1000000 ? step : 1000000)))
            world->now_us = until; /* nothing is left to happen */
        look(storm);
    }
}

static void describe(const struct storm *storm)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        print_message("%s=%s ", pleat_question_name((enum pleat_question)q), storm->names[q]);
    print_message("\n");
}

static void check_ended(struct storm *storm)
{
    for (uint32_t c = 0; c < storm->count; c++) {
        const struct pleat_component *job = world_job(&storm->world, c);
        if (job->state == PLEAT_DONE)
            continue;
        describe(storm);
        fail_msg("job %u is %s (%s), preempted %u times", c,
                 pleat_component_state_name((enum pleat_component_state)job->state),
                 pleat_reason_name((enum pleat_reason)job->reason), job->preempted);
    }
    const struct world *world = &storm->world;
    for (uint32_t s = 0; s < world->site_count; s++)
        assert_int_equal(pleat_core_view(world->core)->sites[s].claimed, 0);
    assert_int_equal(world->resizes_begun, world->resizes_ended);
}

/* How often each was preempted, by the log. */
static void count_preempted(const struct storm *storm, uint32_t by_us)
{
    uint32_t counts[ARRIVALS] = {0}, all = 0;
    for (size_t i = 0; i < storm->world.log.count; i++) {
        const struct pleat_event *event = &storm->world.log.items[i];
        if (event->kind != PLEAT_EV_PREEMPT)
            continue;
        all++;
        if (++counts[event->component] > most_preempted)
            most_preempted = counts[event->component];
        assert_true(counts[event->component] <= PREEMPTIONS);
    }
    by_policies += all - by_us;
}

/* From when it was the first that had never started, to its start. */
static int64_t longest_wait_of_a_first(const struct storm *storm)
{
    int64_t first_since = 0, longest = 0;
    for (uint32_t c = 0; c < storm->count; c++) {
        if (storm->submitted_us[c] > first_since)
            first_since = storm->submitted_us[c];
        if (storm->started_us[c] - first_since > longest)
            longest = storm->started_us[c] - first_since;
        if (storm->started_us[c] > first_since)
            first_since = storm->started_us[c];
    }
    return longest;
}

/* Policies by name; NULL: any. */
static void random_policies(struct storm *storm, const char *const *wanted)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        const struct pleat_policy *policy;
        size_t count = 0;
        storm->names[q] = wanted[q];
        for (size_t i = 0; (policy = pleat_policy_at(i)); i++)
            if (!wanted[q] && (int)policy->question == q &&
                pleat_random_below(&storm->random, ++count) == 0)
                storm->names[q] = policy->name;
        world_policy(&storm->world, (enum pleat_question)q, storm->names[q]);
    }
}

static void live(uint64_t seed, const char *const *wanted, bool bounded)
{
    struct storm storm = {0};
    struct pleat_fake_runner_options applications = {.seed = seed,
                                                     .start_delay_us = 300000,
                                                     .run_us = work_us,
                                                     .adapt_us = 2000000,
                                                     .vacate_us = 500000};
    struct pleat_fake_site_options site = {
        .seed = seed, .claim_delay_us = 500000, .release_delay_us = 400000};
    pleat_random_init(&storm.random, seed);
    world_init(&storm.world, &applications);
    world_add_site(&storm.world, PROCESSORS_MAX + 4, 0, &site);
    if (seed % 2)
        world_add_instant_site(&storm.world, PROCESSORS_MAX, 0);
    random_policies(&storm, wanted);
    world_parameter(&storm.world, PLEAT_PARAM_PREEMPTIONS, PREEMPTIONS);
    uint32_t before = preempted;
    for (int i = 0; i < ARRIVALS; i++) {
        arrive(&storm);
        for (int n = 0; n < 4; n++)
            revise(&storm);
        if (pleat_random_below(&storm.random, 12) == 0)
            preempt_all(&storm);
        go_on(&storm, (int64_t)pleat_random_below(&storm.random, ARRIVAL_US));
    }
    for (int i = 0; i < 100 && !world_run(&storm.world, storm.world.now_us + 60000000); i++)
        look(&storm);
    look(&storm);
    check_ended(&storm);
    count_preempted(&storm, preempted - before);
    int64_t longest = longest_wait_of_a_first(&storm);
    if (bounded && longest > longest_us)
        longest_us = longest;
    world_check_recovery(&storm.world);
    world_check_replay(&storm.world, NULL, 0);
    if (storm.world.passes > PASSES_MAX) {
        describe(&storm);
        fail_msg("%u passes for %d jobs", storm.world.passes, ARRIVALS);
    }
    world_finish(&storm.world);
    worlds++;
}

/* Every policy of a question in turn, beside that queue. */
static void with_each(const char *queue, enum pleat_question question, uint64_t *seed, bool bounded)
{
    const struct pleat_policy *policy;
    for (size_t i = 0; (policy = pleat_policy_at(i)); i++) {
        const char *wanted[PLEAT_QUESTION_COUNT] = {NULL};
        if (policy->question != question)
            continue;
        wanted[PLEAT_QUEUE] = queue;
        if (bounded)
            wanted[PLEAT_ORDER] = "arrival";
        wanted[question] = policy->name;
        live((*seed)++, wanted, bounded);
    }
}

static void check_storm(void)
{
    assert_true(preempted > 0 && by_policies > 0 && most_preempted == PREEMPTIONS && revised > 0);
    /* a job takes 300 s at most, again where it is preempted, and so do those in front of it */
    assert_true(longest_us < 2 * PREEMPTIONS * work_us);
    print_message("%u worlds: %u preempted at once, %u by policies, one job %u times at most, %u "
                  "estimates or priorities changed; the first of a queue waited %.0f s at most\n",
                  worlds, preempted, by_policies, most_preempted, revised,
                  (double)longest_us / 1e6);
}

static void test_policies_that_preempt(void **state)
{
    static const char *const queues[] = {"backfill-abort", "backfill-abort-due", "fcfs"};
    uint64_t seed = 1;
    (void)state;
    for (size_t q = 0; q < sizeof(queues) / sizeof(queues[0]); q++)
        for (int question = 0; question < PLEAT_QUESTION_COUNT; question++)
            if (question != PLEAT_QUEUE && question != PLEAT_ORDER)
                with_each(queues[q], (enum pleat_question)question, &seed, true);
    check_storm();
}

static void test_any_policies(void **state)
{
    uint64_t seed = 5000;
    const struct pleat_policy *policy;
    (void)state;
    for (size_t i = 0; (policy = pleat_policy_at(i)); i++)
        if (policy->question == PLEAT_QUEUE)
            for (int question = 0; question < PLEAT_QUESTION_COUNT; question++)
                if (question != PLEAT_QUEUE)
                    with_each(policy->name, (enum pleat_question)question, &seed, false);
    check_storm();
}

/* Processors are on their way to the first, so those behind it are promised moments that follow one
 * another as fast as estimates are short, and that are over when somebody looks: each brings a
 * pass, and none of them starts anybody. What passes there are is counted. */
static void test_estimates_below_a_second(void **state)
{
    struct pleat_fake_runner_options applications = {.seed = 1, .run_us = 60000000};
    struct pleat_fake_site_options site = {
        .seed = 1, .claim_delay_us = 60000000, .release_delay_us = 60000000};
    const struct pleat_policy *policy;
    (void)state;
    for (size_t i = 0; (policy = pleat_policy_at(i)); i++)
        for (int64_t estimate_us = 0; estimate_us < 1000000 && policy->question == PLEAT_QUEUE;
             estimate_us = estimate_us * 100 + 1) {
            struct world world;
            world_init(&world, &applications);
            world_add_site(&world, 4, 0, &site);
            world_policy(&world, PLEAT_QUEUE, policy->name);
            for (uint32_t c = 0; c < 20; c++) {
                struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                            .component = c,
                                            .u.submit = {.job = c + 1,
                                                         .minimum = 1 + (int32_t)c % 4,
                                                         .maximum = 1 + (int32_t)c % 4,
                                                         .site = PLEAT_NONE,
                                                         .job_kind = PLEAT_RIGID,
                                                         .estimate_us = estimate_us}};
                assert_int_equal(world_event(&world, event, NULL), 0);
            }
            for (int s = 0; s < 7200; s++) {
                (void)world_run(&world, world.now_us + 1000000);
                if (world.passes > PASSES_MAX)
                    fail_msg("%s, estimates of %lld us: %u passes within %d s", policy->name,
                             (long long)estimate_us, world.passes, s);
            }
            for (uint32_t c = 0; c < 20; c++)
                assert_int_equal(world_job(&world, c)->state, PLEAT_DONE);
            world_check_recovery(&world);
            world_check_replay(&world, NULL, 0);
            world_finish(&world);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimates_below_a_second),
        cmocka_unit_test(test_policies_that_preempt),
        cmocka_unit_test(test_any_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
