#include "policy/view.h"

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Asked several times for every job at every pass: most applications take any size, and that is
 * answered without a look at the constraint. */
static int32_t size_floor(const struct pleat_view *view, const struct pleat_component *component,
                          int32_t n)
{
    if (component->sizes_kind == PLEAT_SIZES_ANY)
        return n > 0 ? smaller(n, PLEAT_SIZE_MAX) : 0;
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

int32_t pleat_accept_smallest(const struct pleat_view *view,
                              const struct pleat_component *component)
{
    if (component->minimum == 0)
        return 0;
    int32_t size = size_ceil(view, component, component->minimum);
    return size ? size : PLEAT_SIZE_MAX;
}

int32_t pleat_accept_largest(const struct pleat_view *view, const struct pleat_component *component)
{
    return size_floor(view, component, smaller(component->maximum, component->cap));
}

int32_t pleat_accept_start(const struct pleat_view *view, const struct pleat_component *component)
{
    int32_t size = size_ceil(view, component, component->minimum > 1 ? component->minimum : 1);
    return size <= component->maximum ? size : 0;
}

int32_t pleat_accept_start_floor(const struct pleat_view *view,
                                 const struct pleat_component *component, int32_t available)
{
    int32_t size = size_floor(view, component, smaller(available, component->maximum));
    return size >= component->minimum ? size : 0;
}

int32_t pleat_accept_grow(const struct pleat_view *view, const struct pleat_component *component,
                          int32_t size, int32_t offered)
{
    if (offered <= 0)
        return 0;
    int32_t limit = smaller(component->maximum, component->cap);
    int32_t grown = size_floor(view, component,
                               offered > limit - size ? limit : size + offered); /* no overflow */
    return grown > size ? grown - size : 0;
}

int32_t pleat_accept_shrink(const struct pleat_view *view, const struct pleat_component *component,
                            int32_t size, int32_t wanted)
{
    if (wanted <= 0)
        return 0;
    int32_t smallest = pleat_accept_smallest(view, component);
    int32_t left = size_floor(view, component, size - wanted); /* 0 for none, or when all must go */
    if (left < smallest)
        left = smallest;
    return left < size ? size - left : 0;
}

int64_t pleat_view_scaled_run(const struct pleat_component *component, int32_t processors)
{
    double run_us = (double)component->estimate_us * component->reference;
    run_us /= processors > 1 ? processors : 1; /* on none it would never end */
    return run_us < (double)(PLEAT_NEVER / 4) ? (int64_t)run_us : PLEAT_NEVER / 4;
}
