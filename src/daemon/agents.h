/* agents.h - the agents of nodes: started when needed, expected back after a restart, listened to
 */
#ifndef PLEAT_DAEMON_AGENTS_H
#define PLEAT_DAEMON_AGENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;
struct pleat_connection;

int agent_send(void *arg, uint32_t site, uint32_t node, const char *method, json_t *params,
               struct pleat_error *err);
/* A connection that said it is an agent. Takes it over. */
void agent_accept(struct daemon *d, struct pleat_connection *connection, const json_t *hello);
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

/* Once a second: whether agents answer; one that does not for long is ended, so that another can
 * take its place. */
void agents_look(struct daemon *d);
/* So many seconds an agent of the site has been silent, where that is long; 0: none is. */
int agents_silent_s(struct daemon *d, uint32_t site);
/* The policies are others: what agents said of folded runs, and say again only when it changes, may
 * be wanted now. */
void agents_learn(struct daemon *d);
/* Whether an agent lives that has not (yet) called, so that it cannot be told to end. */
bool agents_absent(struct daemon *d);
/* After a start, before anything else: no agent is there yet. 0 or an error. */
int agents_away(struct daemon *d, struct pleat_error *err);
/* After a restart: expect the agents of living runs to call back; else start new ones. */
void agents_expect(struct daemon *d);
void agents_quit(struct daemon *d);

#endif
