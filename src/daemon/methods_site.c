/* Methods that change the sites: add and remove them, drain and resume them and their nodes. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "daemon/clients.h"
#include "daemon/config_site.h"
#include "daemon/daemon.h"
#include "daemon/methods.h"
#include "daemon/notes.h"
#include "daemon/sites_change.h"
#include "daemon/turn_inputs.h"
#include "wire/reply.h"

/* The site that the params name. PLEAT_E_INVALID, PLEAT_E_NOTFOUND. */
static int find(struct daemon *d, const json_t *params, uint32_t *index, struct pleat_error *err)
{
    const char *name = json_string_value(json_object_get(params, "site"));
    struct pleat_string names = {0};
    if (!name)
        return pleat_error_set(err, PLEAT_E_INVALID, "'site' must be the name of a site");
    *index = site_list_find(d, name);
    if (*index != PLEAT_NONE)
        return 0;
    for (uint32_t s = 0; s < d->config.site_count; s++)
        if (!d->config.sites[s].gone)
            pleat_string_addf(&names, "%s%s", names.length ? ", " : "", d->config.sites[s].name);
    int rc = pleat_error_set(err, PLEAT_E_NOTFOUND, "there is no site '%.80s': there is %.600s",
                             name, names.text ? names.text : "none");
    pleat_string_finish(&names);
    return rc;
}

/* ---- draining ---- */

enum { HOST_MAX = 255, HOSTS_MAX = 100 }; /* of a batch system: letters of a name; names */

/* *node: the node that the params name; PLEAT_NONE: none, the whole site is meant. */
static int find_node(struct daemon *d, const json_t *params, uint32_t site, uint32_t *node,
                     struct pleat_error *err)
{
    int64_t number = -1;
    int rc = pleat_get_int(params, "node", false, 0, INT32_MAX, &number, err);
    *node = number < 0 ? PLEAT_NONE : (uint32_t)number;
    if (rc || number < 0)
        return rc;
    const struct pleat_view *view = pleat_core_view(d->core);
    const struct pleat_node *known = pleat_view_node(view, site, *node);
    const char *name = d->config.sites[site].name;
    if (known && known->slots > 0)
        return 0;
    if (d->config.sites[site].brings_agents)
        return pleat_error_set(
            err, PLEAT_E_UNSUPPORTED,
            "site %s gets its nodes from its batch system: name one as that does "
            "('pleat sites --nodes' lists them)",
            name);
    if (!view->sites[site].several)
        return pleat_error_set(err, PLEAT_E_NOTFOUND,
                               "site %s is not divided into nodes: 'pleat site drain %s' drains "
                               "all of it",
                               name, name);
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "site %s has no node %u: 'pleat sites' lists its nodes", name, *node);
}

/* The node of a batch system that the params name ("host"); NULL: none. */
static int find_host(struct daemon *d, const json_t *params, uint32_t site, const char **host,
                     struct pleat_error *err)
{
    int rc = pleat_get_string(params, "host", false, host, err);
    const struct pleat_config_site *of = &d->config.sites[site];
    if (rc || !*host)
        return rc;
    if (!of->ops->shut_hosts)
        return pleat_error_set(err, PLEAT_E_NOTFOUND,
                               "site %s has no node '%.80s': its nodes have numbers, which 'pleat "
                               "sites' lists",
                               of->name, *host);
    if (!(*host)[0] || strlen(*host) > HOST_MAX || strpbrk(*host, " ,[]()|&!*?@/") ||
        (*host)[0] == '-' || !pleat_utf8_is(*host))
        return pleat_error_set(err, PLEAT_E_INVALID, "'%.80s' is no name of a node", *host);
    struct pleat_site_nodes nodes = {0};
    size_t i;
    const json_t *node;
    of->ops->nodes(d->sites[site], &nodes);
    bool known = !nodes.list; /* no node of the site is known */
    json_array_foreach(nodes.list, i, node) known = known || pleat_reply_is(node, "name", *host);
    json_decref(nodes.list);
    json_decref(nodes.offer);
    return known ? 0
                 : pleat_error_set(err, PLEAT_E_NOTFOUND,
                                   "site %s has no node '%.80s': 'pleat sites --nodes' lists them",
                                   of->name, *host);
}

/* Whether the host is in the list; it is taken out of it. */
static bool take_out(json_t *names, const char *host)
{
    for (size_t i = json_array_size(names); i-- > 0;) {
        if (strcmp(json_string_value(json_array_get(names, i)), host) != 0)
            continue;
        json_array_remove(names, i);
        return true;
    }
    return false;
}

/* Drains or resumes a node of a batch system, which is kept with the list of sites. */
static int change_host(struct client *client, int64_t request, uint32_t site, const char *host,
                       bool drain, struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    struct pleat_config_site *of = &d->config.sites[site];
    int rc = method_check_writing(d, err);
    if (rc)
        return rc;
    if (drain && json_array_size(of->shut) >= HOSTS_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "%d nodes of site %s are drained already",
                               HOSTS_MAX, of->name);
    if (!of->shut)
        of->shut = json_array();
    bool was = take_out(of->shut, host);
    if (drain)
        json_array_append_new(of->shut, json_string(host));
    if (was != drain) {
        char text[400];
        snprintf(text, sizeof(text), "node %s of site %s is %s by its user", host, of->name,
                 drain ? "drained" : "resumed");
        note_make(d, daemon_now_us(d), "daemon", -1, note_text(text));
    }
    of->ops->shut_hosts(d->sites[site], of->shut);
    d->site_list.changed = true;
    turn_reply(d, client, request, json_object());
    turn_want(d);
    return 0;
}

static int change(struct client *client, int64_t request, const json_t *params, bool drain,
                  struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    struct input input = {.request = request, .reply = REPLY_EMPTY};
    const char *host = NULL;
    uint32_t site, node;
    int rc = find(d, params, &site, err);
    if (!rc)
        rc = find_host(d, params, site, &host, err);
    if (!rc && host)
        return change_host(client, request, site, host, drain, err);
    if (!rc)
        rc = find_node(d, params, site, &node, err);
    if (rc)
        return rc;
    input.event.component = site;
    input.event.kind = drain ? PLEAT_EV_DRAIN : PLEAT_EV_RESUME;
    if (node != PLEAT_NONE) {
        input.event.kind = drain ? PLEAT_EV_NODE_DRAIN : PLEAT_EV_NODE_RESUME;
        input.event.u.node.node = node;
    } else if (!drain) {
        sites_stay(d, site);
    }
    return method_input(client, &input, err);
}

int method_drain(struct client *client, int64_t request, const json_t *params,
                 struct pleat_error *err)
{
    return change(client, request, params, true, err);
}

int method_undrain(struct client *client, int64_t request, const json_t *params,
                   struct pleat_error *err)
{
    return change(client, request, params, false, err);
}

/* ---- adding ---- */

/* The params as a block of pleat.conf. */
static int make_block(const json_t *params, struct pleat_string *block, struct pleat_error *err)
{
    const char *name = json_string_value(json_object_get(params, "site")), *key;
    const json_t *options = json_object_get(params, "options");
    json_t *value;
    int rc = 0;
    if (!name || !pleat_name_is(name))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a site's name has letters, digits, '-', '_' and '.', at most %d, "
                               "and begins with none of '-' and '.'",
                               PLEAT_NAME_MAX);
    if (options && !json_is_object(options))
        return pleat_error_set(err, PLEAT_E_INVALID, "'options' must be an object of texts");
    config_site_begin(block, name);
    json_object_foreach((json_t *)(uintptr_t)options, key, value)
    {
        if (!rc && !json_is_string(value))
            rc = pleat_error_set(err, PLEAT_E_INVALID, "%.60s: its value must be a text", key);
        if (!rc)
            rc = config_site_add(block, key, json_string_value(value), err);
    }
    config_site_end(block);
    if (!rc && block->failed)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return rc;
}

int method_site_add(struct client *client, int64_t request, const json_t *params,
                    struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    struct pleat_string block = {0};
    struct pleat_config_site site = {0};
    int rc = method_check_writing(d, err);
    if (!rc)
        rc = make_block(params, &block, err);
    if (!rc)
        rc = config_site_read(block.text, &site, err);
    pleat_string_finish(&block);
    if (rc)
        return rc;
    site.from = PLEAT_FROM_COMMAND;
    rc = sites_add(d, &site, err);
    if (rc)
        return rc;
    turn_reply(d, client, request, json_object());
    turn_want(d);
    return 0;
}

/* ---- removing ---- */

/* PLEAT_E_STATE: pleat.conf has the site, so it would be there again after the next start. */
static int check_file(struct daemon *d, uint32_t index, struct pleat_error *err)
{
    const struct pleat_config_site *site = &d->config.sites[index];
    struct pleat_config now;
    struct pleat_error why = {0};
    bool has = false;
    if (site->from != PLEAT_FROM_FILE || !d->config.path)
        return 0;
    if (pleat_config_load(d->config.path, &now, &why))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "whether pleat.conf still has site %s cannot be told: %.600s",
                               site->name, why.text);
    for (size_t i = 0; i < now.site_count; i++)
        has =
            has || (!strcmp(now.sites[i].name, site->name) && now.sites[i].from == PLEAT_FROM_FILE);
    pleat_config_finish(&now);
    if (!has)
        return 0;
    return pleat_error_set(err, PLEAT_E_STATE,
                           "site %s is in %s: take it out of there first, then remove it, or "
                           "start pleatd again",
                           site->name, d->config.path);
}

static int check_jobs(struct daemon *d, uint32_t index, bool drain, struct pleat_error *err)
{
    const char *name = d->config.sites[index].name;
    struct pleat_string waiting = {0}, all = {0};
    int rc = 0;
    sites_jobs(d, index, true, &waiting);
    sites_jobs(d, index, false, &all);
    if (waiting.length)
        rc = pleat_error_set(err, PLEAT_E_STATE,
                             "jobs wait that can only run at site %s (--site): %s. Cancel them "
                             "first ('pleat cancel')",
                             name, waiting.text);
    else if (all.length && !drain)
        rc = pleat_error_set(err, PLEAT_E_STATE,
                             "jobs run at site %s: %s. Wait for them, cancel them, or let the site "
                             "run empty before it is removed ('pleat site remove --drain %s')",
                             name, all.text, name);
    pleat_string_finish(&waiting);
    pleat_string_finish(&all);
    return rc;
}

int method_site_remove(struct client *client, int64_t request, const json_t *params,
                       struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    uint32_t index;
    bool drain = false;
    int rc = method_check_writing(d, err);
    if (!rc)
        rc = find(d, params, &index, err);
    if (!rc)
        rc = pleat_get_bool(params, "drain", false, &drain, err);
    if (!rc && site_list_staying(d) == 1 && !d->config.sites[index].leaving)
        rc = pleat_error_set(err, PLEAT_E_STATE, "site %s is the only one: add another one first",
                             d->config.sites[index].name);
    if (!rc)
        rc = check_file(d, index, err);
    if (!rc)
        rc = check_jobs(d, index, drain, err);
    if (rc)
        return rc;
    sites_let_go(d, index);
    turn_reply(d, client, request, json_object());
    turn_want(d);
    return 0;
}
