/* batch_agents.h - the agents of allocations: started, there, away, ended. */
#ifndef PLEAT_SITE_BATCH_AGENTS_H
#define PLEAT_SITE_BATCH_AGENTS_H

#include "site/batch_claims.h"

/* Starts the agents of an allocation that were not started and are not there. */
void pleat_batch_start_agents(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* All agents of an allocation are there: its claim is given. */
void pleat_batch_hold(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* Agents of an allocation that are not connected have some time from now on to call. */
void pleat_batch_count_away(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* HELD: gives up nodes whose agents have not come back, and have ended by now. Not while the batch
 * system cannot be asked: the network may be what keeps agents from calling, too. */
void pleat_batch_look_for_away(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* The agent of a node of an allocation has called, or its connection is gone. */
void pleat_batch_agent_is(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          struct pleat_batch_node *node, bool there);
/* The agent that was started on a node of an allocation has ended. */
void pleat_batch_step_is_over(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                              const json_t *how);

#endif
