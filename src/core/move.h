/* move.h - leaving the node from which a component is led
 *
 * A shrink that leaves that node is told as any other. The component's application saves its state
 * on the nodes that it keeps, and all its processes end (MOVED). What it leaves is given back then,
 * and the same run is started on the first node that it keeps, with that state (START, in the step
 * MOVING). When it has started the shrink is over. Whatever fails in between has lost the
 * application's state: the component is queued again. */
#ifndef PLEAT_CORE_MOVE_H
#define PLEAT_CORE_MOVE_H

#include "core/state.h"

/* Is the component being started on another node, in a resize? */
bool move_is_under_way(const struct pleat_core *core, const struct pleat_component *component);
/* It was started there. */
void move_started(struct pleat_core *core, uint32_t component);

#endif
