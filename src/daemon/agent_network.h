/* agent_network.h - how the hosts of agents are called, and by which network they reach one
 * another: that by which they reach pleatd, which the address says from which they call. */
#ifndef PLEAT_DAEMON_AGENT_NETWORK_H
#define PLEAT_DAEMON_AGENT_NETWORK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent;
struct daemon;

/* What the nodes of a run have in common; "": nothing, or it is not known. */
struct agents_network {
    char interface[16]; /* its name, of all hosts */
    char network[24];   /* "10.0.0.0/8" */
    bool fabric;        /* one of them has devices for remote memory access */
};

/* Takes from its hello what it says of its host. Its connection is there. */
void agent_network_take(struct agent *agent, const json_t *hello);
/* The network of the run's nodes begins as that of one of them, and loses what another one has not.
 */
void agent_network_begin(struct daemon *d, uint32_t site, uint32_t node, struct agents_network *of);
void agent_network_join(struct daemon *d, uint32_t site, uint32_t node, struct agents_network *of);
/* How MPI launchers call the node: no two nodes of a site are called the same, also on one host,
 * and none as its host, since a launcher serves its own host otherwise. At most 63 bytes. */
void agent_node_name(struct daemon *d, uint32_t site, uint32_t node, char *name, size_t size);

#endif
