#include "daemon/measured.h"

#include <math.h>
#include <string.h>

#include "base/grid.h"
#include "core/core.h"
#include "policy/speed_law.h"

/* So many sizes and grids are kept of a program, or of a job; and so many of a prediction. */
enum { MOST = 64, PREDICTED_MOST = 64 };

/* ---- the list ---- */

/* The first of its size, or of the next larger one. */
static size_t place_of(const struct measured_sizes *list, int32_t processors)
{
    size_t at = 0;
    while (at < list->count && list->items[at].timing.processors < processors)
        at++;
    return at;
}

static size_t find(const struct measured_sizes *list, int32_t processors, uint64_t grid)
{
    size_t at = place_of(list, processors);
    while (at < list->count && list->items[at].timing.processors == processors)
        if (list->items[at].grid == grid)
            return at;
        else
            at++;
    return list->count;
}

struct measured_size *measured_at(struct measured_sizes *list, int32_t processors, uint64_t grid)
{
    size_t found = find(list, processors, grid), at = place_of(list, processors);
    if (found < list->count)
        return &list->items[found];
    struct measured_size fresh = {.timing = {.processors = processors, .next = PLEAT_NONE},
                                  .grid = grid};
    if (list->count >= MOST || pleat_array_push(list, fresh))
        return NULL;
    memmove(&list->items[at + 1], &list->items[at], (list->count - 1 - at) * sizeof(fresh));
    list->items[at] = fresh;
    return &list->items[at];
}

bool measured_take(struct measured_sizes *list, const struct pleat_event *measured, uint64_t grid)
{
    int32_t processors = measured->u.measured.processors;
    struct measured_size *size = measured_at(list, processors, grid);
    if (!size)
        return false;
    pleat_timing_merge(&size->timing, measured);
    if (measured->u.measured.redistribution_us > 0) {
        size->timing.redistribution_us = measured->u.measured.redistribution_us;
        size->timing.from = measured->u.measured.from;
    }
    struct measured_size *first = &list->items[place_of(list, processors)], last = *size;
    memmove(first + 1, first, (size_t)(size - first) * sizeof(*first));
    *first = last;
    return true;
}

size_t measured_next(const struct measured_sizes *list, size_t i)
{
    while (i > 0 && i < list->count &&
           list->items[i].timing.processors == list->items[i - 1].timing.processors)
        i++;
    return i;
}

const struct measured_size *measured_of(const struct measured_sizes *list, int32_t processors)
{
    size_t at = place_of(list, processors);
    return at < list->count && list->items[at].timing.processors == processors ? &list->items[at]
                                                                               : NULL;
}

/* ---- as JSON ---- */

static json_t *grid_to_json(uint64_t grid)
{
    char text[PLEAT_GRID_TEXT];
    return grid ? json_string(pleat_grid_text(grid, text)) : json_null();
}

static json_t *to_json(const struct measured_sizes *list, bool grids_alone)
{
    json_t *sizes = json_array();
    for (size_t i = 0; i < list->count; i++) {
        if (grids_alone && !list->items[i].grid)
            continue;
        const struct pleat_timing *timing = &list->items[i].timing;
        double spread_us = timing->count > 0 ? sqrt(timing->squares / timing->count) : 0;
        json_array_append_new(
            sizes,
            json_pack("{s:i, s:o, s:b, s:i, s:f, s:f, s:f, s:i}", "processors", timing->processors,
                      "grid", grid_to_json(list->items[i].grid), "counts",
                      measured_next(list, i) == i, "measured", timing->count, "iteration_s",
                      timing->mean_us / 1e6, "spread_s", spread_us / 1e6, "redistribution_s",
                      (double)timing->redistribution_us / 1e6, "from", timing->from));
    }
    return sizes;
}

json_t *measured_to_json(const struct measured_sizes *list)
{
    return to_json(list, false);
}

json_t *measured_on_grids_to_json(const struct measured_sizes *list)
{
    return to_json(list, true);
}

static int64_t microseconds(const json_t *object, const char *name)
{
    double seconds = json_number_value(json_object_get(object, name));
    return seconds > 0 && seconds < 1e12 ? (int64_t)(seconds * 1e6 + 0.5) : 0;
}

static int32_t whole(const json_t *object, const char *name)
{
    json_int_t value = json_integer_value(json_object_get(object, name));
    return value > 0 && value < INT32_MAX ? (int32_t)value : 0;
}

static void read_size(struct measured_sizes *list, const json_t *object)
{
    int64_t mean_us = microseconds(object, "iteration_s");
    double spread_us = (double)microseconds(object, "spread_s");
    int32_t processors = whole(object, "processors"), count = whole(object, "measured");
    uint64_t grid = pleat_grid_parse(json_string_value(json_object_get(object, "grid")));
    struct measured_size *size =
        mean_us > 0 && processors > 0 && count > 0 ? measured_at(list, processors, grid) : NULL;
    if (!size)
        return;
    size->timing.iteration_us = mean_us;
    size->timing.mean_us = (double)mean_us;
    size->timing.count = count < PLEAT_TIMING_WINDOW ? count : PLEAT_TIMING_WINDOW;
    size->timing.squares = spread_us * spread_us * size->timing.count;
    size->timing.redistribution_us = microseconds(object, "redistribution_s");
    size->timing.from = whole(object, "from");
}

void measured_read(struct measured_sizes *list, const json_t *sizes)
{
    for (size_t i = json_array_size(sizes); i > 0;
         i--) /* each goes in front of others of its size */
        read_size(list, json_array_get(sizes, i - 1));
}

/* ---- grids that were not tried ---- */

/* Two dimensions, all of the processors; else 0. */
static int rows_of(const struct measured_size *size, int *columns)
{
    int grid[PLEAT_GRID_DIMS];
    *columns = 0;
    if (pleat_grid_unpack(size->grid, grid) != 2 ||
        (int64_t)grid[0] * grid[1] != size->timing.processors)
        return 0;
    *columns = grid[1];
    return grid[0];
}

static struct pleat_speed_points points_on_grids(const struct measured_sizes *list)
{
    struct pleat_speed_points points = {0};
    for (size_t i = 0; i < list->count; i++) {
        const struct pleat_timing *timing = &list->items[i].timing;
        int columns, rows = rows_of(&list->items[i], &columns);
        if (rows > 0 && timing->count > 0 && timing->mean_us > 0)
            pleat_speed_add(&points, (struct pleat_speed_point){timing->processors, timing->mean_us,
                                                                timing->squares, timing->count,
                                                                1.0 / rows + 1.0 / columns});
    }
    return points;
}

/* Else nothing says how much the grid matters. */
static bool tells_grids_apart(const struct pleat_speed_points *points)
{
    for (uint32_t i = 0; i < points->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (points->items[i].processors == points->items[k].processors &&
                fabs(points->items[i].edge - points->items[k].edge) > 1e-9)
                return true;
    return false;
}

static void predict(const struct measured_sizes *list, const struct pleat_speed_law *law,
                    int32_t processors, json_t *grids)
{
    for (int rows = 1; rows <= processors && json_array_size(grids) < PREDICTED_MOST; rows++) {
        int pair[2] = {rows, processors / rows};
        uint64_t grid = processors % rows == 0 ? pleat_grid_pack(2, pair) : 0;
        if (!grid || find(list, processors, grid) < list->count)
            continue;
        struct pleat_speed_time time = pleat_speed_predict_grid(law, pair[0], pair[1]);
        json_array_append_new(grids, json_pack("{s:i, s:o, s:f, s:f}", "processors", processors,
                                               "grid", grid_to_json(grid), "iteration_s",
                                               time.us / 1e6, "error_s", time.error_us / 1e6));
    }
}

json_t *measured_grids_to_json(const struct measured_sizes *list)
{
    struct pleat_speed_points points = points_on_grids(list);
    json_t *grids = json_array();
    if (!tells_grids_apart(&points))
        return grids;
    struct pleat_speed_law law = pleat_speed_fit(&points);
    for (size_t i = 0; i < list->count; i = measured_next(list, i + 1)) {
        int columns;
        if (rows_of(&list->items[i], &columns) > 0)
            predict(list, &law, list->items[i].timing.processors, grids);
    }
    return grids;
}

/* ---- steps ---- */

static json_t *step(const struct pleat_timing *low, const struct pleat_timing *high, bool larger,
                    double *gain)
{
    *gain = larger ? 1 - high->mean_us / low->mean_us : 1 - low->mean_us / high->mean_us;
    return json_pack("{s:i, s:i, s:i, s:f}", "from", larger ? low->processors : high->processors,
                     "processors", larger ? high->processors : low->processors,
                     larger ? "takes" : "frees", high->processors - low->processors,
                     larger ? "shorter" : "longer", larger ? *gain : -*gain);
}

json_t *measured_points_to_json(const struct measured_sizes *list, bool larger)
{
    double gains[MOST];
    json_t *points = json_array();
    size_t count = 0, next;
    for (size_t i = 0; (next = measured_next(list, i + 1)) < list->count; i = next) {
        double gain;
        json_t *point = step(&list->items[i].timing, &list->items[next].timing, larger, &gain);
        size_t at = 0;
        while (at < count && gains[at] >= gain)
            at++;
        if (!point || json_array_insert_new(points, at, point))
            break;
        memmove(&gains[at + 1], &gains[at], (count - at) * sizeof(gains[0]));
        gains[at] = gain;
        count++;
    }
    return points;
}
