/* Requests to the agents of nodes, whether they are connected or still to be started. */
#include <stdlib.h>
#include <string.h>

#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/crash.h"

struct agent *agent_get(struct daemon *d, uint32_t site, uint32_t node)
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
    agent_start_init(fresh);
    d->agents = fresh;
    return fresh;
}

struct agent *agent_of_run(struct daemon *d, const struct active_run *run)
{
    const struct pleat_component *component = &pleat_core_view(d->core)->components[run->component];
    if (component->site == PLEAT_NONE)
        return NULL;
    return agent_get(d, component->site, component->lead_node);
}

void agent_reach(struct daemon *d, uint32_t site, uint32_t node)
{
    struct agent *agent = agent_get(d, site, node);
    if (agent)
        agent_want(agent);
    else
        daemon_log("out of memory: no agent of node %u of site %s", node,
                   d->config.sites[site].name);
}

bool agent_is_known(struct daemon *d, uint32_t site, uint32_t node)
{
    const struct pleat_node *known = pleat_view_node(pleat_core_view(d->core), site, node);
    const struct agent *agent = agent_get(d, site, node);
    return known && agent && agent->connection && agent->listed && !known->away &&
           known->agent == agent->number;
}

bool agent_is_apart(struct daemon *d, uint32_t site, uint32_t node)
{
    const struct agent *agent = agent_get(d, site, node);
    return agent && agent->connection && agent->apart;
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

bool agent_lacks(struct daemon *d, uint32_t site, uint32_t node, const char *feature)
{
    const struct agent *agent = agent_get(d, site, node);
    return agent && agent->connection && !agent_knows(d, site, node, feature);
}

const char *agent_stands_on(struct daemon *d, uint32_t site, uint32_t node)
{
    const struct agent *agent = agent_get(d, site, node);
    return agent && agent->connection ? agent->host : NULL;
}

bool agent_mixes(struct daemon *d, uint32_t site, uint32_t node)
{
    const struct agent *agent = agent_get(d, site, node);
    return agent && !agent->confined && agent_knows(d, site, node, PLEAT_FEATURE_GUESTS);
}

/* Remembers a request whose failure somebody must be told of. */
static int remember_asked(struct agent *agent, const char *method, const json_t *params)
{
    struct asked asked = {.id = agent->next_id,
                          .run = (uint64_t)json_integer_value(json_object_get(params, "run")),
                          .resize =
                              (uint64_t)json_integer_value(json_object_get(params, "resize"))};
    if (strcmp(method, "start") && strcmp(method, "kill") && strcmp(method, "resize") &&
        strcmp(method, "relaunch") && strcmp(method, "checkpoint") && strcmp(method, "prepare") &&
        strcmp(method, "unprepare"))
        return 0;
    if (json_object_get(params, "claim"))
        asked.resize = (uint64_t)json_integer_value(json_object_get(params, "claim"));
    if (!strcmp(method, "checkpoint"))
        asked.resize = (uint64_t)json_integer_value(json_object_get(params, "checkpoint"));
    snprintf(asked.method, sizeof(asked.method), "%s", method);
    return pleat_array_push(&agent->asked, asked);
}

struct asked agent_take_asked(struct agent *agent, int64_t id)
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
    return agent_send_bytes(arg, site, node, method, params, NULL, 0, err);
}

int agent_send_bytes(void *arg, uint32_t site, uint32_t node, const char *method, json_t *params,
                     const char *bytes, size_t count, struct pleat_error *err)
{
    struct daemon *d = arg;
    struct agent *agent = agent_get(d, site, node);
    if (!agent) {
        json_decref(params);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    if (!agent->connection || !agent->listed) {
        /* once the agent is connected the core repeats the requests that it still wants
         * (AGENT_BACK) */
        if (strcmp(method, "forget"))
            agent_want(agent);
        json_decref(params);
        return 0;
    }
    struct pleat_string out = {0};
    if (remember_asked(agent, method, params)) {
        json_decref(params);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    int64_t id = agent->next_id++;
    if (pleat_write_request_bytes(&out, id, method, params, bytes, count)) {
        (void)agent_take_asked(agent, id);
        pleat_string_finish(&out);
        return pleat_error_set(err, PLEAT_E_NOMEM,
                               "the request '%s' cannot be written: it is too "
                               "long, or memory is short",
                               method);
    }
    /* if the connection cannot be sent to, it is about to be reported closed; the core then repeats
     * to the next agent what is still to be done */
    (void)!pleat_connection_send(agent->connection, &out);
    crash_point();
    pleat_string_finish(&out);
    return 0;
}

/* The agent of a node; NULL: it is not known yet. */
static const struct agent *find(const struct daemon *d, uint32_t site, uint32_t node)
{
    const struct agent *agent = d->agents;
    while (agent && (agent->site != site || agent->node != node))
        agent = agent->next;
    return agent;
}

const char *agent_cpus(struct daemon *d, uint32_t site, uint32_t node)
{
    const struct agent *agent = find(d, site, node);
    return agent ? agent->cpus : NULL;
}

/* A node's shared memory is open to all its users: if the name could be foreseen, another user
 * could take it first. */
void agent_scratch(struct daemon *d, uint32_t site, uint32_t node, uint64_t run, char *path,
                   size_t size)
{
    const struct agent *agent = find(d, site, node);
    snprintf(path, size, "%s/pleat-%s-%016llx%s",
             agent && agent->shared ? agent->shared : "/dev/shm", /* not said by older agents */
             d->instance, (unsigned long long)pleat_siphash(d->secret, &run, sizeof(run)),
             agent && agent->mark ? agent->mark : "");
}

void agent_needed(struct daemon *d, const char *site, uint32_t node)
{
    for (struct agent *agent = d->agents; agent; agent = agent->next) {
        if (agent->node != node || strcmp(d->config.sites[agent->site].name, site) != 0 ||
            agent->connection || !uv_is_active((uv_handle_t *)&agent->timer))
            continue;
        agent->started = false; /* our agent has ended, since the other one held the lock */
        agent_expect(agent);
    }
}

int agents_silent_s(struct daemon *d, uint32_t site)
{
    for (const struct agent *agent = d->agents; agent; agent = agent->next)
        if (agent->site == site && agent->said_silent)
            return agent->connection ? agent->silent_s : agent->looks * AGENT_LOOK_MS / 1000;
    return 0;
}
