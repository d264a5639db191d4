#include "sim/sim.h"

#include <math.h>
#include <string.h>

#include "base/heap.h"

enum timer_kind { TIMER_END, TIMER_ADAPT, TIMER_CLAIM };

struct app {
    uint64_t run;
    uint64_t resize;  /* told, not yet applied; 0: none */
    double left;      /* of its work, 1 at the start */
    int64_t since_us; /* computing at `size` since then; in the future while it stands still */
    int64_t begun_us; /* adaptation points are counted from here */
    int32_t size, target;
    uint32_t end_timer, adapt_timer; /* PLEAT_HEAP_NONE */
};

struct sim {
    const struct pleat_sim_job *jobs;
    const struct pleat_sim_options *options;
    struct pleat_sim_outcome *outcomes;
    struct pleat_sim_totals *totals;
    struct pleat_events *log;
    struct pleat_error *err;
    struct pleat_core *core;
    struct pleat_heap timers; /* payload: kind << 32 | component or claim */
    struct pleat_effects effects;
    struct pleat_events decisions;
    struct pleat_events answers; /* to be applied at this instant */
    struct app *apps;
    uint32_t *job_of; /* component -> job: those refused have no component */
    int64_t now_us;
};

double pleat_sim_run_time(const struct pleat_sim_job *job, int32_t processors)
{
    return (double)job->run_us * (job->serial + (1 - job->serial) / processors);
}

static int nomem(struct sim *sim)
{
    return pleat_error_set(sim->err, PLEAT_E_NOMEM, "out of memory");
}

static int set_timer(struct sim *sim, enum timer_kind kind, uint32_t index, int64_t at_us,
                     uint32_t *handle)
{
    return pleat_heap_push(&sim->timers, at_us, (uint64_t)kind << 32 | index, handle) ? nomem(sim)
                                                                                      : 0;
}

static void stop_timer(struct sim *sim, uint32_t *handle)
{
    if (*handle != PLEAT_HEAP_NONE)
        pleat_heap_remove(&sim->timers, *handle);
    *handle = PLEAT_HEAP_NONE;
}

static const struct pleat_sim_job *job_at(const struct sim *sim, uint32_t component)
{
    return &sim->jobs[sim->job_of[component]];
}

/* ---- applications ---- */

static int schedule_end(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps[component];
    stop_timer(sim, &app->end_timer);
    if (app->size < 1)
        return 0;
    int64_t at =
        app->since_us + llround(app->left * pleat_sim_run_time(job_at(sim, component), app->size));
    return set_timer(sim, TIMER_END, component, at, &app->end_timer);
}

/* Work done until `at_us` is taken off. */
static void account(struct sim *sim, uint32_t component, int64_t at_us)
{
    struct app *app = &sim->apps[component];
    if (app->size > 0 && at_us > app->since_us)
        app->left -=
            (double)(at_us - app->since_us) / pleat_sim_run_time(job_at(sim, component), app->size);
    if (app->left < 0)
        app->left = 0;
    app->since_us = at_us;
}

static int64_t next_adaptation_point(const struct sim *sim, uint32_t component)
{
    const struct app *app = &sim->apps[component];
    int64_t period = job_at(sim, component)->adapt_us;
    if (period <= 0)
        return sim->now_us;
    int64_t passed = sim->now_us - app->begun_us;
    return app->begun_us + (passed + period - 1) / period * period;
}

static int answer(struct sim *sim, struct pleat_event event)
{
    event.time_us = sim->now_us;
    return pleat_array_push(&sim->answers, event) ? nomem(sim) : 0;
}

static int answer_change(struct sim *sim, uint16_t kind, uint32_t component, uint64_t resize,
                         int32_t size)
{
    struct pleat_event event = {
        .kind = kind,
        .component = component,
        .u.change = {.resize = resize, .processors = size, .processes = size}};
    return answer(sim, event);
}

static int answer_run(struct sim *sim, uint16_t kind, uint32_t component, enum pleat_reason reason)
{
    struct pleat_event event = {
        .kind = kind,
        .component = component,
        .u.exit = {.run = sim->apps[component].run, .reason = (uint32_t)reason}};
    return answer(sim, event);
}

static int app_start(struct sim *sim, uint32_t component, uint64_t run, int32_t size)
{
    sim->apps[component] = (struct app){.run = run,
                                        .left = 1,
                                        .since_us = sim->now_us,
                                        .begun_us = sim->now_us,
                                        .size = size,
                                        .end_timer = PLEAT_HEAP_NONE,
                                        .adapt_timer = PLEAT_HEAP_NONE};
    int rc = answer_run(sim, PLEAT_EV_STARTED, component, PLEAT_REASON_NONE);
    return rc ? rc : schedule_end(sim, component);
}

static int app_end(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps[component];
    stop_timer(sim, &app->end_timer);
    stop_timer(sim, &app->adapt_timer);
    return answer_run(sim, PLEAT_EV_EXITED, component, PLEAT_REASON_EXIT);
}

static int app_resize(struct sim *sim, const struct pleat_effect *effect)
{
    struct app *app = &sim->apps[effect->component];
    app->resize = effect->id;
    app->target = effect->u.change.processes;
    return set_timer(sim, TIMER_ADAPT, effect->component,
                     next_adaptation_point(sim, effect->component), &app->adapt_timer);
}

/* At its adaptation point: it computes no more until it has the new size. */
static int app_adapt(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps[component];
    bool shrinks = app->target < app->size;
    account(sim, component, sim->now_us);
    app->size = app->target;
    app->since_us = sim->now_us + sim->options->resize_us;
    int rc = answer_change(sim, PLEAT_EV_APPLIED, component, app->resize, app->size);
    if (!rc && shrinks)
        rc = answer_change(sim, PLEAT_EV_VACATED, component, app->resize, app->size);
    app->resize = 0;
    return rc ? rc : schedule_end(sim, component);
}

static int app_withdraw(struct sim *sim, const struct pleat_effect *effect)
{
    struct app *app = &sim->apps[effect->component];
    if (app->resize != effect->id)
        return 0;
    stop_timer(sim, &app->adapt_timer);
    app->resize = 0;
    return answer_change(sim, PLEAT_EV_WITHDRAWN, effect->component, effect->id, app->size);
}

/* ---- sites ---- */

static int claimed(struct sim *sim, uint32_t index)
{
    const struct pleat_claim *claim = pleat_core_claim(sim->core, index);
    struct pleat_event event = {.kind = PLEAT_EV_CLAIMED,
                                .component = index,
                                .u.claim = {.claim = claim->id, .count = claim->count}};
    return claim->state == PLEAT_CLAIM_REQUESTED ? answer(sim, event) : 0;
}

static int site_claim(struct sim *sim, const struct pleat_effect *effect)
{
    uint32_t handle;
    if (sim->options->claim_us > 0)
        return set_timer(sim, TIMER_CLAIM, effect->u.claim.index,
                         sim->now_us + sim->options->claim_us, &handle);
    return claimed(sim, effect->u.claim.index);
}

static int site_release(struct sim *sim, const struct pleat_effect *effect)
{
    struct pleat_event event = {.kind = PLEAT_EV_RELEASED,
                                .component = effect->u.claim.index,
                                .u.claim = {.claim = effect->id, .count = effect->u.claim.count}};
    return answer(sim, event);
}

/* ---- what happened to jobs ---- */

static void note_size(struct sim *sim, const struct pleat_effect *effect)
{
    struct pleat_sim_outcome *outcome = &sim->outcomes[sim->job_of[effect->component]];
    if (outcome->start_us != PLEAT_NEVER)
        return;
    outcome->start_us = sim->now_us;
    outcome->processors = effect->u.run.processors;
    outcome->site = pleat_core_view(sim->core)->components[effect->component].site;
}

static void note_resize(struct sim *sim, const struct pleat_effect *effect)
{
    struct pleat_sim_outcome *outcome = &sim->outcomes[sim->job_of[effect->component]];
    outcome->grown += effect->u.change.outcome == PLEAT_OUTCOME_GROWN;
    outcome->shrunk += effect->u.change.outcome == PLEAT_OUTCOME_SHRUNK;
}

static void note_state(struct sim *sim, const struct pleat_effect *effect)
{
    if (pleat_state_is_final((enum pleat_state)effect->u.state.to))
        sim->outcomes[sim->job_of[effect->component]].end_us = sim->now_us;
}

static int carry_out(struct sim *sim, const struct pleat_effect *effect)
{
    switch (effect->kind) {
    case PLEAT_DO_CLAIM:
        return site_claim(sim, effect);
    case PLEAT_DO_RELEASE:
        return site_release(sim, effect);
    case PLEAT_DO_START:
        return app_start(sim, effect->component, effect->id, effect->u.run.processes);
    case PLEAT_DO_ASK: /* takes what is offered */
        return answer_change(sim, PLEAT_EV_ANSWER, effect->component, effect->id,
                             effect->u.change.processors);
    case PLEAT_DO_RESIZE:
        return app_resize(sim, effect);
    case PLEAT_DO_WITHDRAW:
        return app_withdraw(sim, effect);
    case PLEAT_DO_KILL:
        return app_end(sim, effect->component);
    case PLEAT_NOTE_SIZE:
        note_size(sim, effect);
        return 0;
    case PLEAT_NOTE_RESIZE:
        note_resize(sim, effect);
        return 0;
    case PLEAT_NOTE_STATE:
        note_state(sim, effect);
        return 0;
    default:
        return 0;
    }
}

/* ---- the loop ---- */

static int record(struct sim *sim, const struct pleat_event *events, size_t count)
{
    for (size_t i = 0; sim->log && i < count; i++)
        if (pleat_array_push(sim->log, events[i]))
            return nomem(sim);
    return 0;
}

static int input(struct sim *sim, const struct pleat_event *event)
{
    int rc = pleat_core_apply(sim->core, event, &sim->effects, sim->err);
    if (rc < 0)
        return rc;
    sim->totals->inputs++;
    return rc == 0 ? record(sim, event, 1) : 0;
}

/* Effects give answers, answers give effects, until nothing more happens at this instant. */
static int drain(struct sim *sim)
{
    int rc = 0;
    size_t next = 0;
    do {
        for (size_t i = 0; !rc && i < sim->effects.count; i++)
            rc = carry_out(sim, &sim->effects.items[i]);
        sim->effects.count = 0;
        if (!rc && next < sim->answers.count) {
            struct pleat_event event = sim->answers.items[next++];
            rc = input(sim, &event);
        }
    } while (!rc && (sim->effects.count > 0 || next < sim->answers.count));
    sim->answers.count = 0;
    return rc;
}

static int settle(struct sim *sim)
{
    int rc = drain(sim);
    while (!rc && pleat_core_wants_pass(sim->core)) {
        sim->decisions.count = 0;
        rc = pleat_core_pass(sim->core, sim->now_us, &sim->decisions, &sim->effects, sim->err);
        sim->totals->passes++;
        sim->totals->decisions += sim->decisions.count - 1;
        if (!rc)
            rc = record(sim, sim->decisions.items, sim->decisions.count);
        if (!rc)
            rc = drain(sim);
    }
    return rc;
}

static int submit(struct sim *sim, size_t index)
{
    const struct pleat_sim_job *job = &sim->jobs[index];
    struct pleat_error why;
    uint32_t component = pleat_core_next_component(sim->core);
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_SUBMIT,
                                .component = component,
                                .u.submit = {.job = index + 1,
                                             .estimate_us = job->estimate_us,
                                             .minimum = job->minimum,
                                             .maximum = job->maximum,
                                             .initial = job->initial,
                                             .sizes_parameter = job->sizes_parameter,
                                             .site = PLEAT_NONE,
                                             .job_kind = (uint8_t)job->kind,
                                             .sizes_kind = (uint8_t)job->sizes_kind}};
    sim->outcomes[index] =
        (struct pleat_sim_outcome){.start_us = PLEAT_NEVER, .end_us = PLEAT_NEVER};
    sim->job_of[component] = (uint32_t)index;
    int rc = pleat_core_apply(sim->core, &event, &sim->effects, &why);
    sim->totals->inputs++;
    if (rc == PLEAT_E_TOOBIG) { /* larger than every site: counted, not run */
        sim->outcomes[index].refused = true;
        sim->totals->refused++;
        return 0;
    }
    if (rc)
        return pleat_error_set(sim->err, rc, "job %zu: %.400s", index + 1, why.text);
    return record(sim, &event, 1);
}

static int on_timer(struct sim *sim, uint64_t payload)
{
    uint32_t index = (uint32_t)payload;
    switch ((enum timer_kind)(payload >> 32)) {
    case TIMER_END:
        sim->apps[index].end_timer = PLEAT_HEAP_NONE;
        return app_end(sim, index);
    case TIMER_ADAPT:
        sim->apps[index].adapt_timer = PLEAT_HEAP_NONE;
        return app_adapt(sim, index);
    default:
        return claimed(sim, index);
    }
}

/* What a job holds from start to end is not a constant: sums are taken as time passes. */
static void pass_time(struct sim *sim, int64_t to_us)
{
    const struct pleat_view *view = pleat_core_view(sim->core);
    for (uint32_t s = 0; s < view->site_count; s++)
        sim->totals->busy_us += (double)(to_us - sim->now_us) * view->sites[s].held;
    sim->now_us = to_us;
}

static int instant(struct sim *sim, size_t count, size_t *next_job)
{
    int rc = 0;
    const struct pleat_heap_entry *first;
    if (pleat_core_next_deadline(sim->core) <= sim->now_us) {
        struct pleat_event time = {
            .time_us = sim->now_us, .kind = PLEAT_EV_TIME, .component = PLEAT_NONE};
        rc = input(sim, &time);
    }
    while (!rc && (first = pleat_heap_first(&sim->timers)) && first->time_us <= sim->now_us)
        rc = on_timer(sim, pleat_heap_pop(&sim->timers).payload);
    if (!rc)
        rc = drain(sim);
    while (!rc && *next_job < count && sim->jobs[*next_job].submit_us <= sim->now_us)
        rc = submit(sim, (*next_job)++);
    return rc ? rc : settle(sim);
}

static int64_t next_instant(const struct sim *sim, size_t count, size_t next_job)
{
    const struct pleat_heap_entry *first = pleat_heap_first(&sim->timers);
    int64_t next = pleat_core_next_deadline(sim->core);
    if (first && first->time_us < next)
        next = first->time_us;
    if (next_job < count && sim->jobs[next_job].submit_us < next)
        next = sim->jobs[next_job].submit_us;
    return next;
}

static int check(const struct pleat_sim_job *jobs, size_t count, struct pleat_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && jobs[i].submit_us < jobs[i - 1].submit_us)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "job %zu is submitted before job %zu: sort them first", i + 1,
                                   i);
        if (jobs[i].run_us < 0 || !(jobs[i].serial >= 0 && jobs[i].serial <= 1) ||
            jobs[i].sizes_kind == PLEAT_SIZES_LIST)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "job %zu: its run time is negative, its serial fraction not "
                                   "between 0 and 1, or its sizes a list",
                                   i + 1);
    }
    return 0;
}

static int configure(struct sim *sim)
{
    int rc = 0;
    for (uint32_t q = 0; !rc && q < PLEAT_QUESTION_COUNT; q++) {
        const struct pleat_policy *policy = sim->options->policies[q];
        if (!policy)
            policy = pleat_policy_default((enum pleat_question)q);
        struct pleat_event event = {.kind = PLEAT_EV_POLICY,
                                    .component = PLEAT_NONE,
                                    .u.policy = {q, policy->number, policy->version}};
        rc = input(sim, &event);
    }
    for (uint32_t s = 0; !rc && s < sim->options->site_count; s++) {
        struct pleat_event event = {.kind = PLEAT_EV_SITE,
                                    .component = s,
                                    .u.site = {.capacity = sim->options->sites[s].processors,
                                               .threshold = sim->options->sites[s].threshold}};
        rc = input(sim, &event);
    }
    return rc;
}

int pleat_sim_run(const struct pleat_sim_job *jobs, size_t count,
                  const struct pleat_sim_options *options, struct pleat_sim_outcome *outcomes,
                  struct pleat_sim_totals *totals, struct pleat_events *log,
                  struct pleat_error *err)
{
    struct sim sim = {.jobs = jobs,
                      .options = options,
                      .outcomes = outcomes,
                      .totals = totals,
                      .log = log,
                      .err = err,
                      .now_us = count ? jobs[0].submit_us : 0};
    size_t next_job = 0;
    memset(totals, 0, sizeof(*totals));
    int rc = check(jobs, count, err);
    if (rc)
        return rc;
    pleat_heap_init(&sim.timers);
    sim.apps = calloc(count + 1, sizeof(*sim.apps));
    sim.job_of = calloc(count + 1, sizeof(*sim.job_of));
    if (!sim.apps || !sim.job_of || pleat_core_create(&sim.core))
        rc = nomem(&sim);
    if (!rc)
        rc = configure(&sim);
    while (!rc) {
        int64_t next = next_instant(&sim, count, next_job);
        if (next == PLEAT_NEVER)
            break;
        pass_time(&sim, next > sim.now_us ? next : sim.now_us);
        rc = instant(&sim, count, &next_job);
    }
    totals->end_us = sim.now_us;
    pleat_core_destroy(sim.core);
    pleat_heap_finish(&sim.timers);
    pleat_array_finish(&sim.effects);
    pleat_array_finish(&sim.decisions);
    pleat_array_finish(&sim.answers);
    free(sim.apps);
    free(sim.job_of);
    return rc;
}
