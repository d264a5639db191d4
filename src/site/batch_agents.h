/* batch_agents.h - the agents of allocations: started, there, away, ended. */
#ifndef PLEAT_SITE_BATCH_AGENTS_H
#define PLEAT_SITE_BATCH_AGENTS_H

#include "site/batch_claims.h"

/* Starts those that were not started, and are not there. */
void pleat_batch_start_agents(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* All are there: its claim is given. */
void pleat_batch_hold(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* Its agents that are not connected have some time from now on. */
void pleat_batch_count_away(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* HELD: gives up nodes whose agents have not come back, and whose end nobody would tell. Not while
 * the batch system cannot be asked: the network may be what keeps agents from calling, too. */
void pleat_batch_look_for_away(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* The agent of that node of it has called, or its connection is gone. */
void pleat_batch_agent_is(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          struct pleat_batch_node *node, bool there);
/* The adapter has ended: what becomes of agents that it started is not told any more. */
void pleat_batch_adapter_is_gone(struct pleat_batch_site *site);
/* What was started on one of its nodes, an agent, has ended. */
void pleat_batch_step_is_over(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                              const json_t *how);

#endif
