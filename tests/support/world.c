#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"
#include "world_processes.h"

static int64_t host_now(void *arg)
{
    return ((struct world *)arg)->now_us;
}

/* Is the agent away that leads the component? */
static bool is_away(const struct world *world, const struct pleat_component *job)
{
    const struct pleat_node *node =
        job->site == PLEAT_NONE
            ? NULL
            : pleat_view_node(pleat_core_view(world->core), job->site, job->lead_node);
    return node && node->away;
}

static bool is_withheld(const struct world *world, const struct pleat_event *event)
{
    if (event->kind != PLEAT_EV_STARTED && event->kind != PLEAT_EV_START_FAILED)
        return false;
    return is_away(world, world_job(world, event->component));
}

static void host_emit(void *arg, const struct pleat_event *event)
{
    struct world *world = arg;
    struct pleat_event stamped = *event;
    stamped.time_us = world->now_us;
    bool withheld = is_withheld(world, event);
    assert_int_equal(pleat_array_push(withheld ? &world->withheld : &world->queue, stamped), 0);
}

static void host_later(void *arg, int64_t delay_us, void (*fn)(void *, uint64_t), void *fn_arg,
                       uint64_t token)
{
    struct world *world = arg;
    struct world_call call = {fn, fn_arg, token};
    uint32_t handle;
    assert_int_equal(pleat_array_push(&world->calls, call), 0);
    assert_int_equal(
        pleat_heap_push(&world->timers, world->now_us + delay_us, world->calls.count - 1, &handle),
        0);
}

void world_init(struct world *world, const struct pleat_fake_runner_options *applications)
{
    memset(world, 0, sizeof(*world));
    world->host = (struct pleat_host){
        .arg = world, .now_us = host_now, .emit = host_emit, .later = host_later};
    world->now_us = INT64_C(1000000000);
    world->check = true;
    pleat_heap_init(&world->timers);
    pleat_random_init(&world->files, applications->seed);
    pleat_random_init(&world->agents, applications->seed + 1);
    pleat_random_init(&world->handing, applications->seed + 2);
    assert_int_equal(pleat_core_create(&world->core), 0);
    assert_int_equal(pleat_fake_runner_open(applications, &world->host, &world->runner, NULL), 0);
}

void world_finish(struct world *world)
{
    for (uint32_t s = 0; s < world->site_count; s++)
        if (world->sites[s])
            world->sites[s]->ops->close(world->sites[s]);
    world->runner->ops->close(world->runner);
    pleat_core_destroy(world->core);
    pleat_heap_finish(&world->timers);
    pleat_array_finish(&world->calls);
    pleat_array_finish(&world->queue);
    pleat_array_finish(&world->withheld);
    pleat_array_finish(&world->log);
    pleat_array_finish(&world->effects);
    pleat_array_finish(&world->transfers);
    world_processes_finish(world);
}

void world_add_site(struct world *world, int32_t processors, int32_t threshold,
                    const struct pleat_fake_site_options *options)
{
    struct pleat_site_options site = {.name = "fake",
                                      .index = world->site_count,
                                      .processors = processors,
                                      .threshold = threshold,
                                      .own = options};
    assert_int_equal(
        pleat_site_fake.open(&site, &world->host, &world->sites[world->site_count], NULL), 0);
    world->site_count++;
    world_settle(world);
}

void world_add_instant_site(struct world *world, int32_t processors, int32_t threshold)
{
    struct pleat_event event = {.kind = PLEAT_EV_SITE,
                                .flags = PLEAT_SITE_INSTANT,
                                .component = world->site_count,
                                .u.site = {.capacity = processors, .threshold = threshold}};
    assert_int_equal(world_event(world, event, NULL), 0);
    world->sites[world->site_count++] = NULL;
}

/* What must hold of the world outside: nobody uses more than was handed out. */
static void check_world(struct world *world)
{
    if (!world->check)
        return;
    struct pleat_error err;
    int rc = pleat_core_check(world->core, &err);
    if (rc)
        fail_msg("at %lld us: %s", (long long)world->now_us, err.text);
    world_processes_check(world);
    const struct pleat_view *view = pleat_core_view(world->core);
    for (uint32_t c = 0; c < view->component_count; c++) {
        const struct pleat_component *job = &view->components[c];
        int32_t processes = pleat_fake_runner_processes(world->runner, c);
        int32_t held = 0;
        /* there what an application gives up is gone at once, the fake one takes its time */
        if (job->site != PLEAT_NONE && view->sites[job->site].instant)
            continue;
        for (uint32_t i = 0; i < pleat_core_claim_count(world->core); i++) {
            const struct pleat_claim *claim = pleat_core_claim(world->core, i);
            if (claim->state == PLEAT_CLAIM_HELD && claim->component == c)
                held += claim->count;
        }
        if (processes > held)
            fail_msg("job %llu (%s) has %d processes on %d processors",
                     (unsigned long long)job->job, pleat_component_state_name(job->state),
                     processes, held);
    }
}

static void carry_out_claim(struct world *world, const struct pleat_effect *effect)
{
    struct pleat_site_instance *site = world->sites[effect->u.claim.site];
    const struct pleat_view *view = pleat_core_view(world->core);
    const struct pleat_component *component = &view->components[effect->component];
    /* as pleatd does it: src/daemon/sites.c */
    uint32_t beside = component->flags & PLEAT_COMPONENT_PREPARES ? component->first_claim
                                                                  : component->last_claim;
    const struct pleat_site_wish wish = {
        .id = effect->id,
        .index = effect->u.claim.index,
        .count = effect->u.claim.count,
        .purpose = (enum pleat_purpose)effect->u.claim.purpose,
        .job = component->job,
        .beside = beside == PLEAT_NONE ? 0 : pleat_core_claim(world->core, beside)->id,
        .on_one_node = pleat_view_asks_on_one_node(view, component, effect->u.claim.site,
                                                   (enum pleat_purpose)effect->u.claim.purpose)};
    int rc;
    if (effect->kind == PLEAT_DO_CLAIM)
        rc = site->ops->claim(site, &wish, NULL);
    else if (effect->kind == PLEAT_DO_SPLIT)
        rc = site->ops->split(site, effect->id, effect->u.claim.into, effect->u.claim.index,
                              effect->u.claim.count, NULL);
    else
        rc = site->ops->release(site, effect->id, effect->u.claim.index, NULL);
    assert_int_equal(rc, 0);
}

static void carry_out_run(struct world *world, const struct pleat_effect *effect)
{
    struct pleat_run_order run = {
        .run = effect->id, .component = effect->component, .processes = effect->u.run.processors};
    const struct pleat_runner_ops *ops = world->runner->ops;
    int rc = effect->kind == PLEAT_DO_SIGNAL
                 ? ops->signal(world->runner, &run, effect->u.signal.number, false, NULL)
             : effect->kind == PLEAT_DO_START ? ops->start(world->runner, &run, NULL)
                                              : ops->kill(world->runner, &run, NULL);
    assert_int_equal(rc, 0);
}

static void carry_out_change(struct world *world, const struct pleat_effect *effect)
{
    const struct pleat_runner_ops *ops = world->runner->ops;
    struct pleat_run_order start = {.run = effect->u.change.run,
                                    .component = effect->component,
                                    .processes = effect->u.change.processors};
    struct pleat_change_order order = {.run = effect->u.change.run,
                                       .resize = effect->id,
                                       .component = effect->component,
                                       .from = effect->u.change.from,
                                       .processes = effect->u.change.processors,
                                       .mandatory = effect->flags & PLEAT_MANDATORY,
                                       .moves = effect->kind == PLEAT_DO_RESIZE &&
                                                pleat_core_moves(world->core, effect->component),
                                       .start = &start};
    int rc = effect->kind == PLEAT_DO_ASK        ? ops->ask(world->runner, &order, NULL)
             : effect->kind == PLEAT_DO_RESIZE   ? ops->resize(world->runner, &order, NULL)
             : effect->kind == PLEAT_DO_RELAUNCH ? ops->relaunch(world->runner, &order, NULL)
                                                 : ops->withdraw(world->runner, &order, NULL);
    assert_int_equal(rc, 0);
}

static void on_transfer(void *arg, uint64_t token)
{
    struct world *world = arg;
    struct pleat_effect effect = world->transfers.items[token];
    bool fails = pleat_random_unit(&world->files) < world->stage_fail;
    struct pleat_event event = {.kind = fails ? PLEAT_EV_STAGE_FAILED : PLEAT_EV_STAGED,
                                .component = effect.component,
                                .u.staged = {.number = effect.id}};
    if (fails)
        event.u.staged.reason = pleat_random_below(&world->files, 2) ? PLEAT_REASON_START_USER
                                                                     : PLEAT_REASON_START_SYSTEM;
    host_emit(world, &event);
}

/* Files come sooner or later than expected. */
static void carry_out_stage(struct world *world, const struct pleat_effect *effect)
{
    int64_t expected_us = effect->u.stage.expected_us - world->now_us;
    assert_int_equal(pleat_array_push(&world->transfers, *effect), 0);
    host_later(world, (int64_t)((double)expected_us * 2 * pleat_random_unit(&world->files)),
               on_transfer, world, world->transfers.count - 1);
}

/* ---- agents ---- */

static bool is_led_from(const struct pleat_component *job, uint32_t site, uint32_t node)
{
    return job->site == site && job->lead_node == node;
}

/* Another agent knows nothing of the runs of the one before: running components are lost, and
 * reported as such. The core must decide by itself about those that were being started. */
static void lose_runs(struct world *world, uint32_t site, uint32_t node)
{
    const struct pleat_view *view = pleat_core_view(world->core);
    for (uint32_t c = 0; c < view->component_count; c++) {
        const struct pleat_component *job = &view->components[c];
        if (!is_led_from(job, site, node) || job->exited ||
            pleat_component_state_is_final((enum pleat_component_state)job->state))
            continue;
        pleat_fake_runner_lose(world->runner, c);
        struct pleat_event lost = {.kind = PLEAT_EV_EXITED,
                                   .component = c,
                                   .u.exit = {.run = job->run, .reason = PLEAT_REASON_LOST}};
        if (job->state != PLEAT_CLAIMING && !pleat_core_is_moving(world->core, c))
            host_emit(world, &lost);
    }
}

/* An agent that is back reports what it has not reported yet; another agent does not know it. */
static void say_withheld(struct world *world, uint32_t site, uint32_t node, bool other)
{
    size_t kept = 0;
    for (size_t i = 0; i < world->withheld.count; i++) {
        struct pleat_event event = world->withheld.items[i];
        if (!is_led_from(world_job(world, event.component), site, node))
            world->withheld.items[kept++] = event;
        else if (!other)
            assert_int_equal(pleat_array_push(&world->queue, event), 0);
    }
    world->withheld.count = kept;
}

static void on_agent(void *arg, uint64_t token)
{
    struct world *world = arg;
    uint32_t site = (uint32_t)token / PLEAT_FAKE_NODES_MAX,
             node = (uint32_t)token % PLEAT_FAKE_NODES_MAX;
    uint64_t *agent = &world->agent[site][node];
    /* the first agent with a number may be the one that was there before: the core assumes so */
    bool other = *agent > 0 && pleat_random_below(&world->agents, 2) == 0;
    if (other) {
        lose_runs(world, site, node);
        world_processes_lose(world, site, node);
    }
    *agent += other || *agent == 0;
    world->coming[site][node] = false;
    struct pleat_event back = {.kind = PLEAT_EV_AGENT_BACK,
                               .component = site,
                               .u.agent = {.number = *agent, .node = node}};
    host_emit(world, &back);
    say_withheld(world, site, node, other);
}

static void await_agent(struct world *world, uint32_t site, uint32_t node)
{
    if (!world->coming[site][node])
        host_later(world, (int64_t)pleat_random_below(&world->agents, 90000000), on_agent, world,
                   site * PLEAT_FAKE_NODES_MAX + node);
    world->coming[site][node] = true;
}

int world_agent_away(struct world *world, uint32_t site, uint32_t node)
{
    struct pleat_event away = {
        .kind = PLEAT_EV_AGENT_AWAY, .component = site, .u.agent = {.node = node}};
    int rc = world_event(world, away, NULL);
    if (rc == 0)
        await_agent(world, site, node);
    return rc;
}

/* There is no agent to be told; or the effect is not wanted any more. */
static bool is_dropped(const struct world *world, const struct pleat_effect *effect)
{
    const struct pleat_component *job = world_job(world, effect->component);
    if (job->site == PLEAT_NONE || effect->kind == PLEAT_DO_REACH)
        return false;
    if (effect->kind == PLEAT_DO_START && !pleat_core_view(world->core)->sites[job->site].instant &&
        ((job->state != PLEAT_CLAIMING && !pleat_core_is_moving(world->core, effect->component)) ||
         !job->starting || job->run != effect->id))
        return true;
    return is_away(world, job);
}

static void note(struct world *world, const struct pleat_effect *effect)
{
    if (effect->kind == PLEAT_NOTE_STATE)
        assert_true(pleat_transition_allowed((enum pleat_component_state)effect->u.state.from,
                                             (enum pleat_component_state)effect->u.state.to));
    if (effect->kind == PLEAT_NOTE_STATE && effect->u.state.to == PLEAT_RESIZING)
        world->resizes_begun++;
    if (effect->kind == PLEAT_NOTE_RESIZE && effect->u.change.outcome) {
        world->resizes_ended++;
        world->outcomes[effect->u.change.outcome]++;
        world->shrunk_off += effect->u.change.outcome == PLEAT_OUTCOME_SHRUNK &&
                             effect->u.change.reason == PLEAT_REASON_SITE_TIME;
        world->shrunk_off_taken += effect->u.change.outcome == PLEAT_OUTCOME_SHRUNK &&
                                   effect->u.change.reason == PLEAT_REASON_TAKEN;
    }
    world->moved += effect->kind == PLEAT_NOTE_RESIZE && !effect->u.change.outcome &&
                    effect->u.change.step == PLEAT_RESIZE_MOVING;
    world->warnings += effect->kind == PLEAT_NOTE_WARNING;
    world->unknown += effect->kind == PLEAT_NOTE_STATE && effect->u.state.to == PLEAT_FINISHING &&
                      effect->u.state.reason == PLEAT_REASON_START_UNKNOWN;
}

static void carry_out(struct world *world)
{
    for (size_t i = 0; i < world->effects.count; i++) {
        struct pleat_effect effect = world->effects.items[i];
        if (world->observe)
            world->observe(world, &effect);
        switch (effect.kind) {
        case PLEAT_DO_CLAIM:
        case PLEAT_DO_SPLIT:
        case PLEAT_DO_RELEASE:
            carry_out_claim(world, &effect);
            break;
        case PLEAT_DO_ANSWER: /* nobody listens */
            break;
        case PLEAT_DO_NODE: /* a site that claims there in spite of it is right, too */
            break;
        case PLEAT_DO_REACH:
            await_agent(world, effect.u.reach.site, effect.u.reach.node);
            break;
        case PLEAT_DO_START:
        case PLEAT_DO_KILL:
        case PLEAT_DO_SIGNAL:
            if (!is_dropped(world, &effect))
                carry_out_run(world, &effect);
            break;
        case PLEAT_DO_ASK:
        case PLEAT_DO_RESIZE:
        case PLEAT_DO_WITHDRAW:
        case PLEAT_DO_RELAUNCH:
            if (!is_dropped(world, &effect))
                carry_out_change(world, &effect);
            break;
        case PLEAT_DO_PROCESSES:
            pleat_fake_runner_add(world->runner, effect.component, 1);
            break;
        case PLEAT_DO_PREPARE:
        case PLEAT_DO_UNPREPARE:
        case PLEAT_DO_LEAVE:
            world_processes_tell(world, &effect);
            break;
        case PLEAT_DO_STAGE:
            carry_out_stage(world, &effect);
            break;
        default:
            note(world, &effect);
            break;
        }
    }
    world->effects.count = 0;
}

static int apply(struct world *world, struct pleat_event event, struct pleat_error *err)
{
    event.time_us = world->now_us;
    world_processes_before(world, &event);
    int rc = pleat_core_apply(world->core, &event, &world->effects, err);
    if (rc == 0)
        assert_int_equal(pleat_array_push(&world->log, event), 0);
    check_world(world);
    return rc;
}

void world_settle(struct world *world)
{
    while (world->queue.count > 0 || pleat_core_wants_pass(world->core)) {
        for (size_t i = 0; i < world->queue.count; i++) {
            struct pleat_error err;
            int rc = apply(world, world->queue.items[i], &err);
            if (rc < 0)
                fail_msg("event '%s' was refused: %s", pleat_event_name(world->queue.items[i].kind),
                         err.text);
        }
        world->queue.count = 0;
        if (pleat_core_wants_pass(world->core)) {
            struct pleat_error err = {0};
            if (pleat_core_pass(world->core, world->now_us, &world->log, &world->effects, &err))
                fail_msg("a pass failed: %s", err.text);
            world->passes++;
            check_world(world);
        }
        carry_out(world);
    }
}

int world_event(struct world *world, struct pleat_event event, struct pleat_error *err)
{
    bool stops = event.kind == PLEAT_EV_STOP_PROCESS;
    if (stops) /* the process has been vacated when the core is told */
        pleat_fake_runner_add(world->runner, event.component, -1);
    int rc = apply(world, event, err);
    if (stops && rc)
        pleat_fake_runner_add(world->runner, event.component, 1);
    carry_out(world);
    world_settle(world);
    return rc;
}

/* The next thing that happens, at most at until_us; false when there is none. */
static bool step(struct world *world, int64_t until_us)
{
    const struct pleat_heap_entry *timer = pleat_heap_first(&world->timers);
    int64_t deadline = pleat_core_next_deadline(world->core);
    int64_t next = timer && timer->time_us < deadline ? timer->time_us : deadline;
    if (next == PLEAT_NEVER || next > until_us)
        return false;
    if (next > world->now_us)
        world->now_us = next;
    if (timer && timer->time_us == next) {
        struct world_call call = world->calls.items[pleat_heap_pop(&world->timers).payload];
        call.fn(call.arg, call.token);
    } else {
        struct pleat_event time = {.kind = PLEAT_EV_TIME, .component = PLEAT_NONE};
        assert_int_equal(apply(world, time, NULL), 0);
    }
    carry_out(world);
    world_settle(world);
    return true;
}

bool world_run(struct world *world, int64_t until_us)
{
    while (step(world, until_us)) {
    }
    bool idle =
        !pleat_heap_first(&world->timers) && pleat_core_next_deadline(world->core) == PLEAT_NEVER;
    if (!idle && world->now_us < until_us)
        world->now_us = until_us;
    return idle;
}

void world_policy(struct world *world, enum pleat_question question, const char *name)
{
    const struct pleat_policy *policy = pleat_policy_find(question, name);
    assert_non_null(policy);
    struct pleat_event event = {
        .kind = PLEAT_EV_POLICY,
        .component = PLEAT_NONE,
        .u.policy = {.question = question, .policy = policy->number, .version = policy->version}};
    assert_int_equal(world_event(world, event, NULL), 0);
}

void world_parameter(struct world *world, enum pleat_parameter parameter, int64_t value)
{
    struct pleat_event event = {.kind = PLEAT_EV_PARAMETER,
                                .component = PLEAT_NONE,
                                .u.parameter = {.which = parameter, .value = value}};
    assert_int_equal(world_event(world, event, NULL), 0);
}

uint32_t world_submit(struct world *world, enum pleat_job_kind kind, int32_t minimum,
                      int32_t maximum, int32_t initial)
{
    uint32_t component = pleat_core_next_component(world->core);
    struct pleat_event event = {.kind = PLEAT_EV_SUBMIT,
                                .component = component,
                                .u.submit = {.job = component + 1,
                                             .minimum = minimum,
                                             .maximum = maximum,
                                             .initial = initial,
                                             .site = PLEAT_NONE,
                                             .job_kind = (uint8_t)kind}};
    struct pleat_error err;
    if (world_event(world, event, &err))
        fail_msg("submit was refused: %s", err.text);
    return component;
}

const struct pleat_component *world_job(const struct world *world, uint32_t component)
{
    return &pleat_core_view(world->core)->components[component];
}
