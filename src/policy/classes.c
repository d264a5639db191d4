#include "policy/classes.h"

int32_t pleat_waiting(const struct pleat_pass *pass)
{
    int32_t waiting = (int32_t)pass->view->queue_count;
    for (size_t i = 0; i < pass->plan->decisions.count; i++)
        waiting -= pass->plan->decisions.items[i].kind == PLEAT_EV_START;
    return waiting > 1 ? waiting : 1;
}

int32_t pleat_waiting_long(const struct pleat_pass *pass, int32_t at_most)
{
    const struct pleat_view *view = pass->view;
    int32_t count = 0;
    for (uint32_t c = view->queue_first; c != PLEAT_NONE && count < at_most;
         c = pleat_queue_next(view, c))
        count += !pleat_is_short(&view->components[c]) && !pleat_plan_starts(pass->plan, c);
    return count;
}

static bool has_short(const struct pleat_view *view, uint32_t first)
{
    for (uint32_t c = first; c != PLEAT_NONE; c = view->components[c].next)
        if (pleat_is_short(&view->components[c]))
            return true;
    return false;
}

bool pleat_short_runs(const struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_events *decisions = &pass->plan->decisions;
    for (size_t i = 0; i < decisions->count; i++)
        if (decisions->items[i].kind == PLEAT_EV_START &&
            decisions->items[i].u.start.site == site &&
            pleat_is_short(&view->components[decisions->items[i].component]))
            return true;
    return has_short(view, view->sites[site].malleable_first) ||
           has_short(view, view->sites[site].rigid_first);
}

struct pleat_long_ones pleat_long_ones(const struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    struct pleat_long_ones all = {0};
    for (uint32_t c = pleat_malleable_oldest(view, site); c != PLEAT_NONE;
         c = pleat_malleable_younger(view, c)) {
        const struct pleat_component *component = &view->components[c];
        if (pleat_is_short(component))
            continue;
        int32_t size = pleat_plan_size(pass->plan, c);
        all.count++;
        all.processors += size;
        if (pleat_plan_could_shrink(pass->plan, c))
            all.spare += pleat_accept_shrink(view, component, size, size);
    }
    return all;
}

/* ---- sizes ---- */

/* The fewest processes of a folding component. */
static int32_t fewest(const struct pleat_view *view, const struct pleat_component *component)
{
    struct pleat_sizes sizes = pleat_view_sizes(view, component);
    return pleat_sizes_ceil(&sizes, component->minimum);
}

/* The most processors that a component may have at a site. */
static int32_t most_at(const struct pleat_pass *pass, const struct pleat_component *component,
                       uint32_t site)
{
    return pleat_smaller(pleat_view_capacity(pass->view, component, site),
                         pleat_view_partition_most(pass->view, component));
}

/* The start of a component that needs more processes than the site has processors, or than the
 * component may have. */
static struct pleat_start_size start_too_large(const struct pleat_view *view,
                                               const struct pleat_component *component,
                                               int32_t processors)
{
    int32_t processes = fewest(view, component), mpl = pleat_view_mpl(view, component);
    if (processors < 1 || pleat_mpl(processes, processors) > mpl ||
        processors < pleat_view_partition_least(view, component, processes))
        return (struct pleat_start_size){0};
    return (struct pleat_start_size){
        .processors = pleat_smaller(processors, processes), .processes = processes, .mpl = mpl};
}

struct pleat_start_size pleat_start_unfolded(const struct pleat_pass *pass, uint32_t component,
                                             uint32_t site, int32_t processors, int32_t mpl)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    if (!pleat_view_folds(comp))
        return (struct pleat_start_size){.processors =
                                             pleat_accept_start_floor(view, comp, processors)};
    if (fewest(view, comp) > most_at(pass, comp, site))
        return start_too_large(view, comp, pleat_smaller(processors, most_at(pass, comp, site)));
    int32_t processes = pleat_accept_processes(view, comp, processors, 1);
    return (struct pleat_start_size){.processors = processes,
                                     .processes = processes,
                                     .mpl = pleat_smaller(mpl, pleat_view_mpl(view, comp))};
}

int32_t pleat_smallest_unfolded(const struct pleat_pass *pass, uint32_t component, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    return pleat_view_folds(comp) && fewest(view, comp) <= most_at(pass, comp, site)
               ? fewest(view, comp)
               : pleat_accept_start(view, comp);
}

struct pleat_start_size pleat_start_share(const struct pleat_pass *pass, uint32_t component,
                                          uint32_t site, int32_t share, int32_t available,
                                          int32_t mpl)
{
    int32_t smallest = pleat_smallest_unfolded(pass, component, site);
    if (share < smallest)
        share = smallest;
    return pleat_start_unfolded(pass, component, site, pleat_smaller(share, available), mpl);
}
