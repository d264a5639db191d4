#include "policy/buffers.h"

#include "policy/view_size.h"

int32_t pleat_view_buffer_room(const struct pleat_view *view,
                               const struct pleat_component *component)
{
    int32_t size =
        component->target > component->processors ? component->target : component->processors;
    int32_t room = pleat_view_limit(view, component) - size - pleat_view_buffered(view, component);
    if (view->prepares && component->buffer != PLEAT_NONE)
        room -= view->buffers[component->buffer].leaving; /* they may be taken yet */
    return room > 0 ? room : 0;
}

struct pleat_buffered_on pleat_view_buffered_on(const struct pleat_view *view,
                                                const struct pleat_buffer *buffer, uint32_t node)
{
    struct pleat_buffered_on sum = {0};
    for (uint32_t c = buffer->first_claim; c != PLEAT_NONE; c = view->claims[c].next) {
        const struct pleat_claim *claim = &view->claims[c];
        if (claim->state != PLEAT_CLAIM_HELD || claim->first_piece == PLEAT_NONE ||
            view->pieces[claim->first_piece].node != node)
            continue;
        sum.prepared += claim->process == PLEAT_KEPT_WAITING;
        sum.leaving += claim->process == PLEAT_KEPT_UNPREPARING;
    }
    return sum;
}

/* The first row of an iteration that is not before `iteration`. */
static size_t row_of(const struct pleat_history *history, int64_t iteration)
{
    size_t low = 0, high = history->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (history->items[middle].iteration < iteration)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t pleat_view_requested(const struct pleat_view *view, const struct pleat_component *component,
                             int64_t from, int64_t to)
{
    int64_t sum = 0;
    if (component->buffer == PLEAT_NONE)
        return 0;
    const struct pleat_history *history = &view->histories[component->buffer];
    for (size_t i = row_of(history, from); i < history->count && history->items[i].iteration <= to;
         i++)
        sum += history->items[i].requests;
    return sum;
}
