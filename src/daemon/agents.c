/* The agents of nodes: accepts their connections, dispatches their messages, tells them to end. */
#include <string.h>
#include <time.h>

#include "base/cpus.h"
#include "daemon/agent.h"
#include "daemon/agent_listen.h"
#include "daemon/agent_lock.h"
#include "daemon/agent_network.h"
#include "daemon/agents.h"
#include "daemon/architectures.h"
#include "daemon/couriers.h"
#include "daemon/notes.h"
#include "daemon/outputs.h"
#include "daemon/parts.h"
#include "daemon/parts_exit.h"
#include "daemon/parts_output.h"
#include "daemon/stranger.h"
#include "daemon/turn_inputs.h"

enum { AWAIT_MS = 5, AWAIT_MOST_MS = 5000 };

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    struct agent *agent = arg;
    (void)connection;
    agent_heard(agent);
    if (message->kind == PLEAT_NOTIFICATION) {
        if (strcmp(message->method, "hello"))
            agent_notice(agent, message);
    } else if (message->kind == PLEAT_RESULT && message->id == agent->list_id) {
        agent_runs_listed(agent, message->result);
    } else if (agent->ping_id && message->id == agent->ping_id) {
        /* a failure counts, too: an agent of an older version does not know pings, but lives */
        agent->ping_id = 0;
    } else if (message->kind == PLEAT_RESULT) {
        (void)agent_take_asked(agent, message->id);
    } else if (message->kind == PLEAT_FAILURE) {
        struct asked asked = agent_take_asked(agent, message->id);
        agent_refused(agent, &asked, &message->error);
    }
    agent_exits(agent->daemon);
}

static void on_drained(void *arg, struct pleat_connection *connection)
{
    (void)connection;
    parts_output_drained(arg);
}

static bool has_runs(const struct agent *agent)
{
    const struct active_runs *runs = &agent->daemon->runs;
    for (size_t i = 0; i < runs->count; i++)
        if (agent_of_run(agent->daemon, &runs->items[i]) == agent)
            return true;
    return parts_are_on(agent->daemon, agent->site, agent->node);
}

static const struct pleat_site_ops *kind_of(const struct agent *agent)
{
    return agent->daemon->config.sites[agent->site].ops;
}

/* The agent's connection is no more. */
static void disconnect(struct agent *agent)
{
    struct pleat_event away = {
        .kind = PLEAT_EV_AGENT_AWAY, .component = agent->site, .u.agent = {.node = agent->node}};
    agent->connection = NULL;
    agent->away = agent->leaves = false;
    agent->asked.count = 0; /* these requests were sent, and will not be answered */
    if (agent->listed && !agent->daemon->stopping)
        turn_event(agent->daemon, &away);
    bool listed = agent->listed;
    agent->listed = false;
    json_decref(agent->runs);
    agent->runs = NULL;
    if (listed && kind_of(agent)->agent && !agent->daemon->stopping)
        kind_of(agent)->agent(agent->daemon->sites[agent->site], agent->node, false);
}

static void on_closed(void *arg, struct pleat_connection *connection,
                      const struct pleat_error *error)
{
    struct agent *agent = arg;
    (void)connection;
    disconnect(agent);
    if (agent->daemon->stopping || (!has_runs(agent) && !error->code))
        return;
    daemon_log("the agent of node %u is gone%s%s", agent->node, error->code ? ": " : "",
               error->code ? error->text : "");
    agent_expect(agent);
}

/* Whether `one` is the share of a node of the CPUs that are configured for its site. */
static bool is_share_of(const char *one, const struct pleat_config_site *site, uint32_t node)
{
    struct pleat_cpu_list a = {0}, b = {0};
    uint32_t nodes = site->here.nodes;
    bool same = pleat_cpu_list_parse(one, &a, NULL) == 0 &&
                pleat_cpu_list_parse(site->here.cpus, &b, NULL) == 0;
    size_t first = 0;
    for (uint32_t n = 0; n < node; n++)
        first += pleat_share_of(b.count, n, nodes);
    same = same && a.count == pleat_share_of(b.count, node, nodes) && first + a.count <= b.count;
    for (size_t i = 0; same && i < a.count; i++)
        same = a.items[i] == b.items[first + i];
    pleat_array_finish(&a);
    pleat_array_finish(&b);
    return same;
}

/* An agent that was started before the configuration changed keeps its CPUs as long as it lives. */
static void take_cpus(struct agent *agent, const char *cpus)
{
    const struct pleat_config_site *site = &agent->daemon->config.sites[agent->site];
    free(agent->cpus);
    agent->cpus = cpus ? strdup(cpus) : NULL;
    if (cpus && site->here.cpus && !is_share_of(cpus, site, agent->node))
        daemon_log("the agent of node %u has the CPUs %.200s for slots, not %.200s as configured: "
                   "those are used when its jobs have ended and pleatd has been started again",
                   agent->node, cpus, site->here.cpus);
}

static void take_shared(struct agent *agent, const char *path, const char *mark)
{
    free(agent->shared);
    free(agent->mark);
    agent->shared = path && *path == '/' ? strdup(path) : NULL;
    agent->mark = mark && !strchr(mark, '/') ? strdup(mark) : NULL;
}

/* Identifies the agent. Older agents do not say a number; for them it is the process id. */
static uint64_t number_of(const json_t *hello)
{
    json_int_t number = json_integer_value(json_object_get(hello, "agent"));
    if (number <= 0)
        number = json_integer_value(json_object_get(hello, "pid"));
    return number > 0 ? (uint64_t)number : 1;
}

/* A caller says that it is the agent of a node whose agent is connected. If it is the same agent,
 * it has lost its first connection, of which pleatd has not heard. If it is another one, over TCP,
 * it is accepted only when the first one does not answer any more: that one is asked for a sign of
 * life. */
static bool takes_over(struct agent *agent, struct pleat_connection *connection, uint64_t number)
{
    bool same = number == agent->number;
    bool silent = *pleat_connection_identity(connection) && agent_is_silent(agent);
    if (same || silent) {
        daemon_log("the agent of node %u has called again%s", agent->node,
                   same ? "" : ": the one before does not answer");
        pleat_connection_close(agent->connection);
        disconnect(agent);
        return true;
    }
    agent_ping(agent);
    return false;
}

static void turn_away(struct pleat_connection *connection, const char *why)
{
    daemon_log("an agent was turned away: %s", why);
    pleat_connection_close(connection);
}

/* Finds out whether the agent's host sees this machine's files. If not, a directory of the same
 * name there is another one: jobs there get only what is sent to them. */
static void take_apart(struct agent *agent, const json_t *hello)
{
    char text[700];
    const struct pleat_config_site *site = &agent->daemon->config.sites[agent->site];
    const char *host = json_string_value(json_object_get(hello, "host"));
    agent->apart = site->brings_agents && json_is_false(json_object_get(hello, "shares_state"));
    if (agent->apart && !agent->said_apart) {
        snprintf(text, sizeof(text),
                 "host %.100s of site %.100s does not see the directory %.300s of this host: jobs "
                 "there have the files that are sent, and what is on that host",
                 host ? host : "?", site->name, agent->daemon->paths.state);
        note_make(agent->daemon, daemon_now_us(agent->daemon), "daemon", -1, note_text(text));
        daemon_log("%s", text);
    }
    agent->said_apart = agent->apart;
}

/* What it says of its host, and of itself. */
static void take_host(struct agent *agent, const json_t *hello)
{
    take_cpus(agent, json_string_value(json_object_get(hello, "cpus")));
    take_shared(agent, json_string_value(json_object_get(hello, "shared")),
                json_string_value(json_object_get(hello, "mark")));
    agent_network_take(agent, hello);
    take_apart(agent, hello);
    architectures_take(agent, hello);
    agent->confined = !json_is_false(json_object_get(hello, "confined"));
    json_decref(agent->features);
    agent->features = json_incref(json_object_get(hello, "features"));
}

void agent_accept(struct daemon *d, struct pleat_connection *connection, const json_t *hello)
{
    static const struct pleat_connection_callbacks callbacks = {on_message, on_closed, on_drained};
    const char *site = json_string_value(json_object_get(hello, "site"));
    const char *instance = json_string_value(json_object_get(hello, "instance"));
    uint32_t index = 0;
    while (index < d->config.site_count && (!site || strcmp(d->config.sites[index].name, site)))
        index++;
    uint32_t node = (uint32_t)json_integer_value(json_object_get(hello, "node"));
    if (index < d->config.site_count && !agent_key_is_of(d, connection, index, node)) {
        turn_away(connection, "it has the key of another one");
        return;
    }
    bool gone = index < d->config.site_count && d->config.sites[index].gone;
    if (site && instance && (gone || strcmp(instance, d->instance))) {
        daemon_log("an agent of another instance called: it is told to end what it runs, and "
                   "itself");
        stranger_accept(d, connection, site, node, true);
        return;
    }
    if (index == d->config.site_count || !instance) {
        turn_away(connection, "its site is not configured");
        return;
    }
    struct agent *agent = agent_get(d, index, node);
    if (agent && agent->unwanted) {
        daemon_log("the agent of node %u of site %s called, which is gone: it is told to end what "
                   "it runs, and itself",
                   node, site);
        agent->unwanted = false;
        agent_key_forget(d, index, node);
        stranger_accept(d, connection, site, node, true);
        return;
    }
    if (!agent || (agent->connection && !takes_over(agent, connection, number_of(hello)))) {
        turn_away(connection, "its node has another one");
        return;
    }
    uv_timer_stop(&agent->timer);
    agent->connection = connection;
    agent->started = false;
    agent->gone = false;
    agent->listed = false;
    agent->ping_id = 0;
    agent_heard(agent);
    agent->failures = 0;
    agent->number = number_of(hello);
    take_host(agent, hello);
    if (pleat_connection_start(connection, &callbacks, agent))
        daemon_log("the agent of node %u cannot be reached", node);
    else
        agent_runs_ask(agent, 0);
}

void agents_node_gone(struct daemon *d, uint32_t site, uint32_t node)
{
    struct agent *agent = agent_get(d, site, node);
    if (!agent)
        return;
    uv_timer_stop(&agent->timer);
    /* a batch system that has lost its state, or a broken network, does not end the agent */
    agent->unwanted = !agent->connection && agent_lock_is_held(d, site, node);
    if (agent->connection)
        stranger_accept(d, agent->connection, d->config.sites[site].name, node, false);
    agent->connection = NULL;
    agent->listed = agent->away = agent->leaves = agent->said_silent = false;
    agent->asked.count = 0;
    agent->architecture = 0;
    if (!agent->unwanted)
        agent_key_forget(d, site, node);
    agent_runs_gone(agent);
    agent_exits(d);
}

bool agents_node_is_taken(struct daemon *d, uint32_t site, uint32_t node)
{
    return agent_lock_is_held(d, site, node);
}

/* Tells the agent to end. False: it is not there, or cannot be told. */
static bool tell_to_quit(struct agent *agent)
{
    struct pleat_string out = {0};
    bool told = agent->connection && !pleat_write_request(&out, agent->next_id++, "quit", NULL) &&
                pleat_connection_send(agent->connection, &out) == 0;
    pleat_string_finish(&out);
    return told;
}

void agents_node_quit(struct daemon *d, uint32_t site, uint32_t node)
{
    struct agent *agent = agent_get(d, site, node);
    if (agent)
        (void)tell_to_quit(agent);
}

/* An agent that has not called yet is told when it calls: see agent_accept. */
void agents_site_gone(struct daemon *d, uint32_t site)
{
    for (struct agent *agent = d->agents; agent; agent = agent->next) {
        if (agent->site != site)
            continue;
        (void)tell_to_quit(agent);
        uv_timer_stop(&agent->timer);
        if (agent->connection)
            pleat_connection_close(agent->connection);
        agent->connection = NULL;
        agent->started = agent->listed = agent->away = agent->leaves = agent->said_silent = false;
        agent->asked.count = 0;
        json_decref(agent->runs);
        agent->runs = NULL;
        free(agent->cpus);
        agent->cpus = NULL;
        agent_key_forget(d, site, agent->node);
    }
}

/* An agent that has ended needs no key any more. */
static void look_at_unwanted(struct agent *agent)
{
    if (!agent->unwanted || agent_lock_is_held(agent->daemon, agent->site, agent->node))
        return;
    agent->unwanted = false;
    agent_key_forget(agent->daemon, agent->site, agent->node);
}

void agents_look(struct daemon *d)
{
    for (struct agent *agent = d->agents; agent; agent = agent->next) {
        look_at_unwanted(agent);
        agent_look(agent);
    }
    outputs_look(d);
    couriers_look(d);
    terminals_look(d);
    parts_end_spoiled(d);
    agent_exits(d);
}

void agents_expect(struct daemon *d)
{
    for (size_t i = 0; i < d->runs.count; i++) {
        struct agent *agent = agent_of_run(d, &d->runs.items[i]);
        if (agent && !agent->connection && !uv_is_active((uv_handle_t *)&agent->timer))
            agent_expect(agent);
    }
    for (uint32_t site = 0; site < d->config.site_count; site++)
        for (uint32_t n = 0; n < d->config.sites[site].here.nodes; n++) {
            struct agent *agent = parts_are_on(d, site, n) ? agent_get(d, site, n) : NULL;
            if (agent && !agent->connection && !uv_is_active((uv_handle_t *)&agent->timer))
                agent_expect(agent);
        }
}

static int tell_away(struct daemon *d, uint32_t site, uint32_t node, struct pleat_error *err)
{
    struct pleat_event away = {.time_us = daemon_now_us(d),
                               .kind = PLEAT_EV_AGENT_AWAY,
                               .component = site,
                               .u.agent = {.node = node}};
    if (site < pleat_core_view(d->core)->site_count)
        return turn_apply(d, &away, err);
    turn_event(d, &away); /* the site joins in the coming turn: the event must come after that */
    return 0;
}

void agents_site_new(struct daemon *d, uint32_t site)
{
    for (uint32_t n = 0; n < d->config.sites[site].here.nodes; n++) {
        const struct pleat_event away = {
            .kind = PLEAT_EV_AGENT_AWAY, .component = site, .u.agent = {.node = n}};
        turn_event(d, &away);
    }
}

int agents_away(struct daemon *d, struct pleat_error *err)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    int rc = 0;
    for (uint32_t n = 0; rc >= 0 && n < view->node_count; n++)
        rc = tell_away(d, view->nodes[n].site, view->nodes[n].node, err);
    for (uint32_t site = 0; site < d->config.site_count; site++)
        for (uint32_t n = 0; rc >= 0 && n < d->config.sites[site].here.nodes; n++)
            if (!pleat_view_node(view, site, n))
                rc = tell_away(d, site, n, err);
    return rc < 0 ? rc : 0;
}

bool agents_are_missing(struct daemon *d)
{
    for (const struct agent *agent = d->agents; agent; agent = agent->next)
        if (!agent->connection && !d->config.sites[agent->site].brings_agents && has_runs(agent) &&
            !agent_lock_is_held(d, agent->site, agent->node))
            return true;
    return false;
}

bool agents_absent(struct daemon *d)
{
    for (uint32_t site = 0; site < d->config.site_count; site++)
        for (uint32_t n = 0; n < d->config.sites[site].here.nodes; n++)
            (void)agent_get(d, site, n);
    for (const struct agent *agent = d->agents; agent; agent = agent->next) {
        if (agent->connection || d->config.sites[agent->site].gone)
            continue;
        /* an agent that was started a moment ago has no lock yet */
        if ((agent->started && agent->process) || agent_lock_is_held(d, agent->site, agent->node))
            return true;
    }
    return false;
}

void agents_quit(struct daemon *d)
{
    for (struct agent *agent = d->agents; agent; agent = agent->next)
        if (agent->unwanted) /* an unwanted agent ends at the latest when it has had no pleatd for
                              * long enough */
            agent_key_forget(d, agent->site, agent->node);
    strangers_close(d);
    struct agent *next;
    for (struct agent *agent = d->agents; agent; agent = next) {
        next = agent->next;
        if (agent->connection) {
            agent->quits = d->runs.count == 0 && tell_to_quit(agent);
            if (agent->quits)
                agent_key_forget(d, agent->site, agent->node);
            pleat_connection_close(agent->connection);
        }
        free(agent->cpus);
        free(agent->shared);
        free(agent->mark);
        free(agent->host);
        json_decref(agent->features);
        agent->cpus = agent->shared = agent->mark = agent->host = NULL;
        agent->features = NULL;
        pleat_array_finish(&agent->asked);
        uv_timer_stop(&agent->timer);
        uv_close((uv_handle_t *)&agent->timer, NULL);
    }
}

void agents_await(struct daemon *d)
{
    static const struct timespec pause = {.tv_nsec = AWAIT_MS * 1000000L};
    int left = AWAIT_MOST_MS / AWAIT_MS;
    for (const struct agent *agent = d->agents; agent; agent = agent->next)
        while (agent->quits && left-- > 0 && agent_lock_is_held(d, agent->site, agent->node))
            (void)nanosleep(&pause, NULL);
}
