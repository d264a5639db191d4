/* view_size.h - which sizes a component may have: those that it accepts, its limits, and the
 * multiprogramming level of one that folds.
 *
 * These are its records as they are; what an application accepts of what it is offered is accept.h.
 */
#ifndef PLEAT_POLICY_VIEW_SIZE_H
#define PLEAT_POLICY_VIEW_SIZE_H

#include "policy/view.h"

/* Which sizes a component accepts, as it declared. */
static inline struct pleat_sizes pleat_view_sizes(const struct pleat_view *view,
                                                  const struct pleat_component *component)
{
    struct pleat_sizes sizes = {.kind = (enum pleat_sizes_kind)component->sizes_kind};
    if (sizes.kind == PLEAT_SIZES_LIST) {
        sizes.list = view->size_lists[component->sizes_parameter].items;
        sizes.count = (uint32_t)view->size_lists[component->sizes_parameter].count;
    } else {
        sizes.step = component->sizes_parameter;
    }
    return sizes;
}

/* The sizes that a component's user accepts, whatever its application declared. */
static inline struct pleat_sizes pleat_view_asked_sizes(const struct pleat_view *view,
                                                        const struct pleat_component *component)
{
    const struct pleat_declaration *said = pleat_view_declaration(view, component);
    struct pleat_component asked = *component;
    if (said->declared_sizes) {
        asked.sizes_kind = said->asked_sizes_kind;
        asked.sizes_parameter = said->asked_sizes_parameter;
    }
    return pleat_view_sizes(view, &asked);
}

/* May the component's processes outnumber its processors? */
static inline bool pleat_view_folds(const struct pleat_component *component)
{
    return component->flags & PLEAT_COMPONENT_FOLDS;
}

/* Processes that one of a folding component's processors may have: in its run, or, while it waits,
 * in its next one. */
static inline int32_t pleat_view_mpl(const struct pleat_view *view,
                                     const struct pleat_component *component)
{
    if (component->mpl > 0)
        return component->mpl;
    int32_t asked = pleat_view_folding(view, component)->mpl_max;
    return asked > 0 && asked < view->mpl_max ? asked : view->mpl_max;
}

/* The multiprogramming level of these processes on these processors (Utrera 2010, equation 3.1). */
static inline int32_t pleat_mpl(int32_t processes, int32_t processors)
{
    return processors > 0 ? processes / processors + (processes % processors != 0) : 0;
}

/* The most processors that a folding component may have as its user wants it; and the fewest, if it
 * has `processes` processes. */
static inline int32_t pleat_view_partition_most(const struct pleat_view *view,
                                                const struct pleat_component *component)
{
    int32_t most = pleat_view_folding(view, component)->partition_most;
    return most > 0 ? most : PLEAT_SIZE_MAX;
}

static inline int32_t pleat_view_partition_least(const struct pleat_view *view,
                                                 const struct pleat_component *component,
                                                 int32_t processes)
{
    int32_t least = pleat_view_folding(view, component)->partition_least;
    return least < processes ? least : processes;
}

/* Maximum and minimum of a component as its user asked, whatever its application says. */
static inline int32_t pleat_view_asked(const struct pleat_view *view,
                                       const struct pleat_component *component)
{
    const struct pleat_declaration *said = pleat_view_declaration(view, component);
    return said->declared ? said->asked : component->maximum;
}

static inline int32_t pleat_view_asked_least(const struct pleat_view *view,
                                             const struct pleat_component *component)
{
    const struct pleat_declaration *said = pleat_view_declaration(view, component);
    return said->declared_least ? said->asked_least : component->minimum;
}

/* The most processors that a component may have by its own limits: a folding one that runs, one for
 * each of its processes, and no more than its partition may have. */
static inline int32_t pleat_view_limit(const struct pleat_view *view,
                                       const struct pleat_component *component)
{
    int32_t most = component->maximum;
    if (pleat_view_folds(component)) {
        int32_t partition = pleat_view_partition_most(view, component);
        most = component->mpl > 0 ? component->processes : most;
        most = partition < most ? partition : most;
    }
    return most < component->cap ? most : component->cap;
}

#endif
