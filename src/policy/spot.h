/* spot.h - the sweet spot of a running component, found from what its iterations took, and whether
 * going there is worth it.
 *
 * Sizes at which it has not run are predicted (speed_law.h). What "sweet" means is configured
 * (PLEAT_PARAM_SPOT_METRIC): the fewest processors with which iterations take hardly longer than
 * the shortest, or the most that are still used well enough. */
#ifndef PLEAT_POLICY_SPOT_H
#define PLEAT_POLICY_SPOT_H

#include "policy/speed_law.h"
#include "policy/view.h"

enum pleat_spot_metric {
    PLEAT_SPOT_TIME,
    PLEAT_SPOT_EFFICIENCY,
    PLEAT_SPOT_MARGIN, /* what a further processor adds to the speed-up */
    PLEAT_SPOT_PROCESSOR_TIME,
    PLEAT_SPOT_METRIC_COUNT
};

enum pleat_spot_advice {
    PLEAT_SPOT_UNMEASURED, /* nothing is known of its present size yet */
    PLEAT_SPOT_STAY,       /* there is no better size */
    PLEAT_SPOT_GROW,
    PLEAT_SPOT_SHRINK,
    PLEAT_SPOT_PROBE,  /* only one size is known: go to a smaller one for an iteration */
    PLEAT_SPOT_LITTLE, /* stay: a larger size gains less than is wanted */
    PLEAT_SPOT_UNSURE, /* stay: what it may gain is within the noise of what was measured so far */
    PLEAT_SPOT_COSTS,  /* stay: the change would not be paid back in the time that is left */
    PLEAT_SPOT_ADVICE_COUNT
};

struct pleat_spot {
    enum pleat_spot_advice advice;
    int32_t spot;    /* the sweet spot within reach, as far as is known; 0: unknown */
    int32_t size;    /* the size that the advice is about */
    double gain;     /* the share by which iterations are shorter there; below 0: they are longer */
    double wanted;   /* the least gain for which it would grow */
    double error;    /* the standard error of `gain` */
    int64_t cost_us; /* how long the change lets it stand still; 0: not known */
    int64_t left_us; /* how long it goes on running at its present size; PLEAT_NEVER: not known */
};

/* What is known of a component, and the law that follows from it. */
struct pleat_spot_study {
    const struct pleat_view *view;
    const struct pleat_component *component;
    struct pleat_speed_points points;
    struct pleat_speed_law law;
};

/* Another size at which it, or an earlier run, was measured. */
struct pleat_spot_step {
    int32_t size;
    double gain, error; /* as in struct pleat_spot */
};

struct pleat_spot_points {
    uint32_t count;
    struct pleat_spot_step items[PLEAT_SPEED_POINTS];
};

struct pleat_spot_study pleat_spot_study(const struct pleat_view *view,
                                         const struct pleat_component *component);
/* What was measured at a size; NULL: nothing. */
const struct pleat_speed_point *pleat_spot_point(const struct pleat_spot_study *study,
                                                 int32_t processors);
/* What an iteration takes at a size, from what was measured there, if anything was, and the law.
 * us 0: nothing is known. */
struct pleat_speed_time pleat_spot_time(const struct pleat_spot_study *study, int32_t processors);
/* For a component that could have at most `most` processors now. */
struct pleat_spot pleat_spot_find(const struct pleat_spot_study *study, int32_t most);
/* The sweet spot of a component that waits, among sizes up to `most`, by what is known of earlier
 * runs; 0: of fewer than two sizes is anything known, or it takes none of them. */
int32_t pleat_spot_start(const struct pleat_spot_study *study, int32_t most);
/* Swaminathan 2004, 3.4.4: its list of expand points, if `larger`, or else of shrink points, those
 * in front that cost least or gain most; by what was measured alone, at sizes that it accepts. None
 * as long as its present size was not measured. */
struct pleat_spot_points pleat_spot_points(const struct pleat_spot_study *study, bool larger);
/* The largest size that the component accepts, at most `most`; 0: none. */
int32_t pleat_spot_floor(const struct pleat_spot_study *study, double most);

/* "time", ...; "grow", ...: stable names for other programs. */
const char *pleat_spot_metric_name(enum pleat_spot_metric metric);
const char *pleat_spot_advice_name(enum pleat_spot_advice advice);
/* The metric in force; the threshold in force, in per cent. */
enum pleat_spot_metric pleat_spot_metric(const struct pleat_view *view);
int32_t pleat_spot_threshold(const struct pleat_view *view);

#endif
