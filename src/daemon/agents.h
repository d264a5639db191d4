/* agents.h - the agents of nodes: accepted, looked after, expected back after a restart, told to
 * end
 */
#ifndef PLEAT_DAEMON_AGENTS_H
#define PLEAT_DAEMON_AGENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;
struct pleat_connection;

/* Takes over a connection whose hello says that it is an agent's. */
void agent_accept(struct daemon *d, struct pleat_connection *connection, const json_t *hello);

/* To be called once a second: asks whether the agents answer. One that has not answered for
 * agent_answer_s is killed, so that another one can take its place. */
void agents_look(struct daemon *d);
/* The policies have changed, and may now want what agents said of folded runs. Agents say that
 * again only when it changes, so it is taken from memory. */
void agents_learn(struct daemon *d);
/* Whether an agent lives that has not connected (yet), so that it cannot be told to end. */
bool agents_absent(struct daemon *d);
/* Whether the agent of a job does not live, where pleatd starts agents itself. */
bool agents_are_missing(struct daemon *d);
/* To be called after a start, before anything else: tells the core that no agent is connected. 0 or
 * an error. */
int agents_away(struct daemon *d, struct pleat_error *err);
/* After a restart: waits for the agents of living runs to call back; where they are dead, starts
 * new ones. */
void agents_expect(struct daemon *d);
/* A node is not its site's any more: what its agent ran is lost, and the agent is told to end. */
void agents_node_gone(struct daemon *d, uint32_t site, uint32_t node);
/* The agent of a node is told to end, if it is connected: nothing uses the node any more. */
void agents_node_quit(struct daemon *d, uint32_t site, uint32_t node);
/* Whether an agent with that number lives: as long as it does no other one can have it. */
bool agents_node_is_taken(struct daemon *d, uint32_t site, uint32_t node);
/* A site joins in the coming turn: tells the core that no agent of it is connected. */
void agents_site_new(struct daemon *d, uint32_t site);
/* A site is gone, with its jobs: its agents end. */
void agents_site_gone(struct daemon *d, uint32_t site);
/* Tells the agents to end, where nothing runs, and closes the connections. */
void agents_quit(struct daemon *d);
/* Waits until those told have ended (at most five seconds in all): whoever sees pleatd end may
 * remove its directory, and an agent writes there. */
void agents_await(struct daemon *d);

#endif
