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

/* How many of the requests that wait nothing is prepared for, or on its way. */
static inline int32_t pleat_view_lacking(const struct pleat_buffer *buffer)
{
    int64_t lacking = (int64_t)buffer->waiting - buffer->prepared - buffer->requested;
    return lacking <= 0 ? 0 : lacking < PLEAT_SIZE_MAX ? (int32_t)lacking : PLEAT_SIZE_MAX;
}

/* What of a buffer, and of what is on its way there, no request waits for. */
static inline int32_t pleat_view_spare(const struct pleat_buffer *buffer)
{
    int64_t spare = (int64_t)buffer->prepared + buffer->requested - buffer->waiting;
    return spare > 0 ? (int32_t)spare : 0;
}

/* The prepared processes in a buffer: R of Liu et al. 2009, with or without those that are on their
 * way, as configured. Those for requests that wait do not count. */
static inline int32_t pleat_view_prepared(const struct pleat_view *view,
                                          const struct pleat_buffer *buffer)
{
    int32_t spare = pleat_view_spare(buffer);
    return view->buffer_pending || spare < buffer->prepared ? spare : buffer->prepared;
}

/* RL of Liu et al. 2009, 4.1: as given; or, where it is derived, "the maximum number of requests
 * that the application could consecutively make": the most that it has made in a row so far, and at
 * least what is given. */
static inline int32_t pleat_view_level(const struct pleat_view *view,
                                       const struct pleat_buffer *buffer)
{
    uint32_t most =
        buffer->recalled_most > buffer->row_most ? buffer->recalled_most : buffer->row_most;
    if (!view->buffer_derived || most < (uint32_t)view->buffer_level)
        return view->buffer_level;
    return most < (uint32_t)PLEAT_SIZE_MAX ? (int32_t)most : PLEAT_SIZE_MAX;
}

/* How long an iteration takes: the mean of this run, or else of earlier ones; 0: not known. */
static inline int64_t pleat_view_iteration(const struct pleat_buffer *buffer)
{
    return buffer->iteration_us > 0 ? buffer->iteration_us : buffer->recalled_us;
}

/* Where agents prepare processes: prepared ones of a buffer on a node; and those that are being
 * ended there, so that their processors go back. */
struct pleat_buffered_on {
    int32_t prepared, leaving;
};
struct pleat_buffered_on pleat_view_buffered_on(const struct pleat_view *view,
                                                const struct pleat_buffer *buffer, uint32_t node);

/* How many more processes a buffer may get: all processors of its component stay within its
 * maximum. */
int32_t pleat_view_buffer_room(const struct pleat_view *view,
                               const struct pleat_component *component);

/* Requests from one iteration to another, both included, in all recorded executions of a
 * component's application together (struct pleat_buffer.executions of them). */
int64_t pleat_view_requested(const struct pleat_view *view, const struct pleat_component *component,
                             int64_t from, int64_t to);

#endif
