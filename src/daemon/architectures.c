#include "daemon/architectures.h"

#include <stdio.h>
#include <string.h>

#include "base/processes.h"
#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/process_sites.h"
#include "daemon/runs.h"
#include "daemon/specs.h"
#include "daemon/turn_inputs.h"
#include "model/architecture.h"
#include "policy/nodes.h"
#include "wire/message.h"

/* ---- what is known ---- */

void architectures_take(struct agent *agent, const json_t *hello)
{
    agent->architecture =
        pleat_architecture_number(json_string_value(json_object_get(hello, "architecture")));
}

/* What is known of a node: by its agent, or from before this pleatd was started. */
static uint32_t known_of(struct daemon *d, uint32_t site, uint32_t number)
{
    const struct pleat_node *node = pleat_view_node(pleat_core_view(d->core), site, number);
    for (const struct agent *agent = d->agents; agent; agent = agent->next)
        if (agent->site == site && agent->node == number && agent->architecture > 0)
            return agent->architecture;
    return node ? node->architecture : 0;
}

/* Adds what is known of a node to the list, by its number. */
static void add_node(struct daemon *d, uint32_t site, uint32_t node, json_t *machines)
{
    const char *name = pleat_architecture_name(known_of(d, site, node));
    char number[16];
    snprintf(number, sizeof(number), "%u", node);
    if (name)
        (void)json_object_set_new(machines, number, json_string(name));
}

/* The architectures of a site's nodes, by their number; NULL: no memory. *others: there are, or may
 * be, nodes of which it is not known. *several: those that are known differ. */
static json_t *machines_of(struct daemon *d, uint32_t site, bool *others, bool *several)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    json_t *machines = json_object(), *name;
    const char *number, *first = NULL;
    for (uint32_t n = 0; n < view->node_count; n++)
        if (view->nodes[n].site == site)
            add_node(d, site, view->nodes[n].node, machines);
    for (const struct agent *agent = d->agents; agent; agent = agent->next)
        if (agent->site == site)
            add_node(d, site, agent->node, machines);
    *several = false;
    json_object_foreach(machines, number, name)
    {
        *several = *several || (first && strcmp(first, json_string_value(name)) != 0);
        first = json_string_value(name);
    }
    *others = d->config.sites[site].brings_agents ||
              json_object_size(machines) < d->config.sites[site].here.nodes;
    return machines;
}

/* Whether a site has several nodes, or may have. */
static bool has_others(const struct daemon *d, uint32_t site)
{
    return d->config.sites[site].brings_agents || d->config.sites[site].here.nodes > 1;
}

/* ---- to the core ---- */

static void say_demand(struct daemon *d, const struct job *job, uint64_t run, uint32_t architecture,
                       uint32_t waiting, uint16_t flags)
{
    struct pleat_event event = {
        .kind = PLEAT_EV_DEMANDED_ON,
        .flags = flags,
        .component = job->component,
        .u.demanded_on = {.run = run, .architecture = architecture, .waiting = waiting}};
    turn_event(d, &event);
}

/* A program that has a name for each architecture runs on all. */
static bool is_any(struct daemon *d, const struct job *job)
{
    const struct pleat_spec *spec = job_spec(d, job->id);
    return spec && spec->argv && spec->argv[0] && strstr(spec->argv[0], PLEAT_PROCESS_ARCHITECTURE);
}

void architectures_wanted(struct daemon *d, struct job *job, uint64_t run, const json_t *on)
{
    const struct pleat_component *component = job_component(d, job);
    if (component->buffer == PLEAT_NONE || component->run != run || component->site == PLEAT_NONE ||
        !pleat_view_roams(component))
        return;
    const struct pleat_buffer *buffer = &pleat_core_view(d->core)->buffers[component->buffer];
    const uint32_t site = component->site;
    for (uint32_t a = 1; a < PLEAT_ARCHITECTURES; a++) {
        const char *name = pleat_architecture_name(a);
        json_int_t count = name ? json_integer_value(json_object_get(on, name)) : 0;
        if (count > 0)
            job->waited_on |= 1u << a;
        if (buffer->waiting_on[a] > 0 || job->waited_on >> a & 1)
            say_demand(d, job, run, a, count > 0 ? (uint32_t)count : 0, 0);
    }
    for (uint32_t n = 0; json_object_size(on) > 0 && n < d->config.sites[site].here.nodes; n++) {
        if (known_of(d, site, n) == 0)
            agent_reach(d, site, n);
    }
}

/* ---- to agents ---- */

/* Tells the core what an agent's host is, unless it knows. */
static void say_architecture(const struct agent *agent)
{
    struct daemon *d = agent->daemon;
    const struct pleat_node *node =
        pleat_view_node(pleat_core_view(d->core), agent->site, agent->node);
    struct pleat_event event = {
        .kind = PLEAT_EV_NODE_ARCHITECTURE,
        .component = agent->site,
        .u.node_architecture = {.node = agent->node, .architecture = agent->architecture}};
    if ((node ? node->architecture : 0) != agent->architecture)
        turn_event(d, &event);
}

/* The same of the sites where the job's processes may be, too, by their names. *several: there is
 * a node of another architecture than the run's. */
static json_t *sites_of(struct daemon *d, const struct job *job, const char *own, bool *several)
{
    json_t *sites = json_object();
    for (uint32_t s = 0; s < d->config.site_count; s++) {
        bool others = false, mixed = false;
        if (d->config.sites[s].gone || !process_sites_allow(d, job, s))
            continue;
        for (const struct agent *agent = d->agents; agent; agent = agent->next)
            if (agent->site == s && agent->architecture > 0) /* nobody wanted it before */
                say_architecture(agent);
        json_t *machines = machines_of(d, s, &others, &mixed), *name;
        const char *number;
        json_object_foreach(machines, number, name) mixed =
            mixed || (own && strcmp(own, json_string_value(name)) != 0);
        *several = *several || mixed;
        (void)json_object_set_new(
            sites, d->config.sites[s].name,
            json_pack("{s:o, s:b}", "machines", machines, "others", (int)others));
    }
    return sites;
}

void architectures_tell(struct daemon *d, const struct job *job)
{
    const struct pleat_component *component = job_component(d, job);
    struct pleat_error err = {0};
    bool others = false, several = false;
    if (component->buffer == PLEAT_NONE || component->site == PLEAT_NONE ||
        !pleat_view_roams(component) || component->exited ||
        (component->state != PLEAT_CLAIMING && component->state != PLEAT_RUNNING) ||
        !agent_knows(d, component->site, component->lead_node, PLEAT_FEATURE_ARCHITECTURES))
        return;
    json_t *machines = machines_of(d, component->site, &others, &several);
    uint32_t own = known_of(d, component->site, component->lead_node);
    json_t *sites = sites_of(d, job, pleat_architecture_name(own), &several);
    if (agent_send(d, component->site, component->lead_node, "architectures",
                   json_pack("{s:I, s:o, s:b, s:o}", "run", (json_int_t)component->run, "machines",
                             machines, "others", others, "sites", sites),
                   &err))
        daemon_log("job %lld: %s", (long long)job->id, err.text); /* told when it calls again */
    if (several)
        say_demand(d, job, component->run, is_any(d, job) ? 0 : own, 0, PLEAT_FOR_ALL);
}

void architectures_tell_all(struct daemon *d, uint32_t site)
{
    for (size_t i = 0; i < d->runs.count; i++) {
        const struct job *job = job_of_component(d, d->runs.items[i].component);
        const struct pleat_spec *spec = job ? job_spec(d, job->id) : NULL;
        const struct pleat_component *component = job ? job_component(d, job) : NULL;
        if (component && component->run == d->runs.items[i].run &&
            (component->site == site || (spec && spec->sites)))
            architectures_tell(d, job);
    }
}

/* Whether processes of a job that is led from another site may be at this one. */
static bool is_for_others(struct daemon *d, uint32_t site)
{
    for (size_t i = 0; i < d->runs.count; i++) {
        const struct job *job = job_of_component(d, d->runs.items[i].component);
        if (job && process_sites_allow(d, job, site))
            return true;
    }
    return false;
}

void architectures_listed(struct agent *agent)
{
    struct daemon *d = agent->daemon;
    if (!has_others(d, agent->site) && !is_for_others(d, agent->site))
        return;
    say_architecture(agent);
    architectures_tell_all(d, agent->site);
}
