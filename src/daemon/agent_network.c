#include "daemon/agent_network.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/agent.h"

enum { HOST_PART = 40 }; /* of a node's name */

/* "10.77.0.0/24" */
static void write_network(const char *address, int prefix, char *text, size_t size)
{
    struct in_addr in;
    char number[INET_ADDRSTRLEN];
    text[0] = '\0';
    if (prefix < 1 || prefix > 32 || inet_pton(AF_INET, address, &in) != 1)
        return;
    in.s_addr &= htonl(prefix == 32 ? UINT32_MAX : ~(UINT32_MAX >> prefix));
    if (inet_ntop(AF_INET, &in, number, sizeof(number)))
        snprintf(text, size, "%s/%d", number, prefix);
}

/* Whether the name can be a word of an option: the kernel lets interfaces have other names. */
static bool is_interface(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("_.-", name[i]))
            return false;
    return length > 0 && length < 16 && name[0] != '-';
}

void agent_network_take(struct agent *agent, const json_t *hello)
{
    char peer[64];
    size_t index;
    const json_t *entry;
    const char *host = json_string_value(json_object_get(hello, "host"));
    free(agent->host);
    agent->host = host ? strdup(host) : NULL;
    agent->fabric = json_is_true(json_object_get(hello, "fabric"));
    agent->interface[0] = agent->network[0] = '\0';
    pleat_connection_peer_host(agent->connection, peer, sizeof(peer));
    json_array_foreach(json_object_get(hello, "networks"), index, entry)
    {
        const char *address = json_string_value(json_object_get(entry, "address"));
        const char *name = json_string_value(json_object_get(entry, "name"));
        json_int_t prefix = json_integer_value(json_object_get(entry, "prefix"));
        if (!address || strcmp(address, peer) != 0 || !name || !is_interface(name))
            continue;
        snprintf(agent->interface, sizeof(agent->interface), "%s", name);
        write_network(address, prefix > 0 && prefix < 33 ? (int)prefix : 0, agent->network,
                      sizeof(agent->network));
    }
}

static const struct agent *find(const struct daemon *d, uint32_t site, uint32_t node)
{
    const struct agent *agent = d->agents;
    while (agent && (agent->site != site || agent->node != node))
        agent = agent->next;
    return agent;
}

void agent_network_begin(struct daemon *d, uint32_t site, uint32_t node, struct agents_network *of)
{
    const struct agent *agent = find(d, site, node);
    memset(of, 0, sizeof(*of));
    if (!agent)
        return;
    memcpy(of->interface, agent->interface, sizeof(of->interface));
    memcpy(of->network, agent->network, sizeof(of->network));
    of->fabric = agent->fabric;
}

void agent_network_join(struct daemon *d, uint32_t site, uint32_t node, struct agents_network *of)
{
    const struct agent *agent = find(d, site, node);
    if (!agent || strcmp(agent->interface, of->interface) != 0)
        of->interface[0] = '\0';
    if (!agent || strcmp(agent->network, of->network) != 0)
        of->network[0] = '\0';
    of->fabric = of->fabric || !agent || agent->fabric;
}

void agent_node_name(struct daemon *d, uint32_t site, uint32_t node, char *name, size_t size)
{
    const struct agent *agent = find(d, site, node);
    const char *host = agent && agent->host ? agent->host : "";
    size_t length = strcspn(host, ".");
    bool good = length > 0 && length <= HOST_PART && !d->config.sites[site].here.nodes;
    for (size_t i = 0; i < length; i++)
        good = good && (isalnum((unsigned char)host[i]) || (i > 0 && host[i] == '-'));
    if (good)
        snprintf(name, size, "%.*s-pleat-%u", (int)length, host, node);
    else
        snprintf(name, size, "pleat-node-%u", node);
}
