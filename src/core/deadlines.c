/* The one heap for all deadlines of the core. */
#include "core/deadlines.h"
#include "core/state.h"

void disarm(struct pleat_core *core, uint32_t *handle)
{
    if (*handle == PLEAT_HEAP_NONE)
        return;
    pleat_heap_remove(&core->deadlines, *handle);
    *handle = PLEAT_HEAP_NONE;
}

void arm(struct pleat_core *core, uint32_t *handle, enum deadline_kind kind, uint32_t index,
         int64_t at_us)
{
    if (*handle != PLEAT_HEAP_NONE) {
        pleat_heap_move(&core->deadlines, *handle, at_us);
        return;
    }
    if (pleat_heap_push(&core->deadlines, at_us, (uint64_t)kind << 32 | index, handle)) {
        *handle = PLEAT_HEAP_NONE;
        core->failed = 1;
    }
}
