/* Compares what an agent runs with what the core knows. */
#include <string.h>

#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/architectures.h"
#include "daemon/checkpoints.h"
#include "daemon/couriers.h"
#include "daemon/inputs.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/outputs.h"
#include "daemon/parts.h"
#include "daemon/parts_exit.h"
#include "daemon/parts_output.h"
#include "daemon/processes.h"
#include "daemon/runs.h"
#include "daemon/salvage.h"
#include "daemon/turn_inputs.h"

static void lost(struct daemon *d, uint32_t component, uint64_t run)
{
    struct pleat_event event = {.kind = PLEAT_EV_EXITED,
                                .component = component,
                                .u.exit = {.run = run, .code = -1, .reason = PLEAT_REASON_LOST}};
    json_t *params = json_pack("{s:I, s:i, s:b}", "run", (json_int_t)run, "code", -1, "lost", true);
    if (!parts_hold(d, run, params))
        turn_event(d, &event);
    json_decref(params);
}

/* Reports as lost all runs that are led from the agent's node and are not among `alive`: nobody can
 * reach their processes any more. Starts that are not answered are left to the core, which knows
 * whether another agent may have carried them out; after a salvage it does not know that, so they
 * are lost, too. */
static void lose_runs(struct agent *agent, const json_t *alive)
{
    struct daemon *d = agent->daemon;
    const struct pleat_view *view = pleat_core_view(d->core);
    for (size_t i = 0; i < d->runs.count; i++) {
        const struct pleat_component *component = &view->components[d->runs.items[i].component];
        bool known = false;
        size_t index;
        json_t *entry;
        if (agent_of_run(d, &d->runs.items[i]) != agent || component->exited)
            continue;
        json_array_foreach(alive, index, entry) known =
            known ||
            (uint64_t)json_integer_value(json_object_get(entry, "run")) == d->runs.items[i].run;
        if (known)
            continue;
        bool open = !agent->settled && d->runs.items[i].run < d->salvage.runs_below;
        if (open && component->state != PLEAT_FINISHING)
            salvage_cancel(d, d->runs.items[i].component);
        if (!component->starting || open)
            lost(d, d->runs.items[i].component, d->runs.items[i].run);
    }
}

void agent_runs_gone(struct agent *agent)
{
    struct daemon *d = agent->daemon;
    agent->gone = true;
    for (size_t i = 0; i < d->runs.count; i++) {
        uint32_t component = d->runs.items[i].component;
        if (agent_of_run(d, &d->runs.items[i]) == agent &&
            !pleat_core_view(d->core)->components[component].exited)
            lost(d, component, d->runs.items[i].run);
    }
    json_decref(agent->runs);
    agent->runs = NULL; /* as if it had said that it runs nothing */
    parts_listed(agent);
}

void agent_runs_ask(struct agent *agent, int64_t after)
{
    struct pleat_string out = {0};
    agent->list_id = agent->next_id++;
    if (pleat_write_request(&out, agent->list_id, "list",
                            json_pack("{s:I}", "after", (json_int_t)after)) ||
        pleat_connection_send(agent->connection, &out))
        daemon_log("the agent of node %u cannot be reached", agent->node);
    pleat_string_finish(&out);
}

/* Whether, after a salvage, all agents of runs that the log knows have said what they run. */
static bool is_settled(struct daemon *d)
{
    for (size_t i = 0; i < d->runs.count; i++) {
        const struct agent *agent = d->runs.items[i].run < d->salvage.runs_below
                                        ? agent_of_run(d, &d->runs.items[i])
                                        : NULL;
        if (agent && !agent->settled)
            return false;
    }
    return true;
}

/* The agent has listed all its runs. Runs that the core believes to be there and that are not are
 * lost. Runs that the core does not know are killed. Then AGENT_BACK has the core repeat its
 * requests. */
static void on_all_listed(struct agent *agent)
{
    struct daemon *d = agent->daemon;
    size_t index;
    json_t *entry;
    lose_runs(agent, agent->runs);
    agent->listed = agent->settled = true;
    parts_listed(agent);
    parts_output_listed(agent);
    inputs_listed(agent);
    outputs_listed(agent);
    terminals_listed(agent);
    couriers_listed(agent);
    if (is_settled(d))
        salvage_settled(d);
    json_array_foreach(agent->runs, index, entry)
    {
        json_int_t run = json_integer_value(json_object_get(entry, "run"));
        struct pleat_error err = {0};
        if (run_component(d, parts_run_of((uint64_t)run)) == PLEAT_NONE &&
            agent_send(d, agent->site, agent->node, "kill",
                       json_pack("{s:I, s:f}", "run", run, "grace_s", 1.0), &err))
            daemon_log("run %lld: %s", (long long)run, err.text);
    }
    json_decref(agent->runs);
    agent->runs = NULL;
    architectures_listed(agent);
    agent_tell_back(agent);
    if (d->sites[agent->site]->ops->agent)
        d->sites[agent->site]->ops->agent(d->sites[agent->site], agent->node, true);
}

void agent_runs_listed(struct agent *agent, const json_t *result)
{
    json_t *page = json_object_get(result, "runs");
    if (!agent->runs)
        agent->runs = json_array();
    if (!agent->runs || (page && json_array_extend(agent->runs, page))) {
        daemon_log("out of memory: the runs of node %u are not known", agent->node);
        return;
    }
    size_t count = json_array_size(page);
    if (count > 0 && json_is_true(json_object_get(result, "more")))
        agent_runs_ask(agent,
                       json_integer_value(json_object_get(json_array_get(page, count - 1), "run")));
    else
        on_all_listed(agent);
}

/* The agent refused to start a run; it has not tried. */
static void start_refused(struct daemon *d, uint32_t component, uint64_t run,
                          const struct pleat_error *why)
{
    bool senseless = why->code == PLEAT_E_INVALID || why->code == PLEAT_E_UNSUPPORTED;
    struct pleat_event failed = {
        .kind = PLEAT_EV_START_FAILED,
        .component = component,
        .u.exit = {.run = run,
                   .reason = senseless ? PLEAT_REASON_START_USER : PLEAT_REASON_START_SYSTEM}};
    note_make(d, daemon_now_us(d), "warning", job_of_component(d, component)->id,
              note_text(why->text));
    turn_event(d, &failed);
}

void agent_refused(struct agent *agent, const struct asked *asked, const struct pleat_error *why)
{
    struct daemon *d = agent->daemon;
    uint32_t component = run_component(d, parts_run_of(asked->run));
    bool unknown = why->code == PLEAT_E_NOTFOUND;
    if (!unknown)
        daemon_log("agent of node %u: %s", agent->node, why->text);
    if (component == PLEAT_NONE)
        return;
    if (parts_change_refused(agent, component, asked, why))
        return;
    if (parts_is_other(agent, component)) {
        parts_refused(agent, asked, why);
    } else if (!strcmp(asked->method, "checkpoint")) {
        checkpoint_settle(d, (int64_t)asked->resize, NULL, why);
        checkpoint_times_refused(d, job_of_component(d, component), (int64_t)asked->resize, why);
    } else if (!strcmp(asked->method, "start")) {
        start_refused(d, component, asked->run, why);
    } else if (strstr(asked->method, "prepare")) {
        processes_refused(d, asked->run, asked->resize, !strcmp(asked->method, "prepare"));
    } else if (strcmp(asked->method, "resize") && unknown) {
        lost(d, component, asked->run); /* the agent has no such run: it will report no end */
    } else if (strcmp(asked->method, "kill") && !unknown && why->code != PLEAT_E_BUSY) {
        bool again = !strcmp(asked->method, "relaunch");
        struct pleat_event failed = {.kind = PLEAT_EV_RESIZE_FAILED,
                                     .flags = again ? PLEAT_NO_RELAUNCH : 0,
                                     .component = component,
                                     .u.change = {.resize = asked->resize}};
        note_make(d, daemon_now_us(d), "warning", job_of_component(d, component)->id,
                  note_text(why->text));
        turn_event(d, &failed);
    }
}
