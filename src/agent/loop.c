#include "agent/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "agent/ending.h"
#include "agent/evolve.h"
#include "agent/fold.h"
#include "agent/kind.h"
#include "agent/life.h"
#include "agent/link.h"
#include "agent/log.h"
#include "agent/memory.h"
#include "agent/methods.h"
#include "agent/networks.h"
#include "agent/notify.h"
#include "agent/outflow.h"
#include "agent/owner.h"
#include "agent/reap.h"
#include "agent/run.h"
#include "agent/shared_files.h"
#include "base/clock.h"

/* An agent with nothing to do ends after this time without a daemon. One that was told to call for
 * longer (--call) looks every IDLE_LOOK_MS whether that time is over, too. */
#define IDLE_MS 10000
#define IDLE_LOOK_MS 1000
#define CPUS_TEXT_MAX 65536
/* Over TCP: the daemon asks for a sign of life every 5 s at least. */
#define HEARING_MS 30000
/* ... but not much longer than the time after which an agent without a daemon ends its jobs. A
 * daemon that lives is heard every 5 s. */
#define HEARING_LEAST_MS 12000
/* A call that nobody answers is given up after this time, and made again. */
#define ANSWER_MS 15000
#define TERMINATE_GRACE_US (5 * PLEAT_US_PER_S)
/* An agent that was told to end, and holds its runs, ends this long after the last one was
 * forgotten: the daemon gives the node back before. */
#define UNUSED_S 3

/* ---- ending ---- */

static void close_handle(void *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

/* No run is live any more. The loop ends when all handles are closed and all replies are written.
 */
static void shut_down(struct pleat_agent *agent)
{
    if (agent->closing)
        return;
    agent->closing = true;
    /* a second SIGTERM must not cut off the last replies */
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, PLEAT_AGENT_GUARD_SIGNAL);
    (void)sigprocmask(SIG_BLOCK, &ends, NULL);
    pleat_connection_close(agent->connection);
    agent->connection = NULL;
    void *handles[] = {&agent->on_child,  &agent->on_term,       &agent->on_interrupt,
                       &agent->on_record, &agent->reconnect,     &agent->idle,
                       &agent->reap,      &agent->ending,        &agent->resizing,
                       &agent->progress,  &agent->folding,       &agent->measuring,
                       &agent->hearing,   &agent->orphaned,      &agent->on_guard,
                       &agent->holding,   &agent->on_suspending, &agent->on_ending};
    for (size_t i = 0; i < sizeof(handles) / sizeof(*handles); i++)
        close_handle(handles[i]);
}

static void on_idle(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    int64_t passed_ms = (pleat_clock_monotonic_us() - agent->idle_since_us) / 1000;
    if (!agent->link.unknown && passed_ms < (int64_t)agent->options.call_s * 1000) {
        uv_timer_start(timer, on_idle, IDLE_LOOK_MS, 0);
        return;
    }
    pleat_log("no daemon and nothing to do for %d s: ending", (int)(passed_ms / 1000));
    shut_down(agent);
}

/* Called after each turn of the loop. Adjusts the timers to the work that there is now, and ends
 * the agent where nothing is left to do. */
static void settle(struct pleat_agent *agent)
{
    if (agent->closing)
        return;
    if (agent->quitting && pleat_runs_live(agent) == 0) {
        shut_down(agent);
        return;
    }
    bool idle = agent->runs.count == 0 && !agent->greeted;
    if (!idle) {
        uv_timer_stop(&agent->idle);
    } else if (!uv_is_active((const uv_handle_t *)&agent->idle)) {
        agent->idle_since_us = pleat_clock_monotonic_us();
        uv_timer_start(&agent->idle, on_idle, IDLE_MS, 0);
    }
    for (size_t i = 0; agent->kinds[i]; i++)
        agent->kinds[i]->arm(agent);
    pleat_outflow_pump(agent);
    pleat_memory_arm(agent);
}

/* Ends all runs within grace_us, then the agent. */
static void terminate(struct pleat_agent *agent, int64_t grace_us)
{
    agent->quitting = true;
    for (size_t i = 0; i < agent->runs.count; i++) {
        struct pleat_run *run = agent->runs.items[i];
        bool told_first = run->state == PLEAT_RUN_ENDING && run->reaper_told && !run->killing;
        if (!run->unwanted &&
            (told_first || run->state == PLEAT_RUN_STARTING || run->state == PLEAT_RUN_RUNNING))
            run->lost = true; /* also if its program handles SIGTERM, and exits with 0 */
        run->was_told |= told_first;
        pleat_run_end(run, grace_us);
    }
    pleat_runs_sweep(agent);
}

/* ---- holding ---- */

/* A batch system that takes the node away says so to the daemon, too, and leaves a while before it
 * kills. Meanwhile jobs may shrink off the node, which is what the runs are held for. */
static void on_holding(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    agent->unused_s = agent->runs.count || agent->options.choose ? 0 : agent->unused_s + 1;
    if (pleat_clock_monotonic_us() < agent->hold_until_us && agent->unused_s < UNUSED_S)
        return;
    uv_timer_stop(timer);
    pleat_log(agent->runs.count ? "ending all runs" : "nothing is left here: ending");
    terminate(agent, TERMINATE_GRACE_US);
}

/* Whether the runs go on for now, also while no daemon is there: the next one may come in time. A
 * second signal ends them. One whose CPUs a run of another agent has waits until it is told to end.
 */
static bool hold(struct pleat_agent *agent)
{
    bool used = pleat_runs_live(agent) > 0 || agent->options.choose;
    if (agent->holds || agent->quitting || !agent->options.hold_s || !used)
        return false;
    agent->holds = true;
    agent->hold_until_us =
        pleat_clock_monotonic_us() + (int64_t)agent->options.hold_s * PLEAT_US_PER_S;
    uv_timer_start(&agent->holding, on_holding, 1000, 1000);
    return true;
}

/* ---- signals ---- */

static void on_reap(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    pleat_runs_reap(agent);
    pleat_runs_sweep(agent);
}

/* libuv calls this once for each signal, and reads signals before it looks at any socket for as
 * long as new ones arrive. The work takes milliseconds, so it is done once in a turn of the loop
 * instead. */
static void on_child(uv_signal_t *handle, int number)
{
    struct pleat_agent *agent = handle->data;
    (void)number;
    uv_timer_start(&agent->reap, on_reap, 0, 0);
}

/* A reaper writes here how a main process has ended. The record itself is read in the next turn,
 * with all others. */
static void on_record(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    on_child(&((struct pleat_agent *)poll->data)->on_child, SIGCHLD);
}

static void on_end_signal(uv_signal_t *handle, int number)
{
    struct pleat_agent *agent = handle->data;
    bool by_guard = number == PLEAT_AGENT_GUARD_SIGNAL, again = agent->quitting;
    uint32_t *count = by_guard ? &agent->told_by_guard : &agent->told;
    if (++*count <= (by_guard ? agent->told : agent->told_by_guard))
        return; /* the guard hands on a signal that the agent got, too */
    if (number != SIGINT && hold(agent)) {
        pleat_log("signal %d: runs have %u s to leave", number, agent->options.hold_s);
        return;
    }
    pleat_log("signal %d: ending all runs%s", number, again ? " now" : "");
    terminate(agent, again ? 0 : TERMINATE_GRACE_US);
}

/* Grid Engine announces that it will kill (SIGUSR2), or stop for a while (SIGUSR1), also more than
 * once. */
static void on_notice_signal(uv_signal_t *handle, int number)
{
    struct pleat_agent *agent = handle->data;
    if (number == SIGUSR1 || agent->holds || agent->quitting)
        return;
    if (hold(agent)) {
        pleat_log("signal %d: runs have %u s to leave", number, agent->options.hold_s);
        return;
    }
    pleat_log("signal %d: ending all runs", number);
    terminate(agent, TERMINATE_GRACE_US);
}

/* ---- connection ---- */

static void connection_lost(struct pleat_agent *agent);

static void answer(struct pleat_agent *agent, const struct pleat_message *message)
{
    struct pleat_string out = {0};
    struct pleat_error err = {0};
    json_t *result = NULL;
    int status;
    agent->answering = true;
    if (!agent->greeted)
        status = pleat_error_set(&err, PLEAT_E_PROTOCOL, "say hello before the first request");
    else
        status = pleat_agent_answer(agent, message, &result, &err);
    agent->answering = false;
    if (status) {
        json_decref(result);
        status = pleat_write_failure(&out, message->id, &err);
    } else {
        status = pleat_write_result(&out, message->id, result);
    }
    if (status)
        pleat_log("cannot answer '%s' (request %" PRId64 ")", message->method, message->id);
    pleat_agent_send(agent, &out);
    pleat_agent_send(agent, &agent->behind);
}

/* What the daemon says to agents over TCP. */
static int64_t orphan_us_of(const json_t *hello)
{
    double seconds = json_number_value(json_object_get(hello, "orphan_s"));
    return seconds > 0 && seconds <= 1e9 ? (int64_t)(seconds * (double)PLEAT_US_PER_S) : 0;
}

static void greet(struct pleat_agent *agent, const struct pleat_message *message)
{
    struct pleat_error err;
    const char *role = NULL;
    int status = pleat_read_hello(message, &role, &err);
    if (!status && strcmp(role, "daemon") != 0)
        status = pleat_error_set(
            &err, PLEAT_E_PROTOCOL, "%s is no daemon's but a %.40s's",
            agent->options.daemon ? agent->options.daemon : agent->options.connect, role);
    if (status) {
        pleat_log("%s", err.text);
        connection_lost(agent);
        return;
    }
    agent->greeted = true;
    agent->link.failures = 0;
    agent->link.orphan_us = orphan_us_of(message->params);
    uv_timer_stop(&agent->orphaned);
    agent->reporting = agent->reporting || agent->runs.count == 0;
    for (size_t i = 0; agent->kinds[i]; i++)
        agent->kinds[i]->greeted(agent);
    /* it is not known which notifications have arrived: the daemon says when they are to be sent
     * again */
    for (size_t i = 0; i < agent->runs.count; i++)
        pleat_outflow_pause(agent->runs.items[i]);
}

static uint64_t hearing_ms(const struct pleat_agent *agent)
{
    int64_t orphan_ms = agent->link.orphan_us / 1000,
            most_ms = agent->greeted ? HEARING_MS : ANSWER_MS;
    if (orphan_ms <= 0 || orphan_ms > most_ms)
        return (uint64_t)most_ms;
    return orphan_ms < HEARING_LEAST_MS ? HEARING_LEAST_MS : (uint64_t)orphan_ms;
}

static void on_deaf(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    pleat_log("nothing was heard from the daemon for %d s; trying again",
              (int)(hearing_ms(agent) / 1000));
    connection_lost(agent);
}

/* Over TCP the network may keep a connection open whose other end is gone. */
static void hear(struct pleat_agent *agent)
{
    if (pleat_link_is_tcp(agent))
        uv_timer_start(&agent->hearing, on_deaf, hearing_ms(agent), 0);
}

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    struct pleat_agent *agent = arg;
    (void)connection;
    hear(agent);
    if (message->kind == PLEAT_REQUEST) {
        answer(agent, message);
    } else if (message->kind == PLEAT_NOTIFICATION && strcmp(message->method, "hello") == 0) {
        greet(agent, message);
    }
    /* The agent sends no requests, so a result or a failure answers none of them. A failure is
     * logged. */
    else if (message->kind == PLEAT_FAILURE)
        pleat_log("the daemon says: %s", message->error.text);
}

static void on_closed(void *arg, struct pleat_connection *connection,
                      const struct pleat_error *error)
{
    struct pleat_agent *agent = arg;
    (void)connection;
    if (agent->greeted)
        pleat_log("lost the daemon%s%s; trying again", error->code ? ": " : "",
                  error->code ? error->text : "");
    agent->connection = NULL;
    agent->link.unknown = !agent->greeted && error->code == PLEAT_E_PERMISSION;
    connection_lost(agent);
}

/* Whether a cpuset keeps processes to the CPUs that were granted. */
static bool is_confined(const struct pleat_agent *agent)
{
    const uint32_t reach = pleat_cpu_set_count(&agent->reach);
    return reach <= agent->options.processors && (long)reach < sysconf(_SC_NPROCESSORS_ONLN);
}

static void connect_to_daemon(struct pleat_agent *agent)
{
    static const struct pleat_connection_callbacks callbacks = {on_message, on_closed, NULL};
    const struct pleat_agent_options *options = &agent->options;
    struct pleat_string out = {0};
    struct pleat_error err;
    hear(agent);
    if (pleat_link_open(agent, &callbacks, &err)) {
        pleat_log("%s", err.text);
        connection_lost(agent);
        return;
    }
    json_t *extra = json_pack(
        "{s:s, s:s, s:I, s:i, s:I, s:s, s:s, s:[s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s]}",
        "instance", options->instance, "site", options->site, "node", (json_int_t)options->node,
        "pid", (int)agent->pid, "agent", (json_int_t)agent->number, "shared", PLEAT_SHARED_MEMORY,
        "architecture", pleat_machine_here(), "features", PLEAT_FEATURE_TASKS,
        PLEAT_FEATURE_TERMINAL, PLEAT_FEATURE_CHECKPOINTS, PLEAT_FEATURE_PARTS,
        PLEAT_FEATURE_PLACES, PLEAT_FEATURE_STREAMS, PLEAT_FEATURE_WAITS, PLEAT_FEATURE_BESIDE,
        PLEAT_FEATURE_MOVES, PLEAT_FEATURE_GUESTS, PLEAT_FEATURE_PROCESSES, PLEAT_FEATURE_ROAMS,
        PLEAT_FEATURE_WINDOW, PLEAT_FEATURE_ARCHITECTURES, PLEAT_FEATURE_SITES,
        PLEAT_FEATURE_LEAVE);
    if (extra)
        pleat_networks_add(extra);
    if (extra && agent->options.processors)
        (void)json_object_set_new(extra, "confined", json_boolean(is_confined(agent)));
    if (extra && pleat_link_is_tcp(agent))
        (void)json_object_set_new(extra, "shares_state",
                                  json_boolean(pleat_link_shares_state(agent)));
    if (extra && *agent->mark)
        (void)json_object_set_new(extra, "mark", json_string(agent->mark));
    struct pleat_string cpus = {0};
    pleat_cpu_list_text(&agent->cpus, &cpus);
    /* The member is left out where the list of CPUs is too long for a line. */
    if (extra && cpus.text && !cpus.failed && cpus.length <= CPUS_TEXT_MAX)
        (void)json_object_set_new(extra, "cpus", json_string(cpus.text));
    pleat_string_finish(&cpus);
    if (!extra || pleat_write_hello(&out, "agent", extra) ||
        pleat_connection_send(agent->connection, &out)) {
        pleat_log("cannot say hello to the daemon");
        connection_lost(agent);
    }
    pleat_string_finish(&out);
}

static void on_reconnect(uv_timer_t *timer)
{
    connect_to_daemon(timer->data);
}

/* Nobody looks after the runs any more, and others may want the processors. */
static void on_orphaned(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    pleat_log("no daemon for %g s: ending all runs", (double)agent->link.orphan_us / 1e6);
    terminate(agent, TERMINATE_GRACE_US);
}

static void connection_lost(struct pleat_agent *agent)
{
    if (agent->closing)
        return;
    pleat_connection_close(agent->connection);
    agent->connection = NULL;
    agent->greeted = false;
    agent->reporting = false;
    uv_timer_stop(&agent->hearing);
    uv_timer_start(&agent->reconnect, on_reconnect, pleat_link_pause_ms(agent), 0);
    if (agent->link.orphan_us > 0 && !uv_is_active((uv_handle_t *)&agent->orphaned))
        uv_timer_start(&agent->orphaned, on_orphaned,
                       (uint64_t)(agent->link.orphan_us + 999) / 1000, 0);
}

/* ---- the loop ---- */

static int init_handles(struct pleat_agent *agent, struct pleat_error *err)
{
    uv_timer_t *timers[] = {&agent->reconnect, &agent->idle,     &agent->reap,    &agent->ending,
                            &agent->resizing,  &agent->progress, &agent->folding, &agent->measuring,
                            &agent->hearing,   &agent->orphaned, &agent->holding};
    uv_signal_t *signals[] = {&agent->on_child, &agent->on_term,       &agent->on_interrupt,
                              &agent->on_guard, &agent->on_suspending, &agent->on_ending};
    for (size_t i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
        (void)uv_timer_init(&agent->loop, timers[i]); /* cannot fail */
        timers[i]->data = agent;
    }
    int status = 0;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (status == 0)
            status = uv_signal_init(&agent->loop, signals[i]);
        signals[i]->data = agent;
    }
    if (status == 0)
        status = uv_signal_start(&agent->on_child, on_child, SIGCHLD);
    if (status == 0)
        status = uv_signal_start(&agent->on_term, on_end_signal, SIGTERM);
    if (status == 0)
        status = uv_signal_start(&agent->on_interrupt, on_end_signal, SIGINT);
    if (status == 0)
        status = uv_signal_start(&agent->on_guard, on_end_signal, PLEAT_AGENT_GUARD_SIGNAL);
    if (status == 0)
        status = uv_signal_start(&agent->on_suspending, on_notice_signal, SIGUSR1);
    if (status == 0)
        status = uv_signal_start(&agent->on_ending, on_notice_signal, SIGUSR2);
    if (status < 0)
        return pleat_error_sys(err, -status, "cannot watch signals");
    status = uv_poll_init(&agent->loop, &agent->on_record, agent->records[0]);
    agent->on_record.data = agent;
    if (status == 0)
        status = uv_poll_start(&agent->on_record, UV_READABLE, on_record);
    return status < 0 ? pleat_error_sys(err, -status, "cannot watch what runs tell") : 0;
}

static void finish(struct pleat_agent *agent)
{
    while (agent->runs.count)
        pleat_run_destroy(agent->runs.items[agent->runs.count - 1]);
    /* The handles of mailboxes close and the last replies are written, within a second. */
    (void)uv_run(&agent->loop, UV_RUN_DEFAULT);
    pleat_array_finish(&agent->runs);
    pleat_process_tree_finish(&agent->tree);
    pleat_memory_finish(agent);
    pleat_string_finish(&agent->env);
    pleat_string_finish(&agent->behind);
    pleat_array_finish(&agent->cpus);
    pleat_granted_finish(&agent->granted);
    pleat_foldeds_finish(agent);
    if (uv_loop_close(&agent->loop))
        pleat_log("the loop was not empty at the end");
    close(agent->records[0]);
    close(agent->records[1]);
}

int pleat_agent_run(struct pleat_agent *agent, void (*sweep)(const struct pleat_agent *agent),
                    struct pleat_error *err)
{
    if (pipe2(agent->records, O_CLOEXEC) || fcntl(agent->records[0], F_SETFL, O_NONBLOCK))
        return pleat_error_sys(err, errno, "no pipe for what runs tell");
    int status = uv_loop_init(&agent->loop);
    if (status < 0)
        return pleat_error_sys(err, -status, "cannot create the event loop");
    status = init_handles(agent, err);
    if (status)
        return status; /* The process ends now: a loop with half its handles cannot be closed. */
    /* a thread looks up the daemon's name meanwhile; nothing comes before the loop runs */
    connect_to_daemon(agent);
    sweep(agent);
    pleat_runs_reap(agent);
    settle(agent);
    while (!agent->closing) {
        (void)uv_run(&agent->loop, UV_RUN_ONCE);
        settle(agent);
    }
    finish(agent);
    return 0;
}
