/* What is known of the speed of a component, and the law that follows from it. */
#include "policy/spot.h"

const char *pleat_spot_metric_name(enum pleat_spot_metric metric)
{
    static const char *const names[] = {"time", "efficiency", "margin", "processor time"};
    return metric < PLEAT_SPOT_METRIC_COUNT ? names[metric] : "?";
}

const char *pleat_spot_advice_name(enum pleat_spot_advice advice)
{
    static const char *const names[] = {"unmeasured", "stay",   "grow",   "shrink",
                                        "probe",      "little", "unsure", "costs"};
    return advice < PLEAT_SPOT_ADVICE_COUNT ? names[advice] : "?";
}

enum pleat_spot_metric pleat_spot_metric(const struct pleat_view *view)
{
    return view->spot_metric < PLEAT_SPOT_METRIC_COUNT ? (enum pleat_spot_metric)view->spot_metric
                                                       : PLEAT_SPOT_TIME;
}

int32_t pleat_spot_threshold(const struct pleat_view *view)
{
    static const int32_t usual[PLEAT_SPOT_METRIC_COUNT] = {1, 50, 50, 50};
    return view->spot_threshold > 0 ? view->spot_threshold : usual[pleat_spot_metric(view)];
}

/* ---- what is known ---- */

/* Of a size of which only a mean was reported, not of how many iterations (of a folded program, or
 * by an older agent), it is taken to be that of three that differ by a twentieth. */
static struct pleat_speed_point point_of(const struct pleat_timing *timing)
{
    double us = (double)timing->iteration_us;
    if (timing->count > 0)
        return (struct pleat_speed_point){timing->processors, timing->mean_us, timing->squares,
                                          timing->count, 0};
    return (struct pleat_speed_point){timing->processors, us, 2 * 0.05 * us * 0.05 * us, 3, 0};
}

struct pleat_spot_study pleat_spot_study(const struct pleat_view *view,
                                         const struct pleat_component *component)
{
    struct pleat_spot_study study = {.view = view, .component = component};
    for (const struct pleat_timing *t = pleat_timing_smallest(view, component); t;
         t = pleat_timing_greater(view, t))
        pleat_speed_add(&study.points, point_of(t));
    study.law = pleat_speed_fit(&study.points);
    return study;
}

const struct pleat_speed_point *pleat_spot_point(const struct pleat_spot_study *study,
                                                 int32_t processors)
{
    for (uint32_t i = 0; i < study->points.count; i++)
        if ((int32_t)study->points.items[i].processors == processors)
            return &study->points.items[i];
    return NULL;
}

/* The law's, which what was measured there is a part of; that alone where it is the surer one, or
 * where the law contradicts it, as for a program that is fast at some sizes only. */
struct pleat_speed_time pleat_spot_time(const struct pleat_spot_study *study, int32_t processors)
{
    struct pleat_speed_time law = pleat_speed_predict(&study->law, processors);
    const struct pleat_speed_point *point = pleat_spot_point(study, processors);
    if (!point)
        return law;
    struct pleat_speed_time own = {point->mean_us, pleat_speed_error(&study->law, point)};
    double variance = own.error_us * own.error_us + law.error_us * law.error_us;
    double difference = own.us - law.us;
    bool contradicts = difference * difference > 4 * variance;
    return study->law.sizes < 2 || own.error_us <= law.error_us || contradicts ? own : law;
}
