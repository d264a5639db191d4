/* agent_listen.h - agents that call over TCP: the port, and the key of each.
 *
 * Nothing listens unless a site has such agents. Each agent that is started gets a new key, which
 * is kept in a file of its own beside its lock, mode 0600, so that a pleatd that is started again
 * knows the agents that are there. The port is kept, too.
 */
#ifndef PLEAT_DAEMON_AGENT_LISTEN_H
#define PLEAT_DAEMON_AGENT_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct daemon;
struct pleat_connection;
struct pleat_listener;

struct agent_listen {
    struct pleat_listener *listener; /* NULL: no site has such agents */
    int64_t said_us;                 /* when the last caller was reported that was turned away */
    int64_t unsaid;                  /* callers since then */
    void (*accept)(void *arg, struct pleat_connection *);
    char at[64]; /* the interface at which it listens */
};

/* Listens if a site has such agents, or one of them lives; and removes the keys of agents that are
 * gone. An error: this pleatd could not speak to them. */
int agent_listen_open(struct daemon *d, void (*accept)(void *arg, struct pleat_connection *),
                      struct pleat_error *err);
/* A site was added: listens if that site needs it, at the port as before if that can be had. */
int agent_listen_again(struct daemon *d, struct pleat_error *err);
void agent_listen_close(struct daemon *d);
/* Appends HOST:PORT, as agents reach this pleatd. */
void agent_listen_address(struct daemon *d, struct pleat_string *out);
/* Makes a key for the agent that is about to be started on a node, one that no earlier agent had,
 * and appends the line that the agent is told: its identity, a colon, the key. */
int agent_key_make(struct daemon *d, uint32_t site, uint32_t node, struct pleat_string *line,
                   struct pleat_error *err);
/* The agent has ended: nobody may connect with its key any more. */
void agent_key_forget(struct daemon *d, uint32_t site, uint32_t node);
/* Whether a connection may be that of the agent of this node. Any over the unix socket may. */
bool agent_key_is_of(struct daemon *d, const struct pleat_connection *connection, uint32_t site,
                     uint32_t node);

#endif
