/* Effects of the core become requests to sites, runners and agents. */
#include <string.h>

#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/asked_text.h"
#include "daemon/carry_out.h"
#include "daemon/checkpoint_times.h"
#include "daemon/couriers.h"
#include "daemon/daemon.h"
#include "daemon/files.h"
#include "daemon/inputs.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/parts.h"
#include "daemon/processes.h"
#include "daemon/runs.h"
#include "daemon/sites.h"
#include "daemon/specs.h"
#include "daemon/start_order.h"
#include "daemon/times.h"
#include "daemon/turn_inputs.h"
#include "daemon/ways.h"

static void start_failed(struct daemon *d, const struct pleat_effect *effect, struct job *job,
                         const struct pleat_error *err)
{
    note_make(d, daemon_now_us(d), "warning", job->id, note_text(err->text));
    struct pleat_event failed = {
        .kind = PLEAT_EV_START_FAILED,
        .component = effect->component,
        .u.exit = {.run = effect->id,
                   .reason = err->code == PLEAT_E_SYSTEM || err->code == PLEAT_E_NOMEM ||
                                     pleat_core_is_moving(d->core, effect->component)
                                 ? PLEAT_REASON_START_SYSTEM
                                 : PLEAT_REASON_START_USER}};
    turn_event(d, &failed);
}

/* Whether the connected agent has the features that the job needs. */
static int check_agent(struct daemon *d, const struct pleat_run_order *order,
                       struct pleat_error *err)
{
    const char *const needed[] = {
        order->spec->cpus_per_task ? PLEAT_FEATURE_TASKS : NULL,
        order->spec->terminal ? PLEAT_FEATURE_TERMINAL : NULL,
        order->terminal_far ? PLEAT_FEATURE_WINDOW : NULL,
        order->node_count || order->stdin_sent || order->apart ? PLEAT_FEATURE_STREAMS : NULL,
        order->node_count ? PLEAT_FEATURE_PLACES : NULL};
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        if (needed[i] && !agent_knows(d, order->site, order->node, needed[i]))
            return pleat_error_set(
                err, PLEAT_E_UNSUPPORTED,
                "the agent was started before Pleat was upgraded, and does not "
                "know '%s': when the jobs that run have ended, 'pleat stop' ends that agent, and "
                "then the job can be submitted again",
                needed[i]);
    return 0;
}

static int start(struct daemon *d, const struct job *job, struct pleat_runner *runner,
                 struct start_order *made, struct pleat_error *err)
{
    int rc = job_directory_make(d, job->id, err);
    if (!rc)
        rc = check_agent(d, &made->order, err);
    for (size_t i = 1; !rc && i < made->order.node_count; i++) /* needed in a moment */
        agent_reach(d, made->order.site, made->order.nodes[i].node);
    if (!rc)
        run_note(d, job->id, made->order.run);
    if (!rc && job_spec(d, job->id)->script && !made->order.apart)
        rc = job_script_make(d, job, made->program, err);
    return rc ? rc : runner->ops->start(runner, &made->order, err);
}

/* False: the start was given up in the turn that asked for it, or the connected agent is not the
 * one that the core knows. In the second case the core asks again after AGENT_BACK, if it still
 * wants it. */
static bool is_to_start(struct daemon *d, const struct pleat_effect *effect)
{
    const struct pleat_component *c = &pleat_core_view(d->core)->components[effect->component];
    return (c->state == PLEAT_CLAIMING || pleat_core_is_moving(d->core, effect->component)) &&
           c->starting && c->run == effect->id && agent_is_known(d, c->site, c->lead_node);
}

/* The run goes on on another node than before. */
static int go_on_elsewhere(struct daemon *d, struct job *job, struct pleat_run_order *order,
                           struct pleat_error *err)
{
    const struct pleat_component *component = job_component(d, job);
    const struct pleat_resize *resize = pleat_core_resize(d->core, component->resize);
    order->truncate = false;
    order->before = parts_kept_on(d, order->run, order->site, order->node, &order->last_part);
    order->resize = resize->id;
    order->from_processors = resize->from;
    order->occasion =
        pleat_resize_is_by_site(resize) ? PLEAT_OCCASION_TAKEN : PLEAT_OCCASION_POLICY;
    if (job->left_run)
        parts_forget_lead(d, order->site, job->left_node, job->left_run);
    job->left_run = 0;
    if (!order->before)
        return pleat_error_set(err, PLEAT_E_SYSTEM,
                               "its state is lost: the agent of the node on which it was to go on "
                               "does not have it any more");
    return order->apart || order->stdin_sent
               ? pleat_error_set(err, PLEAT_E_UNSUPPORTED, "its files are sent there")
               : 0;
}

static void do_start(struct daemon *d, const struct pleat_effect *effect);

/* Its files are open, or cannot be. */
static void go_on(struct daemon *d, const struct pleat_effect *start, const struct pleat_error *why)
{
    struct job *job = job_of_component(d, start->component);
    if (!why)
        do_start(d, start);
    else if (job && is_to_start(d, start))
        start_failed(d, start, job, why);
}

static void do_start(struct daemon *d, const struct pleat_effect *effect)
{
    struct pleat_error err = {0};
    struct start_order made;
    struct job *job = job_of_component(d, effect->component);
    if (!job || !is_to_start(d, effect))
        return;
    run_remember(d, effect->id, effect->component);
    times_recall(d, job);
    processes_recall(d, job);
    int rc = start_order_make(d, job, effect->id, effect->u.run.processes, effect->u.run.processors,
                              &made, &err);
    bool moves = pleat_core_is_moving(d->core, effect->component);
    if (!rc && moves)
        rc = go_on_elsewhere(d, job, &made.order, &err);
    if (!rc && !made.order.apart && !moves)
        made.order.from = checkpoint_to_go_on_from(d, job);
    if (!rc && made.order.apart)
        rc = job_directory_make(d, job->id, &err);
    if (!rc && made.order.apart)
        rc = couriers_open(d, job, effect, made.order.truncate, go_on, &err);
    if (!rc)
        rc = start(d, job, job_runner(d, job), &made, &err);
    start_order_finish(&made);
    if (rc >= 0)
        return;
    start_failed(d, effect, job, &err);
    daemon_log("job %lld: %s", (long long)job->id, err.text);
}

/* An order that only identifies a run to its agent: without the spec, which may be lost. */
static struct pleat_run_order order_of(struct daemon *d, const struct job *job, uint64_t run)
{
    const struct pleat_component *component = job_component(d, job);
    return (struct pleat_run_order){.run = run,
                                    .component = job->component,
                                    .job = (uint64_t)job->id,
                                    .site = component->site,
                                    .node = component->lead_node};
}

/* Needs no spec: a job whose spec is lost can still be ended. */
static void do_kill(struct daemon *d, const struct pleat_effect *effect)
{
    struct pleat_error err = {0};
    struct job *job = job_of_component(d, effect->component);
    if (!job)
        return;
    /* also a run whose start was given up (is_to_start): its end is that no agent has it */
    run_remember(d, effect->id, effect->component);
    struct pleat_run_order order = order_of(d, job, effect->id);
    struct pleat_runner *runner = job_runner(d, job);
    order.at_once = job->kill_at_once;
    if (runner->ops->kill(runner, &order, &err)) /* repeated by the core at the deadline */
        daemon_log("job %lld: %s", (long long)job->id, err.text);
}

static void do_signal(struct daemon *d, const struct pleat_effect *effect)
{
    struct pleat_error err = {0};
    struct job *job = job_of_component(d, effect->component);
    if (!job)
        return;
    struct pleat_run_order order = order_of(d, job, effect->id);
    struct pleat_runner *runner = job_runner(d, job);
    order.spec = job_spec(d, job->id);
    if (runner->ops->signal(runner, &order, effect->u.signal.number, effect->u.signal.script_only,
                            &err))
        daemon_log("job %lld: %s", (long long)job->id, err.text);
    if (!effect->u.signal.script_only)
        parts_signal(d, effect->id, effect->u.signal.number);
}

/* Tells a program what has become of what it asked for. */
static void do_answer(struct daemon *d, const struct pleat_effect *effect)
{
    struct pleat_error err = {0};
    char text[160];
    const struct job *job = job_of_component(d, effect->component);
    if (!job)
        return;
    const struct pleat_component *component = job_component(d, job);
    const struct pleat_ask *ask = pleat_view_ask(pleat_core_view(d->core), component);
    if (ask->number != effect->u.asked.number)
        return; /* the program asks for something else by now */
    asked_reason(d, component, ask, text, sizeof(text));
    json_t *params = json_pack("{s:I, s:I, s:b, s:s}", "run", (json_int_t)effect->u.asked.run,
                               "number", (json_int_t)effect->u.asked.number, "granted",
                               effect->u.asked.state == PLEAT_ASK_GRANTED, "reason", text);
    if (!params || agent_send(d, component->site, component->lead_node, "answer", params, &err))
        daemon_log("job %lld: %s", (long long)job->id, err.text); /* told again when it is back */
}

void carry_out_kill(struct daemon *d, struct job *job)
{
    const struct pleat_component *component = job_component(d, job);
    struct pleat_effect effect = {
        .kind = PLEAT_DO_KILL, .component = job->component, .id = component->run};
    job->kill_at_once = true;
    if (component->state == PLEAT_FINISHING && !component->exited)
        do_kill(d, &effect);
}

static int change(struct pleat_runner *runner, const struct pleat_effect *effect,
                  const struct pleat_change_order *order, struct pleat_error *err)
{
    switch (effect->kind) {
    case PLEAT_DO_ASK:
        return runner->ops->ask(runner, order, err);
    case PLEAT_DO_RESIZE:
        return runner->ops->resize(runner, order, err);
    case PLEAT_DO_RELAUNCH:
        return runner->ops->relaunch
                   ? runner->ops->relaunch(runner, order, err)
                   : pleat_error_set(err, PLEAT_E_UNSUPPORTED, "the runner '%s' cannot relaunch",
                                     runner->ops->name);
    default:
        return runner->ops->withdraw(runner, order, err);
    }
}

/* Whether repeating the request would fail again: the spec is lost, or invalid. */
static bool is_for_good(const struct pleat_error *err)
{
    return err->code == PLEAT_E_CORRUPT || err->code == PLEAT_E_NOTFOUND ||
           err->code == PLEAT_E_INVALID || err->code == PLEAT_E_UNSUPPORTED;
}

/* A request about a resize could not be sent. That ends the resize, unless it is a relaunch, which
 * is asked for again when its agent is back. for_good: no agent could do it. */
static void change_failed(struct daemon *d, const struct pleat_effect *effect,
                          const struct job *job, bool for_good, const struct pleat_error *err)
{
    struct pleat_event failed = {.kind = PLEAT_EV_RESIZE_FAILED,
                                 .flags = effect->kind == PLEAT_DO_RELAUNCH ? PLEAT_NO_RELAUNCH : 0,
                                 .component = effect->component,
                                 .u.change = {.resize = effect->id}};
    daemon_log("job %lld: %s", (long long)job->id, err->text);
    note_make(d, daemon_now_us(d), "warning", job->id, note_text(err->text));
    if (effect->kind == PLEAT_DO_RESIZE || (effect->kind == PLEAT_DO_RELAUNCH && for_good))
        turn_event(d, &failed);
}

/* Whether the agents of all nodes that the order names can have ranks wait there for those before
 * them, also where these are on the same node. */
static bool knows_to_wait(struct daemon *d, const struct pleat_run_order *order)
{
    bool all = agent_knows(d, order->site, order->node, PLEAT_FEATURE_WAITS);
    for (size_t i = 0; i < order->node_count; i++) {
        const struct agent *agent = agent_get(d, order->site, order->nodes[i].node);
        /* an agent that is still to be started is of this version */
        all = all && (!agent || !agent->connection ||
                      agent_knows(d, order->site, order->nodes[i].node,
                                  order->nodes[i].node == order->node ? PLEAT_FEATURE_WAITS
                                                                      : PLEAT_FEATURE_BESIDE));
    }
    return all;
}

/* Whether a job can leave the node from which it is led, for the first of those in the order. */
static int check_move(struct daemon *d, const struct pleat_change_order *order,
                      struct pleat_error *err)
{
    const struct pleat_run_order *start = order->start;
    uint32_t next = start->node_count ? start->nodes[0].node : order->node;
    if (start->apart || start->nodes_apart || start->stdin_sent)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "it cannot leave the node from which it is led: its files are sent "
                               "there, as that does not see those of the host where it was "
                               "submitted");
    if (agent_lacks(d, order->site, order->node, PLEAT_FEATURE_MOVES) ||
        agent_lacks(d, order->site, next, PLEAT_FEATURE_MOVES))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "it cannot leave the node from which it is led: an agent of it was "
                               "started before Pleat was upgraded");
    return 0;
}

static void do_change(struct daemon *d, const struct pleat_effect *effect)
{
    struct pleat_error err = {0};
    struct start_order made = {.slots = {0}};
    struct job *job = job_of_component(d, effect->component);
    if (!job)
        return;
    const struct pleat_component *component = job_component(d, job);
    if ((effect->kind == PLEAT_DO_RESIZE || effect->kind == PLEAT_DO_WITHDRAW) &&
        parts_change_is_for(d, component)) {
        int failed = parts_change(d, effect, &err);
        if (failed && failed != PLEAT_E_BUSY) /* an agent that has not called yet: as below */
            change_failed(d, effect, job, true, &err);
        return;
    }
    struct pleat_change_order order = {
        .run = effect->u.change.run,
        .resize = effect->id,
        .component = effect->component,
        .site = component->site,
        .node = component->lead_node,
        .from = effect->u.change.from,
        .processes = effect->u.change.processors,
        .processors = effect->u.change.processors,
        .mandatory = effect->flags & PLEAT_MANDATORY,
        .occasion = pleat_occasion_of(effect->flags),
    };
    int rc = 0;
    if (effect->kind == PLEAT_DO_RESIZE || effect->kind == PLEAT_DO_RELAUNCH) {
        order.processes = effect->u.change.processes;
        order.start = &made.order;
        order.way = ways_chosen(d, job, effect->id);
        order.anew = pleat_view_is_unbegun(pleat_core_view(d->core), component);
        rc = start_order_make(d, job, effect->u.change.run, effect->u.change.processes,
                              effect->u.change.processors, &made, &err);
        order.spread = made.order.node_count || parts_has(d, effect->u.change.run);
        order.warm = order.spread && knows_to_wait(d, &made.order);
        /* an agent that is not there yet gets the request when it is, and may have all needed
         * features */
        if (!rc && order.spread && agent_is_known(d, order.site, order.node))
            rc = check_agent(d, &made.order, &err);
        order.moves = effect->kind == PLEAT_DO_RESIZE && pleat_core_moves(d->core, job->component);
        if (!rc && order.moves && agent_is_known(d, order.site, order.node))
            rc = check_move(d, &order, &err);
    }                         /* PLEAT_DO_ASK and PLEAT_DO_WITHDRAW need nothing from the spec */
    if (rc == PLEAT_E_BUSY) { /* an agent has not called yet: then the core asks again */
        start_order_finish(&made);
        return;
    }
    bool for_good = rc && is_for_good(&err);
    if (!rc)
        rc = change(job_runner(d, job), effect, &order, &err);
    start_order_finish(&made);
    if (rc)
        change_failed(d, effect, job, for_good, &err);
}

static bool is_of_script(struct daemon *d, int64_t job)
{
    struct pleat_error ignored;
    return json_is_string(json_object_get(spec_json(d, job, &ignored), "script"));
}

static void forget(struct daemon *d, const struct pleat_component *component, uint64_t run)
{
    struct pleat_error err = {0};
    json_t *params = json_pack("{s:I}", "run", (json_int_t)run);
    uint32_t site = component->site == PLEAT_NONE ? 0 : component->site;
    if (!params || agent_send(d, site, component->lead_node, "forget", params, &err))
        daemon_log("run %llu: %s", (unsigned long long)run, err.text);
    parts_forget(d, run);
    couriers_forget(d, run);
    run_forget(d, run);
}

/* Once the log says that a run is over, its agent may forget it. */
static void do_state(struct daemon *d, const struct pleat_effect *effect)
{
    const struct job *job = job_of_component(d, effect->component);
    bool is_final = pleat_component_state_is_final((enum pleat_component_state)effect->u.state.to);
    if (job && is_final && is_of_script(d, job->id)) /* specs are read for ends only */
        job_script_remove(d, job->id);
    const struct pleat_component *component =
        &pleat_core_view(d->core)->components[effect->component];
    if (job && effect->u.state.to == PLEAT_RUNNING)
        checkpoint_times_watch(d, job);
    bool over = is_final || effect->u.state.to == PLEAT_QUEUED;
    /* it may have its next run already, on what it has kept */
    bool waits = is_final || component->state == PLEAT_QUEUED;
    for (uint64_t run;
         over && (run = run_besides(d, effect->component, waits ? 0 : component->run));)
        forget(d, component, run);
}

/* pleatd can neither bring files nor add processes, so it takes no job that needs that. If a log of
 * another Pleat has such a job, the job's effect fails with an error, so that it does not wait for
 * ever. */
static void do_nothing(struct daemon *d, const struct pleat_effect *effect)
{
    struct pleat_error err = {0};
    struct job *job = job_of_component(d, effect->component);
    if (!pleat_effect_unsupported(effect, "pleatd", &err) || !job)
        return;
    daemon_log("job %lld: %s", (long long)job->id, err.text);
    note_make(d, daemon_now_us(d), "warning", job->id, note_text(err.text));
    struct pleat_event failed = {
        .kind = PLEAT_EV_STAGE_FAILED,
        .component = effect->component,
        .u.staged = {.number = effect->id, .reason = PLEAT_REASON_START_USER}};
    if (effect->kind == PLEAT_DO_STAGE)
        turn_event(d, &failed);
}

void carry_out(struct daemon *d, const struct pleat_effect *effect)
{
    switch (effect->kind) {
    case PLEAT_DO_CLAIM:
    case PLEAT_DO_SPLIT:
    case PLEAT_DO_RELEASE:
        sites_carry_out(d, effect);
        if (effect->kind == PLEAT_DO_RELEASE)
            parts_released(d);
        if (effect->kind == PLEAT_DO_RELEASE)
            processes_released(d, effect->id);
        break;
    case PLEAT_DO_PREPARE:
    case PLEAT_DO_UNPREPARE:
    case PLEAT_DO_LEAVE:
        processes_carry_out(d, effect);
        break;
    case PLEAT_DO_NODE:
        sites_node_shut(d, effect->u.node.site, effect->u.node.node, effect->u.node.shut);
        break;
    case PLEAT_DO_REACH:
        agent_reach(d, effect->u.reach.site, effect->u.reach.node);
        break;
    case PLEAT_DO_START:
        do_start(d, effect);
        break;
    case PLEAT_DO_KILL:
        do_kill(d, effect);
        break;
    case PLEAT_DO_SIGNAL:
        do_signal(d, effect);
        break;
    case PLEAT_DO_ANSWER:
        do_answer(d, effect);
        break;
    case PLEAT_DO_ASK:
    case PLEAT_DO_RESIZE:
    case PLEAT_DO_WITHDRAW:
    case PLEAT_DO_RELAUNCH:
        do_change(d, effect);
        break;
    case PLEAT_NOTE_STATE:
        do_state(d, effect);
        break;
    default:
        do_nothing(d, effect);
        break;
    }
}
