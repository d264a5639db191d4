/* agent_network.h - the names of the hosts of agents, and the network by which they reach one
 * another. This is the network by which they reach pleatd, as the address from which they call
 * says. */
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
/* Starts with the network of one of the run's nodes, and drops from it what another node does not
 * have. */
void agent_network_begin(struct daemon *d, uint32_t site, uint32_t node, struct agents_network *of);
void agent_network_join(struct daemon *d, uint32_t site, uint32_t node, struct agents_network *of);
/* The name by which MPI launchers know a node. No two nodes of a site have the same name, even on
 * one host, and none has its host's, since a launcher treats its own host in another way. At most
 * 63 bytes. */
void agent_node_name(struct daemon *d, uint32_t site, uint32_t node, char *name, size_t size);

#endif
