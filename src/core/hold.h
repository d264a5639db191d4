/* hold.h - what keeps a waiting component out of the queue */
#ifndef PLEAT_CORE_HOLD_H
#define PLEAT_CORE_HOLD_H

#include "core/state.h"

/* 0 if the component can be held: it is the only one of its job, waits, and is no reservation. */
PLEAT_COLD int hold_check(const struct pleat_core *core, uint32_t component,
                          struct pleat_error *err);
/* `by` holds the QUEUED component, too: it leaves the queue if it stands there. */
PLEAT_COLD void hold_add(struct pleat_core *core, uint32_t component, enum pleat_hold by);
/* `by` does not hold the component any more: if nothing else does, it stands in the queue behind
 * all others. */
PLEAT_COLD void hold_remove(struct pleat_core *core, uint32_t component, enum pleat_hold by);
/* A component that is QUEUED again and in no list is held, or stands behind all others. */
PLEAT_COLD void hold_or_append(struct pleat_core *core, uint32_t component);
/* The component, which waits for no job, has ended: nothing holds it, and it leaves its group. */
PLEAT_COLD void hold_end(struct pleat_core *core, uint32_t component);

#endif
