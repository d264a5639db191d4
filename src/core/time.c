/* Carries out every deadline that has come. */
#include "core/asks.h"
#include "core/buffer.h"
#include "core/component.h"
#include "core/deadlines.h"
#include "core/errors.h"
#include "core/handlers.h"
#include "core/resize_events.h"
#include "core/state.h"

int on_time(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)event;
    (void)err;
    const struct pleat_heap_entry *first;
    bool any = core->pass_us <= now_of(core); /* policies decide now, where they waited for that */
    while ((first = pleat_heap_first(&core->deadlines)) && first->time_us <= now_of(core)) {
        struct pleat_heap_entry entry = pleat_heap_pop(&core->deadlines);
        uint32_t index = (uint32_t)entry.payload;
        any = true;
        core->operations++;
        if ((enum deadline_kind)(entry.payload >> 32) != DEADLINE_WAKE)
            core->idle_passes = 0; /* something happens */
        switch ((enum deadline_kind)(entry.payload >> 32)) {
        case DEADLINE_COMPONENT:
            component_at(core, index)->deadline = PLEAT_HEAP_NONE;
            on_component_deadline(core, index);
            break;
        case DEADLINE_RESIZE:
            resize_at(core, index)->deadline = PLEAT_HEAP_NONE;
            on_resize_deadline(core, index);
            break;
        case DEADLINE_BUFFER:
            core->buffers.items[index].deadline = PLEAT_HEAP_NONE;
            on_buffer_deadline(core, index);
            break;
        case DEADLINE_PREPARE: /* the pause is over: requests may wait */
            core->buffers.items[index].pause = PLEAT_HEAP_NONE;
            core->wants_pass = true;
            break;
        case DEADLINE_OUTPOST:
            core->outposts.items[index].pause = PLEAT_HEAP_NONE;
            core->wants_pass = true;
            break;
        case DEADLINE_WAKE:
            core->wake = PLEAT_HEAP_NONE;
            core->wants_pass = true;
            break;
        case DEADLINE_ASK:
            on_ask_deadline(core, index);
            break;
        case DEADLINE_SITE:
            site_at(core, index)->again = PLEAT_HEAP_NONE;
            site_pardon(core, index);
            break;
        case DEADLINE_NODES:
            core->nodes_again = PLEAT_HEAP_NONE;
            nodes_forgive(core);
            break;
        }
    }
    return any ? 0 : PLEAT_CORE_STALE;
}
