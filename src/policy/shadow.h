/* shadow.h - when enough processors are expected to be free for a component, and how many are free
 * then beyond its need: the "shadow time" and "extra nodes" of EASY backfilling (Mu'alem and
 * Feitelson 2001, 2.1). Expected ends are those of running components and of those that the plan
 * starts; all that end at the same instant count. */
#ifndef PLEAT_POLICY_SHADOW_H
#define PLEAT_POLICY_SHADOW_H

#include "policy/plan.h"

struct pleat_pass;

/* The earliest shadow of a waiting component, of the sites that it may use; false where no site
 * could hold it at present. The policy in force needs PLEAT_NEEDS_ENDS. */
bool pleat_shadow_cast(struct pleat_pass *pass, uint32_t head, struct pleat_shadow *earliest);

#endif
