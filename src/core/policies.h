/* policies.h - which policies are in force, and the view that they get */
#ifndef PLEAT_CORE_POLICIES_H
#define PLEAT_CORE_POLICIES_H

#include "core/state.h"

/* The view's pointers and counts are those of the arrays again. */
void core_sync_view(struct pleat_core *core);
int core_set_policy(struct pleat_core *core, const struct pleat_policy *policy);

#endif
