/* Random users, sites and applications, all misbehaving; after every event everything is recounted.
 *
 * What must hold whatever happens: never more processors in use than exist, a job within its
 * limits, no transition outside the table (all checked in support/world.c and core/check.c); every
 * resize ends, every job ends, everything is given back. Then the log of each run is applied again:
 * recovery gives the same state, and the policies decide the same again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "world.h"
#include "world_log.h"
#include "world_processes.h"

static struct pleat_event random_submit(struct pleat_random *random, const struct world *world)
{
    uint32_t component = pleat_core_next_component(world->core);
    int32_t minimum = (int32_t)pleat_random_below(random, 9);
    int32_t maximum = minimum + (int32_t)pleat_random_below(random, 20);
    struct pleat_event event = {
        .kind = PLEAT_EV_SUBMIT,
        .component = component,
        .flags = PLEAT_COMPONENT_EMPTY,
        .u.submit = {.job = world->log.count + 1, /* records are used again, numbers are not */
                     .minimum = minimum,
                     .maximum = maximum,
                     .site = PLEAT_NONE,
                     .priority = (int16_t)((int)pleat_random_below(random, 5) - 2),
                     .sizes_kind = (uint8_t)pleat_random_below(random, PLEAT_SIZES_KIND_COUNT),
                     .sizes_parameter = 0,
                     .job_kind = (uint8_t)pleat_random_below(random, 3)}};
    if (event.u.submit.sizes_kind == PLEAT_SIZES_MULTIPLES)
        event.u.submit.sizes_parameter = 1 + (int32_t)pleat_random_below(random, 4);
    if (event.u.submit.job_kind == PLEAT_MALLEABLE && pleat_random_below(random, 3) == 0) {
        event.flags |= PLEAT_COMPONENT_FOLDS;
        event.u.submit.mpl_max = (uint8_t)pleat_random_below(random, 6);
    }
    event.u.submit.job_class = (uint8_t)pleat_random_below(random, 3);
    if (!(event.flags & PLEAT_COMPONENT_FOLDS) && pleat_random_below(random, 3) == 0)
        event.flags |= PLEAT_COMPONENT_EVOLVES;
    if ((event.flags & PLEAT_COMPONENT_EVOLVES) && event.u.submit.job_kind == PLEAT_MOLDABLE &&
        minimum > 0 && event.u.submit.job % 4)
        event.flags |=
            PLEAT_COMPONENT_PREPARES | (event.u.submit.job % 8 < 4 ? PLEAT_COMPONENT_ROAMS : 0);
    if (pleat_random_below(random, 3) == 0)
        event.flags |= PLEAT_COMPONENT_ASKS;
    if (pleat_random_below(random, 2) == 0)
        event.flags |= PLEAT_COMPONENT_RELAUNCHES;
    if (pleat_random_below(random, 6) == 0)
        event.flags |= PLEAT_COMPONENT_ONCE;
    /* the others are on one node, and small enough for any */
    if (event.u.submit.job % 2 || minimum > 1 || event.u.submit.sizes_kind != PLEAT_SIZES_ANY)
        event.flags |= PLEAT_COMPONENT_SPREADS;
    if (pleat_random_below(random, 3) == 0)
        event.u.submit.initial = (minimum ? minimum : 1);
    if (event.u.submit.job_kind == PLEAT_RIGID)
        event.u.submit.maximum = minimum;
    if (pleat_random_below(random, 4) > 0) { /* right or wrong */
        event.u.submit.estimate_us = 1 + (int64_t)pleat_random_below(random, 100000000);
        event.u.submit.reference = (int32_t)pleat_random_below(random, (uint64_t)maximum + 1);
    }
    if (pleat_random_below(random, 5) == 0)
        event.u.submit.site = (uint32_t)pleat_random_below(random, 3);
    return event;
}

/* One that asks for processes itself, the first from `component` on; else that. */
static uint32_t evolving(struct pleat_random *random, const struct world *world, uint32_t component)
{
    uint32_t count = pleat_core_view(world->core)->component_count;
    if (pleat_random_below(random, 8) == 0)
        return component;
    for (uint32_t i = 0; i < count; i++)
        if (world_job(world, (component + i) % count)->buffer != PLEAT_NONE)
            return (component + i) % count;
    return component;
}

/* Of one of which anything is known, the first from there on: a size of it, or all of earlier runs.
 */
static struct pleat_event unlearned(const struct world *world, struct pleat_event event)
{
    const struct pleat_view *view = pleat_core_view(world->core);
    uint32_t count = view->component_count, c = event.component;
    for (uint32_t i = 0; i < count && world_job(world, c % count)->first_timing == PLEAT_NONE; i++)
        c++;
    c %= count;
    uint32_t first = world_job(world, c)->first_timing;
    event.kind = PLEAT_EV_UNLEARNED;
    event.component = c;
    if (first != PLEAT_NONE && view->timings[first].earlier == 0)
        event.u.unlearned.processors = view->timings[first].processors;
    return event;
}

/* Half of the reports of times say more: of this run, or of an earlier one. */
static struct pleat_event measured(struct pleat_event timed)
{
    int64_t iteration_us = timed.u.timed.iteration_us;
    int64_t redistribution_us = timed.u.timed.redistribution_us;
    if (iteration_us % 4 < 2)
        return timed;
    struct pleat_event event = timed;
    event.kind = iteration_us % 4 == 2 ? PLEAT_EV_MEASURED : PLEAT_EV_REMEMBERED;
    event.u.measured.run = timed.u.timed.run;
    event.u.measured.iteration_us = iteration_us;
    event.u.measured.spread_us = iteration_us / 10;
    event.u.measured.redistribution_us = redistribution_us > 0 ? redistribution_us : 0;
    event.u.measured.processors = timed.u.timed.processors > 0 ? timed.u.timed.processors : 1;
    event.u.measured.count = 1 + (int32_t)(iteration_us % 300);
    event.u.measured.from = timed.u.timed.processors / 2;
    event.u.measured.iterations = 1 + (int32_t)(iteration_us % 100);
    return event;
}

/* Mostly in order. */
static struct pleat_event random_history(struct pleat_random *random, struct pleat_event event)
{
    if (pleat_random_below(random, 3) == 0) {
        event.kind = PLEAT_EV_RECALLED;
        event.u.recalled.executions = (int32_t)pleat_random_below(random, 4);
        event.u.recalled.iteration_us = (int64_t)pleat_random_below(random, 2000000);
        event.u.recalled.most = (uint32_t)pleat_random_below(random, 6);
        return event;
    }
    int32_t iteration = (int32_t)pleat_random_below(random, 300);
    event.kind = PLEAT_EV_HISTORY;
    event.u.history.executions = (int32_t)pleat_random_below(random, 4);
    event.u.history.count = (uint32_t)pleat_random_below(random, 6);
    for (uint32_t i = 0; i < event.u.history.count && i < 5; i++) {
        event.u.history.rows[i].iteration = iteration;
        event.u.history.rows[i].requests = 1 + (int32_t)pleat_random_below(random, 9);
        iteration += (int32_t)pleat_random_below(random, 200);
    }
    return event;
}

/* Files of a component that has just been submitted, some of them at several sites. */
static void random_files(struct pleat_random *random, struct world *world, uint32_t component)
{
    for (uint64_t n = pleat_random_below(random, 4); n > 0; n--) {
        struct pleat_event event = {
            .kind = PLEAT_EV_INPUT,
            .component = component,
            .u.input = {.bytes = (int64_t)pleat_random_below(random, 100000000),
                        .file = (uint32_t)pleat_random_below(random, 2),
                        .site = (uint32_t)pleat_random_below(random, world->site_count)}};
        (void)world_event(world, event, NULL);
    }
}

/* A job of several components; not all are submitted to the end. */
static void submit_several(struct pleat_random *random, struct world *world)
{
    uint32_t lead = pleat_core_next_component(world->core);
    uint64_t job = world->log.count + 1, count = 2 + pleat_random_below(random, 3);
    bool flexible = pleat_random_below(random, 3) == 0;
    bool broken_off = pleat_random_below(random, 8) == 0;
    int rc = 0;
    for (uint64_t i = 0; !rc && i < count; i++) {
        struct pleat_event event = random_submit(random, world);
        event.u.submit.job = job;
        event.u.submit.ordinal = (uint16_t)i;
        event.flags &= (uint16_t) ~(PLEAT_COMPONENT_PREPARES | PLEAT_COMPONENT_ROAMS);
        if (flexible) {
            event.u.submit.job_kind = PLEAT_RIGID;
            event.u.submit.sizes_kind = PLEAT_SIZES_ANY;
            event.u.submit.minimum = event.u.submit.maximum =
                i ? 0 : 1 + (int32_t)pleat_random_below(random, 30);
            event.u.submit.initial = 0;
            event.u.submit.site = PLEAT_NONE;
            event.flags = i ? 0 : PLEAT_COMPONENT_FLEXIBLE;
        }
        if (i + 1 < count || broken_off)
            event.flags |= PLEAT_COMPONENT_FOLLOWS;
        rc = world_event(world, event, NULL);
        if (!rc)
            random_files(random, world, event.component);
        if (rc && i == 0)
            return;
    }
    if (rc || broken_off) {
        struct pleat_error err;
        struct pleat_event other = random_submit(random, world);
        assert_int_not_equal(world_event(world, other, &err), 0);
        struct pleat_event cancel = {.kind = PLEAT_EV_CANCEL, .component = lead};
        assert_int_equal(world_event(world, cancel, NULL), 0);
    }
}

/* Some job gives back some of what it has. */
static void give_back(struct pleat_random *random, struct world *world)
{
    const struct pleat_view *view = pleat_core_view(world->core);
    uint32_t component = (uint32_t)pleat_random_below(random, view->component_count);
    const struct pleat_component *job = &view->components[component];
    int32_t count = 1 + (int32_t)pleat_random_below(random, 9);
    struct pleat_event event = {.kind = PLEAT_EV_RETURNED,
                                .component = component,
                                .u.returned = {.run = job->run, .count = count}};
    if (pleat_random_below(random, 4))
        event.u.returned.number = pleat_view_ask(view, job)->returned + 1;
    if (pleat_fake_runner_processes(world->runner, component) < count)
        return;
    pleat_fake_runner_give_back(world->runner, component, count);
    if (world_event(world, event, NULL)) /* it may not now, and keeps them */
        pleat_fake_runner_give_back(world->runner, component, -count);
    else if (event.u.returned.number > 0) /* told again */
        assert_int_equal(world_event(world, event, NULL), PLEAT_CORE_STALE);
}

/* One that waits, the first from some component on; else that. */
static uint32_t waiting(struct pleat_random *random, const struct world *world)
{
    uint32_t count = pleat_core_view(world->core)->component_count;
    uint32_t component = (uint32_t)pleat_random_below(random, count);
    for (uint32_t i = 0; i < count; i++)
        if (world_job(world, (component + i) % count)->state == PLEAT_QUEUED)
            return (component + i) % count;
    return component;
}

/* A running malleable job, from one on; that one where there is none. */
static uint32_t running(const struct world *world, uint32_t component)
{
    uint32_t count = pleat_core_view(world->core)->component_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct pleat_component *job = world_job(world, (component + i) % count);
        if (job->state == PLEAT_RUNNING && job->kind == PLEAT_MALLEABLE)
            return (component + i) % count;
    }
    return component;
}

/* On any other job: a younger one, one that has ended or one that is forgotten is refused. */
static struct pleat_event random_depend(struct pleat_random *random, const struct world *world,
                                        struct pleat_event event)
{
    uint32_t on = event.component;
    if (world_job(world, on)->lead != PLEAT_NONE && pleat_random_below(random, 8))
        on = world_job(world, on)->lead;
    event.kind = PLEAT_EV_DEPEND;
    event.component = waiting(random, world);
    event.flags = pleat_random_below(random, 3) == 0 ? PLEAT_ANY_NEED : 0;
    event.u.depend.component = on;
    event.u.depend.job = world_job(world, on)->job;
    event.u.depend.condition = (uint32_t)pleat_random_below(random, 6);
    return event;
}

static struct pleat_event random_event(struct pleat_random *random, const struct world *world)
{
    uint32_t count = pleat_core_view(world->core)->component_count;
    struct pleat_event event = {.component =
                                    count ? (uint32_t)pleat_random_below(random, count) : 0};
    switch (count ? pleat_random_below(random, 50) : 0) {
    case 5:
        event.kind = PLEAT_EV_CANCEL;
        return event;
    case 6:
    case 7:
        event.kind = PLEAT_EV_LIMITS;
        event.u.limits.minimum = (int32_t)pleat_random_below(random, 6);
        event.u.limits.maximum = (int32_t)pleat_random_below(random, 20);
        return event;
    case 42:
        event.kind = PLEAT_EV_DECLARED;
        event.u.declared.run = world_job(world, event.component)->run;
        event.u.declared.maximum = (int32_t)pleat_random_below(random, 20) - 1;
        event.u.declared.minimum =
            pleat_random_below(random, 3) ? 0 : (int32_t)pleat_random_below(random, 8);
        event.u.declared.sizes_kind = (uint32_t)pleat_random_below(random, 8);
        event.u.declared.sizes_parameter = (int32_t)pleat_random_below(random, 4);
        event.flags = pleat_random_below(random, 2) ? PLEAT_LASTING : 0;
        return event;
    case 43:
    case 44:
    case 45:
        event.kind = PLEAT_EV_ASKED;
        event.component = running(world, event.component);
        event.u.asked.run = world_job(world, event.component)->run;
        event.u.asked.number = (uint32_t)pleat_random_below(random, 1000);
        event.u.asked.processors = (int32_t)pleat_random_below(random, 20);
        event.u.asked.limit_us = event.u.asked.number % 2 * INT64_C(5000000);
        event.flags = (uint16_t)pleat_random_below(random, 4);
        return event;
    case 46:
    case 48:
    case 49:
        event.kind = PLEAT_EV_SECTION;
        event.component = running(world, event.component);
        event.u.section.run = world_job(world, event.component)->run;
        event.flags = pleat_random_below(random, 2) ? PLEAT_NOT_NOW : 0;
        return event;
    case 47:
        event.kind = PLEAT_EV_EXPECTED;
        event.component = running(world, event.component);
        event.u.expected.run = world_job(world, event.component)->run;
        event.u.expected.end_us = world->now_us + (int64_t)pleat_random_below(random, 60000000);
        return event;
    case 8:
    case 9:
        event.kind = PLEAT_EV_DEMAND;
        event.u.demand.processors = (int32_t)pleat_random_below(random, 20);
        event.flags = (uint16_t)pleat_random_below(random, 2);
        return event;
    case 10:
        event.kind = PLEAT_EV_BACKGROUND;
        event.component = (uint32_t)pleat_random_below(random, world->site_count);
        event.u.site.background = (int32_t)pleat_random_below(random, 6);
        return event;
    case 11:
    case 12:
        event.kind = PLEAT_EV_RESERVE;
        event.u.at.at_us = world->now_us + (int64_t)pleat_random_below(random, 60000000);
        return event;
    case 13:
        event.kind = PLEAT_EV_DEADLINE;
        event.u.at.at_us = world->now_us + (int64_t)pleat_random_below(random, 60000000);
        return event;
    case 14:
        event.kind = PLEAT_EV_FORGET;
        return event;
    case 15:
        if (pleat_random_below(random, 2)) {
            event.kind = PLEAT_EV_LIMIT_SIGNAL;
            event.u.signal.number = (int32_t)pleat_random_below(random, 3);
            event.u.signal.lead_us = (int64_t)pleat_random_below(random, 60000000);
            event.u.signal.script_only = (uint32_t)pleat_random_below(random, 2);
            return event;
        }
        event.kind = PLEAT_EV_TERMS;
        event.u.terms.notice_us = (int64_t)pleat_random_below(random, 5000000) - 1;
        event.u.terms.lifetime_us = (int64_t)pleat_random_below(random, 20000000) - 1;
        event.u.terms.limit_us = (int64_t)pleat_random_below(random, 60000000);
        return event;
    case 20:
    case 21:
    case 22:
    case 23:
    case 24:
    case 25:
    case 26: /* of a running one, or of nobody */
        event.component = evolving(random, world, event.component);
        event.kind = pleat_random_below(random, 4) ? PLEAT_EV_ADD_PROCESS : PLEAT_EV_STOP_PROCESS;
        event.u.process.run = world_job(world, event.component)->run;
        event.u.process.iteration = (int32_t)pleat_random_below(random, 1000);
        return event;
    case 27:
    case 28:
    case 29:
    case 30:
        event.component = evolving(random, world, event.component);
        event.kind = PLEAT_EV_PROGRESS;
        event.u.progress.run = world_job(world, event.component)->run;
        event.u.progress.iteration = (int32_t)pleat_random_below(random, 1000);
        event.u.progress.iteration_us = (int64_t)pleat_random_below(random, 2000000);
        return event;
    case 31:
        event.component = evolving(random, world, event.component);
        if (pleat_random_below(random, 2))
            return random_history(random, event);
        event.kind = PLEAT_EV_RETURNING;
        event.u.returning.run = world_job(world, event.component)->run;
        event.u.returning.processes = (uint32_t)pleat_random_below(random, 4);
        return event;
    case 32:
    case 33:
        event.component = evolving(random, world, event.component);
        return random_history(random, event);
    case 16:
    case 17: /* of a running one at its size, or of nobody */
        event.kind = PLEAT_EV_TIMED;
        event.u.timed.run = world_job(world, event.component)->run;
        event.u.timed.processors = pleat_random_below(random, 8) == 0
                                       ? (int32_t)pleat_random_below(random, 20)
                                       : world_job(world, event.component)->processors;
        event.u.timed.iteration_us = (int64_t)pleat_random_below(random, 1000000);
        if (event.u.timed.iteration_us % 8 == 7)
            return unlearned(world, (struct pleat_event){.component = event.component});
        event.u.timed.redistribution_us = (int64_t)pleat_random_below(random, 1000000) - 1;
        return measured(event);
    case 19: /* of one that folds, the first from there on; else of that */
        for (uint32_t i = 0; i < count; i++)
            if (pleat_view_folds(world_job(world, (event.component + i) % count))) {
                event.component = (event.component + i) % count;
                break;
            }
        event.kind = PLEAT_EV_PARTITION;
        event.u.partition.minimum = (int32_t)pleat_random_below(random, 8);
        event.u.partition.maximum = (int32_t)pleat_random_below(random, 16);
        event.u.partition.mpl = (uint32_t)pleat_random_below(random, 5);
        if (event.u.partition.maximum % 2) /* without it: as in older logs */
            event.flags = PLEAT_PARTITION_NEAREST;
        return event;
    case 34:
        event.kind = PLEAT_EV_HOLD;
        return event;
    case 35:
        event.kind = PLEAT_EV_RELEASE;
        event.flags = (uint16_t)pleat_random_below(random, 4);
        return event;
    case 36:
        event.kind = PLEAT_EV_REQUEUE;
        event.flags = pleat_random_below(random, 4) == 0 ? PLEAT_AND_HOLD : 0;
        return event;
    case 37:
        event.kind = PLEAT_EV_REVISE;
        event.flags = (uint16_t)pleat_random_below(random, 4);
        event.u.revise.priority = (int16_t)((int)pleat_random_below(random, 5) - 2);
        event.u.revise.estimate_us = (int64_t)pleat_random_below(random, 100000000);
        return event;
    case 38:
    case 39:
    case 40:
        return random_depend(random, world, event);
    case 41: /* of a group that is there, or of a new one */
        event.kind = PLEAT_EV_GROUP;
        event.component = waiting(random, world);
        event.u.group.group =
            pleat_random_below(random, 4)
                ? (uint32_t)pleat_random_below(random, pleat_core_next_group(world->core) + 1)
                : pleat_core_next_group(world->core);
        event.u.group.limit = 2;
        return event;
    case 18: /* in the place of a policy; refused unless it runs */
        event.kind = PLEAT_EV_PREEMPT;
        return event;
    default:
        return random_submit(random, world);
    }
}

/* A state that was saved while the log had `records` records. */
struct saved {
    size_t records;
    struct pleat_string bytes;
};

enum { SAVED = 4, EVENTS = 200 };

static void apply_from(struct pleat_core *core, const struct world *world, size_t first)
{
    struct pleat_effects effects = {0};
    for (size_t i = first; i < world->log.count; i++) {
        struct pleat_error err = {0};
        int rc = pleat_core_apply(core, &world->log.items[i], &effects, &err);
        if (rc)
            fail_msg("record %zu ('%s') gives %d after a saved state: %s", i,
                     pleat_event_name(world->log.items[i].kind), rc, err.text);
    }
    pleat_array_finish(&effects);
}

static void check_same_bytes(const struct pleat_string *one, const struct pleat_string *other)
{
    assert_int_equal(one->length, other->length);
    for (size_t i = 0; i < one->length; i++)
        if (one->text[i] != other->text[i])
            fail_msg("the saved states differ at byte %zu of %zu", i, one->length);
}

/* A saved state and the rest of the log give what the whole log gives, byte for byte; and what is
 * loaded is what was saved. */
static void check_saved(const struct world *world, struct saved *saved)
{
    struct pleat_core *whole;
    struct pleat_string wanted = {0};
    struct pleat_error err;
    assert_int_equal(pleat_core_create(&whole), 0);
    apply_from(whole, world, 0);
    assert_int_equal(pleat_core_save(whole, &wanted), 0);
    for (int i = 0; i < SAVED; i++) {
        struct pleat_string again = {0}, end = {0};
        struct pleat_core *core = world_core_of(&saved[i].bytes);
        if (pleat_core_check(core, &err))
            fail_msg("loaded: %s", err.text);
        assert_int_equal(pleat_core_save(core, &again), 0);
        check_same_bytes(&again, &saved[i].bytes);
        apply_from(core, world, saved[i].records);
        assert_int_equal(pleat_core_save(core, &end), 0);
        check_same_bytes(&end, &wanted);
        pleat_core_destroy(core);
        pleat_string_finish(&again);
        pleat_string_finish(&end);
        pleat_string_finish(&saved[i].bytes);
    }
    pleat_string_finish(&wanted);
    pleat_core_destroy(whole);
}

/* The agent of a component that is just being started goes away: by chance alone that would hardly
 * ever happen. */
static void lose_a_start(struct world *world)
{
    const struct pleat_view *view = pleat_core_view(world->core);
    for (uint32_t c = 0; c < view->component_count; c++) {
        const struct pleat_component *component = &view->components[c];
        if (component->state == PLEAT_CLAIMING && component->starting) {
            (void)world_agent_away(world, component->site, component->lead_node);
            return;
        }
    }
}

/* Its policy is any of those that answer the question. */
static void random_policy(struct pleat_random *random, struct world *world,
                          enum pleat_question question)
{
    const struct pleat_policy *policy;
    size_t count = 0;
    for (size_t i = 0; (policy = pleat_policy_at(i)); i++)
        count += policy->question == question;
    size_t which = pleat_random_below(random, count);
    for (size_t i = 0; (policy = pleat_policy_at(i)); i++)
        if (policy->question == question && which-- == 0)
            world_policy(world, question, policy->name);
}

static uint32_t totals[PLEAT_OUTCOME_COUNT];
static uint32_t happened[256]; /* by kind of event */
static uint32_t unknown;       /* starts that an agent may have done that is gone */
static uint32_t elsewhere; /* decisions to ask for processors of another site than a job's own */
static uint32_t shrunk_off, shrunk_off_taken, moved;
/* processes that were handed over when they were to be ended; that were ended as nobody used them;
 * what was said of orders that were given anew meanwhile; those that left what their site took back
 */
static uint32_t crossed, gone_unused, outdated, left;
static uint32_t served_elsewhere; /* requests that any site can serve, at another one */

/* A test that never met a kind of event says nothing about it. */
static void check_happened(void)
{
    static const enum pleat_event_kind kinds[] = {
        PLEAT_EV_LIMITS,       PLEAT_EV_CANCEL,      PLEAT_EV_DEMAND,
        PLEAT_EV_DEADLINE,     PLEAT_EV_RESERVE,     PLEAT_EV_FORGET,
        PLEAT_EV_START,        PLEAT_EV_RESIZE,      PLEAT_EV_PROMISE,
        PLEAT_EV_TERMS,        PLEAT_EV_TIMED,       PLEAT_EV_PREEMPT,
        PLEAT_EV_HISTORY,      PLEAT_EV_PROGRESS,    PLEAT_EV_ADD_PROCESS,
        PLEAT_EV_STOP_PROCESS, PLEAT_EV_BUFFER,      PLEAT_EV_INPUT,
        PLEAT_EV_LINK,         PLEAT_EV_STAGED,      PLEAT_EV_RETURNED,
        PLEAT_EV_PARTITION,    PLEAT_EV_HOLD,        PLEAT_EV_RELEASE,
        PLEAT_EV_REQUEUE,      PLEAT_EV_DEPEND,      PLEAT_EV_REVISE,
        PLEAT_EV_GROUP,        PLEAT_EV_AGENT_AWAY,  PLEAT_EV_AGENT_BACK,
        PLEAT_EV_LIMIT_SIGNAL, PLEAT_EV_SIGNALLED,   PLEAT_EV_DECLARED,
        PLEAT_EV_ASKED,        PLEAT_EV_REFUSE,      PLEAT_EV_CLAIM_WAITS,
        PLEAT_EV_SECTION,      PLEAT_EV_EXPECTED,    PLEAT_EV_CLAIM_ENDS,
        PLEAT_EV_MEASURED,     PLEAT_EV_REMEMBERED,  PLEAT_EV_PREPARED,
        PLEAT_EV_DEMANDED,     PLEAT_EV_TAKEN,       PLEAT_EV_PROCESS_GONE,
        PLEAT_EV_UNLEARNED,    PLEAT_EV_RECALLED,    PLEAT_EV_NODE_ARCHITECTURE,
        PLEAT_EV_DEMANDED_ON,  PLEAT_EV_RETURNING,   PLEAT_EV_DEMANDED_AT,
        PLEAT_EV_DEMANDED_ANY, PLEAT_EV_SITE_FOR_ANY};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        print_message("%-20s %u\n", pleat_event_name(kinds[i]), happened[kinds[i]]);
        assert_true(happened[kinds[i]] > 0);
    }
}

static void fail_unfinished(const struct world *world, uint32_t c)
{
    const struct pleat_view *view = pleat_core_view(world->core);
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) /* the policies in force */
        print_message("%s %s\n", pleat_question_name((enum pleat_question)q),
                      pleat_core_policy(world->core, (enum pleat_question)q)->name);
    const struct pleat_component *job = &view->components[c];
    for (uint32_t s = 0; s < view->site_count; s++)
        print_message("site %u: %d of %d free, threshold %d, quiet until %lld\n", s,
                      view->sites[s].capacity - view->sites[s].claimed, view->sites[s].capacity,
                      view->sites[s].threshold, (long long)view->sites[s].quiet_until_us);
    for (uint32_t n = 0; n < view->node_count; n++)
        print_message("node %u of site %u: %d of %d claimed\n", view->nodes[n].node,
                      view->nodes[n].site, view->nodes[n].claimed, view->nodes[n].slots);
    fail_msg("at %lld job %u of %u is still %s: %s %d..%d, cap %d, sizes %d/%d, on %d at site %d, "
             "quiet until %lld, tries %d",
             (long long)view->now_us, c, view->component_count,
             pleat_component_state_name((enum pleat_component_state)job->state),
             pleat_kind_name((enum pleat_job_kind)job->kind), job->minimum, job->maximum, job->cap,
             job->sizes_kind, job->sizes_parameter, job->processors, (int)job->site,
             (long long)job->quiet_until_us, job->tries);
}

static void check_all_over(const struct world *world)
{
    const struct pleat_view *view = pleat_core_view(world->core);
    for (uint32_t c = 0; c < view->component_count; c++)
        if (!pleat_component_state_is_final(view->components[c].state) &&
            view->components[c].state != PLEAT_NEW) /* forgotten */
            fail_unfinished(world, c);
    for (uint32_t s = 0; s < view->site_count; s++) {
        assert_int_equal(view->sites[s].claimed, 0);
        if (world->sites[s])
            assert_int_equal(pleat_fake_site_in_use(world->sites[s]), 0);
    }
    assert_int_equal(world->resizes_begun, world->resizes_ended);
}

/* A job without processors stays so: its user wants that, or nobody grows it as far as it needs. */
static bool stays_empty(const struct world *world, uint32_t component)
{
    const struct pleat_view *view = pleat_core_view(world->core);
    const struct pleat_component *job = &view->components[component];
    if (job->state != PLEAT_RUNNING || job->processors > 0)
        return false;
    const struct pleat_site *site = &view->sites[job->site];
    const struct pleat_policy *policy = pleat_core_policy(world->core, PLEAT_MALLEABILITY);
    bool grows = policy != pleat_policy_find(PLEAT_MALLEABILITY, "none") &&
                 policy != pleat_policy_find(PLEAT_MALLEABILITY, "partition"); /* those that fold */
    int32_t start = pleat_accept_start(view, job);       /* 0: its limits leave no size */
    bool has_size = pleat_accept_next(view, job, 0) > 0; /* its user may have set too low a size */
    return !has_size || start == 0 || !grows || start > site->capacity - site->threshold;
}

/* Jobs that would stay as they are for ever: without processors, or of several components that do
 * not fit beside one another. */
static void cancel_stuck(struct world *world)
{
    for (uint32_t c = 0; c < pleat_core_view(world->core)->component_count; c++) {
        struct pleat_event cancel = {.kind = PLEAT_EV_CANCEL, .component = c};
        const struct pleat_component *job = &pleat_core_view(world->core)->components[c];
        bool lacks_room = job->state == PLEAT_QUEUED && job->lead != PLEAT_NONE;
        if (stays_empty(world, c) || lacks_room)
            (void)world_event(world, cancel, NULL);
    }
}

/* What their users hold is released. */
static void release_all(struct world *world)
{
    for (uint32_t c = 0; c < pleat_core_view(world->core)->component_count; c++) {
        struct pleat_event release = {.kind = PLEAT_EV_RELEASE, .component = c};
        (void)world_event(world, release, NULL); /* most are not held */
    }
}

/* From every site to every other; not all are fast. */
static void random_links(struct pleat_random *random, struct world *world)
{
    for (uint32_t from = 0; from < world->site_count; from++)
        for (uint32_t to = 0; to < world->site_count; to++) {
            int64_t rate = 1000000 + (int64_t)pleat_random_below(random, 100000000);
            struct pleat_event link = {.kind = PLEAT_EV_LINK,
                                       .component = PLEAT_NONE,
                                       .u.link = {.from = from, .to = to, .bytes_per_s = rate}};
            (void)world_event(world, link, NULL); /* none to itself */
        }
}

static void keep(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* The log as old_logs_test.c reads it, and the state after `records` of it. */
static void keep_log(const struct world *world, const struct saved *saved, const char *path)
{
    char name[400];
    snprintf(name, sizeof(name), "%s.log", path);
    keep(name, world->log.items, world->log.count * sizeof(*world->log.items));
    snprintf(name, sizeof(name), "%s-%zu.state", path, saved->records);
    keep(name, saved->bytes.text, saved->bytes.length);
}

/* One random world, from a seed. Its log is kept there, unless that is NULL. */
static void live(uint64_t seed, bool misbehave, const char *path)
{
    struct pleat_random random;
    pleat_random_init(&random, seed);
    struct world world;
    struct pleat_fake_runner_options applications = {.seed = seed,
                                                     .start_delay_us = 300000,
                                                     .run_us = 200000000,
                                                     .adapt_us = 2000000,
                                                     .vacate_us = 500000};
    struct pleat_fake_site_options site = {.seed = seed,
                                           .nodes = 1 + (int32_t)(seed % PLEAT_FAKE_NODES_MAX),
                                           .claim_delay_us = 1500000,
                                           .release_delay_us = 400000,
                                           .queues = seed % 3 ? 0 : 0.2,
                                           .queue_us = 20000000,
                                           .patience_us = 30000000,
                                           .lose_delay_us = 9000000,
                                           .ends = seed % 5 ? 0 : 0.4,
                                           .ends_us = seed % 10 ? 400000000 : 60000000};
    if (misbehave) {
        applications.start_fail = applications.crash = 0.05;
        applications.refuse = 0.2;
        applications.overaccept = applications.answer_twice = 0.1;
        applications.ignore = applications.resize_fail = 0.1;
        applications.stuck = applications.die_in_resize = 0.05;
        applications.broken = 0.7;
        applications.relaunch_fail = applications.relaunch_never = 0.1;
        applications.stateless = 0.2;
        site.fail = site.partial = 0.1;
        site.lose = 0.05;
    }
    world_init(&world, &applications);
    world.stage_fail = misbehave ? 0.1 : 0;
    world.prepare_fail = misbehave ? 0.2 : 0;
    for (int s = 0; s < 3; s++) {
        int32_t processors = 4 + (int32_t)pleat_random_below(&random, 24);
        int32_t threshold = (int32_t)pleat_random_below(&random, 3);
        site.seed++;
        /* where nobody is asked nothing can fail */
        if (!misbehave && pleat_random_below(&random, 3) == 0)
            world_add_instant_site(&world, processors, threshold);
        else
            world_add_site(&world, processors, threshold, &site);
    }
    struct pleat_event list = {.kind = PLEAT_EV_SIZES,
                               .component = PLEAT_NONE,
                               .u.sizes = {.list = 0, .count = 5, .values = {1, 2, 5, 7, 11}}};
    assert_int_equal(world_event(&world, list, NULL), 0);
    random_links(&random, &world);
    for (int question = 0; question < PLEAT_QUESTION_COUNT; question++)
        random_policy(&random, &world, (enum pleat_question)question);
    if (seed & 32)
        world_parameter(&world, PLEAT_PARAM_LIFETIME_US, (int64_t)(seed % 7) * 2000000);
    if (seed & 16)
        world_parameter(&world, PLEAT_PARAM_MAX_TRIES, 20);
    if (seed % 11 == 5)
        world_parameter(&world, PLEAT_PARAM_DECIDE_US, 2500000);
    if (seed % 13 == 6)
        world_parameter(&world, PLEAT_PARAM_GROW_TOTAL, 12);
    world_parameter(&world, PLEAT_PARAM_ROOM_PARTLY, (int64_t)(seed / 3 % 2));
    world_parameter(&world, PLEAT_PARAM_BUFFER_REVIEW_US, 1000000 + (int64_t)(seed % 5) * 2000000);
    world_parameter(&world, PLEAT_PARAM_BUFFER_LEVEL, (int64_t)(seed % 4));
    world_parameter(&world, PLEAT_PARAM_BUFFER_PENDING, (int64_t)(seed % 2));
    world_parameter(&world, PLEAT_PARAM_BUFFER_DERIVED, (int64_t)(seed / 4 % 2));
    world_parameter(&world, PLEAT_PARAM_BUFFER_OWN, (int64_t)(seed / 8 % 2));
    world_parameter(&world, PLEAT_PARAM_EXPECTED_ENDS, (int64_t)(seed % 2));
    world_parameter(&world, PLEAT_PARAM_SITE_ERRORS, (int64_t)(seed % 4));
    world_parameter(&world, PLEAT_PARAM_NODE_ERRORS, (int64_t)(seed / 4 % 3));
    world_parameter(&world, PLEAT_PARAM_ERRORS_FADE_US, (int64_t)(seed % 3) * 5000000);
    world_parameter(&world, PLEAT_PARAM_SHRINK_OFF_US, (int64_t)(seed / 8 % 4) * 1000000);
    world_parameter(&world, PLEAT_PARAM_KEEP_LEFT_US, (int64_t)(seed / 3 % 3) * 5000000);
    world_parameter(&world, PLEAT_PARAM_MOVE_US, (int64_t)(seed / 2 % 3) * 10000000);
    world_parameter(&world, PLEAT_PARAM_REPLACE_US, (int64_t)(seed / 5 % 3) * 200000000);
    world_parameter(&world, PLEAT_PARAM_REPLACE_SHORT, (int64_t)(seed / 15 % 2));
    world_parameter(&world, PLEAT_PARAM_LEAVE_PROCESSES, (int64_t)(seed / 2 % 2));
    world_parameter(&world, PLEAT_PARAM_PAUSE_US, (int64_t)(seed / 2 % 2) * 1000000);
    world_parameter(&world, PLEAT_PARAM_START_TRIES, (int64_t)(seed % 5));
    world_parameter(&world, PLEAT_PARAM_SITE_AGAIN_US, 1 + (int64_t)(seed % 5) * 10000000);
    world_parameter(&world, PLEAT_PARAM_BARRIER_US, 1000000 + (int64_t)(seed % 3) * 20000000);
    world_parameter(&world, PLEAT_PARAM_CLAIM_EARLIER_US, (int64_t)(seed % 6) * 1000000);
    struct saved saved[SAVED] = {{0}};
    bool agents = seed % 2; /* that go away, and others that come */
    for (int i = 0; i < EVENTS; i++) {
        if (i % (EVENTS / SAVED) == EVENTS / SAVED / 2) {
            saved[i * SAVED / EVENTS].records = world.log.count;
            assert_int_equal(pleat_core_save(world.core, &saved[i * SAVED / EVENTS].bytes), 0);
        }
        world_run(&world, world.now_us + (int64_t)pleat_random_below(&random, 3000000));
        struct pleat_error err;
        /* many make no sense, and must be refused with nothing changed */
        (void)world_event(&world, random_event(&random, &world), &err);
        for (int n = 0; n < 3; n++)
            world_processes_act(&world);
        if (pleat_random_below(&random, 6) == 0)
            submit_several(&random, &world);
        if (pleat_core_view(world.core)->component_count > 0 && pleat_random_below(&random, 2) == 0)
            give_back(&random, &world);
        if (pleat_random_below(&random, 12) == 0) {
            struct pleat_event drain = {
                .kind = pleat_random_below(&random, 3) ? PLEAT_EV_RESUME : PLEAT_EV_DRAIN,
                .component = (uint32_t)pleat_random_below(&random, world.site_count)};
            (void)world_event(&world, drain, NULL);
        }
        if (agents && pleat_random_below(&random, 5) == 0)
            (void)world_agent_away(
                &world, (uint32_t)pleat_random_below(&random, 4),
                (uint32_t)pleat_random_below(&world.agents, (uint64_t)site.nodes));
        if (agents && pleat_random_below(&world.agents, 8) == 0)
            lose_a_start(&world);
    }
    for (uint32_t s = 0; s < world.site_count; s++) {
        struct pleat_event calm = {.kind = PLEAT_EV_BACKGROUND, .component = s};
        (void)world_event(&world, calm, NULL);
        calm.kind = PLEAT_EV_RESUME;
        (void)world_event(&world, calm, NULL);
    }
    for (int i = 0; i < 4; i++) {
        release_all(&world);
        world_run(&world, world.now_us + INT64_C(1000) * 1000000);
        cancel_stuck(&world);
    }
    if (!world_run(&world, world.now_us + INT64_C(100000) * 1000000))
        fail_msg("seed %llu: not over after 100,000 s", (unsigned long long)seed);
    check_all_over(&world);
    world_check_recovery(&world);
    world_check_replay(&world, NULL, 0);
    world_check_replay(&world, &saved[SAVED / 2].bytes, saved[SAVED / 2].records);
    if (path)
        keep_log(&world, &saved[SAVED / 2], path);
    check_saved(&world, saved);
    for (int o = 0; o < PLEAT_OUTCOME_COUNT; o++)
        totals[o] += world.outcomes[o];
    for (size_t i = 0; i < world.log.count; i++)
        happened[world.log.items[i].kind % 256]++;
    for (size_t i = 0; i < world.log.count; i++)
        elsewhere += world.log.items[i].kind == PLEAT_EV_BUFFER &&
                     world.log.items[i].u.buffer.site > 0 &&
                     world.log.items[i].u.buffer.request > 0;
    unknown += world.unknown;
    shrunk_off += world.shrunk_off;
    shrunk_off_taken += world.shrunk_off_taken;
    moved += world.moved;
    crossed += world.crossed;
    gone_unused += world.gone_unused;
    left += world.left;
    outdated += world.outdated;
    served_elsewhere += world.elsewhere;
    world_finish(&world);
}

/* PLEAT_TEST_SEEDS: other worlds than those of every day, from that seed on. */
static uint64_t first_seed(uint64_t usual)
{
    const char *given = getenv("PLEAT_TEST_SEEDS");
    return given ? strtoull(given, NULL, 10) : usual;
}

static void test_well_behaved(void **state)
{
    (void)state;
    memset(happened, 0, sizeof(happened));
    for (uint64_t first = first_seed(0), seed = first; seed < first + 300; seed++)
        live(seed, false, NULL);
    check_happened();
}

static void test_misbehaving(void **state)
{
    (void)state;
    memset(totals, 0, sizeof(totals));
    memset(happened, 0, sizeof(happened));
    for (uint64_t first = first_seed(1500), seed = first; seed < first + 650; seed++)
        live(seed, true, NULL);
    check_happened();
    print_message("unknown %u, shrunk off what its site takes back %u, sooner than it said %u, "
                  "with the node that led %u\n",
                  unknown, shrunk_off, shrunk_off_taken, moved);
    print_message("processes handed over while they were to be ended %u, ended unused %u, said of "
                  "orders that were given anew %u, left before their site took back %u\n",
                  crossed, gone_unused, outdated, left);
    print_message("asked for at other sites %u times; %u requests for any site served there\n",
                  elsewhere, served_elsewhere);
    assert_true(elsewhere > 0 && served_elsewhere > 0);
    assert_true((crossed > 0 && gone_unused > 0 && outdated > 0 && left > 0) ||
                getenv("PLEAT_TEST_SEEDS"));
    assert_true((unknown > 0 && shrunk_off > 0 && shrunk_off_taken > 0 && moved > 0) ||
                getenv("PLEAT_TEST_SEEDS"));
    /* a test that never met an outcome says nothing about it */
    for (int o = PLEAT_OUTCOME_GROWN; o < PLEAT_OUTCOME_COUNT; o++) {
        print_message("%-20s %u\n", pleat_outcome_name((enum pleat_outcome)o), totals[o]);
        assert_true(totals[o] > 0 || getenv("PLEAT_TEST_SEEDS")); /* others may lack a rare one */
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* SEED [misbehave [PATH]]: one, for looking closer, or to keep its log */
        live(strtoull(argv[1], NULL, 10), argc > 2, argc > 3 ? argv[3] : NULL);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_well_behaved),
        cmocka_unit_test(test_misbehaving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
