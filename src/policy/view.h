/* view.h - what policies may see: the core's own records and lists, const.
 *
 * Nothing is built for a pass. Iterators run over lists that the core keeps as events arrive. What
 * follows from these records is in headers above this one: view_size.h and accept.h (sizes),
 * estimates.h (time), nodes.h, siblings.h (jobs of several components), files.h, buffers.h.
 */
#ifndef PLEAT_POLICY_VIEW_H
#define PLEAT_POLICY_VIEW_H

#include <stdbool.h>

#include "model/event.h"
#include "model/records.h"
#include "model/sizes.h"

/* Requests of earlier executions of a component's application, by iteration. */
PLEAT_ARRAY(pleat_history, struct pleat_history_row);

struct pleat_view {
    int64_t now_us;
    const struct pleat_component *components;
    /* beside components: read by pleat_view_terms, ... */
    const struct pleat_terms *terms;
    const struct pleat_folding *foldings;
    const struct pleat_declaration *declarations;
    const struct pleat_coallocation *coallocations;
    const struct pleat_ask *asks; /* also free records, in which nothing is asked for */
    const struct pleat_site *sites;
    const struct pleat_size_list *size_lists;
    const struct pleat_timing *timings;
    const struct pleat_buffer *buffers;
    const struct pleat_history *histories; /* by buffer */
    const struct pleat_outpost *outposts;  /* also free records */
    const struct pleat_input *inputs;
    const struct pleat_link *links; /* sorted by (from, to) */
    const struct pleat_node *nodes; /* sorted by (site, node) */
    const struct pleat_claim *claims;
    const struct pleat_piece *pieces; /* of claims */
    uint32_t component_count, site_count, link_count, node_count, ask_count, outpost_count;
    uint32_t queue_first,
        queue_last; /* components that wait, in their order; requeued ones before their equals */
    uint32_t reserved_first; /* advance reservations whose time has not come, by begin_us; linked by
                              * next; not in the queue */
    uint32_t queue_count;
    uint32_t malleable_count; /* running malleable components, at all sites */
    int32_t max_tries;        /* 0: no limit */
    int64_t try_us;
    /* the least lifetime of a size, as configured; the most that a job may ask for */
    int64_t lifetime_us, lifetime_max_us;
    uint32_t reviews_first; /* buffers whose review is due; linked by due_next */
    int32_t buffer_level, buffer_range;
    int64_t buffer_review_us;
    bool buffer_derived; /* the level is at least buffer_level: pleat_view_level */
    bool buffer_pending; /* processes on their way count as prepared */
    bool buffer_own;     /* a process is asked for each request that fails */
    bool evolves;        /* there is, or was, a component that evolves */
    bool prepares;       /* ... whose agents prepare processes */
    bool lifetimes;      /* there is, or was, a lifetime: components may be young */
    bool sections;       /* there is, or was, a component whose program said "not now" */
    int32_t mpl_max;     /* the most processes on a processor of components that fold */
    int32_t preemptions; /* how often a component may be preempted */
    int32_t grow_total;  /* processors to which all sites' jobs are grown, together; 0: no limit */
    bool room_partly; /* room is made for a waiting component bit by bit, not whole or not at all */
    /* what sweet-spot-learned looks for: PLEAT_PARAM_SPOT_...; threshold 0: the metric's usual one
     */
    int32_t spot_metric, spot_threshold, spot_gain, spot_hysteresis, spot_confidence;
    bool spot_probe;
    bool stages;  /* there is, or was, a component with files to be brought */
    bool several; /* there is, or was, a job of several components */
    /* processor-microseconds that components held while they waited: for other components of the
     * job, or for files */
    int64_t wasted_us;
};

/* Is nobody placed or grown at a site for now: its user drains it, or it has had too many errors?
 */
static inline bool pleat_view_is_closed(const struct pleat_view *view, uint32_t site)
{
    return view->sites[site].barred || view->sites[site].drained;
}

/* ---- what only some components have: a constant record for those without ---- */

static inline const struct pleat_terms *pleat_view_terms(const struct pleat_view *view,
                                                         const struct pleat_component *component)
{
    return component->terms != PLEAT_NONE ? &view->terms[component->terms] : &pleat_no_terms;
}

static inline const struct pleat_folding *
pleat_view_folding(const struct pleat_view *view, const struct pleat_component *component)
{
    return component->folding != PLEAT_NONE ? &view->foldings[component->folding]
                                            : &pleat_no_folding;
}

static inline const struct pleat_declaration *
pleat_view_declaration(const struct pleat_view *view, const struct pleat_component *component)
{
    return component->declaration != PLEAT_NONE ? &view->declarations[component->declaration]
                                                : &pleat_no_declaration;
}

static inline const struct pleat_ask *pleat_view_ask(const struct pleat_view *view,
                                                     const struct pleat_component *component)
{
    return component->ask != PLEAT_NONE ? &view->asks[component->ask] : &pleat_no_ask;
}

/* Whether the component's application waits in its beginning, since it can use no size up to the
 * component's. */
static inline bool pleat_view_is_unbegun(const struct pleat_view *view,
                                         const struct pleat_component *component)
{
    const struct pleat_ask *ask = pleat_view_ask(view, component);
    return ask->unbegun && ask->state == PLEAT_ASK_PENDING;
}

/* Whether such a component can go back to the queue: not if another component of its job may have
 * computed. */
static inline bool pleat_view_may_wait_again(const struct pleat_view *view,
                                             const struct pleat_component *component)
{
    return pleat_view_is_unbegun(view, component) && component->lead == PLEAT_NONE;
}

static inline const struct pleat_coallocation *
pleat_view_coallocation(const struct pleat_view *view, const struct pleat_component *component)
{
    return component->coallocation != PLEAT_NONE ? &view->coallocations[component->coallocation]
                                                 : &pleat_no_coallocation;
}

/* How long a size of a component lasts at least: until then no policy changes it. */
static inline int64_t pleat_view_lifetime(const struct pleat_view *view,
                                          const struct pleat_component *component)
{
    int64_t lifetime_us = pleat_view_terms(view, component)->lifetime_us;
    if (lifetime_us < 0)
        return view->lifetime_us;
    return lifetime_us < view->lifetime_max_us ? lifetime_us : view->lifetime_max_us;
}

/* When the lifetime of a component's present size is over. */
static inline int64_t pleat_view_young_until(const struct pleat_view *view,
                                             const struct pleat_component *component)
{
    return component->since_us + pleat_view_lifetime(view, component);
}

static inline bool pleat_view_is_young(const struct pleat_view *view,
                                       const struct pleat_component *component)
{
    return view->lifetimes && component->young;
}

/* Does the program of a component say that its size must not change now? That of a component on no
 * processors does not count, since it could not take it back. */
static inline bool pleat_view_is_not_now(const struct pleat_view *view,
                                         const struct pleat_component *component)
{
    return view->sections && component->processors > 0 &&
           pleat_view_declaration(view, component)->not_now;
}

/* The queue, head first. */
static inline uint32_t pleat_queue_next(const struct pleat_view *view, uint32_t component)
{
    return view->components[component].next;
}

/* Running malleable components of a site, earliest started first / latest started first. */
static inline uint32_t pleat_malleable_oldest(const struct pleat_view *view, uint32_t site)
{
    return view->sites[site].malleable_first;
}

static inline uint32_t pleat_malleable_newest(const struct pleat_view *view, uint32_t site)
{
    return view->sites[site].malleable_last;
}

static inline uint32_t pleat_malleable_younger(const struct pleat_view *view, uint32_t component)
{
    return view->components[component].next;
}

static inline uint32_t pleat_malleable_older(const struct pleat_view *view, uint32_t component)
{
    return view->components[component].previous;
}

/* Running components of a site, the one expected to end first in front (PLEAT_NEEDS_ENDS). */
static inline uint32_t pleat_ending_first(const struct pleat_view *view, uint32_t site)
{
    return view->sites[site].ends_first;
}

static inline uint32_t pleat_ending_next(const struct pleat_view *view, uint32_t component)
{
    return view->components[component].ends_next;
}

/* The timing of a component's iterations at the smallest size at which any were measured; NULL: at
 * none (PLEAT_NEEDS_TIMES). */
static inline const struct pleat_timing *
pleat_timing_smallest(const struct pleat_view *view, const struct pleat_component *component)
{
    return component->first_timing != PLEAT_NONE ? &view->timings[component->first_timing] : NULL;
}

/* The timing at the next greater measured size; NULL: there is none. */
static inline const struct pleat_timing *pleat_timing_greater(const struct pleat_view *view,
                                                              const struct pleat_timing *timing)
{
    return timing->next != PLEAT_NONE ? &view->timings[timing->next] : NULL;
}

/* The timing at one size; NULL: nothing is known of it. */
static inline const struct pleat_timing *pleat_timing_at(const struct pleat_view *view,
                                                         const struct pleat_component *component,
                                                         int32_t size)
{
    const struct pleat_timing *timing = pleat_timing_smallest(view, component);
    while (timing && timing->processors < size)
        timing = pleat_timing_greater(view, timing);
    return timing && timing->processors == size ? timing : NULL;
}

#endif
