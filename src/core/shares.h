/* shares.h - the processes of a folded run on each of its nodes (policy/shares.h) */
#ifndef PLEAT_CORE_SHARES_H
#define PLEAT_CORE_SHARES_H

#include "core/state.h"

/* A component that has all its processors is about to be started: if it folds, and may be on
 * several nodes, its processes are shared out among them. Each processor has as many as any other,
 * or one more. */
void shares_begin(struct pleat_core *core, uint32_t component);
/* Puts the `count` processors last that a running component gives up in a shrink: those of later
 * allocations first, the last of them before others; of the rest each node keeps one at least. Does
 * nothing where its nodes do not matter, and nothing the second time. */
void shares_leave(struct pleat_core *core, uint32_t component, int32_t count);
/* Can a running component use all processors of a claim that it was given to grow? */
bool shares_fit(const struct pleat_core *core, uint32_t component, uint32_t claim);

#endif
