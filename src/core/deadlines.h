/* deadlines.h - the heap of deadlines */
#ifndef PLEAT_CORE_DEADLINES_H
#define PLEAT_CORE_DEADLINES_H

#include "core/state.h"

enum deadline_kind {
    DEADLINE_COMPONENT,
    DEADLINE_RESIZE,
    DEADLINE_WAKE,
    DEADLINE_BUFFER,
    DEADLINE_SITE,
    DEADLINE_ASK,
    DEADLINE_NODES,
    DEADLINE_PREPARE,
    DEADLINE_OUTPOST
};

void arm(struct pleat_core *core, uint32_t *handle, enum deadline_kind kind, uint32_t index,
         int64_t at_us);
void disarm(struct pleat_core *core, uint32_t *handle);

#endif
