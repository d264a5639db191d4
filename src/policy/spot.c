#include "policy/spot.h"

#include <math.h>

#include "policy/accept.h"
#include "policy/estimates.h"

/* How much larger, or smaller, than all sizes at which it ran a size may be that is tried. */
#define REACH 8.0
/* Sizes that differ by less than this share are as good as the same: the one that was tried is
 * taken. */
#define NEAR 0.125
/* A size beside the best one, as a share of that; and by how much longer its iterations may be, by
 * the law, for it to be tried. */
#define BESIDE 0.75
#define BESIDE_LONGER 0.25
/* At most so many sizes are tried for no better reason than that the law is not confirmed. */
enum { CONFIRMING = 6 };
/* The iterations that have to be left, if anything is known of that, for trying out a size. */
#define LEAST_LEFT 10.0

/* ---- sizes ---- */

int32_t pleat_spot_floor(const struct pleat_spot_study *study, double most)
{
    const struct pleat_view *view = study->view;
    const struct pleat_component *component = study->component;
    int32_t largest = pleat_accept_largest(view, component);
    int32_t size = most < largest ? (int32_t)(most + 1e-6) : largest;
    if (!pleat_view_folds(component)) {
        struct pleat_sizes sizes = pleat_view_sizes(view, component);
        size = pleat_sizes_floor(&sizes, size);
    }
    return size >= pleat_accept_smallest(view, component) ? size : 0;
}

/* The smallest accepted size that is at least so large; the largest one where none is. */
static int32_t size_above(const struct pleat_spot_study *study, double least, int32_t most)
{
    int32_t whole = (int32_t)ceil(least - 1e-6);
    int32_t size = pleat_spot_floor(study, whole);
    if (size < whole)
        size = pleat_accept_next(study->view, study->component, size > 0 ? size : whole - 1);
    return size > 0 && size <= most ? size : pleat_spot_floor(study, most);
}

/* Sizes that may be chosen: what it accepts, and what is not too far from where it ran. */
struct reach {
    int32_t least, most;
};

static struct reach reach_of(const struct pleat_spot_study *study, int32_t most)
{
    double smallest = study->points.items[0].processors, largest = study->law.largest;
    for (uint32_t i = 1; i < study->points.count; i++)
        if (study->points.items[i].processors < smallest)
            smallest = study->points.items[i].processors;
    struct reach reach = {.most = pleat_spot_floor(study, fmin(most, REACH * largest))};
    int32_t now = study->component->processors; /* 0: it does not run yet */
    reach.least = size_above(study, fmax(1, smallest / REACH), now > 0 ? now : reach.most);
    return reach;
}

/* ---- where the law has the spot ---- */

static double law_at(const struct pleat_spot_study *study, double processors)
{
    return pleat_speed_predict(&study->law, processors).us;
}

/* By how much the metric is better than the threshold, above 1, at a size at which an iteration
 * takes so long; for metrics of which that falls with the size. */
static double merit(const struct pleat_spot_study *study, const struct reach *reach,
                    double processors, double us)
{
    const struct pleat_speed_law *law = &study->law;
    double threshold = pleat_spot_threshold(study->view) / 100.0;
    switch (pleat_spot_metric(study->view)) {
    case PLEAT_SPOT_EFFICIENCY:
        return law_at(study, 1) / (processors * us) / threshold;
    case PLEAT_SPOT_MARGIN: {
        double parallel = law->terms[1] * law->largest, overhead = law->terms[2] / law->largest;
        double steeper = parallel / (processors * processors) - overhead;
        return law_at(study, 1) * steeper / (us * us) / threshold;
    }
    default:
        return (1 + threshold) * reach->least * law_at(study, reach->least) / (processors * us);
    }
}

/* By the law alone: is the spot at this size or beyond it? */
static bool is_before_spot(const struct pleat_spot_study *study, const struct reach *reach,
                           double shortest_us, double processors)
{
    double us = law_at(study, processors);
    if (pleat_spot_metric(study->view) == PLEAT_SPOT_TIME)
        return us > shortest_us * (1 + pleat_spot_threshold(study->view) / 100.0);
    return merit(study, reach, processors, us) >= 1;
}

static int32_t spot_of_law(const struct pleat_spot_study *study, const struct reach *reach)
{
    bool time = pleat_spot_metric(study->view) == PLEAT_SPOT_TIME;
    double most = reach->most;
    if (time)
        most = pleat_speed_shortest(&study->law, reach->least, reach->most);
    double low = reach->least, high = most, shortest_us = law_at(study, most);
    if (study->law.sizes < 2)
        return reach->most; /* nothing speaks against it yet */
    if (!is_before_spot(study, reach, shortest_us, low))
        return reach->least;
    if (!time && is_before_spot(study, reach, shortest_us, high))
        return reach->most;
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        if (is_before_spot(study, reach, shortest_us, middle))
            low = middle;
        else
            high = middle;
    }
    return time ? size_above(study, high, reach->most) : pleat_spot_floor(study, low);
}

/* ---- and where what was measured has it ---- */

static bool is_within(const struct reach *reach, int32_t size)
{
    return size >= reach->least && size <= reach->most;
}

/* A size, or a tried one that hardly differs from it. */
static int32_t snap(const struct pleat_spot_study *study, int32_t size)
{
    double nearest = NEAR * size;
    int32_t found = size;
    for (uint32_t i = 0; i < study->points.count; i++) {
        double distance = fabs(study->points.items[i].processors - size);
        if (distance <= nearest) {
            nearest = distance;
            found = (int32_t)study->points.items[i].processors;
        }
    }
    return found;
}

/* Of the law's spot and all measured sizes: for the metric time the smallest at which iterations
 * are hardly longer than at the best, else the largest that is used well enough. */
static int32_t choose_spot(const struct pleat_spot_study *study, const struct reach *reach)
{
    enum pleat_spot_metric metric = pleat_spot_metric(study->view);
    int32_t candidates[PLEAT_SPEED_POINTS + 2], chosen = 0;
    uint32_t count = 0;
    candidates[count++] = snap(study, spot_of_law(study, reach));
    if (metric == PLEAT_SPOT_TIME && study->law.sizes >= 2) {
        double at = pleat_speed_shortest(&study->law, reach->least, reach->most);
        candidates[count++] = snap(study, pleat_spot_floor(study, at));
    }
    for (uint32_t i = 0; i < study->points.count; i++)
        if (is_within(reach, (int32_t)study->points.items[i].processors))
            candidates[count++] = (int32_t)study->points.items[i].processors;
    double shortest_us = INFINITY;
    for (uint32_t i = 0; i < count; i++)
        if (is_within(reach, candidates[i]))
            shortest_us = fmin(shortest_us, pleat_spot_time(study, candidates[i]).us);
    double allowed_us = shortest_us * (1 + pleat_spot_threshold(study->view) / 100.0);
    for (uint32_t i = 0; i < count; i++) {
        int32_t size = candidates[i];
        double us = is_within(reach, size) ? pleat_spot_time(study, size).us : INFINITY;
        if (metric == PLEAT_SPOT_TIME && us <= allowed_us && (chosen == 0 || size < chosen))
            chosen = size;
        if (metric != PLEAT_SPOT_TIME && us < INFINITY && size > chosen &&
            (study->law.sizes < 2 || merit(study, reach, size, us) >= 1 || size == reach->least))
            chosen = size;
    }
    return chosen;
}

int32_t pleat_spot_start(const struct pleat_spot_study *study, int32_t most)
{
    if (study->law.sizes < 2)
        return 0;
    struct reach reach = reach_of(study, most);
    return reach.least >= 1 && reach.least <= reach.most ? choose_spot(study, &reach) : 0;
}

/* ---- is it worth it? ---- */

/* By its estimate or limit, by what its program expects, or by the iterations of an earlier run. */
static int64_t left_us(const struct pleat_spot_study *study, double iteration_us)
{
    const struct pleat_view *view = study->view;
    const struct pleat_component *component = study->component;
    int64_t end_us = pleat_view_likely_end(view, component), left = PLEAT_NEVER;
    int32_t done = 0, earlier = 0;
    if (end_us != PLEAT_NEVER)
        left = end_us - view->now_us;
    if (component->limit_us > 0 && component->start_us + component->limit_us - view->now_us < left)
        left = component->start_us + component->limit_us - view->now_us;
    for (const struct pleat_timing *t = pleat_timing_smallest(view, component); t;
         t = pleat_timing_greater(view, t)) {
        done = t->done > done ? t->done : done;
        earlier = t->earlier > earlier ? t->earlier : earlier;
    }
    double by_history = iteration_us * (earlier - done);
    if (earlier > done && by_history < (double)left)
        left = (int64_t)by_history;
    return left > 0 ? left : 0;
}

/* How long the change lets the program stand still: as measured, either way; else as long as the
 * longest change so far. */
static int64_t cost_us(const struct pleat_spot_study *study, int32_t to)
{
    int32_t from = study->component->processors;
    int64_t longest = 0;
    for (const struct pleat_timing *t = pleat_timing_smallest(study->view, study->component); t;
         t = pleat_timing_greater(study->view, t)) {
        if ((t->processors == to && t->from == from) || (t->processors == from && t->from == to))
            return t->redistribution_us;
        longest = t->redistribution_us > longest ? t->redistribution_us : longest;
    }
    return longest;
}

/* Is what the change costs won back in what is left: by shorter iterations, or for others, by the
 * processors that it frees? */
static bool pays(const struct pleat_spot_study *study, const struct pleat_spot *spot)
{
    if (spot->left_us == PLEAT_NEVER)
        return true;
    double left = (double)spot->left_us, cost = (double)spot->cost_us;
    if (spot->gain * left > cost)
        return true;
    int32_t size = study->component->processors;
    return spot->size < size && (size - spot->size) * left > size * cost;
}

/* Were so many iterations measured at a size, for how much they differ, that it can be compared
 * with others? Where iterations at these are shorter by a share of `gain` fewer are enough. */
static bool is_well_known(const struct pleat_spot_study *study, int32_t processors, double gain)
{
    enum { LEAST = 3, ENOUGH = 16 };
    const double clear = 0.25, close = 0.05;
    const struct pleat_speed_point *point = pleat_spot_point(study, processors);
    if (!point)
        return false;
    double error = study->law.spread / sqrt(point->count);
    return point->count >= ENOUGH || gain >= clear ||
           (point->count >= LEAST && error <= fmax(close, gain / 2));
}

static void describe(const struct pleat_spot_study *study, int32_t size, struct pleat_spot *spot)
{
    struct pleat_speed_time now = pleat_spot_time(study, study->component->processors);
    struct pleat_speed_time then = pleat_spot_time(study, size);
    struct pleat_speed_time share = pleat_speed_ratio(&then, &now);
    spot->size = size;
    spot->gain = 1 - share.us;
    spot->error = share.error_us;
    spot->cost_us = cost_us(study, size);
    spot->left_us = left_us(study, now.us);
    spot->wanted = study->view->spot_gain / 100.0;
    if (is_well_known(study, size, 0) && study->law.sizes > 2) /* else it may be a probe */
        spot->wanted += study->view->spot_hysteresis / 100.0;
}

static double errors_allowed(const struct pleat_spot_study *study)
{
    return pleat_speed_quantile(study->view->spot_confidence, study->law.freedom);
}

static enum pleat_spot_advice advise_growing(const struct pleat_spot_study *study,
                                             const struct pleat_spot *spot)
{
    int32_t now = study->component->processors;
    bool tried = is_well_known(study, spot->size, 0);
    double iteration_us = pleat_spot_time(study, now).us;
    if (spot->gain < spot->wanted)
        return PLEAT_SPOT_LITTLE;
    if (!is_well_known(study, now, spot->gain))
        return PLEAT_SPOT_UNSURE;
    if (tried && spot->gain <= errors_allowed(study) * spot->error)
        return PLEAT_SPOT_UNSURE;
    if (!pays(study, spot) || (!tried && (double)spot->left_us < LEAST_LEFT * iteration_us))
        return PLEAT_SPOT_COSTS;
    return PLEAT_SPOT_GROW;
}

static enum pleat_spot_advice advise_shrinking(const struct pleat_spot_study *study,
                                               const struct reach *reach,
                                               const struct pleat_spot *spot)
{
    double threshold = pleat_spot_threshold(study->view) / 100.0, errors = errors_allowed(study);
    bool sure;
    if (pleat_spot_metric(study->view) == PLEAT_SPOT_TIME) {
        bool tries = !is_well_known(study, spot->size, 0) && spot->gain >= spot->wanted &&
                     is_well_known(study, study->component->processors, spot->gain);
        sure = tries || -spot->gain + errors * spot->error <= threshold;
    } else {
        struct pleat_speed_time now = pleat_spot_time(study, study->component->processors);
        double best =
            merit(study, reach, study->component->processors, now.us - errors * now.error_us);
        sure = now.us > errors * now.error_us && best < 1;
    }
    return !sure ? PLEAT_SPOT_UNSURE : pays(study, spot) ? PLEAT_SPOT_SHRINK : PLEAT_SPOT_COSTS;
}

/* Only one size is known, and there is none above it: half of it for an iteration tells whether
 * all of it is of any use. */
static bool is_to_be_probed(const struct pleat_spot_study *study, struct pleat_spot *spot)
{
    const struct pleat_component *component = study->component;
    int32_t half = pleat_spot_floor(study, component->processors / 2.0);
    if (!study->view->spot_probe || study->law.sizes != 1 || half < 1 ||
        !is_well_known(study, component->processors, 0))
        return false;
    describe(study, half, spot);
    double iteration_us = study->points.items[0].mean_us;
    /* there and back, and an iteration that may take twice as long */
    return (double)spot->left_us > 2 * LEAST_LEFT * (iteration_us + 2 * (double)spot->cost_us);
}

static int32_t best_tried(const struct pleat_spot_study *study)
{
    const struct pleat_speed_point *best = &study->points.items[0];
    for (uint32_t i = 1; i < study->points.count; i++)
        if (study->points.items[i].mean_us < best->mean_us)
            best = &study->points.items[i];
    return (int32_t)best->processors;
}

/* The sizes beside one: at some distance, where it accepts any there, else the next ones. 0: none.
 */
static int32_t below(const struct pleat_spot_study *study, int32_t size)
{
    int32_t found = size_above(study, size * BESIDE, size);
    return found < size ? found : pleat_spot_floor(study, size - 1);
}

static int32_t above(const struct pleat_spot_study *study, int32_t size, int32_t most)
{
    int32_t found = pleat_spot_floor(study, fmin(size / BESIDE + 1, most));
    if (found <= size)
        found = pleat_accept_next(study->view, study->component, size);
    return found > size && found <= most ? found : 0;
}

/* A law that has as many terms as there are sizes, or does not fit them, may be wrong about all
 * others: sizes beside the best one are tried, if the law does not speak against it. 0: there is
 * no such size. */
static int32_t size_to_confirm(const struct pleat_spot_study *study, const struct reach *reach)
{
    const struct pleat_speed_law *law = &study->law;
    bool fits = law->misfit <= study->view->spot_gain / 100.0;
    int32_t best = best_tried(study), found = 0;
    if (law->sizes < 2 || law->sizes > CONFIRMING || (law->sizes > law->used && fits) ||
        pleat_spot_metric(study->view) != PLEAT_SPOT_TIME || !is_within(reach, best))
        return 0;
    int32_t beside[] = {below(study, best), above(study, best, reach->most)};
    double shortest_us = pleat_spot_time(study, best).us * (1 + BESIDE_LONGER);
    for (int i = 0; i < 2; i++) {
        if (beside[i] < 1 || pleat_spot_point(study, snap(study, beside[i])))
            continue;
        double us = law_at(study, beside[i]);
        if (us <= shortest_us) {
            shortest_us = us;
            found = beside[i];
        }
    }
    return found;
}

/* It would stay: is there a size to be tried so that it knows better? */
static void try_to_confirm(const struct pleat_spot_study *study, const struct reach *reach,
                           struct pleat_spot *spot)
{
    struct pleat_spot other = *spot;
    int32_t size = size_to_confirm(study, reach), now = study->component->processors;
    if (size < 1 || size == now || !is_well_known(study, now, 0))
        return;
    describe(study, size, &other);
    double iteration_us = pleat_spot_time(study, now).us;
    if ((double)other.left_us <= 2 * LEAST_LEFT * (iteration_us + 2 * (double)other.cost_us))
        return;
    *spot = other;
    spot->advice = size > now ? PLEAT_SPOT_GROW : PLEAT_SPOT_SHRINK;
}

/* What the next larger size would gain. */
static void look_above(const struct pleat_spot_study *study, int32_t most, struct pleat_spot *spot)
{
    int32_t size = study->component->processors;
    int32_t next = pleat_accept_next(study->view, study->component, size);
    spot->advice = PLEAT_SPOT_STAY;
    if (next <= size)
        return;
    describe(study, next, spot);
    if (next <= most)
        spot->advice = PLEAT_SPOT_LITTLE;
}

struct pleat_spot pleat_spot_find(const struct pleat_spot_study *study, int32_t most)
{
    int32_t size = study->component->processors;
    struct pleat_spot spot = {.advice = PLEAT_SPOT_UNMEASURED, .left_us = PLEAT_NEVER};
    if (size < 1 || !pleat_spot_point(study, size))
        return spot;
    struct reach reach = reach_of(study, most > size ? most : size);
    spot.spot = choose_spot(study, &reach);
    if (spot.spot > size) {
        describe(study, spot.spot, &spot);
        spot.advice = advise_growing(study, &spot);
    } else if (spot.spot > 0 && spot.spot < size) {
        describe(study, spot.spot, &spot);
        spot.advice = advise_shrinking(study, &reach, &spot);
    } else if (is_to_be_probed(study, &spot)) {
        spot.advice = PLEAT_SPOT_PROBE;
    } else {
        look_above(study, most, &spot);
    }
    if (spot.advice == PLEAT_SPOT_STAY || spot.advice == PLEAT_SPOT_LITTLE ||
        spot.advice == PLEAT_SPOT_UNSURE)
        try_to_confirm(study, &reach, &spot);
    return spot;
}
