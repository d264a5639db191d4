#include "policy/view.h"

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

int32_t pleat_accept_smallest(const struct pleat_view *view,
                              const struct pleat_component *component)
{
    if (component->minimum == 0)
        return 0;
    struct pleat_sizes sizes = pleat_view_sizes(view, component);
    int32_t size = pleat_sizes_ceil(&sizes, component->minimum);
    return size ? size : PLEAT_SIZE_MAX;
}

int32_t pleat_accept_largest(const struct pleat_view *view, const struct pleat_component *component)
{
    struct pleat_sizes sizes = pleat_view_sizes(view, component);
    return pleat_sizes_floor(&sizes, smaller(component->maximum, component->cap));
}

int32_t pleat_accept_start(const struct pleat_view *view, const struct pleat_component *component)
{
    struct pleat_sizes sizes = pleat_view_sizes(view, component);
    int32_t size = pleat_sizes_ceil(&sizes, component->minimum > 1 ? component->minimum : 1);
    return size <= component->maximum ? size : 0;
}

int32_t pleat_accept_start_floor(const struct pleat_view *view,
                                 const struct pleat_component *component, int32_t available)
{
    struct pleat_sizes sizes = pleat_view_sizes(view, component);
    int32_t size = pleat_sizes_floor(&sizes, smaller(available, component->maximum));
    return size >= component->minimum ? size : 0;
}

int32_t pleat_accept_grow(const struct pleat_view *view, const struct pleat_component *component,
                          int32_t size, int32_t offered)
{
    if (offered <= 0)
        return 0;
    struct pleat_sizes sizes = pleat_view_sizes(view, component);
    int32_t limit = smaller(component->maximum, component->cap);
    int32_t grown = pleat_sizes_floor(
        &sizes, offered > limit - size ? limit : size + offered); /* no overflow */
    return grown > size ? grown - size : 0;
}

int32_t pleat_accept_shrink(const struct pleat_view *view, const struct pleat_component *component,
                            int32_t size, int32_t wanted)
{
    if (wanted <= 0)
        return 0;
    struct pleat_sizes sizes = pleat_view_sizes(view, component);
    int32_t smallest = pleat_accept_smallest(view, component);
    int32_t left = pleat_sizes_floor(&sizes, size - wanted); /* 0 for none, or when all must go */
    if (left < smallest)
        left = smallest;
    return left < size ? size - left : 0;
}
