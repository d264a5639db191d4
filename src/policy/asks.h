/* asks.h - what running applications ask for: more processors, or fewer. */
#ifndef PLEAT_POLICY_ASKS_H
#define PLEAT_POLICY_ASKS_H

#include "policy/policy.h"

/* How many processors of a node the components other than `but` wait for that must stay there and
 * cannot go on without. */
int32_t pleat_view_wanted_on(const struct pleat_view *view, uint32_t site, uint32_t node,
                             uint32_t but);
/* Shrinks running components for a running one that asks: all that it lacks, or nobody. Voluntary:
 * they may refuse. */
void pleat_pass_take_for(struct pleat_pass *pass, uint32_t asker, int32_t processors,
                         bool voluntary);
/* Decide about what running applications ask for (struct pleat_ask). Mandatory asks come before
 * everything else in a pass; where the policy yields to waiting jobs, they come before others are
 * grown, and only if no job is left waiting. Voluntary asks at a site come before others are grown
 * there, and each is granted or refused then. */
void pleat_pass_ask_mandatory(struct pleat_pass *pass);
void pleat_pass_ask_voluntary(struct pleat_pass *pass, uint32_t site);

#endif
