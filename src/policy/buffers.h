/* buffers.h - components that ask for processes themselves: their buffers, and what earlier
 * executions of their applications asked for. */
#ifndef PLEAT_POLICY_BUFFERS_H
#define PLEAT_POLICY_BUFFERS_H

#include "policy/view.h"

/* Processors that a component has in its buffer, or that are on their way there. */
static inline int32_t pleat_view_buffered(const struct pleat_view *view,
                                          const struct pleat_component *component)
{
    if (!view->evolves || component->buffer == PLEAT_NONE)
        return 0;
    const struct pleat_buffer *buffer = &view->buffers[component->buffer];
    return buffer->prepared + buffer->requested;
}

/* The prepared processes in a buffer: R of Liu et al. 2009, with or without those that are on their
 * way, as configured. */
static inline int32_t pleat_view_prepared(const struct pleat_view *view,
                                          const struct pleat_buffer *buffer)
{
    return view->buffer_pending ? buffer->prepared + buffer->requested : buffer->prepared;
}

/* How many more processes a buffer may get: all processors of its component stay within its
 * maximum. */
int32_t pleat_view_buffer_room(const struct pleat_view *view,
                               const struct pleat_component *component);

/* Requests from one iteration to another, both included, in all recorded executions of a
 * component's application together (struct pleat_buffer.executions of them). */
int64_t pleat_view_requested(const struct pleat_view *view, const struct pleat_component *component,
                             int64_t from, int64_t to);

#endif
