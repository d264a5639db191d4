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

/* A connection that said it is an agent. Takes it over. */
void agent_accept(struct daemon *d, struct pleat_connection *connection, const json_t *hello);

/* Once a second: whether agents answer; one that does not for long is ended, so that another can
 * take its place. */
void agents_look(struct daemon *d);
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
