/* What was learned of how a job's speed depends on its size. */
#include "daemon/curve.h"

#include "daemon/daemon.h"
#include "policy/accept.h"
#include "policy/nodes.h"
#include "policy/spot.h"

/* Sizes at which nothing was measured, of which the curve has the prediction: at most so many. */
enum { PREDICTED_MOST = 16 };

static bool is_known(struct daemon *d, const struct pleat_component *component)
{
    return (pleat_core_needs(d->core) & PLEAT_NEEDS_MEASURES) &&
           component->first_timing != PLEAT_NONE;
}

static void add_size(const struct pleat_spot_study *study, json_t *sizes, int32_t processors)
{
    const struct pleat_timing *timing = pleat_timing_at(study->view, study->component, processors);
    struct pleat_speed_time time = pleat_spot_time(study, processors);
    json_array_append_new(sizes, json_pack("{s:i, s:f, s:f, s:b, s:b}", "processors", processors,
                                           "iteration_s", time.us / 1e6, "error_s",
                                           time.error_us / 1e6, "measured", timing != NULL,
                                           "earlier", timing && timing->earlier > 0));
}

/* All sizes at which something was measured, and between and above them twice as large ones each,
 * as far as the component accepts them. */
static json_t *sizes_of(const struct pleat_spot_study *study)
{
    const struct pleat_view *view = study->view;
    const struct pleat_timing *timing = pleat_timing_smallest(view, study->component);
    int32_t largest = pleat_accept_largest(view, study->component), predicted = 0;
    int32_t at = timing->processors;
    json_t *sizes = json_array();
    while (timing || (at > 0 && at <= largest && predicted < PREDICTED_MOST)) {
        bool own = timing && timing->processors <= at;
        int32_t size = own ? timing->processors : at;
        add_size(study, sizes, size);
        predicted += !own;
        if (own)
            timing = pleat_timing_greater(view, timing);
        if (size < at)
            continue;
        /* the next one, unless a measured size is hardly larger or smaller */
        int32_t next = pleat_spot_floor(study, 2.0 * size);
        at = next > size ? next : largest > size ? largest : 0;
        if (timing && (at == 0 || timing->processors * 2 <= at * 3))
            at = timing->processors;
    }
    return sizes;
}

static json_t *points_of(const struct pleat_spot_study *study, bool larger)
{
    struct pleat_spot_points points = pleat_spot_points(study, larger);
    int32_t now = study->component->processors;
    json_t *list = json_array();
    for (uint32_t i = 0; i < points.count; i++) {
        const struct pleat_spot_step *step = &points.items[i];
        int32_t by = larger ? step->size - now : now - step->size;
        json_array_append_new(
            list, json_pack("{s:i, s:i, s:f, s:f}", "processors", step->size,
                            larger ? "takes" : "frees", by, larger ? "shorter" : "longer",
                            larger ? step->gain : -step->gain, "error", step->error));
    }
    return list;
}

json_t *curve_to_json(struct daemon *d, const struct pleat_component *component)
{
    if (!is_known(d, component))
        return json_null();
    const struct pleat_view *view = pleat_core_view(d->core);
    struct pleat_spot_study study = pleat_spot_study(view, component);
    struct pleat_spot spot = pleat_spot_find(&study, pleat_accept_largest(view, component));
    const struct pleat_speed_law *law = &study.law;
    return json_pack(
        "{s:s, s:i, s:o, s:f, s:f, s:f, s:f, s:o, s:o, s:o}", "metric",
        pleat_spot_metric_name(pleat_spot_metric(view)), "threshold", pleat_spot_threshold(view),
        "spot", spot.spot > 0 ? json_integer(spot.spot) : json_null(), "serial_s",
        law->terms[0] / 1e6, "parallel_s", law->terms[1] * law->largest / 1e6, "overhead_s",
        law->terms[2] / law->largest / 1e6, "noise", law->spread, "sizes", sizes_of(&study),
        "shrink_points", points_of(&study, false), "expand_points", points_of(&study, true));
}

json_t *curve_spot_to_json(struct daemon *d, const struct pleat_component *component, int32_t most)
{
    if (!is_known(d, component))
        return json_null();
    struct pleat_spot_study study = pleat_spot_study(pleat_core_view(d->core), component);
    struct pleat_spot spot = pleat_spot_find(&study, most);
    return json_pack(
        "{s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:o}", "advice", pleat_spot_advice_name(spot.advice),
        "spot", spot.spot, "processors", spot.size, "gain", spot.gain, "wanted", spot.wanted,
        "error", spot.error, "cost_s", (double)spot.cost_us / 1e6, "left_s",
        spot.left_us == PLEAT_NEVER ? json_null() : json_real((double)spot.left_us / 1e6));
}

json_t *curve_start_to_json(struct daemon *d, const struct pleat_component *component)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    if (!(pleat_core_policy(d->core, PLEAT_MOLDABILITY)->needs & PLEAT_NEEDS_MEASURES) ||
        component->kind == PLEAT_RIGID || component->site == PLEAT_NONE)
        return NULL;
    struct pleat_spot_study study = pleat_spot_study(view, component);
    int32_t spot = pleat_spot_start(&study, pleat_view_capacity(view, component, component->site));
    return json_pack("{s:i, s:o}", "sizes", (int)study.points.count, "spot",
                     spot > 0 ? json_integer(spot) : json_null());
}
