/* networks.h - a host's networks, as the daemon is told of them: from the address from which an
 * agent calls the daemon knows which interface that is. */
#ifndef PLEAT_AGENT_NETWORKS_H
#define PLEAT_AGENT_NETWORKS_H

#include <jansson.h>
#include <stddef.h>

/* The host's name, the interfaces that are up with an IPv4 address (but the loopback one), and
 * whether there are devices for remote memory access: members "host", "networks" and "fabric" of
 * what the agent says of itself. What cannot be found is left out. */
void pleat_networks_add(json_t *hello);

/* An address by which other hosts reach this one: that which it has on the way to a host; where
 * that is this one itself, or none is named (NULL), that of its first interface but the loopback
 * one, else the loopback one's. May look up the name. */
void pleat_networks_own(const char *towards, char *text, size_t size);

#endif
