/* agent_link.h - requests to the agents of nodes, whether they are connected or still to be started
 */
#ifndef PLEAT_DAEMON_AGENT_LINK_H
#define PLEAT_DAEMON_AGENT_LINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;

int agent_send(void *arg, uint32_t site, uint32_t node, const char *method, json_t *params,
               struct pleat_error *err);
/* The same with an attachment, which is borrowed. */
int agent_send_bytes(void *arg, uint32_t site, uint32_t node, const char *method, json_t *params,
                     const char *bytes, size_t count, struct pleat_error *err);
/* Whether the connected agent of a node does not see the files of this machine. */
bool agent_is_apart(struct daemon *d, uint32_t site, uint32_t node);
/* Makes sure that the agent of a node is connected, is waited for, or is being started. */
void agent_reach(struct daemon *d, uint32_t site, uint32_t node);
/* The agent of another instance that was in the way on that node is gone: if this pleatd waits for
 * an agent of its own there, one is started. */
void agent_needed(struct daemon *d, const char *site, uint32_t node);
/* Whether the connected agent is the one that the core, and so the log, knows to be there. Only
 * that one may be told to start anything. */
bool agent_is_known(struct daemon *d, uint32_t site, uint32_t node);
/* Whether the agent has a feature (wire/message.h); an agent from before an upgrade may lack it. */
bool agent_knows(struct daemon *d, uint32_t site, uint32_t node, const char *feature);
/* Whether it has told that it lacks it: one that has not called yet, as after a restart of pleatd,
 * has not. */
bool agent_lacks(struct daemon *d, uint32_t site, uint32_t node, const char *feature);
/* The name of the host of a node's connected agent, as it says; NULL: it did not say. Borrowed. */
const char *agent_stands_on(struct daemon *d, uint32_t site, uint32_t node);
/* Whether processes that run on a node can be told CPUs that its agent may not use itself. */
bool agent_mixes(struct daemon *d, uint32_t site, uint32_t node);
/* The CPUs of the agent's slots, as it says; NULL: it did not say. Borrowed. */
const char *agent_cpus(struct daemon *d, uint32_t site, uint32_t node);
/* Writes the path of the scratch directory of a run on that node: below the directory for files in
 * shared memory that its agent says, with the agent's mark. */
void agent_scratch(struct daemon *d, uint32_t site, uint32_t node, uint64_t run, char *path,
                   size_t size);
/* For how many seconds an agent of the site has been silent, once users were told of that; 0: no
 * agent of the site is. */
int agents_silent_s(struct daemon *d, uint32_t site);

#endif
