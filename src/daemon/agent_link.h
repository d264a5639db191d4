/* agent_link.h - requests to the agents of nodes, whether they are there or still to be started */
#ifndef PLEAT_DAEMON_AGENT_LINK_H
#define PLEAT_DAEMON_AGENT_LINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;

int agent_send(void *arg, uint32_t site, uint32_t node, const char *method, json_t *params,
               struct pleat_error *err);
/* Something waits for the agent of a site: there is one, or will be. */
void agent_reach(struct daemon *d, uint32_t site);
/* The one that was in the way of this node's is gone: where one is wanted, it is started. */
void agent_needed(struct daemon *d, const char *site, uint32_t node);
/* Whether the agent that is connected is the one that the core, and so the log, knows to be there:
 * only that one may be told to start anything. */
bool agent_is_known(struct daemon *d, uint32_t site, uint32_t node);
/* Whether it has a feature (wire/message.h): one from before an upgrade may not. */
bool agent_knows(struct daemon *d, uint32_t site, uint32_t node, const char *feature);
/* The CPUs of its slots, as it said; NULL: it did not. Borrowed. */
const char *agent_cpus(struct daemon *d, uint32_t site, uint32_t node);
/* So many seconds an agent of the site has been silent, where that is long; 0: none is. */
int agents_silent_s(struct daemon *d, uint32_t site);

#endif
