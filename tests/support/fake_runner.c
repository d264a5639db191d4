#include "fake_runner.h"

#include <string.h>

#include "base/random.h"

enum fake_what { AT_STARTED, AT_EXIT, AT_ANSWER, AT_ADAPT, AT_VACATED, AT_KILLED, AT_RELAUNCHED };

struct fake_app {
    uint64_t run;
    uint64_t resize; /* posted; 0: none */
    int32_t size, target, leaving;
    int64_t work_left, since_us; /* processor-microseconds; counted from then */
    bool alive, stuck;
    bool moves;        /* that resize leaves the node from which it is led */
    bool broken;       /* it died in a resize: it can be relaunched */
    uint64_t relaunch; /* the last one wanted; 0: none */
    bool relaunched;   /* that one was done */
};

struct fake_timer {
    uint32_t component;
    uint64_t run, resize;
    enum fake_what what;
    int32_t value;
};

PLEAT_ARRAY(fake_apps, struct fake_app);
PLEAT_ARRAY(fake_timers, struct fake_timer);

struct fake_runner {
    struct pleat_runner base;
    struct pleat_fake_runner_options options;
    struct pleat_random random;
    struct fake_apps apps; /* by component */
    struct fake_timers timers;
};

static void on_timer(void *arg, uint64_t token);

static bool happens(struct fake_runner *runner, double probability)
{
    return pleat_random_unit(&runner->random) < probability;
}

static int64_t some(struct fake_runner *runner, int64_t most)
{
    return (int64_t)pleat_random_below(&runner->random, (uint64_t)most + 1);
}

static void set_timer(struct fake_runner *runner, struct fake_timer timer, int64_t delay_us)
{
    if (pleat_array_push(&runner->timers, timer))
        return;
    runner->base.host->later(runner->base.host->arg, delay_us, on_timer, runner,
                             runner->timers.count - 1);
}

static void emit_exit(struct fake_runner *runner, uint16_t kind, uint32_t component, uint64_t run,
                      int32_t code, int32_t signal, enum pleat_reason reason)
{
    struct pleat_event event = {
        .kind = kind,
        .component = component,
        .u.exit = {.run = run, .code = code, .signal = signal, .reason = reason}};
    runner->base.host->emit(runner->base.host->arg, &event);
}

static void emit_change(struct fake_runner *runner, uint16_t kind, uint32_t component,
                        uint64_t resize, int32_t size)
{
    struct pleat_event event = {
        .kind = kind,
        .component = component,
        .u.change = {.resize = resize, .processors = size, .processes = size}};
    runner->base.host->emit(runner->base.host->arg, &event);
}

/* Work done since the last look, at the present size. */
static void account(struct fake_runner *runner, struct fake_app *app)
{
    int64_t now = runner->base.host->now_us(runner->base.host->arg);
    app->work_left -= (now - app->since_us) * app->size;
    app->since_us = now;
}

static void schedule_end(struct fake_runner *runner, uint32_t component)
{
    struct fake_app *app = &runner->apps.items[component];
    if (app->size < 1)
        return;
    int64_t left = app->work_left > 0 ? app->work_left : 0;
    struct fake_timer timer = {
        .component = component, .run = app->run, .what = AT_EXIT, .value = app->size};
    set_timer(runner, timer, left / app->size + 1);
}

static void die(struct fake_runner *runner, uint32_t component, int32_t code, int32_t signal,
                enum pleat_reason reason)
{
    struct fake_app *app = &runner->apps.items[component];
    app->alive = false;
    app->broken = reason == PLEAT_REASON_BROKEN;
    app->size = app->leaving = 0;
    emit_exit(runner, PLEAT_EV_EXITED, component, app->run, code, signal, reason);
}

static int fake_start(struct pleat_runner *base, const struct pleat_run_order *order,
                      struct pleat_error *err)
{
    struct fake_runner *runner = (struct fake_runner *)base;
    while (runner->apps.count <= order->component) {
        struct fake_app none = {0};
        if (pleat_array_push(&runner->apps, none))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    struct fake_app *app = &runner->apps.items[order->component];
    if (app->run == order->run)
        return 0;
    *app = (struct fake_app){.run = order->run, .size = order->processes, .alive = true};
    struct fake_timer timer = {
        .component = order->component, .run = order->run, .what = AT_STARTED};
    set_timer(runner, timer, some(runner, runner->options.start_delay_us));
    return 0;
}

static int fake_ask(struct pleat_runner *base, const struct pleat_change_order *order,
                    struct pleat_error *err)
{
    (void)err;
    struct fake_runner *runner = (struct fake_runner *)base;
    int32_t answer = order->processes;
    int32_t change = order->processes - order->from;
    if (happens(runner, runner->options.refuse))
        answer = order->from;
    else if (happens(runner, runner->options.refuse))
        answer = order->from + change / 2;
    else if (happens(runner, runner->options.overaccept))
        answer = order->processes + (change > 0 ? 3 : -3);
    struct fake_timer timer = {.component = order->component,
                               .run = order->run,
                               .resize = order->resize,
                               .what = AT_ANSWER,
                               .value = answer};
    set_timer(runner, timer, some(runner, runner->options.adapt_us));
    if (happens(runner, runner->options.answer_twice))
        set_timer(runner, timer, some(runner, runner->options.adapt_us));
    return 0;
}

static int fake_resize(struct pleat_runner *base, const struct pleat_change_order *order,
                       struct pleat_error *err)
{
    (void)err;
    struct fake_runner *runner = (struct fake_runner *)base;
    struct fake_app *app = &runner->apps.items[order->component];
    if (app->run != order->run || !app->alive || app->resize == order->resize)
        return 0;
    app->resize = order->resize;
    app->target = order->processes;
    app->moves = order->moves;
    app->stuck = happens(runner, runner->options.stuck);
    if (app->stuck || happens(runner, runner->options.ignore))
        return 0;
    struct fake_timer timer = {.component = order->component,
                               .run = order->run,
                               .resize = order->resize,
                               .what = AT_ADAPT};
    set_timer(runner, timer, some(runner, runner->options.adapt_us));
    return 0;
}

static int fake_withdraw(struct pleat_runner *base, const struct pleat_change_order *order,
                         struct pleat_error *err)
{
    (void)err;
    struct fake_runner *runner = (struct fake_runner *)base;
    struct fake_app *app = &runner->apps.items[order->component];
    if (app->run != order->run || !app->alive || app->resize != order->resize || app->stuck)
        return 0;
    app->resize = 0;
    emit_change(runner, PLEAT_EV_WITHDRAWN, order->component, order->resize, app->size);
    return 0;
}

static int fake_kill(struct pleat_runner *base, const struct pleat_run_order *order,
                     struct pleat_error *err)
{
    (void)err;
    struct fake_runner *runner = (struct fake_runner *)base;
    struct fake_timer timer = {.component = order->component, .run = order->run, .what = AT_KILLED};
    if (order->component >= runner->apps.count ||
        runner->apps.items[order->component].run != order->run) { /* nothing was told of it */
        emit_exit(runner, PLEAT_EV_EXITED, order->component, order->run, -1, 0, PLEAT_REASON_LOST);
        return 0;
    }
    set_timer(runner, timer, some(runner, runner->options.vacate_us));
    return 0;
}

static void tell_relaunched(struct fake_runner *runner, uint32_t component)
{
    const struct fake_app *app = &runner->apps.items[component];
    struct pleat_event event = {
        .kind = PLEAT_EV_RELAUNCHED,
        .flags = happens(runner, runner->options.stateless) ? 0 : PLEAT_FROM_STATE,
        .component = component,
        .u.change = {.resize = app->relaunch, .processors = app->size, .processes = app->size}};
    runner->base.host->emit(runner->base.host->arg, &event);
}

static int fake_relaunch(struct pleat_runner *base, const struct pleat_change_order *order,
                         struct pleat_error *err)
{
    (void)err;
    struct fake_runner *runner = (struct fake_runner *)base;
    struct fake_app *app = &runner->apps.items[order->component];
    if (app->run != order->run || (!app->alive && !app->broken))
        return 0; /* it ended, which was told */
    if (app->alive && app->relaunch == order->resize) {
        if (app->relaunched)
            tell_relaunched(runner, order->component);
        return 0;
    }
    account(runner, app);
    app->alive = true;
    app->broken = app->stuck = app->relaunched = false;
    app->resize = 0;
    app->relaunch = order->resize;
    if (happens(runner, runner->options.relaunch_never))
        return 0;
    struct fake_timer timer = {.component = order->component,
                               .run = order->run,
                               .resize = order->resize,
                               .what = AT_RELAUNCHED,
                               .value = order->processes};
    set_timer(runner, timer,
              some(runner, runner->options.vacate_us) +
                  some(runner, runner->options.start_delay_us));
    return 0;
}

/* The old processes are gone; new ones start. */
static void relaunch(struct fake_runner *runner, const struct fake_timer *timer)
{
    struct fake_app *app = &runner->apps.items[timer->component];
    if (app->relaunch != timer->resize || app->relaunched)
        return;
    app->leaving = 0;
    if (happens(runner, runner->options.relaunch_fail)) {
        if (happens(runner, 0.5)) {
            app->alive = false;
            app->size = 0;
            emit_exit(runner, PLEAT_EV_START_FAILED, timer->component, app->run, 0, 0,
                      happens(runner, 0.5) ? PLEAT_REASON_START_USER : PLEAT_REASON_START_SYSTEM);
        } else {
            die(runner, timer->component, 1, 0,
                happens(runner, 0.5) ? PLEAT_REASON_BROKEN : PLEAT_REASON_EXIT);
        }
        return;
    }
    app->size = timer->value;
    app->since_us = runner->base.host->now_us(runner->base.host->arg);
    app->relaunched = true;
    tell_relaunched(runner, timer->component);
    schedule_end(runner, timer->component);
}

static void adapt(struct fake_runner *runner, uint32_t component, uint64_t resize)
{
    struct fake_app *app = &runner->apps.items[component];
    if (app->resize != resize)
        return; /* withdrawn */
    if (happens(runner, runner->options.die_in_resize)) {
        die(runner, component, 0, 9,
            happens(runner, runner->options.broken) ? PLEAT_REASON_BROKEN : PLEAT_REASON_EXIT);
        return;
    }
    app->resize = 0;
    if (happens(runner, runner->options.resize_fail)) {
        emit_change(runner, PLEAT_EV_RESIZE_FAILED, component, resize, app->size);
        return;
    }
    account(runner, app);
    bool shrinks = app->target < app->size;
    app->leaving = shrinks ? app->size - app->target : 0;
    app->size = app->target;
    if (app->moves) { /* it is started elsewhere, in the same run */
        *app = (struct fake_app){0};
        emit_change(runner, PLEAT_EV_MOVED, component, resize, 0);
        return;
    }
    emit_change(runner, PLEAT_EV_APPLIED, component, resize, app->size);
    if (shrinks) {
        struct fake_timer timer = {
            .component = component, .run = app->run, .resize = resize, .what = AT_VACATED};
        set_timer(runner, timer, some(runner, runner->options.vacate_us));
    }
    schedule_end(runner, component);
}

static void started(struct fake_runner *runner, uint32_t component)
{
    struct fake_app *app = &runner->apps.items[component];
    if (happens(runner, runner->options.start_fail)) {
        app->alive = false;
        app->size = 0;
        emit_exit(runner, PLEAT_EV_START_FAILED, component, app->run, 0, 0,
                  happens(runner, 0.5) ? PLEAT_REASON_START_USER : PLEAT_REASON_START_SYSTEM);
        return;
    }
    app->since_us = runner->base.host->now_us(runner->base.host->arg);
    app->work_left = some(runner, runner->options.run_us);
    emit_exit(runner, PLEAT_EV_STARTED, component, app->run, 0, 0, PLEAT_REASON_NONE);
    schedule_end(runner, component);
}

static void on_timer(void *arg, uint64_t token)
{
    struct fake_runner *runner = arg;
    struct fake_timer timer = runner->timers.items[token];
    struct fake_app *app = &runner->apps.items[timer.component];
    if (app->run != timer.run || (!app->alive && !app->broken))
        return;
    if (app->broken && timer.what != AT_KILLED)
        return; /* there is nobody left of it */
    switch (timer.what) {
    case AT_STARTED:
        started(runner, timer.component);
        break;
    case AT_EXIT:
        if (timer.value != app->size || (app->relaunch && !app->relaunched))
            break; /* set for another size: a later one stands; or it is being relaunched */
        if (happens(runner, runner->options.crash))
            die(runner, timer.component, 0, 11, PLEAT_REASON_EXIT);
        else
            die(runner, timer.component, happens(runner, runner->options.crash) ? 3 : 0, 0,
                PLEAT_REASON_EXIT);
        break;
    case AT_ANSWER:
        emit_change(runner, PLEAT_EV_ANSWER, timer.component, timer.resize, timer.value);
        break;
    case AT_ADAPT:
        adapt(runner, timer.component, timer.resize);
        break;
    case AT_VACATED:
        app->leaving = 0;
        emit_change(runner, PLEAT_EV_VACATED, timer.component, timer.resize, app->size);
        break;
    case AT_KILLED:
        die(runner, timer.component, 0, 15, PLEAT_REASON_EXIT);
        break;
    case AT_RELAUNCHED:
        relaunch(runner, &timer);
        break;
    }
}

static int fake_notice(struct pleat_runner *base, uint32_t component, const char *method,
                       const json_t *params, struct pleat_error *err)
{
    (void)base;
    (void)component;
    (void)params;
    return pleat_error_set(err, PLEAT_E_PROTOCOL, "a fake has no agents that say '%s'", method);
}

static void fake_close(struct pleat_runner *base)
{
    struct fake_runner *runner = (struct fake_runner *)base;
    if (!runner)
        return;
    pleat_array_finish(&runner->apps);
    pleat_array_finish(&runner->timers);
    free(runner);
}

static int fake_signal(struct pleat_runner *base, const struct pleat_run_order *order,
                       int32_t number, bool script_only, struct pleat_error *err)
{
    struct fake_runner *runner = (struct fake_runner *)base;
    (void)number;
    (void)script_only;
    (void)err;
    emit_exit(runner, PLEAT_EV_SIGNALLED, order->component, order->run, 0, 0, PLEAT_REASON_NONE);
    return 0;
}

static const struct pleat_runner_ops fake_ops = {
    .name = "fake",
    .capabilities = PLEAT_RUNNER_RESIZES | PLEAT_RUNNER_EMPTIES | PLEAT_RUNNER_RELAUNCHES,
    .start = fake_start,
    .ask = fake_ask,
    .resize = fake_resize,
    .withdraw = fake_withdraw,
    .kill = fake_kill,
    .signal = fake_signal,
    .relaunch = fake_relaunch,
    .notice = fake_notice,
    .close = fake_close,
};

int pleat_fake_runner_open(const struct pleat_fake_runner_options *options,
                           const struct pleat_host *host, struct pleat_runner **out,
                           struct pleat_error *err)
{
    struct fake_runner *runner = calloc(1, sizeof(*runner));
    if (!runner)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    runner->base.ops = &fake_ops;
    runner->base.host = host;
    runner->options = *options;
    pleat_random_init(&runner->random, options->seed);
    *out = &runner->base;
    return 0;
}

void pleat_fake_runner_give_back(struct pleat_runner *base, uint32_t component, int32_t count)
{
    struct fake_runner *runner = (struct fake_runner *)base;
    struct fake_app *app = &runner->apps.items[component];
    account(runner, app);
    app->size -= count;
    schedule_end(runner, component);
}

int32_t pleat_fake_runner_processes(const struct pleat_runner *base, uint32_t component)
{
    const struct fake_runner *runner = (const struct fake_runner *)base;
    if (component >= runner->apps.count || !runner->apps.items[component].alive)
        return 0;
    return runner->apps.items[component].size + runner->apps.items[component].leaving;
}

void pleat_fake_runner_lose(struct pleat_runner *base, uint32_t component)
{
    struct fake_runner *runner = (struct fake_runner *)base;
    struct fake_app none = {0};
    if (component < runner->apps.count)
        runner->apps.items[component] = none;
}

void pleat_fake_runner_add(struct pleat_runner *base, uint32_t component, int32_t more)
{
    struct fake_runner *runner = (struct fake_runner *)base;
    if (component >= runner->apps.count || !runner->apps.items[component].alive ||
        runner->apps.items[component].since_us == 0)
        return;
    account(runner, &runner->apps.items[component]);
    runner->apps.items[component].size += more;
    schedule_end(runner, component);
}
