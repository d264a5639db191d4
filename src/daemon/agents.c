/* The agents of nodes: started when needed, expected back after a restart, listened to. */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "daemon/daemon.h"

/* Whether one lives is looked at every LOOK_MS. One that was started calls within CONNECT_MS. After
 * one that ended before it called the next is started AGAIN_MS later, after each further one twice
 * as much, AGAIN_MOST_MS at most. */
enum { LOOK_MS = 100, CONNECT_MS = 15000, AGAIN_MS = 100, AGAIN_MOST_MS = 12800 };

/* A request not answered yet. */
struct asked {
    int64_t id;
    uint64_t run, resize;
    char method[12];
};

PLEAT_ARRAY(asked_list, struct asked);

struct agent {
    struct daemon *daemon;
    struct agent *next;
    uint32_t site, node;
    struct pleat_connection *connection; /* NULL: not there (yet) */
    bool listed;                         /* it has said what it runs */
    bool settled;                        /* it, or one before it, has said that to this pleatd */
    bool started;                        /* one was started, and has not connected yet */
    int looks;                           /* for one that is expected to call */
    int64_t ping_id;                     /* 0: nothing is waited for */
    int silent_s;                        /* seconds, as far as pleatd saw them, without an answer */
    bool said_silent;                    /* of that */
    int since_ping_s;
    int failures;            /* in a row: ended, or not started, before it called */
    uint64_t number;         /* which one is connected */
    uv_process_t *process;   /* the last one that was started here; NULL: it ended */
    struct asked_list asked; /* what was sent and is not answered */
    int64_t next_id, list_id;
    json_t *runs;     /* the pages of its list that have come */
    char *cpus;       /* of its slots, as it said; NULL: it did not */
    json_t *features; /* what it knows that not every agent does, as it said; NULL: nothing */
    uv_timer_t timer; /* until it must have connected */
};

static void agent_spawn(struct agent *agent);
static void on_timer(uv_timer_t *handle);

static struct agent *agent_get(struct daemon *d, uint32_t site, uint32_t node)
{
    for (struct agent *a = d->agents; a; a = a->next)
        if (a->site == site && a->node == node)
            return a;
    struct agent *fresh = calloc(1, sizeof(*fresh));
    if (!fresh)
        return NULL;
    fresh->daemon = d;
    fresh->site = site;
    fresh->node = node;
    fresh->next_id = 1;
    fresh->next = d->agents;
    uv_timer_init(&d->loop, &fresh->timer);
    fresh->timer.data = fresh;
    d->agents = fresh;
    return fresh;
}

static void lost(struct daemon *d, uint32_t component, uint64_t run)
{
    struct pleat_event event = {.kind = PLEAT_EV_EXITED,
                                .component = component,
                                .u.exit = {.run = run, .code = -1, .reason = PLEAT_REASON_LOST}};
    turn_event(d, &event);
}

/* Its processes cannot be reached any more: what ran there is lost. What was being started is the
 * core's to judge, which knows whether another agent may have done that. */
static void lose_runs(struct agent *agent, const json_t *alive)
{
    struct daemon *d = agent->daemon;
    const struct pleat_view *view = pleat_core_view(d->core);
    for (size_t i = 0; i < d->runs.count; i++) {
        const struct pleat_component *component = &view->components[d->runs.items[i].component];
        bool known = false;
        size_t index;
        json_t *entry;
        if (component->site != agent->site || component->exited)
            continue;
        json_array_foreach(alive, index, entry) known =
            known ||
            (uint64_t)json_integer_value(json_object_get(entry, "run")) == d->runs.items[i].run;
        if (known)
            continue;
        bool open = !agent->settled && d->runs.items[i].run < d->runs_below;
        if (open && component->state != PLEAT_FINISHING)
            salvage_cancel(d, d->runs.items[i].component);
        if (!component->starting || open)
            lost(d, d->runs.items[i].component, d->runs.items[i].run);
    }
}

/* So long an agent has not answered, or one that lives has not called: what of that is to be said,
 * and when it is too long. */
enum { SAY_S = 10, STOP_S = 5, PING_S = 5 };

static double patience_s(const struct daemon *d)
{
    double most = (double)d->config.agent_answer_us / 1e6;
    return d->stopping && (most <= 0 || most > STOP_S) ? STOP_S : most;
}

/* Seconds from an answer to the next question: fewer where so long a silence would be too much. */
static int ping_after_s(const struct daemon *d)
{
    double most_s = patience_s(d);
    if (d->stopping)
        return 1;
    return most_s > 0 && most_s < PING_S ? (int)(most_s < 1 ? 1 : most_s) : PING_S;
}

static void say_silent(struct agent *agent, const char *how)
{
    char text[300], then[80] = "it is waited for";
    double most_s = (double)agent->daemon->config.agent_answer_us / 1e6;
    if (most_s > 0)
        snprintf(then, sizeof(then), "it is ended after %g s (agent_answer_s)", most_s);
    snprintf(text, sizeof(text),
             "the agent of node %u of site %s lives, but has not %s for %d s: %s", agent->node,
             agent->daemon->config.sites[agent->site].name, how, SAY_S, then);
    agent->said_silent = true;
    daemon_log("%s", text);
    note_make(agent->daemon, daemon_now_us(agent->daemon), "daemon", -1,
              json_pack("{s:s}", "text", text));
}

static void say_ended(struct agent *agent)
{
    char text[300];
    snprintf(text, sizeof(text),
             "the agent of node %u of site %s did not answer, and is ended (signal "
             "9): the next one ends what it ran",
             agent->node, agent->daemon->config.sites[agent->site].name);
    daemon_log("%s", text);
    note_make(agent->daemon, daemon_now_us(agent->daemon), "daemon", -1,
              json_pack("{s:s}", "text", text));
}

/* One lives and does not call; counted in looks, not in time: pleatd may have been stopped itself.
 */
static void wait_for_call(struct agent *agent)
{
    double waited_s = (double)agent->looks * LOOK_MS / 1e3, most_s = patience_s(agent->daemon);
    if (waited_s >= SAY_S && !agent->said_silent)
        say_silent(agent, "called");
    if (most_s > 0 && waited_s >= most_s) {
        agent->looks = 0;
        if (agent_lock_kill(agent->daemon, agent->site, agent->node))
            say_ended(agent);
        else
            daemon_log("the agent of node %u cannot be ended: end it by hand", agent->node);
    }
    uv_timer_start(&agent->timer, on_timer, LOOK_MS, 0);
}

static void on_timer(uv_timer_t *handle)
{
    struct agent *agent = handle->data;
    if (agent->connection)
        return;
    agent->looks++;
    if (agent_lock_is_held(agent->daemon, agent->site, agent->node)) {
        wait_for_call(agent);
        return;
    }
    if (agent->started)
        daemon_log("the agent of node %u has not connected: starting another", agent->node);
    agent_spawn(agent);
}

/* The one that there was will call again, or is dead, and then another is needed. */
static void expect(struct agent *agent)
{
    agent->looks = 0;
    uv_timer_start(&agent->timer, on_timer, LOOK_MS, 0);
}

/* `program` beside pleatd. */
static int agent_path(char *path, size_t size, const char *program)
{
    char self[512];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length < 0)
        return -1;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    *slash = '\0';
    return (size_t)snprintf(path, size, "%s/%s", self, program) < size ? 0 : -1;
}

/* There is none, and the one that was to be there failed: another, after a while. */
static void spawn_again(struct agent *agent)
{
    int64_t delay_ms = AGAIN_MS;
    for (int i = 0; i < agent->failures && delay_ms < AGAIN_MOST_MS; i++)
        delay_ms *= 2;
    agent->failures++;
    agent->started = false;
    agent->looks = 0; /* it may have ended because there is one that will call */
    if (!agent->daemon->stopping)
        uv_timer_start(&agent->timer, on_timer, (uint64_t)delay_ms, 0);
}

static void on_spawned_exit(uv_process_t *process, int64_t status, int signal)
{
    struct agent *agent = process->data;
    bool awaited = agent->process == process && agent->started && !agent->connection;
    if (status || signal || awaited)
        daemon_log("an agent of node %u ended with status %lld, signal %d%s", agent->node,
                   (long long)status, signal, awaited ? ", before it connected" : "");
    if (agent->process == process)
        agent->process = NULL;
    if (awaited)
        spawn_again(agent);
    uv_close((uv_handle_t *)process, (uv_close_cb)free);
}

static void agent_spawn(struct agent *agent)
{
    struct daemon *d = agent->daemon;
    char path[600], name[600], node[16], log[600];
    snprintf(node, sizeof(node), "%u", agent->node);
    snprintf(log, sizeof(log), "%s", d->paths.state);
    if (agent_path(path, sizeof(path), "pleat-agent") ||
        agent_path(name, sizeof(name), "pleat-guard")) {
        daemon_log("cannot find pleat-agent beside pleatd");
        spawn_again(agent);
        return;
    }
    char *args[] = {name, /* as what it is seen; the agent is its child */
                    "--daemon",   d->paths.socket,
                    "--instance", d->instance,
                    "--site",     d->config.sites[agent->site].name,
                    "--node",     node,
                    "--state",    log,
                    "--guarded",  NULL,
                    NULL,         NULL,
                    NULL,         NULL};
    const struct pleat_config_site *site = &d->config.sites[agent->site];
    size_t next = sizeof(args) / sizeof(args[0]) - 5;
    if (!site->cpusets)
        args[next++] = "--no-cpusets";
    if (!site->memory_groups)
        args[next++] = "--no-memory-groups";
    if (site->cpus) {
        args[next++] = "--cpus";
        args[next] = site->cpus;
    }
    uv_stdio_container_t io[3] = {{.flags = UV_IGNORE},
                                  {.flags = UV_INHERIT_FD, .data.fd = 2},
                                  {.flags = UV_INHERIT_FD, .data.fd = 2}};
    uv_process_options_t options = {.exit_cb = on_spawned_exit,
                                    .file = path,
                                    .args = args,
                                    .cwd = "/",
                                    .flags = UV_PROCESS_DETACHED,
                                    .stdio_count = 3,
                                    .stdio = io};
    uv_process_t *process = calloc(1, sizeof(*process));
    int rc = process ? uv_spawn(&d->loop, process, &options) : UV_ENOMEM;
    if (rc) {
        daemon_log("cannot start %s: %s", path, uv_strerror(rc));
        if (process)
            uv_close((uv_handle_t *)process, (uv_close_cb)free);
        spawn_again(agent);
        return;
    }
    uv_unref((uv_handle_t *)process);
    process->data = agent;
    agent->process = process;
    agent->started = true;
    uv_timer_start(&agent->timer, on_timer, CONNECT_MS, 0);
}

/* Sees that there is one, or will be. */
static void want(struct agent *agent)
{
    if (agent->connection || uv_is_active((uv_handle_t *)&agent->timer))
        return;
    if (agent_lock_is_held(agent->daemon, agent->site, agent->node))
        expect(agent);
    else
        agent_spawn(agent);
}

void agent_reach(struct daemon *d, uint32_t site)
{
    struct agent *agent = agent_get(d, site, 0);
    if (agent)
        want(agent);
    else
        daemon_log("out of memory: no agent of site %s", d->config.sites[site].name);
}

bool agent_is_known(struct daemon *d, uint32_t site, uint32_t node)
{
    const struct pleat_site *known = &pleat_core_view(d->core)->sites[site];
    const struct agent *agent = agent_get(d, site, node);
    return agent && agent->connection && agent->listed && !known->away &&
           known->agent == agent->number;
}

bool agent_knows(struct daemon *d, uint32_t site, uint32_t node, const char *feature)
{
    const struct agent *agent = agent_get(d, site, node);
    size_t i;
    const json_t *name;
    json_array_foreach(agent ? agent->features : NULL, i, name)
    {
        if (json_is_string(name) && !strcmp(json_string_value(name), feature))
            return true;
    }
    return false;
}

/* Remembers a request, for the case that its answer is an error. */
static int remember_asked(struct agent *agent, const char *method, const json_t *params)
{
    struct asked asked = {.id = agent->next_id,
                          .run = (uint64_t)json_integer_value(json_object_get(params, "run")),
                          .resize =
                              (uint64_t)json_integer_value(json_object_get(params, "resize"))};
    if (strcmp(method, "start") && strcmp(method, "kill") && strcmp(method, "resize") &&
        strcmp(method, "relaunch"))
        return 0;
    snprintf(asked.method, sizeof(asked.method), "%s", method);
    return pleat_array_push(&agent->asked, asked);
}

static struct asked take_asked(struct agent *agent, int64_t id)
{
    struct asked found = {0};
    for (size_t i = 0; i < agent->asked.count; i++) {
        if (agent->asked.items[i].id != id)
            continue;
        found = agent->asked.items[i];
        agent->asked.items[i] = agent->asked.items[--agent->asked.count];
        break;
    }
    return found;
}

int agent_send(void *arg, uint32_t site, uint32_t node, const char *method, json_t *params,
               struct pleat_error *err)
{
    struct daemon *d = arg;
    struct agent *agent = agent_get(d, site, node);
    if (!agent) {
        json_decref(params);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    if (!agent->connection || !agent->listed) {
        /* once it is there the core says again what it still wants (AGENT_BACK), and only that */
        if (strcmp(method, "forget"))
            want(agent);
        json_decref(params);
        return 0;
    }
    struct pleat_string out = {0};
    if (remember_asked(agent, method, params)) {
        json_decref(params);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    int64_t id = agent->next_id++;
    if (pleat_write_request(&out, id, method, params)) {
        (void)take_asked(agent, id);
        pleat_string_finish(&out);
        return pleat_error_set(err, PLEAT_E_NOMEM,
                               "the request '%s' cannot be written: it is too "
                               "long, or memory is short",
                               method);
    }
    /* one that cannot be sent to is about to be reported closed: then what is still to be done is
     * told to the next agent */
    (void)!pleat_connection_send(agent->connection, &out);
    crash_point();
    pleat_string_finish(&out);
    return 0;
}

/* ---- what agents say ---- */

static int64_t cost_of(const json_t *params, const char *name)
{
    return json_integer_value(json_object_get(params, name));
}

/* What a run used, its agent says when it has ended. */
static void note_use(struct daemon *d, const struct job *job, const json_t *params)
{
    if (json_is_integer(json_object_get(params, "cpu_us")))
        note_make(d, daemon_now_us(d), "used", job->id,
                  json_pack("{s:f, s:I, s:I}", "cpu_s", (double)cost_of(params, "cpu_us") / 1e6,
                            "max_rss_kb", (json_int_t)cost_of(params, "max_rss_kb"), "memory_kb",
                            (json_int_t)cost_of(params, "memory_kb")));
}

static void learn(struct daemon *d, struct job *job, const char *method, const json_t *params)
{
    const char *text = json_string_value(json_object_get(params, "text"));
    bool news = true;
    if (!strcmp(method, "applied")) { /* remembered with the job, until its note is written */
        news =
            account_cost(job_account(d, job), cost_of(params, "resize"), cost_of(params, "wait_us"),
                         cost_of(params, "processes_us"), cost_of(params, "redistribute_us"),
                         cost_of(params, "total_us"), cost_of(params, "bytes"));
        job->redistributed_size = (int32_t)cost_of(params, "processes");
        job->redistributed_us = cost_of(params, "redistribute_us");
        text = json_string_value(json_object_get(params, "warning"));
    }
    if (!strcmp(method, "exited"))
        note_use(d, job, params);
    if (text && news)
        note_make(d, daemon_now_us(d), "warning", job->id, json_pack("{s:s}", "text", text));
}

/* What an iteration takes goes into the log where a policy wants to know: at a new size, and where
 * its mean has moved by more than one part in NEWS since. */
static void tell_timing(struct daemon *d, struct job *job, uint64_t run, int64_t size,
                        int64_t iteration_us, int64_t redistribution_us)
{
    enum { NEWS = 20 };
    const struct pleat_component *component = job_component(d, job);
    int64_t moved_us = iteration_us - job->timed_us;
    if (!(pleat_core_needs(d->core) & PLEAT_NEEDS_TIMES) || iteration_us <= 0 || size < 1 ||
        size != component->processors)
        return;
    if (job->timed_size == size && (moved_us < 0 ? -moved_us : moved_us) <= job->timed_us / NEWS)
        return;
    job->timed_size = (int32_t)size;
    job->timed_us = iteration_us;
    struct pleat_event event = {.kind = PLEAT_EV_TIMED,
                                .component = job->component,
                                .u.timed = {.run = run,
                                            .iteration_us = iteration_us,
                                            .redistribution_us = redistribution_us,
                                            .processors = component->processors}};
    turn_event(d, &event);
}

static void learn_progress(struct daemon *d, struct job *job, uint64_t run, const json_t *params)
{
    job->iteration = cost_of(params, "iteration");
    job->iteration_us = cost_of(params, "iteration_us");
    job->has_progress = true;
    int64_t size = cost_of(params, "processes");
    if (size == job_component(d, job)->processes)
        tell_timing(d, job, run, size, job->iteration_us,
                    job->redistributed_size == size ? job->redistributed_us : 0);
}

/* So its peak is known while it runs, and where its agent dies. It may be told again. */
static void learn_memory(struct daemon *d, struct job *job, const json_t *params)
{
    int64_t memory_kb = cost_of(params, "memory_kb");
    const struct account *account = job_account(d, job);
    if (account && memory_kb > account->memory_kb)
        note_make(d, daemon_now_us(d), "memory", job->id,
                  json_pack("{s:I}", "memory_kb", (json_int_t)memory_kb));
}

/* So many processors its application can use at most, as it says. */
static int learn_limit(struct daemon *d, const struct job *job, uint64_t run, const json_t *params,
                       struct pleat_error *err)
{
    int64_t most = 0;
    int rc = pleat_get_int(params, "processors", true, 0, PLEAT_SIZE_MAX, &most, err);
    if (rc || most == job_component(d, job)->declared)
        return rc;
    struct pleat_event event = {.kind = PLEAT_EV_DECLARED,
                                .component = job->component,
                                .u.declared = {.run = run, .maximum = (int32_t)most}};
    turn_event(d, &event);
    return 0;
}

/* An iteration of a folded program is a second of useful processor time of all its processes; it
 * has nothing to redistribute, but a change is felt. An agent knows of its own node only: where the
 * run has others, its processors are not all that the job has, and nothing is learned. */
static void learn_folded(struct daemon *d, struct job *job)
{
    double rate = json_real_value(json_object_get(job->folded, "rate"));
    int64_t size = cost_of(job->folded, "processors");
    if (rate > 1e-6 && isfinite(rate))
        tell_timing(d, job, job->folded_run, size, (int64_t)(1e6 / rate),
                    cost_of(job->folded, "change_us"));
}

void agents_learn(struct daemon *d)
{
    for (size_t i = 0; i < d->numbers.count; i++)
        if (d->numbers.items[i]->folded && !d->numbers.items[i]->ended)
            learn_folded(d, d->numbers.items[i]);
}

static void on_notice(struct agent *agent, const struct pleat_message *message)
{
    struct daemon *d = agent->daemon;
    struct pleat_error err = {0};
    int64_t run = 0;
    int rc = pleat_get_int(message->params, "run", true, 0, INT64_MAX, &run, &err);
    uint32_t component = rc ? PLEAT_NONE : run_component(d, (uint64_t)run);
    struct job *job = job_of_component(d, component);
    if (!rc && !job) {
        /* of a run that is over for us: the agent may forget it */
        if (!strcmp(message->method, "exited") || !strcmp(message->method, "start_failed"))
            rc = agent_send(d, agent->site, agent->node, "forget",
                            json_pack("{s:I}", "run", (json_int_t)run), &err);
        if (!rc)
            return;
    }
    if (!rc && !strcmp(message->method, "progress")) {
        learn_progress(d, job, (uint64_t)run, message->params);
        return;
    }
    if (!rc && !strcmp(message->method, "memory")) {
        learn_memory(d, job, message->params);
        return;
    }
    if (!rc && !strcmp(message->method, "folded")) {
        json_decref(job->folded);
        job->folded = json_deep_copy(message->params);
        json_object_del(job->folded, "run");
        job->folded_run = (uint64_t)run;
        learn_folded(d, job);
        return;
    }
    if (!rc && !strcmp(message->method, "limit")) {
        rc = learn_limit(d, job, (uint64_t)run, message->params, &err);
    } else if (!rc) {
        learn(d, job, message->method, message->params);
        if (!strcmp(message->method, "warning"))
            return;
        struct pleat_runner *runner = job_runner(d, job);
        rc = runner->ops->notice(runner, component, message->method, message->params, &err);
    }
    if (rc)
        daemon_log("agent of node %u, '%s': %s", agent->node, message->method, err.text);
}

/* Asks for the agent's runs above a number; the answer is a page of them. */
static void ask_list(struct agent *agent, int64_t after)
{
    struct pleat_string out = {0};
    agent->list_id = agent->next_id++;
    if (pleat_write_request(&out, agent->list_id, "list",
                            json_pack("{s:I}", "after", (json_int_t)after)) ||
        pleat_connection_send(agent->connection, &out))
        daemon_log("the agent of node %u cannot be reached", agent->node);
    pleat_string_finish(&out);
}

/* After a salvage: all agents of runs that the log knows have said what became of them. */
static bool is_settled(struct daemon *d)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    for (size_t i = 0; i < d->runs.count; i++) {
        uint32_t site = view->components[d->runs.items[i].component].site;
        const struct agent *agent = d->runs.items[i].run < d->runs_below && site != PLEAT_NONE
                                        ? agent_get(d, site, 0)
                                        : NULL;
        if (agent && !agent->settled)
            return false;
    }
    return true;
}

/* All that it runs is known: what we think runs there and does not is lost, what should not run is
 * ended, what waited to be asked is asked. */
static void on_all_listed(struct agent *agent)
{
    struct daemon *d = agent->daemon;
    size_t index;
    json_t *entry;
    lose_runs(agent, agent->runs);
    agent->listed = agent->settled = true;
    if (is_settled(d))
        salvage_settled(d);
    json_array_foreach(agent->runs, index, entry)
    {
        json_int_t run = json_integer_value(json_object_get(entry, "run"));
        struct pleat_error err = {0};
        if (run_component(d, (uint64_t)run) == PLEAT_NONE &&
            agent_send(d, agent->site, agent->node, "kill",
                       json_pack("{s:I, s:f}", "run", run, "grace_s", 1.0), &err))
            daemon_log("run %lld: %s", (long long)run, err.text);
    }
    json_decref(agent->runs);
    agent->runs = NULL;
    struct pleat_event back = {.kind = PLEAT_EV_AGENT_BACK,
                               .component = agent->site,
                               .u.agent = {.number = agent->number}};
    turn_event(d, &back);
}

static void on_listed(struct agent *agent, const json_t *result)
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
        ask_list(agent,
                 json_integer_value(json_object_get(json_array_get(page, count - 1), "run")));
    else
        on_all_listed(agent);
}

/* It did not even try. */
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
              json_pack("{s:s}", "text", why->text));
    turn_event(d, &failed);
}

/* Requests that can fail for good: the core must hear of it, or it would wait for its deadlines. */
static void on_refused(struct agent *agent, const struct pleat_message *message)
{
    struct daemon *d = agent->daemon;
    struct asked asked = take_asked(agent, message->id);
    uint32_t component = run_component(d, asked.run);
    bool unknown = message->error.code == PLEAT_E_NOTFOUND;
    if (!unknown)
        daemon_log("agent of node %u: %s", agent->node, message->error.text);
    if (component == PLEAT_NONE)
        return;
    if (!strcmp(asked.method, "start")) {
        start_refused(d, component, asked.run, &message->error);
    } else if (strcmp(asked.method, "resize") && unknown) {
        lost(d, component, asked.run); /* nothing to end or to go on from: nothing is reported */
    } else if (strcmp(asked.method, "kill") && !unknown && message->error.code != PLEAT_E_BUSY) {
        bool again = !strcmp(asked.method, "relaunch");
        struct pleat_event failed = {.kind = PLEAT_EV_RESIZE_FAILED,
                                     .flags = again ? PLEAT_NO_RELAUNCH : 0,
                                     .component = component,
                                     .u.change = {.resize = asked.resize}};
        note_make(d, daemon_now_us(d), "warning", job_of_component(d, component)->id,
                  json_pack("{s:s}", "text", message->error.text));
        turn_event(d, &failed);
    }
}

/* It lives. */
static void heard(struct agent *agent)
{
    if (agent->said_silent)
        daemon_log("the agent of node %u answers again", agent->node);
    agent->silent_s = 0;
    agent->said_silent = false;
}

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    struct agent *agent = arg;
    (void)connection;
    heard(agent);
    if (message->kind == PLEAT_NOTIFICATION) {
        if (strcmp(message->method, "hello"))
            on_notice(agent, message);
    } else if (message->kind == PLEAT_RESULT && message->id == agent->list_id) {
        on_listed(agent, message->result);
    } else if (agent->ping_id && message->id == agent->ping_id) {
        agent->ping_id = 0; /* one of before there were pings says that it knows none: an answer */
    } else if (message->kind == PLEAT_RESULT) {
        (void)take_asked(agent, message->id);
    } else if (message->kind == PLEAT_FAILURE) {
        on_refused(agent, message);
    }
}

static void on_closed(void *arg, struct pleat_connection *connection,
                      const struct pleat_error *error)
{
    struct agent *agent = arg;
    (void)connection;
    struct pleat_event away = {.kind = PLEAT_EV_AGENT_AWAY, .component = agent->site};
    agent->connection = NULL;
    agent->asked.count = 0; /* it was sent, and will not be answered */
    if (agent->listed && !agent->daemon->stopping)
        turn_event(agent->daemon, &away);
    agent->listed = false;
    json_decref(agent->runs);
    agent->runs = NULL;
    if (agent->daemon->stopping || (agent->daemon->runs.count == 0 && !error->code))
        return;
    daemon_log("the agent of node %u is gone%s%s", agent->node, error->code ? ": " : "",
               error->code ? error->text : "");
    expect(agent);
}

static bool is_same_list(const char *one, const char *other)
{
    struct pleat_cpu_list a = {0}, b = {0};
    bool same = pleat_cpu_list_parse(one, &a, NULL) == 0 &&
                pleat_cpu_list_parse(other, &b, NULL) == 0 && a.count == b.count;
    for (size_t i = 0; same && i < a.count; i++)
        same = a.items[i] == b.items[i];
    pleat_array_finish(&a);
    pleat_array_finish(&b);
    return same;
}

/* One that outlived a change of the configuration has those of before as long as it lives. */
static void take_cpus(struct agent *agent, const char *cpus)
{
    const char *wanted = agent->daemon->config.sites[agent->site].cpus;
    free(agent->cpus);
    agent->cpus = cpus ? strdup(cpus) : NULL;
    if (cpus && wanted && !is_same_list(cpus, wanted))
        daemon_log("the agent of node %u has the CPUs %.200s for slots, not %.200s as configured: "
                   "that begins when what it runs is over, and pleatd starts again",
                   agent->node, cpus, wanted);
}

const char *slots_cpus(struct daemon *d, uint32_t site)
{
    for (const struct agent *a = d->agents; a; a = a->next)
        if (a->site == site && a->node == 0 && a->cpus)
            return a->cpus;
    return d->config.sites[site].cpus;
}

/* Which one it is. Agents of before that was said are told apart by their process. */
static uint64_t number_of(const json_t *hello)
{
    json_int_t number = json_integer_value(json_object_get(hello, "agent"));
    if (number <= 0)
        number = json_integer_value(json_object_get(hello, "pid"));
    return number > 0 ? (uint64_t)number : 1;
}

void agent_accept(struct daemon *d, struct pleat_connection *connection, const json_t *hello)
{
    static const struct pleat_connection_callbacks callbacks = {on_message, on_closed, NULL};
    const char *site = json_string_value(json_object_get(hello, "site"));
    const char *instance = json_string_value(json_object_get(hello, "instance"));
    uint32_t index = 0;
    while (index < d->config.site_count && (!site || strcmp(d->config.sites[index].name, site)))
        index++;
    uint32_t node = (uint32_t)json_integer_value(json_object_get(hello, "node"));
    if (site && instance && strcmp(instance, d->instance)) {
        stranger_accept(d, connection, site, node);
        return;
    }
    if (index == d->config.site_count || !instance) {
        daemon_log("an agent of a site that is not configured called: turned away");
        pleat_connection_close(connection);
        return;
    }
    struct agent *agent = agent_get(d, index, node);
    if (!agent || agent->connection) {
        daemon_log("a second agent for node %u of site %s: turned away", node, site);
        pleat_connection_close(connection);
        return;
    }
    uv_timer_stop(&agent->timer);
    agent->connection = connection;
    agent->started = false;
    agent->listed = false;
    agent->ping_id = 0;
    heard(agent);
    agent->failures = 0;
    agent->number = number_of(hello);
    take_cpus(agent, json_string_value(json_object_get(hello, "cpus")));
    json_decref(agent->features);
    agent->features = json_incref(json_object_get(hello, "features"));
    if (pleat_connection_start(connection, &callbacks, agent))
        daemon_log("the agent of node %u cannot be reached", node);
    else
        ask_list(agent, 0);
}

void agent_needed(struct daemon *d, const char *site, uint32_t node)
{
    for (struct agent *agent = d->agents; agent; agent = agent->next) {
        if (agent->node != node || strcmp(d->config.sites[agent->site].name, site) != 0 ||
            agent->connection || !uv_is_active((uv_handle_t *)&agent->timer))
            continue;
        agent->started = false; /* it has ended, as another one was there */
        expect(agent);
    }
}

/* A second has gone by, in which pleatd was not stopped: else there were fewer of these. */
static void look(struct agent *agent)
{
    double most_s = patience_s(agent->daemon);
    struct pleat_string out = {0};
    if (!agent->connection)
        return;
    if (agent->ping_id || !agent->listed) {
        if (++agent->silent_s == SAY_S)
            say_silent(agent, "answered");
        if (most_s > 0 && agent->silent_s >= most_s) {
            agent->silent_s = 0;
            say_ended(agent);
            (void)kill(pleat_connection_peer_pid(agent->connection), SIGKILL);
        }
        return;
    }
    if (++agent->since_ping_s < ping_after_s(agent->daemon))
        return;
    agent->since_ping_s = 0;
    agent->ping_id = agent->next_id++;
    if (pleat_write_request(&out, agent->ping_id, "ping", NULL) == 0)
        (void)!pleat_connection_send(agent->connection, &out);
    pleat_string_finish(&out);
}

void agents_look(struct daemon *d)
{
    for (struct agent *agent = d->agents; agent; agent = agent->next)
        look(agent);
}

int agents_silent_s(struct daemon *d, uint32_t site)
{
    for (const struct agent *agent = d->agents; agent; agent = agent->next)
        if (agent->site == site && agent->said_silent)
            return agent->connection ? agent->silent_s : agent->looks * LOOK_MS / 1000;
    return 0;
}

void agents_expect(struct daemon *d)
{
    for (size_t i = 0; i < d->runs.count; i++) {
        uint32_t site = pleat_core_view(d->core)->components[d->runs.items[i].component].site;
        struct agent *agent = site == PLEAT_NONE ? NULL : agent_get(d, site, 0);
        if (agent && !agent->connection && !uv_is_active((uv_handle_t *)&agent->timer))
            expect(agent);
    }
}

int agents_away(struct daemon *d, struct pleat_error *err)
{
    int rc = 0;
    for (uint32_t site = 0; rc >= 0 && site < d->config.site_count; site++) {
        struct pleat_event away = {
            .time_us = daemon_now_us(d), .kind = PLEAT_EV_AGENT_AWAY, .component = site};
        if (site < pleat_core_view(d->core)->site_count)
            rc = turn_apply(d, &away, err);
        else /* it joins in the turn to come */
            turn_event(d, &away);
    }
    return rc < 0 ? rc : 0;
}

bool agents_absent(struct daemon *d)
{
    for (uint32_t site = 0; site < d->config.site_count; site++) {
        const struct agent *agent = d->agents;
        while (agent && (agent->site != site || agent->node != 0))
            agent = agent->next;
        if ((!agent || !agent->connection) && agent_lock_is_held(d, site, 0))
            return true;
    }
    return false;
}

void agents_quit(struct daemon *d)
{
    strangers_close();
    struct agent *next;
    for (struct agent *agent = d->agents; agent; agent = next) {
        next = agent->next;
        struct pleat_string out = {0};
        if (agent->connection) {
            if (d->runs.count == 0 && !pleat_write_request(&out, agent->next_id++, "quit", NULL))
                (void)!pleat_connection_send(agent->connection, &out);
            pleat_string_finish(&out);
            pleat_connection_close(agent->connection);
        }
        free(agent->cpus);
        json_decref(agent->features);
        agent->cpus = NULL;
        agent->features = NULL;
        pleat_array_finish(&agent->asked);
        uv_timer_stop(&agent->timer);
        uv_close((uv_handle_t *)&agent->timer, NULL);
    }
}
