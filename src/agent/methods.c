#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/fold.h"
#include "agent/launching.h"
#include "agent/relaunch.h"
#include "agent/resize.h"
#include "agent/run.h"
#include "base/clock.h"

#define RANKS_MAX 65536
#define GRACE_MAX_S 86400.0
/* Ranks may still be in MPI_Finalize when mpirun ends; other programs' rest is rarely wanted. */
#define LINGER_MALLEABLE_S 2.0
#define LINGER_S 0.25
#define LEAVE_S 10.0                      /* for processes whose state was saved */
#define THRESHOLD 0.10                    /* of a folded run's idleness (Utrera 2010, 4.4.4) */
#define RELAUNCH_GRACE_S 3.0              /* from SIGTERM to SIGKILL */
#define FORGOTTEN_GRACE_US PLEAT_US_PER_S /* likewise, of a script whose program was given up */

static int get_id(const json_t *params, const char *name, uint64_t *id, struct pleat_error *err)
{
    int64_t value = 0;
    int result = pleat_get_int(params, name, true, 1, INT64_MAX, &value, err);
    *id = (uint64_t)value;
    return result;
}

static int get_run(struct pleat_agent *agent, const json_t *params, struct pleat_run **run,
                   struct pleat_error *err)
{
    uint64_t id = 0;
    int result = get_id(params, "run", &id, err);
    if (result)
        return result;
    *run = pleat_run_find(agent, id);
    if (!*run)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "this agent has no run %" PRIu64, id);
    return 0;
}

static int get_seconds(const json_t *params, const char *name, double otherwise, int64_t *us,
                       struct pleat_error *err)
{
    double seconds = otherwise;
    int result = pleat_get_real(params, name, false, &seconds, err);
    if (result)
        return result;
    if (!(seconds >= 0 && seconds <= GRACE_MAX_S))
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' must be from 0 to %.0f seconds", name,
                               GRACE_MAX_S);
    *us = (int64_t)(seconds * (double)PLEAT_US_PER_S);
    return 0;
}

/* An array of strings; each "NAME=value" where variables are wanted. */
static int get_strings(const json_t *params, const char *name, bool variables, const json_t **array,
                       struct pleat_error *err)
{
    const json_t *found = params ? json_object_get(params, name) : NULL;
    if (!json_is_array(found))
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' must be an array of strings", name);
    for (size_t i = 0; i < json_array_size(found); i++) {
        const char *text = json_string_value(json_array_get(found, i));
        if (!text)
            return pleat_error_set(err, PLEAT_E_INVALID, "'%s' must be an array of strings", name);
        if (variables && (*text == '=' || !strchr(text, '=')))
            return pleat_error_set(err, PLEAT_E_INVALID, "'%s' has '%.80s', not NAME=value", name,
                                   text);
    }
    *array = found;
    return 0;
}

static int get_path(const json_t *params, const char *name, const char **path,
                    struct pleat_error *err)
{
    int result = pleat_get_string(params, name, true, path, err);
    if (!result && **path != '/')
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' must be an absolute path, not '%.80s'",
                               name, *path);
    return result;
}

/* All that is in it will be removed: a mistake must not make that somebody's own directory. */
static int get_scratch(const json_t *params, const char **path, struct pleat_error *err)
{
    int result = get_path(params, "scratch", path, err);
    if (!result && strncmp(strrchr(*path, '/'), "/pleat-", strlen("/pleat-")) != 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'scratch' must be a directory whose name begins with 'pleat-', not "
                               "'%.80s'",
                               *path);
    return result;
}

/* Its shape; whether there are such slots shows when the run is bound to them. *slots stays NULL
 * where there is none. */
static int get_slots(const json_t *params, const json_t **slots, struct pleat_error *err)
{
    const json_t *found = json_object_get(params, "slots");
    if (!found || json_is_null(found))
        return 0;
    bool good = json_is_array(found);
    size_t index;
    const json_t *range;
    json_array_foreach(found, index, range) good = good && json_is_object(range);
    if (!good)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'slots' must be an array of {\"first\", \"count\"}");
    *slots = found;
    return 0;
}

static int read_threshold(const json_t *fold, double *threshold, struct pleat_error *err)
{
    *threshold = THRESHOLD;
    int result = pleat_get_real(fold, "threshold", false, threshold, err);
    if (!result && !(*threshold > 0 && *threshold < 1))
        result = pleat_error_set(err, PLEAT_E_INVALID,
                                 "'threshold' is an idleness: above 0 and below 1");
    return result;
}

static int read_first_queue(const json_t *fold, enum pleat_fold_queue *queue,
                            struct pleat_error *err)
{
    const char *name = "global";
    int result = pleat_get_string(fold, "begin", false, &name, err);
    if (result)
        return result;
    bool local = !strcmp(name, "local");
    if (!local && strcmp(name, "global") != 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'begin' is the queue until a program has been judged: \"local\" or "
                               "\"global\", not '%s'",
                               name);
    *queue = local ? PLEAT_FOLD_QUEUE_LOCAL : PLEAT_FOLD_QUEUE_GLOBAL;
    return 0;
}

/* How it is folded, where it is. */
static int read_fold(const json_t *params, struct pleat_folded_request *folded,
                     struct pleat_error *err)
{
    const json_t *fold = json_object_get(params, "fold");
    struct pleat_fold_settings settings = {0};
    const char *mapping = NULL;
    int64_t processes = 0;
    if (!fold || json_is_null(fold))
        return 0;
    int result =
        pleat_get_int(fold, "processes", true, 1, PLEAT_FOLD_PROCESSES_MAX, &processes, err);
    folded->processes = (uint32_t)processes;
    if (!result)
        result = pleat_get_string(fold, "settings", false, &folded->settings, err);
    if (!result && folded->settings)
        result = pleat_fold_settings_parse(folded->settings, &settings, err);
    if (!result)
        result = pleat_get_string(fold, "mapping", false, &mapping, err);
    if (!result && mapping)
        result = pleat_mapping_parse(mapping, &folded->mapping, err);
    if (!result)
        result = read_first_queue(fold, &folded->begin, err);
    if (!result)
        result = pleat_get_bool(fold, "boost", false, &folded->boost, err);
    return result ? result : read_threshold(fold, &folded->threshold, err);
}

static int read_process(const json_t *params, struct pleat_run_request *request,
                        struct pleat_limits *limits, struct pleat_error *err)
{
    const char *text = NULL;
    int64_t nice = PLEAT_PROCESS_NICE_HERE;
    int result = pleat_get_string(params, "limits", false, &text, err);
    if (!result && text)
        result = pleat_limits_parse(text, limits, err);
    if (!result && json_object_get(params, "nice"))
        result = pleat_get_int(params, "nice", true, -20, 19, &nice, err);
    if (!result)
        result = pleat_get_int(params, "memory_limit_kb", false, 0, INT64_MAX / 1024,
                               &request->memory_kb, err);
    request->limits = text ? limits : NULL;
    request->nice = (int32_t)nice;
    return result;
}

/* limits: room for them; the request refers to it. */
static int read_start(const json_t *params, struct pleat_run_request *request,
                      struct pleat_limits *limits, struct pleat_error *err)
{
    int64_t ranks = 0, launches = 0, hosts = 0, cpus = 0, mask = 077;
    int result = get_id(params, "run", &request->id, err);
    request->job = "?";
    if (!result)
        result = pleat_get_string(params, "job", false, &request->job, err);
    if (!result)
        result = get_strings(params, "argv", false, &request->argv, err);
    if (!result && json_array_size(request->argv) == 0)
        result = pleat_error_set(err, PLEAT_E_INVALID, "'argv' is empty: there is no program");
    if (!result)
        result = get_strings(params, "env", true, &request->env, err);
    if (!result)
        result = get_path(params, "cwd", &request->cwd, err);
    if (!result)
        result = get_path(params, "stdout", &request->stdout_path, err);
    if (!result)
        result = get_path(params, "stderr", &request->stderr_path, err);
    if (!result && json_object_get(params, "stdin"))
        result = get_path(params, "stdin", &request->stdin_path, err);
    if (!result && json_object_get(params, "terminal"))
        result = get_path(params, "terminal", &request->terminal, err);
    if (!result)
        result = pleat_get_bool(params, "truncate", false, &request->truncate, err);
    if (!result)
        result = pleat_get_int(params, "umask", false, 0, 0777, &mask, err);
    request->umask = (mode_t)mask;
    if (!result)
        result = pleat_get_int(params, "mailbox_ranks", false, 0, RANKS_MAX, &ranks, err);
    request->mailbox_ranks = (uint32_t)ranks;
    if (!result)
        result = read_process(params, request, limits, err);
    if (!result)
        result = pleat_get_int(params, "launches", false, 0, ranks, &launches, err);
    request->launches = (uint32_t)launches;
    if (!result)
        result = pleat_get_bool(params, "adapts", false, &request->launches_adapt, err);
    if (!result)
        result = pleat_get_int(params, "hosts", false, 0, RANKS_MAX, &hosts, err);
    request->hosts = (uint32_t)hosts;
    if (!result)
        result = pleat_get_int(params, "cpus_per_task", false, 0, RANKS_MAX, &cpus, err);
    request->cpus_per_task = (uint32_t)cpus;
    if (!result && json_object_get(params, "scratch"))
        result = get_scratch(params, &request->scratch, err);
    if (!result)
        result = get_slots(params, &request->slots, err);
    if (!result)
        result = get_seconds(params, "linger_s", ranks ? LINGER_MALLEABLE_S : LINGER_S,
                             &request->linger_us, err);
    return result;
}

static int do_start(struct pleat_agent *agent, const json_t *params, json_t **answer,
                    struct pleat_error *err)
{
    (void)answer;
    struct pleat_run_request request = {0};
    struct pleat_folded_request folded = {0};
    struct pleat_limits limits;
    int result = read_start(params, &request, &limits, err);
    if (!result)
        result = read_fold(params, &folded, err);
    if (!result && folded.processes && request.mailbox_ranks)
        result = pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                 "run %" PRIu64 " cannot be folded and have a mailbox", request.id);
    request.folded = folded.processes ? &folded : NULL;
    if (result || pleat_run_find(agent, request.id))
        return result;
    if (agent->quitting)
        return pleat_error_set(err, PLEAT_E_STATE, "the agent is ending: start another");
    return pleat_run_start(agent, &request, err);
}

static int get_malleable(struct pleat_agent *agent, const json_t *params,
                         struct pleat_malleable **malleable, struct pleat_error *err)
{
    struct pleat_run *run = NULL;
    int result = get_run(agent, params, &run, err);
    if (result)
        return result;
    *malleable = run->malleable;
    if (!run->malleable)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "run %" PRIu64 " cannot be resized: it has no mailbox", run->id);
    return 0;
}

/* A number of processors, as one of processes. */
static int get_size(const struct pleat_run *run, const json_t *params, const char *name,
                    uint32_t *processes, struct pleat_error *err)
{
    int64_t size = 0;
    int result = pleat_get_int(params, name, true, 1, RANKS_MAX, &size, err);
    *processes = result ? 0 : pleat_run_processes(run, (uint32_t)size);
    if (!result && pleat_run_processors(run, *processes) != size)
        result = pleat_error_set(err, PLEAT_E_INVALID,
                                 "'%s' must be a multiple of the %" PRIu32
                                 " processors that each process of run %" PRIu64 " has",
                                 name, run->cpus_per_task, run->id);
    return result;
}

/* argv, env and grace_s of an object. */
static int read_order(const json_t *object, double grace_s, struct pleat_relaunch_order *order,
                      struct pleat_error *err)
{
    int result = get_strings(object, "argv", false, &order->argv, err);
    if (!result && json_array_size(order->argv) == 0)
        result = pleat_error_set(err, PLEAT_E_INVALID, "'argv' is empty: there is no program");
    if (!result)
        result = get_strings(object, "env", true, &order->env, err);
    if (!result)
        result = get_seconds(object, "grace_s", grace_s, &order->grace_us, err);
    return result;
}

static int request_size(struct pleat_agent *agent, const json_t *params, bool ask,
                        struct pleat_error *err)
{
    struct pleat_malleable *malleable = NULL;
    struct pleat_mailbox_request request = {0};
    struct pleat_relaunch_order order = {0};
    int result = get_malleable(agent, params, &malleable, err);
    if (!result)
        result = get_id(params, "resize", &request.resize, err);
    if (!result)
        result = get_size(malleable->run, params, ask ? "offered" : "target", &request.target, err);
    if (!result)
        result = pleat_get_bool(params, "mandatory", false, &request.mandatory, err);
    const json_t *relaunch = ask ? NULL : json_object_get(params, "relaunch");
    const json_t *slots = NULL;
    if (!result && !ask)
        result = get_slots(params, &slots, err);
    order.processes = request.target;
    order.resize = request.resize;
    request.relaunch = relaunch && !json_is_null(relaunch);
    if (!result && request.relaunch)
        result = read_order(relaunch, LEAVE_S, &order, err);
    return result ? result
                  : pleat_malleable_request(malleable, ask, &request,
                                            request.relaunch ? &order : NULL, slots, err);
}

/* Of a folded run: its processors are asked for, and its processes stay. */
static int fold_size(struct pleat_folded *folded, const json_t *params, bool ask,
                     struct pleat_error *err)
{
    uint64_t resize = 0;
    int64_t target = 0;
    const json_t *slots = NULL;
    int result = get_id(params, "resize", &resize, err);
    if (!result)
        result =
            pleat_get_int(params, ask ? "offered" : "target", true, 1, RANKS_MAX, &target, err);
    if (result || ask)
        return result ? result : pleat_folded_ask(folded, resize, (uint32_t)target, err);
    result = get_slots(params, &slots, err);
    return result ? result : pleat_folded_resize(folded, resize, (uint32_t)target, slots, err);
}

static int change_size(struct pleat_agent *agent, const json_t *params, bool ask,
                       struct pleat_error *err)
{
    struct pleat_run *run = NULL;
    int result = get_run(agent, params, &run, err);
    if (result)
        return result;
    return run->folded ? fold_size(run->folded, params, ask, err)
                       : request_size(agent, params, ask, err);
}

static int do_ask(struct pleat_agent *agent, const json_t *params, json_t **answer,
                  struct pleat_error *err)
{
    (void)answer;
    return change_size(agent, params, true, err);
}

static int do_resize(struct pleat_agent *agent, const json_t *params, json_t **answer,
                     struct pleat_error *err)
{
    (void)answer;
    return change_size(agent, params, false, err);
}

static int do_withdraw(struct pleat_agent *agent, const json_t *params, json_t **answer,
                       struct pleat_error *err)
{
    (void)answer;
    struct pleat_malleable *malleable = NULL;
    struct pleat_run *run = NULL;
    uint64_t resize = 0;
    int result = get_run(agent, params, &run, err);
    if (!result && !run->folded)
        result = get_malleable(agent, params, &malleable, err);
    if (!result)
        result = get_id(params, "resize", &resize, err);
    if (!result && run->folded) {
        pleat_folded_withdraw(run->folded, resize);
        return 0;
    }
    return result ? result : pleat_malleable_withdraw(malleable, resize, err);
}

static int do_relaunch(struct pleat_agent *agent, const json_t *params, json_t **answer,
                       struct pleat_error *err)
{
    (void)answer;
    struct pleat_malleable *malleable = NULL;
    struct pleat_relaunch_order order = {0};
    int result = get_malleable(agent, params, &malleable, err);
    if (!result)
        result = get_id(params, "resize", &order.resize, err);
    if (!result)
        result = get_size(malleable->run, params, "processes", &order.processes, err);
    if (!result)
        result = read_order(params, RELAUNCH_GRACE_S, &order, err);
    if (!result)
        result = get_slots(params, &order.slots, err);
    if (!result && order.processes > malleable->max_ranks)
        result = pleat_error_set(err, PLEAT_E_TOOBIG,
                                 "run %" PRIu64 " has room for %" PRIu32 " processes, not %" PRIu32,
                                 malleable->run->id, malleable->max_ranks, order.processes);
    return result ? result : pleat_relaunch_demand(malleable->run, &order, err);
}

static int do_signal(struct pleat_agent *agent, const json_t *params, json_t **answer,
                     struct pleat_error *err)
{
    (void)answer;
    struct pleat_run *run = NULL;
    int64_t number = 0;
    int result = get_run(agent, params, &run, err);
    if (!result)
        result = pleat_get_int(params, "signal", true, 1, SIGRTMAX, &number, err);
    if (result)
        return result;
    pleat_runs_reap(agent); /* one that is known to have ended has a number no more */
    pleat_runs_sweep(agent);
    if (run->pid == 0 || run->state == PLEAT_RUN_STARTING)
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " is not running", run->id);
    if (kill(-run->pid, (int)number))
        return pleat_error_set(err, PLEAT_E_SYSTEM, "cannot send signal %d to run %" PRIu64,
                               (int)number, run->id);
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
    int result = get_run(agent, params, &run, err);
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
    int result = get_run(agent, params, &run, err);
    if (!result)
        result = get_seconds(params, "grace_s", 0, &grace_us, err);
    if (result)
        return result;
    if (run->broken && !run->launches) { /* it waits for being relaunched, and will not be */
        pleat_run_give_up(run);
        return 0;
    }
    run->broken = false;
    pleat_run_end(run, grace_us);
    pleat_runs_sweep(agent);
    return 0;
}

static int do_forget(struct pleat_agent *agent, const json_t *params, json_t **answer,
                     struct pleat_error *err)
{
    (void)answer;
    uint64_t id = 0;
    int result = get_id(params, "run", &id, err);
    if (result)
        return result;
    struct pleat_run *run = pleat_run_find(agent, id);
    if (!run)
        return 0;                                /* it was forgotten before */
    if (run->broken && pleat_run_is_live(run)) { /* its script: the end of that is told */
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
    uint64_t resize = 0;
    json_t *text =
        json_pack("{s:I, s:s, s:i}", "run", (json_int_t)run->id, "state",
                  run->broken ? "exited" : states[run->state], "pid", (int)run->first_pid);
    if (text && run->folded && pleat_folded_describe(run->folded, text)) {
        json_decref(text);
        return NULL;
    }
    if (!text || !run->malleable)
        return text;
    int failed = json_object_set_new(
        text, "processes",
        json_integer(pleat_run_processors(run, pleat_malleable_processes(run->malleable))));
    if (pleat_malleable_outstanding(run->malleable, &resize))
        failed |= json_object_set_new(text, "resize", json_integer((json_int_t)resize));
    if (failed) {
        json_decref(text);
        return NULL;
    }
    return text;
}

/* One page: runs with a number above `after`. What is known of them is told behind the answer. */
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
    for (size_t i = first; runs && i < end; i++) {
        if (json_array_append_new(runs, describe(agent->runs.items[i]))) {
            json_decref(runs);
            runs = NULL;
        }
    }
    if (runs)
        *answer = json_pack("{s:o, s:b}", "runs", runs, "more", end < agent->runs.count);
    if (!*answer)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the list of runs");
    agent->reporting = true;
    for (size_t i = first; i < end; i++)
        pleat_run_report(agent->runs.items[i]);
    return 0;
}

/* That it answers is the answer. */
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
    {"start", do_start},       {"ask", do_ask},           {"resize", do_resize},
    {"withdraw", do_withdraw}, {"signal", do_signal},     {"limit_signal", do_limit_signal},
    {"kill", do_kill},         {"relaunch", do_relaunch}, {"forget", do_forget},
    {"list", do_list},         {"quit", do_quit},         {"ping", do_ping},
};

int pleat_agent_answer(struct pleat_agent *agent, const struct pleat_message *message,
                       json_t **result, struct pleat_error *err)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        if (strcmp(message->method, methods[i].name) == 0)
            return methods[i].call(agent, message->params, result, err);
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED, "the agent knows no method '%.60s'",
                           message->method);
}
