/* link.h - where pleatd is, and how this agent proves to it which one it is. */
#ifndef PLEAT_AGENT_LINK_H
#define PLEAT_AGENT_LINK_H

#include "agent/agent.h"

/* In the environment of an agent that calls over TCP: IDENTITY:KEY, the key in hexadecimal digits,
 * unless that comes from a descriptor (--key-fd). */
#define PLEAT_AGENT_KEY_ENV "PLEAT_AGENT_KEY"

/* Takes over --connect: the address, and identity and key from the descriptor `key_fd` (-1: from
 * the environment, of which nothing is left to be seen by others or handed on). Does nothing
 * without --connect. To be called before anything is started. PLEAT_E_INVALID, PLEAT_E_SYSTEM. */
int pleat_link_take(struct pleat_agent *agent, int key_fd,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
bool pleat_link_is_tcp(const struct pleat_agent *agent);
/* Over TCP: forgets the directory of state where that is not the daemon's own. Then the agent has
 * no lock, touches nothing there, and its runs have only what is sent. May take 2 s. */
void pleat_link_find_state(struct pleat_agent *agent);
/* Whether the directory of state is pleatd's own: there this agent's key is known. Over TCP only.
 */
bool pleat_link_shares_state(const struct pleat_agent *agent);
/* Begins to connect. agent->connection is set. */
int pleat_link_open(struct pleat_agent *agent, const struct pleat_connection_callbacks *callbacks,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* The time until the next attempt: longer after each that failed, and not the same for all agents
 * of a pleatd that is gone. */
uint64_t pleat_link_pause_ms(struct pleat_agent *agent);

#endif
