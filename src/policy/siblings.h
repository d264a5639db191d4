/* siblings.h - jobs of several components. */
#ifndef PLEAT_POLICY_SIBLINGS_H
#define PLEAT_POLICY_SIBLINGS_H

#include "policy/view.h"

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
