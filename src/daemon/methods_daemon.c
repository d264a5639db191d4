/* Methods about the daemon itself: sites, policies, its end. */
#include <string.h>
#include <unistd.h>

#include "daemon/agent_link.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/job_json.h"
#include "daemon/methods.h"
#include "daemon/salvage.h"
#include "daemon/slots.h"
#include "daemon/stop.h"
#include "daemon/turn_inputs.h"

/* How many processors of a node claims have. */
static int32_t claimed_on(struct daemon *d, uint32_t site, uint32_t node)
{
    int64_t count = 0;
    for (uint32_t c = 0; c < pleat_core_claim_count(d->core); c++) {
        const struct pleat_claim *claim = pleat_core_claim(d->core, c);
        if (claim->state == PLEAT_CLAIM_FREE || claim->site != site)
            continue;
        for (uint32_t p = claim->first_piece; p != PLEAT_NONE;
             p = pleat_core_piece(d->core, p)->next)
            count += pleat_core_piece(d->core, p)->node == node
                         ? pleat_core_piece(d->core, p)->count
                         : 0;
    }
    return (int32_t)count;
}

/* Nodes that came with claims: they have no processors but those of claims. */
static json_t *brought_to_json(struct daemon *d, uint32_t site)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    json_t *nodes = json_array();
    for (uint32_t n = 0; n < view->node_count; n++) {
        uint32_t node = view->nodes[n].node;
        int32_t claimed = view->nodes[n].site == site ? claimed_on(d, site, node) : 0;
        if (claimed > 0)
            json_array_append_new(nodes,
                                  json_pack("{s:I, s:i, s:i, s:i, s:i, s:s, s:n, s:b}", "node",
                                            (json_int_t)node, "processors", claimed, "used",
                                            claimed, "background", 0, "free", 0, "state", "ok",
                                            "slot_cpus", "agent", agent_is_known(d, site, node)));
    }
    return nodes;
}

static const char *node_state(const struct pleat_view *view, const struct pleat_node *node)
{
    if (!node->drained && !view->sites[node->site].drained)
        return node->barred ? "left alone" : "ok";
    return node->claimed > 0 ? "draining" : "drained";
}

/* The nodes of a site that has several; null: it has one. */
static json_t *nodes_to_json(struct daemon *d, uint32_t site)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    if (d->config.sites[site].brings_agents)
        return brought_to_json(d, site);
    if (!view->sites[site].several)
        return json_null();
    json_t *nodes = json_array();
    for (uint32_t n = 0; n < view->node_count; n++) {
        const struct pleat_node *node = &view->nodes[n];
        if (node->site != site || node->slots == 0)
            continue;
        int32_t unused = view->sites[site].drained ? 0 : pleat_view_node_unused(node);
        json_array_append_new(
            nodes, json_pack("{s:I, s:i, s:i, s:i, s:i, s:s, s:s?, s:b}", "node",
                             (json_int_t)node->node, "processors", node->slots, "used",
                             node->claimed, "background", node->background, "free",
                             unused > 0 ? unused : 0, "state", node_state(view, node), "slot_cpus",
                             slots_are_bound(d, site) ? slots_cpus(d, site, node->node) : NULL,
                             "agent", agent_is_known(d, site, node->node)));
    }
    return nodes;
}

/* How many agents of the site are connected. */
static int agents_of(struct daemon *d, uint32_t site)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    int count = 0;
    if (!view->sites[site].several && !d->config.sites[site].brings_agents)
        return agent_is_known(d, site, 0);
    for (uint32_t n = 0; n < view->node_count; n++)
        count += view->nodes[n].site == site && agent_is_known(d, site, view->nodes[n].node);
    return count;
}

static const char *site_state(const struct pleat_site *site, bool leaving, bool paused)
{
    return leaving         ? "leaving"
           : site->drained ? site->claimed > 0 ? "draining" : "drained"
           : paused        ? "paused"
           : site->barred  ? "left alone"
                           : "ok";
}

int method_sites(struct client *client, int64_t request, const json_t *params,
                 struct pleat_error *err)
{
    (void)params;
    (void)err;
    struct daemon *d = client->daemon;
    const struct pleat_view *view = pleat_core_view(d->core);
    json_t *sites = json_array();
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    for (uint32_t i = 0; i < view->site_count && i < d->config.site_count; i++) {
        const struct pleat_site *site = &view->sites[i];
        int32_t unused = pleat_view_site_unused(site) - site->others;
        if (site->gone || d->config.sites[i].gone)
            continue;
        int silent_s = agents_silent_s(d, i);
        bool paused = site->pauses > 0 && site->quiet_until_us > daemon_now_us(d);
        json_array_append_new(
            sites,
            json_pack(
                "{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:b, s:I, s:b, s:s, s:s?, s:s, "
                "s:o, s:I, s:o, s:o, s:i, s:o, s:f, s:o, s:s, s:b}",
                "name", d->config.sites[i].name, "kind", d->config.sites[i].ops->name, "processors",
                site->capacity, "free", unused > 0 ? unused : 0, "used", site->claimed,
                "background", site->background + site->others, "threshold", site->threshold,
                "oversubscribed", site->capacity > cpus && !d->config.sites[i].brings_agents,
                "cpus", (json_int_t)cpus, "bound", slots_are_bound(d, i), "sharing",
                d->config.sites[i].shares_time ? "time" : "space", "slot_cpus",
                slots_are_bound(d, i)
                    ? (site->several ? d->config.sites[i].here.cpus : slots_cpus(d, i, 0))
                    : NULL,
                "state", site_state(site, d->config.sites[i].leaving, paused), "paused_until_s",
                paused ? json_seconds(site->quiet_until_us) : json_null(), "failed_starts",
                (json_int_t)pleat_core_failed_starts(d->core, i, daemon_now_us(d)), "failed_s",
                site->failed_us ? json_seconds(site->failed_us) : json_null(), "silent_s",
                silent_s ? json_integer(silent_s) : json_null(), "agents", agents_of(d, i), "nodes",
                nodes_to_json(d, i), "poll_s", (double)d->config.sites[i].poll_us / 1e6,
                "polled_ago_s",
                d->polled_us[i] ? json_real((double)(daemon_now_us(d) - d->polled_us[i]) / 1e6)
                                : json_null(),
                "from", site_list_from(&d->config.sites[i]), "folds", slots_may_fold(d, i)));
    }
    client_reply(client, request, json_pack("{s:o}", "sites", sites));
    return 0;
}

static json_t *parameters_to_json(struct daemon *d)
{
    json_t *object = json_object();
    for (uint32_t p = pleat_parameter_next(0); p; p = pleat_parameter_next(p)) {
        char name[40];
        if (!pleat_config_parameter_is_live(p))
            continue;
        snprintf(name, sizeof(name), "%s", pleat_parameter_name(p));
        size_t length = strlen(name);
        int64_t value = pleat_core_parameter(d->core, (enum pleat_parameter)p);
        if (length > 3 && !strcmp(name + length - 3, "_us")) {
            snprintf(name + length - 2, 2, "s");
            json_object_set_new(object, name, json_real((double)value / 1e6));
        } else {
            json_object_set_new(object, name, json_integer(value));
        }
    }
    return object;
}

/* The sites, without members that change all the time. */
static json_t *places_to_json(struct daemon *d)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    json_t *sites = json_array();
    for (uint32_t s = 0; s < view->site_count && s < d->config.site_count; s++)
        if (!d->config.sites[s].gone)
            json_array_append_new(sites,
                                  json_pack("{s:s, s:s, s:i, s:o}", "name", d->config.sites[s].name,
                                            "kind", d->config.sites[s].ops->name, "processors",
                                            view->sites[s].capacity, "nodes", nodes_to_json(d, s)));
    return sites;
}

int method_info(struct client *client, int64_t request, const json_t *params,
                struct pleat_error *err)
{
    (void)params;
    (void)err;
    struct daemon *d = client->daemon;
    json_t *policies = json_object();
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        json_object_set_new(policies, pleat_question_name((enum pleat_question)q),
                            json_string(pleat_core_policy(d->core, (enum pleat_question)q)->name));
    client_reply(
        client, request,
        json_pack("{s:s, s:i, s:s, s:s, s:s, s:f, s:o, s:o, s:o, s:o, s:I, s:s?, s:s?, s:s?, s:s}",
                  "version", PLEAT_VERSION, "pid", (int)getpid(), "socket", d->paths.socket,
                  "directory", d->paths.state, "instance", d->instance, "started_s",
                  (double)d->clock.started_us / 1e6, "policies", policies, "parameters",
                  parameters_to_json(d), "sites", places_to_json(d), "jobs", jobs_counts(d),
                  "log_records", (json_int_t)pleat_store_last_seq(d->store), "configuration",
                  d->config.path, "holding", d->turn.holding ? d->turn.holding_why.text : NULL,
                  "damage", salvage_text(d), "configuration_place",
                  d->config.path ? d->config.path : d->config_path));
    return 0;
}

int method_policies(struct client *client, int64_t request, const json_t *params,
                    struct pleat_error *err)
{
    (void)params;
    (void)err;
    json_t *list = json_array();
    const struct pleat_policy *policy;
    for (size_t i = 0; (policy = pleat_policy_at(i)); i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s, s:b}", "question",
                            pleat_question_name(policy->question), "name", policy->name, "source",
                            policy->source, "summary", policy->summary, "active",
                            pleat_core_policy(client->daemon->core, policy->question) == policy));
    client_reply(client, request, json_pack("{s:o}", "policies", list));
    return 0;
}

/* Finds a policy by its question and name. PLEAT_E_NOTFOUND: the error names what there is. */
static int find_policy(const char *question, const char *name, const struct pleat_policy **out,
                       struct pleat_error *err)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        if (strcmp(pleat_question_name((enum pleat_question)q), question))
            continue;
        *out = name ? pleat_policy_find((enum pleat_question)q, name) : NULL;
        return *out ? 0
                    : pleat_error_set(err, PLEAT_E_NOTFOUND,
                                      "no %s policy '%s': see 'pleat policies'", question,
                                      name ? name : "");
    }
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "no question '%s': approach, queue, order, placement, moldability, "
                           "malleability, buffer, need, reward",
                           question);
}

int method_configure(struct client *client, int64_t request, const json_t *params,
                     struct pleat_error *err)
{
    json_t *wanted = json_object_get(params, "policies");
    const struct pleat_policy *found[PLEAT_QUESTION_COUNT] = {NULL};
    const struct pleat_policy *policy = NULL;
    const char *question;
    json_t *name;
    int left = 0;
    if (!json_is_object(wanted))
        return pleat_error_set(err, PLEAT_E_INVALID, "'policies' must be an object");
    json_object_foreach(wanted, question, name)
    {
        int rc = find_policy(question, json_string_value(name), &policy, err);
        if (rc || !policy)
            return rc;
        found[policy->question] = policy;
    }
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        left += found[q] != NULL;
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        if (!found[q])
            continue;
        struct input input = {.request = request,
                              .reply = REPLY_EMPTY,
                              .event = {.kind = PLEAT_EV_POLICY,
                                        .component = PLEAT_NONE,
                                        .u.policy = {.question = (uint32_t)q,
                                                     .policy = found[q]->number,
                                                     .version = found[q]->version}}};
        if (--left > 0) /* only the last event carries the answer */
            turn_event(client->daemon, &input.event);
        else
            return method_input(client, &input, err);
    }
    client_reply(client, request, json_object());
    return 0;
}

int method_stop(struct client *client, int64_t request, const json_t *params,
                struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    bool force = false;
    int active = 0;
    int rc = pleat_get_bool(params, "force", false, &force, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < d->jobs.by_number.count; i++) {
        if (d->jobs.by_number.items[i]->ended)
            continue;
        active++;
        struct pleat_event cancel = {.kind = PLEAT_EV_CANCEL,
                                     .component = d->jobs.by_number.items[i]->component};
        if (!force)
            continue;
        /* else the jobs would not end, and the user would not know why */
        rc = method_check_writing(d, err);
        if (rc)
            return rc;
        turn_event(d, &cancel);
    }
    if (active > 0 && !force)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "%d job%s not ended: cancel %s, or stop with --force", active,
                               active == 1 ? " has" : "s have", active == 1 ? "it" : "them");
    client_reply(client, request, json_object());
    client->stops = d->ending = true;
    if (active == 0)
        daemon_stop(d);
    return 0;
}
