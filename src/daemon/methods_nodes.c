/* The nodes of all sites, as they were when each site was asked last. */
#include <string.h>

#include "daemon/agent_link.h"
#include "daemon/agent_listen.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/methods.h"
#include "daemon/sites.h"

static json_t *node_to_json(const char *name, int32_t processors, int32_t used, int32_t background,
                            int32_t unused, const char *state)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:s}", "name", name, "processors", processors,
                     "used", used, "background", background, "free", unused > 0 ? unused : 0,
                     "state", state);
}

/* A node that is drained, or whose site is. */
static const char *state_of(bool drained, bool barred, int32_t used, bool away)
{
    return drained  ? used > 0 ? "draining" : "drained"
           : barred ? "left alone"
           : away   ? "agent away"
                    : "ok";
}

/* The nodes of a site of this machine: its agents keep them. */
static json_t *own_nodes(struct daemon *d, uint32_t index)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    const struct pleat_site *site = &view->sites[index];
    json_t *nodes = json_array();
    char name[16];
    for (uint32_t n = 0; site->several && n < view->node_count; n++) {
        const struct pleat_node *node = &view->nodes[n];
        bool away = node->claimed > 0 && !agent_is_known(d, index, node->node);
        if (node->site != index || node->slots == 0)
            continue;
        snprintf(name, sizeof(name), "%u", node->node);
        json_array_append_new(nodes, node_to_json(name, node->slots, node->claimed,
                                                  node->background, pleat_view_node_unused(node),
                                                  state_of(node->drained || site->drained,
                                                           node->barred, node->claimed, away)));
    }
    if (!site->several)
        json_array_append_new(
            nodes, node_to_json("0", site->capacity, site->claimed, site->background,
                                site->drained ? 0 : pleat_view_site_unused(site),
                                state_of(site->drained, site->barred, site->claimed,
                                         site->claimed > 0 && !agent_is_known(d, index, 0))));
    return nodes;
}

/* HOST:PORT at which agents of other hosts reach pleatd; null: they do not. */
static json_t *where_agents_call(struct daemon *d, const struct pleat_config_site *site)
{
    struct pleat_string text = {0};
    if (!site->brings_agents)
        return json_null();
    agent_listen_address(d, &text);
    json_t *where = text.text ? json_string(text.text) : json_null();
    pleat_string_finish(&text);
    return where;
}

static json_t *site_to_json(struct daemon *d, uint32_t index)
{
    const struct pleat_config_site *site = &d->config.sites[index];
    struct pleat_site_nodes nodes = {.at_us = d->polled_us[index]};
    sites_look(d, index);
    if (site->ops->nodes)
        site->ops->nodes(d->sites[index], &nodes);
    else
        nodes.list = own_nodes(d, index);
    double ago_s = (double)(daemon_now_us(d) - nodes.at_us) / 1e6;
    return json_pack("{s:s, s:s, s:f, s:o, s:b, s:o, s:o, s:o}", "name", site->name, "kind",
                     site->ops->name, "poll_s", (double)site->poll_us / 1e6, "ago_s",
                     nodes.list && nodes.at_us ? json_real(ago_s) : json_null(), "looking",
                     nodes.asked, "nodes", nodes.list ? nodes.list : json_null(), "batch",
                     nodes.offer ? nodes.offer : json_null(), "agents_call",
                     where_agents_call(d, site));
}

int method_nodes(struct client *client, int64_t request, const json_t *params,
                 struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    uint32_t known = pleat_core_view(d->core)->site_count;
    json_t *sites = json_array();
    (void)params;
    (void)err;
    for (uint32_t i = 0; i < known && i < d->config.site_count; i++)
        if (d->sites[i] && !d->config.sites[i].gone)
            json_array_append_new(sites, site_to_json(d, i));
    client_reply(client, request, json_pack("{s:o}", "sites", sites));
    return 0;
}
