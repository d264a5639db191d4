/* outpost.h - what components whose agents prepare processes have at sites other than their own */
#ifndef PLEAT_CORE_OUTPOST_H
#define PLEAT_CORE_OUTPOST_H

#include "core/state.h"

static inline struct pleat_outpost *outpost_at(struct pleat_core *core, uint32_t index)
{
    return &core->outposts.items[index];
}

/* The record of an outpost that is not in use. */
const struct pleat_outpost *outpost_fresh(void);
/* The index of a component's outpost at a site; PLEAT_NONE: it has none there, as at its own. */
PLEAT_COLD uint32_t outpost_of(const struct pleat_core *core, uint32_t component, uint32_t site);
/* A new one of a buffer's component, which has none there. PLEAT_NONE: out of memory. */
PLEAT_COLD uint32_t outpost_make(struct pleat_core *core, uint32_t buffer, uint32_t site);
/* A claim comes into the list of those that its component's run has, or (sign -1) leaves it. */
static inline void outpost_takes(struct pleat_core *core, const struct pleat_claim *claim,
                                 int32_t sign)
{
    uint32_t index =
        core->outposts.count > 0 ? outpost_of(core, claim->component, claim->site) : PLEAT_NONE;
    if (index != PLEAT_NONE)
        outpost_at(core, index)->taken += sign * claim->count;
}
/* The run of the component is over: no request waits any more. */
PLEAT_COLD void outposts_rest(struct pleat_core *core, uint32_t component);
/* All processors of the component are back: its outposts are forgotten. */
PLEAT_COLD void outposts_drop(struct pleat_core *core, uint32_t buffer);
/* A site is gone, and with it the outposts there, which had nothing any more. */
PLEAT_COLD void outposts_leave(struct pleat_core *core, uint32_t site);

#endif
