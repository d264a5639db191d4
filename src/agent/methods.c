#include "agent/methods.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/ending.h"
#include "agent/kind.h"
#include "agent/life.h"
#include "agent/limit_signal.h"
#include "agent/malleable.h"
#include "agent/methods_parts.h"
#include "agent/owner.h"
#include "agent/params.h"
#include "agent/part_mailbox.h"
#include "agent/reap.h"
#include "agent/run.h"
#include "agent/start_request.h"
#include "base/clock.h"

/* likewise, for a script whose program is not relaunched */
#define FORGOTTEN_GRACE_US PLEAT_US_PER_S

/* A run that another node has led: how far the numbers of its parts are from those that are known
 * to have been used. One that failed in a resize may be known on a node that is not heard yet. */
#define NUMBERS_APART 100

static int do_start(struct pleat_agent *agent, const json_t *params, json_t **answer,
                    struct pleat_error *err)
{
    (void)answer;
    struct pleat_start_request request;
    int result = pleat_start_request_read(params, &request, err);
    struct pleat_run *before = result ? NULL : pleat_run_find(agent, request.run.id);
    /* an earlier part of the run on this node: it has ended, or its end is told later */
    bool again = before && before->part_number && before->part_number < request.run.part;
    if (result || (before && !again))
        return result;
    if (agent->quitting)
        return pleat_error_set(err, PLEAT_E_STATE, "the agent is ending: start another");
    if (again && pleat_run_is_live(before))
        return pleat_error_set(err, PLEAT_E_BUSY, "run %" PRIu64 " has a part here", before->id);
    if (request.run.before && !again)
        before = pleat_run_find(agent, request.run.before);
    request.run.inherits = before ? pleat_part_mailbox_share(before) : NULL;
    if (request.run.before && !request.run.inherits)
        return pleat_error_set(err, PLEAT_E_NOTFOUND,
                               "this agent keeps nothing of the state that run %" PRIu64 " had",
                               request.run.before);
    /* numbers of parts that nobody may know any more */
    if (before && !request.run.part && request.run.last_part < before->part_number)
        request.run.last_part = before->part_number;
    request.run.last_part += request.run.before && !request.run.part ? NUMBERS_APART : 0;
    if (again)
        pleat_run_destroy(before);
    result = pleat_run_start(agent, &request.run, err);
    pleat_part_state_drop(request.run.inherits);
    return result;
}

static int do_ask(struct pleat_agent *agent, const json_t *params, json_t **answer,
                  struct pleat_error *err)
{
    (void)answer;
    struct pleat_run *run = NULL;
    int result = pleat_method_run(agent, params, &run, err);
    return result ? result : run->kind->change(run, params, true, err);
}

static int do_resize(struct pleat_agent *agent, const json_t *params, json_t **answer,
                     struct pleat_error *err)
{
    (void)answer;
    struct pleat_run *run = NULL;
    int result = pleat_method_run(agent, params, &run, err);
    return result ? result : run->kind->change(run, params, false, err);
}

static int do_withdraw(struct pleat_agent *agent, const json_t *params, json_t **answer,
                       struct pleat_error *err)
{
    (void)answer;
    struct pleat_run *run = NULL;
    int result = pleat_method_run(agent, params, &run, err);
    return result ? result : run->kind->withdraw(run, params, err);
}

static int do_relaunch(struct pleat_agent *agent, const json_t *params, json_t **answer,
                       struct pleat_error *err)
{
    (void)answer;
    struct pleat_run *run = NULL;
    int result = pleat_method_run(agent, params, &run, err);
    return result ? result : run->kind->relaunch(run, params, err);
}

static int do_checkpoint(struct pleat_agent *agent, const json_t *params, json_t **answer,
                         struct pleat_error *err)
{
    (void)answer;
    struct pleat_run *run = NULL;
    int result = pleat_method_run(agent, params, &run, err);
    return result ? result : run->kind->checkpoint(run, params, false, err);
}

static int do_withdraw_checkpoint(struct pleat_agent *agent, const json_t *params, json_t **answer,
                                  struct pleat_error *err)
{
    (void)answer;
    struct pleat_run *run = NULL;
    int result = pleat_method_run(agent, params, &run, err);
    return result ? result : run->kind->checkpoint(run, params, true, err);
}

static int do_answer(struct pleat_agent *agent, const json_t *params, json_t **answer,
                     struct pleat_error *err)
{
    (void)answer;
    struct pleat_run *run = NULL;
    int64_t number = 0;
    bool granted = false;
    const char *reason = json_string_value(json_object_get(params, "reason"));
    int result = pleat_method_run(agent, params, &run, err);
    if (!result)
        result = pleat_get_int(params, "number", true, 1, UINT32_MAX, &number, err);
    if (!result)
        result = pleat_get_bool(params, "granted", true, &granted, err);
    if (!result && run->malleable)
        pleat_malleable_answer(run->malleable, (uint32_t)number, granted, reason ? reason : "");
    return result;
}

static int do_signal(struct pleat_agent *agent, const json_t *params, json_t **answer,
                     struct pleat_error *err)
{
    (void)answer;
    struct pleat_run *run = NULL;
    int64_t number = 0;
    int result = pleat_method_run(agent, params, &run, err);
    if (!result)
        result = pleat_get_int(params, "signal", true, 1, SIGRTMAX, &number, err);
    if (result)
        return result;
    /* takes note of runs that have ended: their pids must not be signalled */
    pleat_runs_reap(agent);
    pleat_runs_sweep(agent);
    if (run->now.pid == 0 || run->state == PLEAT_RUN_STARTING)
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " is not running", run->id);
    if (kill(-run->now.pid, (int)number))
        return pleat_error_set(err, PLEAT_E_SYSTEM, "cannot send signal %d to run %" PRIu64,
                               (int)number, run->id);
    run->signalled = true;
    return 0;
}

static int do_limit_signal(struct pleat_agent *agent, const json_t *params, json_t **answer,
                           struct pleat_error *err)
{
    static const char *const names[] = {
        [PLEAT_SIGNAL_ALL] = "all", [PLEAT_SIGNAL_OTHERS] = "others", [PLEAT_SIGNAL_MAIN] = "main"};
    (void)answer;
    struct pleat_run *run = NULL;
    const char *name = NULL;
    int64_t number = 0;
    unsigned to = 0;
    int result = pleat_method_run(agent, params, &run, err);
    if (!result)
        result = pleat_get_int(params, "signal", true, 1, SIGRTMAX, &number, err);
    if (!result)
        result = pleat_get_string(params, "to", true, &name, err);
    while (!result && to <= PLEAT_SIGNAL_MAIN && strcmp(names[to], name) != 0)
        to++;
    if (!result && to > PLEAT_SIGNAL_MAIN)
        result =
            pleat_error_set(err, PLEAT_E_INVALID, "'to' is all, others or main, not '%.20s'", name);
    if (!result)
        pleat_run_limit_signal(run, (int)number, (enum pleat_signal_to)to);
    return result;
}

static int do_kill(struct pleat_agent *agent, const json_t *params, json_t **answer,
                   struct pleat_error *err)
{
    (void)answer;
    struct pleat_run *run = NULL;
    int64_t grace_us = 0;
    int result = pleat_method_run(agent, params, &run, err);
    if (!result)
        result = pleat_param_seconds(params, "grace_s", 0, &grace_us, err);
    if (result)
        return result;
    if ((run->broken || run->moved) &&
        !pleat_run_is_live(run)) { /* the run waits to be relaunched, and will not be */
        pleat_run_give_up(run);
        return 0;
    }
    run->broken = false;
    if (run->part_number) /* a part that has ended by itself was not told to end */
        pleat_runs_reap(agent);
    pleat_run_end(run, grace_us);
    pleat_runs_sweep(agent);
    return 0;
}

static int do_forget(struct pleat_agent *agent, const json_t *params, json_t **answer,
                     struct pleat_error *err)
{
    (void)answer;
    uint64_t id = 0;
    int result = pleat_param_id(params, "run", &id, err);
    if (result)
        return result;
    struct pleat_run *run = pleat_run_find(agent, id);
    if (!run)
        return 0; /* it was forgotten before */
    /* a script whose program broke: the end of the script is told later */
    if (run->broken && pleat_run_is_live(run)) {
        run->broken = false;
        pleat_run_end(run, FORGOTTEN_GRACE_US);
        pleat_runs_sweep(agent);
        return 0;
    }
    if (pleat_run_is_live(run))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "run %" PRIu64 " is still running: kill it first", run->id);
    pleat_run_destroy(run);
    return 0;
}

static json_t *describe(const struct pleat_run *run)
{
    static const char *const states[] = {[PLEAT_RUN_STARTING] = "starting",
                                         [PLEAT_RUN_RUNNING] = "running",
                                         [PLEAT_RUN_ENDING] = "running",
                                         [PLEAT_RUN_EXITED] = "exited",
                                         [PLEAT_RUN_FAILED] = "failed"};
    json_t *text =
        json_pack("{s:I, s:s, s:i}", "run", (json_int_t)run->id, "state",
                  run->broken ? "exited" : states[run->state], "pid", (int)run->now.first_pid);
    if (text && run->kind->describe(run, text)) {
        json_decref(text);
        return NULL;
    }
    return text;
}

/* Answers one page: runs with a number above `after`. What is known of these runs is sent after the
 * answer. */
static int do_list(struct pleat_agent *agent, const json_t *params, json_t **answer,
                   struct pleat_error *err)
{
    int64_t after = 0;
    int result = pleat_get_int(params, "after", false, 0, INT64_MAX, &after, err);
    if (result)
        return result;
    size_t first = 0;
    while (first < agent->runs.count && agent->runs.items[first]->id <= (uint64_t)after)
        first++;
    size_t end = agent->runs.count - first > PLEAT_AGENT_LIST_MAX ? first + PLEAT_AGENT_LIST_MAX
                                                                  : agent->runs.count;
    json_t *runs = json_array();
    while (end > first && agent->runs.items[end - 1]->leader)
        end--; /* these are the last ones, and only this agent's */
    for (size_t i = first; runs && i < end; i++) {
        if (json_array_append_new(runs, describe(agent->runs.items[i]))) {
            json_decref(runs);
            runs = NULL;
        }
    }
    if (runs)
        *answer = json_pack("{s:o, s:b}", "runs", runs, "more",
                            end < agent->runs.count && !agent->runs.items[end]->leader);
    if (!*answer)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the list of runs");
    agent->reporting = true;
    for (size_t i = first; i < end; i++)
        pleat_run_report(agent->runs.items[i]);
    return 0;
}

/* The answer itself is all that the daemon wants to know. */
static int do_ping(struct pleat_agent *agent, const json_t *params, json_t **answer,
                   struct pleat_error *err)
{
    (void)agent;
    (void)params;
    (void)answer;
    (void)err;
    return 0;
}

static int do_quit(struct pleat_agent *agent, const json_t *params, json_t **answer,
                   struct pleat_error *err)
{
    (void)params;
    (void)answer;
    (void)err;
    agent->quitting = true;
    return 0;
}

static const struct {
    const char *name;
    int (*call)(struct pleat_agent *agent, const json_t *params, json_t **answer,
                struct pleat_error *err);
} methods[] = {
    {"start", do_start},
    {"ask", do_ask},
    {"resize", do_resize},
    {"withdraw", do_withdraw},
    {"signal", do_signal},
    {"limit_signal", do_limit_signal},
    {"kill", do_kill},
    {"relaunch", do_relaunch},
    {"forget", do_forget},
    {"list", do_list},
    {"quit", do_quit},
    {"ping", do_ping},
    {"checkpoint", do_checkpoint},
    {"withdraw_checkpoint", do_withdraw_checkpoint},
    {"answer", do_answer},
};

int pleat_agent_answer(struct pleat_agent *agent, const struct pleat_message *message,
                       json_t **result, struct pleat_error *err)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        if (strcmp(message->method, methods[i].name) == 0)
            return methods[i].call(agent, message->params, result, err);
    const struct pleat_part_method *method = pleat_part_method_find(message->method);
    if (method)
        return pleat_part_method_call(agent, method, message, err);
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED, "the agent knows no method '%.60s'",
                           message->method);
}
