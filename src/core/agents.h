/* agents.h - what happens while the agent of a site is away */
#ifndef PLEAT_CORE_AGENTS_H
#define PLEAT_CORE_AGENTS_H

#include "core/state.h"

/* Emits the signal before the component's time limit, if it was not answered yet. */
void outstanding_signal(struct pleat_core *core, uint32_t component);
/* Emits what of a component is not answered yet: START, KILL, what its resize waits for. Where its
 * agent is away, that agent is wanted. */
void outstanding_effects(struct pleat_core *core, uint32_t component);
/* Emits START, which may have happened from now on; where the agent is away, the agent is wanted.
 */
void start_or_reach(struct pleat_core *core, uint32_t component);

/* Is the agent of the component's site away, so that nothing can be told to the component? */
static inline bool core_is_away(struct pleat_core *core, uint32_t component)
{
    uint32_t site = component_at(core, component)->site;
    return site != PLEAT_NONE && site_at(core, site)->away;
}

#endif
