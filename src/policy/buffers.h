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

/* What a component has at a site other than its own; NULL: nothing was asked for there. */
static inline const struct pleat_outpost *
pleat_view_outpost(const struct pleat_view *view, const struct pleat_buffer *buffer, uint32_t site)
{
    uint32_t next = buffer->outposts ? buffer->outposts - 1 : PLEAT_NONE;
    while (next != PLEAT_NONE && view->outposts[next].site != site)
        next = view->outposts[next].next;
    return next != PLEAT_NONE ? &view->outposts[next] : NULL;
}

/* All processors of an outpost, but those that are on their way back. */
static inline int32_t pleat_outpost_processors(const struct pleat_outpost *outpost)
{
    return outpost->taken + outpost->prepared + outpost->requested;
}

/* Does the component of an outpost run? */
static inline bool pleat_view_outpost_runs(const struct pleat_view *view,
                                           const struct pleat_outpost *outpost)
{
    return outpost->buffer != PLEAT_NONE &&
           view->components[view->buffers[outpost->buffer].component].state == PLEAT_RUNNING;
}

/* How many of its processors a component has at other sites, and (all) has prepared, or on their
 * way, there. */
int32_t pleat_view_elsewhere(const struct pleat_view *view, const struct pleat_component *component,
                             bool all);
/* The prepared processes of a buffer at a site. */
int32_t pleat_view_prepared_at(const struct pleat_view *view, const struct pleat_buffer *buffer,
                               uint32_t site);

/* The number of the node of a claim of one processor; where its site does not say that, of the node
 * that leads its component, or of the first one of another site. */
uint32_t pleat_view_claim_node(const struct pleat_view *view, const struct pleat_claim *claim);
/* The architecture of the node on which a claim of a buffer is, or has to be; 0: not known, or any.
 */
uint32_t pleat_view_claim_architecture(const struct pleat_view *view,
                                       const struct pleat_claim *claim);

/* Whether requests wait for nodes of a certain architecture. */
static inline bool pleat_view_waits_on(const struct pleat_buffer *buffer)
{
    uint32_t any = 0;
    for (uint32_t a = 1; a < PLEAT_ARCHITECTURES; a++)
        any |= buffer->waiting_on[a];
    return any > 0;
}

/* How many of the requests that wait for a site nothing is prepared for there, or on its way: of
 * those for nodes of an architecture; with 0 of those for which any will do, or any of the run's.
 * With buffer_own, where all nodes will do: for how many nothing was asked for.
 */
int32_t pleat_view_lacking_at(const struct pleat_view *view, const struct pleat_buffer *buffer,
                              uint32_t site, uint32_t architecture);
/* ... for those that any site can serve: nothing is prepared for them, or on its way, at any. */
int32_t pleat_view_lacking_any(const struct pleat_view *view, const struct pleat_buffer *buffer);
/* The outpost of a buffer that is asked next for such requests, after the one with that rank (0:
 * the first). NULL: there is none. */
const struct pleat_outpost *pleat_view_next_for_any(const struct pleat_view *view,
                                                    const struct pleat_buffer *buffer,
                                                    uint32_t rank);
/* ... at the component's own site. */
int32_t pleat_view_lacking_on(const struct pleat_view *view, const struct pleat_buffer *buffer,
                              uint32_t architecture);
/* ... of all, at all sites. */
int32_t pleat_view_lacking(const struct pleat_view *view, const struct pleat_buffer *buffer);
/* What of a buffer at a site, and of what is on its way there, no request waits for. */
int32_t pleat_view_spare_at(const struct pleat_view *view, const struct pleat_buffer *buffer,
                            uint32_t site);
/* ... at the component's own site, where policies prepare processes. */
int32_t pleat_view_spare(const struct pleat_view *view, const struct pleat_buffer *buffer);

/* The prepared processes in a buffer: R of Liu et al. 2009, with or without those that are on their
 * way, as configured. Those for requests that wait do not count. */
static inline int32_t pleat_view_prepared(const struct pleat_view *view,
                                          const struct pleat_buffer *buffer)
{
    int32_t spare = pleat_view_spare(view, buffer);
    int32_t held = pleat_view_prepared_at(view, buffer, view->components[buffer->component].site);
    return view->buffer_pending || spare < held ? spare : held;
}

/* Processes that the application will give back soon, as it says, and that come into the buffer
 * then. They count as prepared where a policy asks for some: both signs of the demand are known. */
static inline int32_t pleat_view_returning(const struct pleat_buffer *buffer)
{
    return (int32_t)buffer->returning;
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

/* Where agents prepare processes: prepared ones of a buffer on a node of a site; and those that are
 * being ended there, so that their processors go back. */
struct pleat_buffered_on {
    int32_t prepared, leaving;
};
struct pleat_buffered_on pleat_view_buffered_on(const struct pleat_view *view,
                                                const struct pleat_buffer *buffer, uint32_t site,
                                                uint32_t node);

/* How many more processes a buffer may get: all processors of its component stay within its
 * maximum. */
int32_t pleat_view_buffer_room(const struct pleat_view *view,
                               const struct pleat_component *component);

/* Requests from one iteration to another, both included, in all recorded executions of a
 * component's application together (struct pleat_buffer.executions of them). */
int64_t pleat_view_requested(const struct pleat_view *view, const struct pleat_component *component,
                             int64_t from, int64_t to);

#endif
