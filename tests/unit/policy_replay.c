#include "policy_replay.h"

#include "base/heap.h"

struct run {
    struct pleat_core *core;
    struct pleat_events decisions;
    struct pleat_effects effects;
    struct pleat_heap ends;
    struct replay_job *jobs; /* a job's index is its component's */
    int64_t now_us;
};

static void feed(struct run *run, struct pleat_event event)
{
    struct pleat_error err = {0};
    event.time_us = run->now_us;
    if (pleat_core_apply(run->core, &event, &run->effects, &err) < 0)
        fail_msg("'%s' was refused: %s", pleat_event_name(event.kind), err.text);
}

static void choose(struct run *run, enum pleat_question question, const char *name)
{
    const struct pleat_policy *policy = pleat_policy_find(question, name);
    assert_non_null(policy);
    struct pleat_event event = {
        .kind = PLEAT_EV_POLICY,
        .component = PLEAT_NONE,
        .u.policy = {.question = question, .policy = policy->number, .version = policy->version}};
    feed(run, event);
}

static void submit(struct run *run, uint32_t index)
{
    struct replay_job *job = &run->jobs[index];
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .component = index,
                                .u.submit = {.job = index + 1,
                                             .estimate_us = job->estimate_us,
                                             .minimum = job->processors,
                                             .maximum = job->processors,
                                             .reference = job->processors,
                                             .priority = job->priority,
                                             .site = PLEAT_NONE}};
    feed(run, event);
    if (job->due_us) {
        struct pleat_event due = {
            .kind = PLEAT_EV_DEADLINE, .component = index, .u.at = {.at_us = job->due_us}};
        feed(run, due);
    }
    if (job->begin_us) {
        struct pleat_error err;
        struct pleat_event begin = {.time_us = run->now_us,
                                    .kind = PLEAT_EV_RESERVE,
                                    .component = index,
                                    .u.at = {.at_us = job->begin_us}};
        if (pleat_core_apply(run->core, &begin, &run->effects, &err) < 0)
            job->begin_us = 0; /* it cannot be kept: an ordinary one, then */
    }
}

static void end(struct run *run, uint32_t index)
{
    uint64_t id = pleat_core_view(run->core)->components[index].run;
    struct pleat_event event = {.kind = PLEAT_EV_EXITED,
                                .component = index,
                                .u.exit = {.run = id, .reason = PLEAT_REASON_EXIT}};
    feed(run, event);
}

static void carry_out(struct run *run)
{
    for (size_t i = 0; i < run->effects.count; i++) {
        const struct pleat_effect *effect = &run->effects.items[i];
        if (effect->kind != PLEAT_DO_START)
            continue;
        struct replay_job *job = &run->jobs[effect->component];
        uint32_t handle;
        job->start_us = run->now_us;
        assert_int_equal(
            pleat_heap_push(&run->ends, run->now_us + job->run_us, effect->component, &handle), 0);
    }
    run->effects.count = 0;
    for (size_t i = 0; i < run->decisions.count; i++) {
        const struct pleat_event *decision = &run->decisions.items[i];
        if (decision->kind == PLEAT_EV_PROMISE &&
            run->jobs[decision->component].promised_us == PLEAT_NEVER)
            run->jobs[decision->component].promised_us = decision->u.promise.start_us;
    }
    run->decisions.count = 0;
}

static int64_t next_instant(const struct run *run, size_t submitted, size_t count)
{
    int64_t next_us = pleat_core_next_deadline(run->core);
    const struct pleat_heap_entry *first = pleat_heap_first(&run->ends);
    if (first && first->time_us < next_us)
        next_us = first->time_us;
    if (submitted < count && run->jobs[submitted].submit_us < next_us)
        next_us = run->jobs[submitted].submit_us;
    return next_us;
}

static void decide(struct run *run, struct replay *replay)
{
    struct pleat_error err = {0};
    while (pleat_core_wants_pass(run->core)) {
        if (replay->forgets)
            choose(run, PLEAT_QUEUE, replay->queue);
        if (pleat_core_pass(run->core, run->now_us, &run->decisions, &run->effects, &err))
            fail_msg("a pass failed: %s", err.text);
        replay->passes++;
        replay->decisions += run->decisions.count - 1;
        carry_out(run);
    }
    if (replay->check && pleat_core_check(run->core, &err))
        fail_msg("%s", err.text);
}

void replay_run(struct replay *replay, struct replay_job *jobs, size_t count)
{
    struct run run = {.jobs = jobs};
    pleat_heap_init(&run.ends);
    assert_int_equal(pleat_core_create(&run.core), 0);
    pleat_core_set_notes(run.core, 0);
    choose(&run, PLEAT_QUEUE, replay->queue);
    choose(&run, PLEAT_ORDER, replay->order);
    struct pleat_event site = {.kind = PLEAT_EV_SITE,
                               .flags = PLEAT_SITE_INSTANT,
                               .u.site = {.capacity = replay->processors}};
    feed(&run, site);
    for (size_t i = 0; i < count; i++)
        jobs[i].start_us = jobs[i].promised_us = PLEAT_NEVER;
    size_t submitted = 0;
    int64_t next_us;
    while ((next_us = next_instant(&run, submitted, count)) != PLEAT_NEVER) {
        run.now_us = next_us;
        while (pleat_heap_first(&run.ends) && pleat_heap_first(&run.ends)->time_us == next_us)
            end(&run, (uint32_t)pleat_heap_pop(&run.ends).payload);
        while (submitted < count && jobs[submitted].submit_us == next_us)
            submit(&run, (uint32_t)submitted++);
        if (pleat_core_next_deadline(run.core) <= next_us) {
            struct pleat_event time = {.kind = PLEAT_EV_TIME, .component = PLEAT_NONE};
            feed(&run, time);
        }
        decide(&run, replay);
    }
    pleat_core_destroy(run.core);
    pleat_array_finish(&run.decisions);
    pleat_array_finish(&run.effects);
    pleat_heap_finish(&run.ends);
}
