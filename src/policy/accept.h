/* accept.h - what an application accepts (Buisson et al. 2007, V-C: "accepted number of
 * processors")
 *
 * This is known at once from the application's limits and declared sizes. All sizes are numbers of
 * processors. A folding component that runs takes any number from the one at which its run's MPL is
 * reached, on each of its nodes, up to one for each process. To start, it takes any number on which
 * an accepted number of processes stays within its MPL. Both numbers lie within the limits of its
 * partition, where these were given. */
#ifndef PLEAT_POLICY_ACCEPT_H
#define PLEAT_POLICY_ACCEPT_H

#include "policy/view_size.h"

/* The smallest and the largest size at which a component can run. The smallest is 0 only if the
 * component may be emptied while it runs. largest < smallest: there is none. */
static inline int32_t pleat_accept_smallest(const struct pleat_view *view,
                                            const struct pleat_component *component);
int32_t pleat_accept_largest(const struct pleat_view *view,
                             const struct pleat_component *component);
/* Parts of the functions below, for a component that folds or does not take every size. */
int32_t pleat_accept_chosen_smallest(const struct pleat_view *view,
                                     const struct pleat_component *component);
int32_t pleat_accept_chosen_start(const struct pleat_view *view,
                                  const struct pleat_component *component);
int32_t pleat_accept_chosen_start_floor(const struct pleat_view *view,
                                        const struct pleat_component *component, int32_t available);
static inline bool pleat_accept_takes_any(const struct pleat_component *component)
{
    return component->sizes_kind == PLEAT_SIZES_ANY && !pleat_view_folds(component);
}
/* No maximum is above PLEAT_SIZE_MAX and no minimum below 0: the core refuses such limits. So sizes
 * between them need not be compared with these. */
static inline int32_t pleat_accept_smallest(const struct pleat_view *view,
                                            const struct pleat_component *component)
{
    return pleat_accept_takes_any(component) ? component->minimum
                                             : pleat_accept_chosen_smallest(view, component);
}
/* The smallest size at which a component can start: at least 1. 0: none. */
static inline int32_t pleat_accept_start(const struct pleat_view *view,
                                         const struct pleat_component *component)
{
    if (!pleat_accept_takes_any(component))
        return pleat_accept_chosen_start(view, component);
    int32_t least = component->minimum > 1 ? component->minimum : 1;
    return least <= component->maximum ? least : 0;
}
/* The largest size, at most `available`, at which a component can start; 0: none. */
static inline int32_t pleat_accept_start_floor(const struct pleat_view *view,
                                               const struct pleat_component *component,
                                               int32_t available)
{
    if (!pleat_accept_takes_any(component))
        return pleat_accept_chosen_start_floor(view, component, available);
    int32_t size = available < component->maximum ? available : component->maximum;
    return size >= component->minimum ? size : 0;
}
/* The smallest size above `size` to which a component could be grown; 0: there is none. */
int32_t pleat_accept_next(const struct pleat_view *view, const struct pleat_component *component,
                          int32_t size);
/* How many of `offered` further processors a component of `size` takes (0 .. offered). */
int32_t pleat_accept_grow(const struct pleat_view *view, const struct pleat_component *component,
                          int32_t size, int32_t offered);
/* How many processors a component of `size` gives up when asked for `wanted` (0 .. size). More than
 * wanted where its sizes leave no other choice, fewer where its minimum does. */
int32_t pleat_accept_shrink(const struct pleat_view *view, const struct pleat_component *component,
                            int32_t size, int32_t wanted);
/* For a folding component that waits and would start on `processors` processors: the largest
 * accepted number of processes with at most mpl on a processor, and at most its initial number
 * where it has one. 0: none. */
int32_t pleat_accept_processes(const struct pleat_view *view,
                               const struct pleat_component *component, int32_t processors,
                               int32_t mpl);

#endif
