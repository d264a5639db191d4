/* view.h - what policies may see: the core's own records and lists, const.
 *
 * Nothing is built for a pass. Iterators run over lists that the core keeps as events arrive.
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
    const struct pleat_input *inputs;
    const struct pleat_link *links; /* sorted by (from, to) */
    const struct pleat_node *nodes; /* sorted by (site, node) */
    const struct pleat_claim *claims;
    const struct pleat_piece *pieces; /* of claims */
    uint32_t component_count, site_count, link_count, node_count, ask_count;
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
    bool buffer_pending; /* processes on their way count as prepared */
    bool evolves;        /* there is, or was, a component that evolves */
    bool lifetimes;      /* there is, or was, a lifetime: components may be young */
    bool sections;       /* there is, or was, a component whose program said "not now" */
    int32_t mpl_max;     /* the most processes on a processor of components that fold */
    int32_t preemptions; /* how often a component may be preempted */
    int32_t grow_total;  /* processors to which all sites' jobs are grown, together; 0: no limit */
    bool room_partly; /* room is made for a waiting component bit by bit, not whole or not at all */
    bool stages;      /* there is, or was, a component with files to be brought */
    bool several;     /* there is, or was, a job of several components */
    /* processor-microseconds that components held while they waited: for other components of the
     * job, or for files */
    int64_t wasted_us;
};

/* A node of a site; NULL: nothing is known of it. */
const struct pleat_node *pleat_view_node(const struct pleat_view *view, uint32_t site,
                                         uint32_t node);

/* Is nobody placed or grown on a node for now: its user drains it, or it has had too many errors?
 */
static inline bool pleat_view_node_is_closed(const struct pleat_node *node)
{
    return node->drained || node->barred;
}

/* Processors of a site that nobody uses, and that may be handed out: not those of closed nodes.
 * Negative: others use some of those that are handed out. */
static inline int32_t pleat_view_site_unused(const struct pleat_site *site)
{
    return site->capacity - site->background - site->claimed - site->shut;
}

/* The same of a node of a site that tells its nodes' processors. */
static inline int32_t pleat_view_node_unused(const struct pleat_node *node)
{
    return pleat_view_node_is_closed(node) ? 0 : node->slots - node->claimed - node->background;
}

/* Unused processors of a site that growing leaves: the threshold, and what others use of one that
 * has a queue of its own, in which only starts wait. */
static inline int32_t pleat_view_site_left(const struct pleat_site *site)
{
    return site->threshold + site->others;
}

/* Whether all processors of a component must be on one node, of several that the site has. */
static inline bool pleat_view_is_on_one_node(const struct pleat_view *view,
                                             const struct pleat_component *component, uint32_t site)
{
    return view->sites[site].several && !(component->flags & PLEAT_COMPONENT_SPREADS);
}

/* The most processors that a component could ever have at a site: of a node, where it must be on
 * one. */
int32_t pleat_view_capacity(const struct pleat_view *view, const struct pleat_component *component,
                            uint32_t site);
/* The most that a running component could ever have where it is: of its node, where it must stay on
 * one. */
int32_t pleat_view_own_capacity(const struct pleat_view *view,
                                const struct pleat_component *component);
/* How many of a running component's processors are on a node of its site. */
int32_t pleat_view_held_on(const struct pleat_view *view, const struct pleat_component *component,
                           uint32_t node);
/* The same without closed nodes. */
int32_t pleat_view_open_capacity(const struct pleat_view *view,
                                 const struct pleat_component *component, uint32_t site);
/* Processors of a site's closed nodes that others do not use. */
int32_t pleat_view_shut_slots(const struct pleat_view *view, uint32_t site);
/* Processors of a site that jobs have or could have: not those that others use, nor closed nodes'.
 */
int32_t pleat_view_open_processors(const struct pleat_view *view, uint32_t site);
/* How many of a component's last processors, which a shrink gives back, are certainly on a node. */
int32_t pleat_view_last_on(const struct pleat_view *view, const struct pleat_component *component,
                           uint32_t node);
/* Is a waiting component kept from every site, or node, that is large enough for it, only because
 * these are drained or closed? */
bool pleat_view_needs_drained(const struct pleat_view *view,
                              const struct pleat_component *component);
/* Whether a component is on a node that is closed, so that what it gives up helps nobody. */
bool pleat_view_is_shut(const struct pleat_view *view, const struct pleat_component *component);
/* How many more processors a running component could have now; negative: fewer are free than should
 * be. At a drained site: none. */
int32_t pleat_view_unused(const struct pleat_view *view, const struct pleat_component *component);

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

/* When a running component is expected to end; now, if it is past its estimate. */
static inline int64_t pleat_view_expected_end(const struct pleat_view *view,
                                              const struct pleat_component *component)
{
    return component->expected_end_us > view->now_us ? component->expected_end_us : view->now_us;
}

/* When a running component will likely end: as its program expects, if the program says; else by
 * its estimate. PLEAT_NEVER: nothing is known, or that time is past. */
static inline int64_t pleat_view_likely_end(const struct pleat_view *view,
                                            const struct pleat_component *component)
{
    int64_t said_us = pleat_view_declaration(view, component)->expected_us;
    if (said_us > 0 && said_us >= view->now_us)
        return said_us;
    return component->expected_end_us >= view->now_us ? component->expected_end_us : PLEAT_NEVER;
}

/* The expected run at another size than the reference size; for pleat_view_expected_run. */
int64_t pleat_view_scaled_run(const struct pleat_component *component, int32_t processors);

/* How long a component is expected to run on `processors` processors: its user's estimate, taken to
 * be for its reference size and to scale linearly. PLEAT_NEVER: there is no estimate. */
static inline int64_t pleat_view_expected_run(const struct pleat_component *component,
                                              int32_t processors)
{
    if (component->estimate_us <= 0)
        return PLEAT_NEVER;
    if (component->reference <= 0 || component->reference == processors)
        return component->estimate_us;
    return pleat_view_scaled_run(component, processors);
}

/* When a component that starts now on `processors` processors is expected to end; PLEAT_NEVER. */
static inline int64_t pleat_view_end_of(const struct pleat_view *view, uint32_t component,
                                        int32_t processors)
{
    int64_t run_us = pleat_view_expected_run(&view->components[component], processors);
    return run_us < PLEAT_NEVER - view->now_us ? view->now_us + run_us : PLEAT_NEVER;
}

/* ---- components that ask for processes themselves ---- */

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

/* ---- files ---- */

/* Microseconds until the files of a component are at a site, one after another, each from where
 * that is fastest; 0 for one without; PLEAT_NEVER: there is no way. */
int64_t pleat_view_transfer(const struct pleat_view *view, const struct pleat_component *component,
                            uint32_t site);

/* Does it read files that may have to be brought to where it is placed? */
static inline bool pleat_view_has_files(const struct pleat_view *view,
                                        const struct pleat_component *component)
{
    return pleat_view_coallocation(view, component)->first_input != PLEAT_NONE;
}

/* ---- where a component may be placed ---- */

/* Is nobody placed or grown at a site for now: its user drains it, or it has had too many errors?
 */
static inline bool pleat_view_is_closed(const struct pleat_view *view, uint32_t site)
{
    return view->sites[site].barred || view->sites[site].drained;
}

/* May a component be placed at a site? Its user may want another one; the site may be closed; or
 * its files cannot be brought there. */
static inline bool pleat_view_allows(const struct pleat_view *view,
                                     const struct pleat_component *component, uint32_t site)
{
    if ((component->wanted_site != PLEAT_NONE && component->wanted_site != site) ||
        pleat_view_is_closed(view, site))
        return false;
    return !view->stages || !pleat_view_has_files(view, component) ||
           pleat_view_transfer(view, component, site) != PLEAT_NEVER;
}

/* ---- jobs of several components ---- */

static inline bool pleat_view_is_several(const struct pleat_view *view,
                                         const struct pleat_component *component)
{
    return view->several && component->lead != PLEAT_NONE;
}

/* The next component of the same job, by ordinal; PLEAT_NONE: it is the last one, or the only one.
 */
static inline uint32_t pleat_view_sibling(const struct pleat_view *view, uint32_t component)
{
    return pleat_view_coallocation(view, &view->components[component])->sibling;
}

/* The processors of a whole flexible job, given by its lead; 0: it is not flexible. */
static inline int32_t pleat_view_total(const struct pleat_view *view, uint32_t lead)
{
    return pleat_view_coallocation(view, &view->components[lead])->total;
}

/* Does the component wait to be placed, in the queue or in the tow of the one that stands there? */
static inline bool pleat_view_unplaced(const struct pleat_component *component)
{
    return component->state == PLEAT_QUEUED &&
           (component->aside == PLEAT_ASIDE_NOT || component->aside == PLEAT_ASIDE_TOWED);
}

/* Processors that a flexible job, given by its lead, still has to get: its total less what its
 * placed components have. */
int32_t pleat_view_missing(const struct pleat_view *view, uint32_t lead);

#endif
