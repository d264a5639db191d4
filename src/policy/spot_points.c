/* The lists of shrink points and expand points: Swaminathan 2004, 3.4.4. */
#include "policy/accept.h"
#include "policy/spot.h"

/* Entries that cost less, or gain more, stand in front. */
static void insert(struct pleat_spot_points *points, struct pleat_spot_step step)
{
    uint32_t at = points->count++;
    for (; at > 0 && points->items[at - 1].gain < step.gain; at--)
        points->items[at] = points->items[at - 1];
    points->items[at] = step;
}

struct pleat_spot_points pleat_spot_points(const struct pleat_spot_study *study, bool larger)
{
    struct pleat_spot_points list = {0};
    const struct pleat_component *component = study->component;
    int32_t now = component->processors;
    const struct pleat_speed_point *here = pleat_spot_point(study, now);
    for (uint32_t i = 0; here && i < study->points.count; i++) {
        const struct pleat_speed_point *there = &study->points.items[i];
        int32_t size = (int32_t)there->processors;
        if (size == now || (size > now) != larger || pleat_spot_floor(study, size) != size)
            continue;
        struct pleat_speed_time of = {there->mean_us, pleat_speed_error(&study->law, there)};
        struct pleat_speed_time to = {here->mean_us, pleat_speed_error(&study->law, here)};
        struct pleat_speed_time share = pleat_speed_ratio(&of, &to);
        insert(&list, (struct pleat_spot_step){size, 1 - share.us, share.error_us});
    }
    return list;
}
