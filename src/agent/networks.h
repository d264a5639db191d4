/* networks.h - a host's networks, as the daemon is told of them: from the address from which an
 * agent calls the daemon knows which interface that is. */
#ifndef PLEAT_AGENT_NETWORKS_H
#define PLEAT_AGENT_NETWORKS_H

#include <jansson.h>

/* The host's name, the interfaces that are up with an IPv4 address (but the loopback one), and
 * whether there are devices for remote memory access: members "host", "networks" and "fabric" of
 * what the agent says of itself. What cannot be found is left out. */
void pleat_networks_add(json_t *hello);

#endif
