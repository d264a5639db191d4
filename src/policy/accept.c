#include "policy/accept.h"

#include "policy/shares.h"

/* Called several times for every job at every pass. Most applications take any size: for these the
 * constraint is not looked at. */
static int32_t size_floor(const struct pleat_view *view, const struct pleat_component *component,
                          int32_t n)
{
    if (component->sizes_kind == PLEAT_SIZES_ANY)
        return n > 0 ? pleat_smaller(n, PLEAT_SIZE_MAX) : 0;
    struct pleat_sizes sizes = pleat_view_sizes(view, component);
    return pleat_sizes_floor(&sizes, n);
}

static int32_t size_ceil(const struct pleat_view *view, const struct pleat_component *component,
                         int32_t n)
{
    if (component->sizes_kind == PLEAT_SIZES_ANY)
        return n > PLEAT_SIZE_MAX ? 0 : n > 1 ? n : 1;
    struct pleat_sizes sizes = pleat_view_sizes(view, component);
    return pleat_sizes_ceil(&sizes, n);
}

/* ---- folding: a running component keeps its processes; any number of processors will do ---- */

static bool is_folded(const struct pleat_component *component)
{
    return pleat_view_folds(component) && component->mpl > 0;
}

static PLEAT_COLD int32_t folded_smallest(const struct pleat_view *view,
                                          const struct pleat_component *component)
{
    int32_t fewest =
        pleat_larger(pleat_mpl(component->processes, component->mpl), /* rounded up, as MPLs are */
                     pleat_view_partition_least(view, component, component->processes));
    return pleat_larger(fewest, pleat_view_shares_least(view, component));
}

/* The fewest processors on which a folding component may start. */
static PLEAT_COLD int32_t folding_start(const struct pleat_view *view,
                                        const struct pleat_component *component)
{
    int32_t processes = size_ceil(view, component, component->minimum);
    if (processes <= 0 || processes > component->maximum)
        return 0;
    int32_t least = pleat_larger(pleat_mpl(processes, pleat_view_mpl(view, component)),
                                 pleat_view_partition_least(view, component, processes));
    return least <= pleat_view_partition_most(view, component) ? least : 0;
}

int32_t pleat_accept_processes(const struct pleat_view *view,
                               const struct pleat_component *component, int32_t processors,
                               int32_t mpl)
{
    int32_t most = component->maximum;
    if (processors < 1 || mpl < 1)
        return 0;
    processors = pleat_smaller(processors, pleat_view_partition_most(view, component));
    /* the partition may be smaller only with one process on each */
    if (processors < pleat_view_folding(view, component)->partition_least)
        mpl = 1;
    if (component->initial > 0) { /* no fewer than the fewest that are accepted */
        int32_t fewest = size_ceil(view, component, component->minimum);
        most = pleat_smaller(most, component->initial > fewest ? component->initial : fewest);
    }
    if (processors < most / mpl + 1)
        most = pleat_smaller(most, processors * mpl);
    int32_t processes = size_floor(view, component, most);
    return processes >= component->minimum ? processes : 0;
}

/* ---- what is accepted ---- */

int32_t pleat_accept_chosen_smallest(const struct pleat_view *view,
                                     const struct pleat_component *component)
{
    if (pleat_view_folds(component)) {
        int32_t least = is_folded(component) ? folded_smallest(view, component)
                                             : folding_start(view, component);
        return least ? least : PLEAT_SIZE_MAX;
    }
    if (component->minimum == 0)
        return 0;
    int32_t size = size_ceil(view, component, component->minimum);
    return size ? size : PLEAT_SIZE_MAX;
}

int32_t pleat_accept_largest(const struct pleat_view *view, const struct pleat_component *component)
{
    if (is_folded(component))
        return pleat_view_limit(view, component);
    int32_t size = size_floor(view, component, pleat_smaller(component->maximum, component->cap));
    return pleat_view_folds(component)
               ? pleat_smaller(size, pleat_view_partition_most(view, component))
               : size;
}

int32_t pleat_accept_chosen_start(const struct pleat_view *view,
                                  const struct pleat_component *component)
{
    if (pleat_view_folds(component))
        return folding_start(view, component);
    int32_t size = size_ceil(view, component, component->minimum > 1 ? component->minimum : 1);
    return size <= component->maximum ? size : 0;
}

int32_t pleat_accept_chosen_start_floor(const struct pleat_view *view,
                                        const struct pleat_component *component, int32_t available)
{
    if (pleat_view_folds(component))
        return pleat_smaller(
            pleat_smaller(available, pleat_view_partition_most(view, component)),
            pleat_accept_processes(view, component, available, pleat_view_mpl(view, component)));
    int32_t size = size_floor(view, component, pleat_smaller(available, component->maximum));
    return size >= component->minimum ? size : 0;
}

int32_t pleat_accept_next(const struct pleat_view *view, const struct pleat_component *component,
                          int32_t size)
{
    if (is_folded(component))
        return size < pleat_view_limit(view, component) ? size + 1 : 0;
    int32_t least = size + 1 > component->minimum ? size + 1 : component->minimum;
    int32_t next = size_ceil(view, component, least);
    return next <= pleat_smaller(component->maximum, component->cap) ? next : 0;
}

int32_t pleat_accept_grow(const struct pleat_view *view, const struct pleat_component *component,
                          int32_t size, int32_t offered)
{
    if (offered <= 0)
        return 0;
    int32_t limit = pleat_view_limit(view, component);
    int32_t most = offered > limit - size ? limit : size + offered; /* no overflow */
    int32_t grown = is_folded(component) ? most : size_floor(view, component, most);
    /* a component is below its minimum only after it gave processors back: it does not grow to a
     * size still below */
    bool half = !is_folded(component) && grown < component->minimum;
    return grown > size && !half ? grown - size : 0;
}

int32_t pleat_accept_shrink(const struct pleat_view *view, const struct pleat_component *component,
                            int32_t size, int32_t wanted)
{
    if (wanted <= 0)
        return 0;
    int32_t smallest = pleat_accept_smallest(view, component);
    int32_t left = size - wanted;
    if (!pleat_accept_takes_any(component) && !is_folded(component))
        left = size_floor(view, component, left); /* 0: no such size, or all must go */
    if (left < smallest)
        left = smallest;
    return left < size ? size - left : 0;
}
