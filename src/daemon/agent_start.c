/* Starts an agent when it is needed, waits for its call after a restart of pleatd, and kills it
 * when it is silent.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "daemon/agent.h"
#include "daemon/agent_listen.h"
#include "daemon/agent_lock.h"
#include "daemon/notes.h"
#include "daemon/turn_inputs.h"

/* A started agent must connect within CONNECT_MS. If it ends before, the next one is started
 * AGAIN_MS later. Each further failure doubles that time, up to AGAIN_MOST_MS, or ENDING_MS while
 * pleatd ends its jobs. */
enum { CONNECT_MS = 15000, AGAIN_MS = 100, AGAIN_MOST_MS = 12800, ENDING_MS = 1000 };

static void agent_spawn(struct agent *agent);
static void on_timer(uv_timer_t *handle);

void agent_start_init(struct agent *agent)
{
    uv_timer_init(&agent->daemon->loop, &agent->timer);
    agent->timer.data = agent;
}

/* Seconds of silence: the core takes an agent for away after AWAY_S; users are told after SAY_S;
 * while pleatd is ending, an agent is killed after STOP_S at the latest; an agent is asked for a
 * sign of life PING_S after its last one, and each second while a request to it is not answered.
 * A connection that is cut has broken before CUT_S (wire/tcp.h). */
enum { AWAY_S = 2, SAY_S = 10, STOP_S = 5, PING_S = 5, CUT_S = 45 };

static double patience_s(const struct daemon *d)
{
    double most = (double)d->config.agent_answer_us / 1e6;
    return (d->stopping || d->ending) && (most <= 0 || most > STOP_S) ? STOP_S : most;
}

/* Seconds of silence after which an agent that is connected is ended; 0: never. One on a node of a
 * batch system may be cut off, and what it runs would go on there and begin elsewhere as well: it
 * is waited for until its connection would have broken. */
static double ended_after_s(const struct agent *agent)
{
    const struct daemon *d = agent->daemon;
    double most_s = patience_s(d);
    bool may_be_cut = d->config.sites[agent->site].brings_agents && !d->stopping && !d->ending;
    return may_be_cut && most_s > 0 && most_s < CUT_S ? CUT_S : most_s;
}

/* Seconds from a sign of life to the next ping: fewer than PING_S if agent_answer_s is shorter. */
static int ping_after_s(const struct agent *agent)
{
    double most_s = patience_s(agent->daemon);
    if (agent->daemon->stopping || agent->daemon->ending || agent->asked.count > 0)
        return 1;
    return most_s > 0 && most_s < PING_S ? (int)(most_s < 1 ? 1 : most_s) : PING_S;
}

/* Into the log, and among the daemon's events. */
static void say(struct agent *agent, const char *text)
{
    daemon_log("%s", text);
    note_make(agent->daemon, daemon_now_us(agent->daemon), "daemon", -1, note_text(text));
}

static void say_silent(struct agent *agent, const char *how)
{
    char text[300], then[80] = "it is waited for";
    double most_s = ended_after_s(agent);
    if (most_s > 0)
        snprintf(then, sizeof(then), "it is ended after %g s (agent_answer_s)", most_s);
    snprintf(text, sizeof(text),
             "the agent of node %u of site %s lives, but has not %s for %d s: %s", agent->node,
             agent->daemon->config.sites[agent->site].name, how, SAY_S, then);
    agent->said_silent = true;
    say(agent, text);
}

static void say_ended(struct agent *agent)
{
    char text[300];
    const struct pleat_config_site *site = &agent->daemon->config.sites[agent->site];
    snprintf(text, sizeof(text), "the agent of node %u of site %s did not answer, and is ended %s",
             agent->node, site->name,
             site->brings_agents ? "with its node" : "(signal 9): the next one ends what it ran");
    say(agent, text);
}

/* An agent lives, but does not connect. The time is counted in looks, not by the clock, since
 * pleatd itself may have been stopped. */
static void wait_for_call(struct agent *agent)
{
    double waited_s = (double)agent->looks * AGENT_LOOK_MS / 1e3,
           most_s = patience_s(agent->daemon);
    if (waited_s >= SAY_S && !agent->said_silent)
        say_silent(agent, "called");
    if (most_s > 0 && waited_s >= most_s) {
        agent->looks = 0;
        if (agent_lock_kill(agent->daemon, agent->site, agent->node))
            say_ended(agent);
        else
            daemon_log("the agent of node %u cannot be ended: end it by hand", agent->node);
    }
    uv_timer_start(&agent->timer, on_timer, AGENT_LOOK_MS, 0);
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

/* Where the site brings its agents, they call, or the site says that their node is gone. */
void agent_expect(struct agent *agent)
{
    if (agent->daemon->config.sites[agent->site].brings_agents)
        return;
    agent->looks = 0;
    uv_timer_start(&agent->timer, on_timer, AGENT_LOOK_MS, 0);
}

/* No agent runs, and starting one failed: tries again after a while. */
static void spawn_again(struct agent *agent)
{
    int64_t delay_ms = AGAIN_MS;
    for (int i = 0; i < agent->failures && delay_ms < AGAIN_MOST_MS; i++)
        delay_ms *= 2;
    if (agent->daemon->ending && delay_ms > ENDING_MS)
        delay_ms = ENDING_MS;
    agent->failures++;
    agent->started = false;
    agent->looks = 0; /* the agent may have ended because another one lives, which will connect */
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

/* Makes a key for the agent, and a pipe from which it reads that. Returns the pipe's end; -1: that
 * failed, and was reported. */
static int hand_key(struct agent *agent)
{
    struct pleat_string line = {0};
    struct pleat_error err;
    int ends[2] = {-1, -1};
    int rc = agent_key_make(agent->daemon, agent->site, agent->node, &line, &err);
    if (!rc && pipe2(ends, O_CLOEXEC))
        rc = pleat_error_sys(&err, errno, "no pipe for a key");
    /* far less than a pipe holds */
    if (!rc && write(ends[1], line.text, line.length) != (ssize_t)line.length)
        rc = pleat_error_sys(&err, errno, "a key cannot be handed over");
    if (ends[1] >= 0)
        close(ends[1]);
    if (rc && ends[0] >= 0)
        close(ends[0]);
    if (rc)
        daemon_log("no agent can be started: %s", err.text);
    if (line.text)
        pleat_wire_wipe(line.text, line.length);
    pleat_string_finish(&line);
    return rc ? -1 : ends[0];
}

enum { COMMAND_WORDS = 24 };

/* The command line of an agent, and the texts in it that are made for it. */
struct command {
    char path[600], name[600], node[16], share[32], state[600];
    struct pleat_string address; /* where it calls pleatd over TCP */
    char *args[COMMAND_WORDS];
    size_t count;
};

static void add(struct command *command, char *word)
{
    if (command->count < COMMAND_WORDS - 1) /* the last one stays NULL */
        command->args[command->count++] = word;
}

static void add_pair(struct command *command, char *option, char *value)
{
    add(command, option);
    add(command, value);
}

/* Options that come from the configuration of its site. */
static void add_site(struct command *command, const struct pleat_config_site *site, uint32_t node)
{
    if (!site->cpusets)
        add(command, "--no-cpusets");
    if (!site->memory_groups)
        add(command, "--no-memory-groups");
    if (site->here.cpus)
        add_pair(command, "--cpus", site->here.cpus);
    if (site->here.nodes > 1) {
        snprintf(command->share, sizeof(command->share), "%u/%u", node, site->here.nodes);
        add_pair(command, "--share", command->share);
    }
}

/* Fills in the command line. All in it but the address is there as long as agent and command are.
 */
static int make_command(const struct agent *agent, struct command *command, struct pleat_error *err)
{
    struct daemon *d = agent->daemon;
    const struct pleat_config_site *site = &d->config.sites[agent->site];
    *command = (struct command){0};
    int rc = pleat_paths_beside("pleat-agent", command->path, sizeof(command->path), err);
    if (!rc)
        rc = pleat_paths_beside("pleat-guard", command->name, sizeof(command->name), err);
    if (!rc && site->here.over_tcp) {
        agent_listen_address(d, &command->address);
        if (command->address.failed)
            rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    if (rc)
        return rc;
    snprintf(command->node, sizeof(command->node), "%u", agent->node);
    snprintf(command->state, sizeof(command->state), "%s", d->paths.state);
    add(command, command->name); /* argv[0]: the process is the guard, and the agent is its child */
    if (site->here.over_tcp)
        add_pair(command, "--connect", command->address.text);
    else
        add_pair(command, "--daemon", d->paths.socket);
    add_pair(command, "--instance", d->instance);
    add_pair(command, "--site", site->name);
    add_pair(command, "--node", command->node);
    add_pair(command, "--state", command->state);
    add(command, "--guarded");
    add_site(command, site, agent->node);
    if (site->here.over_tcp)
        add_pair(command, "--key-fd", "3");
    return 0;
}

/* Starts the process. key: the pipe with its key; -1: it gets none. */
static int run_command(struct agent *agent, struct command *command, int key)
{
    uv_stdio_container_t io[4] = {{.flags = UV_IGNORE},
                                  {.flags = UV_INHERIT_FD, .data.fd = 2},
                                  {.flags = UV_INHERIT_FD, .data.fd = 2},
                                  {.flags = UV_INHERIT_FD, .data.fd = key}};
    uv_process_options_t options = {.exit_cb = on_spawned_exit,
                                    .file = command->path,
                                    .args = command->args,
                                    .cwd = "/",
                                    .flags = UV_PROCESS_DETACHED,
                                    .stdio_count = key >= 0 ? 4 : 3,
                                    .stdio = io};
    uv_process_t *process = calloc(1, sizeof(*process));
    int rc = process ? uv_spawn(&agent->daemon->loop, process, &options) : UV_ENOMEM;
    if (rc && process)
        uv_close((uv_handle_t *)process, (uv_close_cb)free);
    if (rc)
        return rc;
    uv_unref((uv_handle_t *)process);
    process->data = agent;
    agent->process = process;
    return 0;
}

static void agent_spawn(struct agent *agent)
{
    const bool over_tcp = agent->daemon->config.sites[agent->site].here.over_tcp;
    struct command command;
    struct pleat_error err;
    int rc = make_command(agent, &command, &err);
    if (rc)
        daemon_log("no agent can be started: %s", err.text);
    int key = !rc && over_tcp ? hand_key(agent) : -1;
    if (!rc && (key >= 0 || !over_tcp)) {
        rc = run_command(agent, &command, key);
        if (rc)
            daemon_log("cannot start %s: %s", command.path, uv_strerror(rc));
    } else {
        rc = -1;
    }
    if (key >= 0)
        close(key);
    pleat_string_finish(&command.address);
    if (rc) {
        spawn_again(agent);
        return;
    }
    agent->started = true;
    uv_timer_start(&agent->timer, on_timer, CONNECT_MS, 0);
}

void agent_want(struct agent *agent)
{
    if (agent->connection || uv_is_active((uv_handle_t *)&agent->timer) ||
        agent->daemon->config.sites[agent->site].brings_agents)
        return;
    if (agent_lock_is_held(agent->daemon, agent->site, agent->node))
        agent_expect(agent);
    else
        agent_spawn(agent);
}

void agent_tell_back(struct agent *agent)
{
    struct pleat_event back = {.kind = PLEAT_EV_AGENT_BACK,
                               .component = agent->site,
                               .u.agent = {.number = agent->number, .node = agent->node}};
    turn_event(agent->daemon, &back);
}

/* The agent may not have read its requests. Until it answers, the deadlines of applications that
 * were to be told something stand still. */
static void tell_away(struct agent *agent)
{
    struct pleat_event away = {
        .kind = PLEAT_EV_AGENT_AWAY, .component = agent->site, .u.agent = {.node = agent->node}};
    agent->away = true;
    turn_event(agent->daemon, &away);
}

void agent_leaves(struct agent *agent)
{
    agent->leaves = true;
    if (agent->listed && !agent->away)
        tell_away(agent);
}

void agent_heard(struct agent *agent)
{
    if (agent->away && !agent->leaves) {
        agent_tell_back(agent);
        agent->away = false;
    }
    if (agent->said_silent)
        daemon_log("the agent of node %u answers again", agent->node);
    agent->silent_s = 0;
    agent->said_silent = false;
}

bool agent_is_silent(const struct agent *agent)
{
    return agent->silent_s >= AWAY_S;
}

void agent_ping(struct agent *agent)
{
    struct pleat_string out = {0};
    if (!agent->connection || agent->ping_id)
        return;
    agent->since_ping_s = 0;
    agent->ping_id = agent->next_id++;
    if (pleat_write_request(&out, agent->ping_id, "ping", NULL) == 0)
        (void)!pleat_connection_send(agent->connection, &out);
    pleat_string_finish(&out);
}

/* An agent that is killed here loses its connection by that. An agent that its site has brought is
 * on another machine: the site has to end its node, and to say so. */
static void end_silent(struct agent *agent)
{
    const struct pleat_site_ops *kind = agent->daemon->config.sites[agent->site].ops;
    if (kind->end_node) {
        kind->end_node(agent->daemon->sites[agent->site], agent->node);
        return;
    }
    int pid = pleat_connection_peer_pid(agent->connection);
    if (pid > 0)
        (void)kill(pid, SIGKILL);
    else if (!agent_lock_kill(agent->daemon, agent->site, agent->node))
        daemon_log("the agent of node %u cannot be ended: end it by hand", agent->node);
}

void agent_look(struct agent *agent)
{
    double most_s = ended_after_s(agent);
    if (!agent->connection)
        return;
    if (agent->ping_id || !agent->listed) {
        if (++agent->silent_s == AWAY_S && agent->listed)
            tell_away(agent);
        if (agent->silent_s == SAY_S)
            say_silent(agent, "answered");
        if (most_s > 0 && agent->silent_s >= most_s) {
            agent->silent_s = 0;
            say_ended(agent);
            end_silent(agent);
        }
        return;
    }
    if (++agent->since_ping_s >= ping_after_s(agent))
        agent_ping(agent);
}
