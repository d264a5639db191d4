/* Notices of agents about runs: progress, use, limits, resizes, ends. */
#include <string.h>

#include "daemon/account.h"
#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/agents.h"
#include "daemon/architectures.h"
#include "daemon/asked.h"
#include "daemon/checkpoints.h"
#include "daemon/declared.h"
#include "daemon/inputs.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/outputs.h"
#include "daemon/parts.h"
#include "daemon/parts_exit.h"
#include "daemon/parts_output.h"
#include "daemon/processes.h"
#include "daemon/runs.h"
#include "daemon/said.h"
#include "daemon/times.h"
#include "daemon/turn_inputs.h"

static int64_t cost_of(const json_t *params, const char *name)
{
    return json_integer_value(json_object_get(params, name));
}

/* An agent says what a run used when the run has ended. */
static void note_use(struct daemon *d, const struct job *job, const json_t *params)
{
    if (json_is_integer(json_object_get(params, "cpu_us")))
        note_make(d, daemon_now_us(d), "used", job->id,
                  json_pack("{s:f, s:I, s:I}", "cpu_s", (double)cost_of(params, "cpu_us") / 1e6,
                            "max_rss_kb", (json_int_t)cost_of(params, "max_rss_kb"), "memory_kb",
                            (json_int_t)cost_of(params, "memory_kb")));
}

/* A run was started again from a state: its resize says why, this says where it goes on. An agent
 * may tell it again. */
static void note_went_on(struct daemon *d, struct job *job, const json_t *params)
{
    char text[96];
    uint64_t resize = (uint64_t)cost_of(params, "resize");
    if (resize <= job->went_on)
        return;
    job->went_on = resize;
    snprintf(text, sizeof(text), "started again: it goes on from iteration %lld",
             (long long)cost_of(params, "iteration"));
    note_make(d, daemon_now_us(d), "warning", job->id, note_text(text));
}

/* A run has left the node that led it. Its agent there forgets it when it has been started
 * elsewhere. */
static void note_left(struct daemon *d, struct job *job, const json_t *params)
{
    char text[160];
    snprintf(text, sizeof(text),
             "it leaves the node from which it was led, and is started again on another one that "
             "it has: it goes on from iteration %lld",
             (long long)cost_of(params, "iteration"));
    note_make(d, daemon_now_us(d), "warning", job->id, note_text(text));
    job->left_run = (uint64_t)cost_of(params, "run");
    job->left_node = job_component(d, job)->lead_node;
}

/* False: the cost was known. */
static bool learn_cost(struct daemon *d, struct job *job, const json_t *params)
{
    const char *way = json_string_value(json_object_get(params, "way"));
    struct change_cost cost = {.wait_us = cost_of(params, "wait_us"),
                               .processes_us = cost_of(params, "processes_us"),
                               .redistribute_us = cost_of(params, "redistribute_us"),
                               .total_us = cost_of(params, "total_us"),
                               .bytes = cost_of(params, "bytes"),
                               .instead = json_object_get(params, "instead")};
    if (way && pleat_resize_way_parse(way, &cost.way, NULL))
        cost.way = PLEAT_WAY_AUTO;
    return account_cost(job_account(d, job), cost_of(params, "resize"), &cost);
}

static void learn(struct daemon *d, struct job *job, const char *method, const json_t *params)
{
    const char *text = json_string_value(json_object_get(params, "text"));
    bool news = true;
    if (!strcmp(method, "applied")) { /* the job's account keeps it until its note is written */
        news = learn_cost(d, job, params);
        if (news)
            job->redistributed_from = job_component(d, job)->processors;
        job->redistributed_size = (int32_t)cost_of(params, "processes");
        job->redistributed_us = cost_of(params, "redistribute_us");
        job->paused_us = job->redistributed_us + cost_of(params, "processes_us");
        text = json_string_value(json_object_get(params, "warning"));
        if (!text)
            text = json_string_value(json_object_get(params, "instead"));
    }
    if (!strcmp(method, "exited"))
        note_use(d, job, params);
    if (!strcmp(method, "exited") && cost_of(params, "moved"))
        note_left(d, job, params);
    if (!strcmp(method, "relaunched") && json_is_true(json_object_get(params, "from_state")))
        note_went_on(d, job, params);
    if (text && news)
        note_make(d, daemon_now_us(d), "warning", job->id, note_text(text));
}

static void learn_progress(struct daemon *d, struct job *job, uint64_t run, const json_t *params)
{
    job->iteration = cost_of(params, "iteration");
    job->iteration_us = cost_of(params, "iteration_us");
    job->has_progress = true;
    job->not_now = cost_of(params, "not_now");
    if (json_is_object(json_object_get(params, "saved"))) {
        json_decref(job->saved);
        job->saved = json_deep_copy(json_object_get(params, "saved"));
    }
    if (json_is_array(json_object_get(params, "points"))) {
        json_decref(job->points);
        job->points = json_deep_copy(json_object_get(params, "points"));
    }
    json_decref(job->expects);
    job->expects = json_deep_copy(json_object_get(params, "expects"));
    said_take(d, job, run, params);
    times_take(d, job, run, params);
}

/* Notes a new peak of memory, so that it is known while the job runs, and if its agent dies. An
 * agent may repeat a notice. */
static void learn_memory(struct daemon *d, struct job *job, const json_t *params)
{
    int64_t memory_kb = cost_of(params, "memory_kb");
    const struct account *account = job_account(d, job);
    if (account && memory_kb > account->memory_kb)
        note_make(d, daemon_now_us(d), "memory", job->id,
                  json_pack("{s:I}", "memory_kb", (json_int_t)memory_kb));
}

/* Writes the outcome of a checkpoint into the log, once, and tells who waits for it. A job that is
 * to stop with it has ended by itself when this comes, or is ended now. */
static void learn_checkpoint(struct daemon *d, struct job *job, const json_t *params)
{
    int64_t number = cost_of(params, "checkpoint");
    const char *text = json_string_value(json_object_get(params, "text"));
    bool stop = json_is_true(json_object_get(params, "stop"));
    struct pleat_error why;
    json_t *data = json_pack("{s:I, s:O?, s:b}", "checkpoint", (json_int_t)number, "path",
                             json_object_get(params, "path"), "stop", stop);
    if (text) {
        json_object_set_new(data, "text", pleat_json_text(text));
        pleat_error_set(&why, PLEAT_E_STATE, "the checkpoint was not written: %s", text);
    } else {
        json_object_set_new(data, "iteration", json_integer(cost_of(params, "iteration")));
        json_object_set_new(data, "processors", json_integer(cost_of(params, "processes")));
        json_object_set_new(data, "bytes", json_integer(cost_of(params, "bytes")));
        json_object_set_new(data, "write_s", json_real((double)cost_of(params, "write_us") / 1e6));
    }
    checkpoint_settle(d, number, text ? NULL : json_deep_copy(data), &why);
    if (number <= job_account(d, job)->checkpoint_last) {
        json_decref(data);
        return;
    }
    note_make(d, daemon_now_us(d), "checkpoint", job->id, data);
    if (text || !stop)
        return;
    struct pleat_event event = {.kind = PLEAT_EV_CANCEL, .component = job->component};
    turn_event(d, &event);
}

/* An agent sees only its own node: if a folded run has more nodes, the processors that it reports
 * are not all of the job's, and nothing is learned. */
static void learn_folded(struct daemon *d, struct job *job)
{
    if (!parts_has(d, job->folded_run))
        times_take_folded(d, job);
}

void agents_learn(struct daemon *d)
{
    for (size_t i = 0; i < d->jobs.by_number.count; i++)
        if (d->jobs.by_number.items[i]->folded && !d->jobs.by_number.items[i]->ended)
            learn_folded(d, d->jobs.by_number.items[i]);
}

/* Whether a run has left its node for a change that is over for the core: nobody would start it
 * elsewhere, and its job would hold processors for ever. */
static bool goes_on_nowhere(const struct daemon *d, uint32_t component, const json_t *params)
{
    uint32_t index = pleat_core_view(d->core)->components[component].resize;
    const struct pleat_resize *resize =
        index == PLEAT_NONE ? NULL : pleat_core_resize(d->core, index);
    uint64_t moved = (uint64_t)cost_of(params, "moved");
    return moved && !(resize && resize->id == moved);
}

/* What is told of a whole run here, not by one agent. Takes `params`; NULL: there was no memory. */
static void told_of_all(struct daemon *d, uint64_t run, const char *method, json_t *params)
{
    struct pleat_error err = {0};
    uint32_t component = run_component(d, run);
    struct job *job = params ? job_of_component(d, component) : NULL;
    struct pleat_runner *runner = job ? job_runner(d, job) : NULL;
    if (job && !strcmp(method, "exited") && goes_on_nowhere(d, component, params)) {
        (void)json_object_del(params, "moved"); /* the job begins again, or says why not */
        (void)json_object_set_new(params, "lost", json_true());
    }
    if (job)
        learn(d, job, method, params);
    if (job && runner->ops->notice(runner, component, method, params, &err))
        daemon_log("run %llu: %s", (unsigned long long)run, err.text);
    json_decref(params);
}

void agent_exits(struct daemon *d)
{
    uint64_t run;
    const char *method;
    json_t *params;
    while (parts_change_next(d, &run, &method, &params))
        told_of_all(d, run, method, params);
    while (parts_next_exit(d, &run, &params))
        told_of_all(d, run, "exited", params);
}

/* A notice about the parts of a run. False: it is about the run itself. */
static bool is_of_parts(struct agent *agent, uint32_t component, uint64_t there,
                        const struct pleat_message *message)
{
    struct part *part =
        strcmp(message->method, "part_output") ? NULL : parts_find_there(agent, there);
    if (part)
        parts_output(agent, part, message);
    else if (!strcmp(message->method, "part_said") && parts_is_other(agent, component))
        parts_said(agent, component, message->params);
    else if (!strcmp(message->method, "process_said") && parts_is_other(agent, component))
        parts_process_said(agent, component, message->params);
    else if (parts_is_other(agent, component))
        parts_notice(agent, component, message->method, message->params);
    else if (!strcmp(message->method, "part_wanted"))
        parts_wanted(agent, component, message->params);
    else if (!strcmp(message->method, "part_unwanted"))
        parts_unwanted(agent, component, message->params);
    else if (!strcmp(message->method, "part_order"))
        parts_order(agent, message->params);
    else if (!strcmp(message->method, "process_told"))
        parts_process_told(agent, message->params);
    else if (!strcmp(message->method, "part_heard"))
        parts_heard(agent, message->params);
    else if (!strcmp(message->method, "part_role"))
        parts_role(agent, message->params);
    else if (!strcmp(message->method, "part_left"))
        parts_left(agent, message->params);
    else
        return !strcmp(message->method, "exited") &&
               parts_hold(agent->daemon, there, message->params);
    return true;
}

/* What tells only how a run goes: nothing comes of it but knowledge. False: it is another notice.
 */
static bool is_news(struct agent *agent, struct job *job, uint64_t run,
                    const struct pleat_message *message)
{
    struct daemon *d = agent->daemon;
    const char *method = message->method;
    if (!strcmp(method, "progress")) {
        learn_progress(d, job, run, message->params);
    } else if (!strcmp(method, "output")) {
        outputs_take(agent, job, message);
    } else if (!strcmp(method, "input_taken")) {
        inputs_taken(d, message->params);
    } else if (!strcmp(method, "checkpoint_wanted")) {
        checkpoint_times_wanted(d, job, cost_of(message->params, "checkpoint"));
    } else if (processes_take(d, job, run, method, message->params)) {
        return true;
    } else if (!strcmp(method, "memory")) {
        learn_memory(d, job, message->params);
    } else if (!strcmp(method, "checkpointed") || !strcmp(method, "checkpoint_failed")) {
        learn_checkpoint(d, job, message->params);
    } else if (!strcmp(method, "folded")) {
        job_folded_take(job, run, agent->node, message->params);
        learn_folded(d, job);
    } else {
        return false;
    }
    return true;
}

void agent_notice(struct agent *agent, const struct pleat_message *message)
{
    struct daemon *d = agent->daemon;
    struct pleat_error err = {0};
    int64_t run = 0;
    int rc = pleat_get_int(message->params, "run", true, 0, INT64_MAX, &run, &err);
    uint32_t component = rc ? PLEAT_NONE : run_component(d, parts_run_of((uint64_t)run));
    struct job *job = job_of_component(d, component);
    if (!strcmp(message->method, "exited") &&
        json_is_true(json_object_get(message->params, "lost")))
        agent_leaves(agent);
    if (!rc && !job) {
        /* the run is over for the core: its agent may forget it */
        if (!strcmp(message->method, "exited") || !strcmp(message->method, "start_failed"))
            rc = agent_send(d, agent->site, agent->node, "forget",
                            json_pack("{s:I}", "run", (json_int_t)run), &err);
        if (!rc)
            return;
    }
    if (!rc && (is_of_parts(agent, component, (uint64_t)run, message) ||
                parts_change_heard(agent, component, message->method, message->params) ||
                is_news(agent, job, (uint64_t)run, message)))
        return;
    if (!rc && !strcmp(message->method, "limit")) {
        rc = declared_take(d, job, (uint64_t)run, message->params, &err);
    } else if (!rc && !strcmp(message->method, "asked")) {
        rc = asked_take(d, job, (uint64_t)run, message->params, &err);
    } else if (!rc) {
        if (!strcmp(message->method, "exited") && goes_on_nowhere(d, component, message->params)) {
            told_of_all(d, (uint64_t)run, "exited", json_deep_copy(message->params));
            return;
        }
        learn(d, job, message->method, message->params);
        if (!strcmp(message->method, "warning"))
            return;
        if (!strcmp(message->method, "started"))
            parts_led_here(agent, (uint64_t)run);
        struct pleat_runner *runner = job_runner(d, job);
        rc = runner->ops->notice(runner, component, message->method, message->params, &err);
        if (!strcmp(message->method, "started"))
            architectures_tell(d, job);
    }
    if (rc)
        daemon_log("agent of node %u, '%s': %s", agent->node, message->method, err.text);
}
