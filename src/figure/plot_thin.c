#include <math.h>

#include "figure/plot.h"

/* Neighbours that share a pixel column: the indexes of those that are kept. */
struct group {
    size_t first, least, most, last;
    double column;
    bool open;
};

static double column_of(double x, double low, double high, bool log_x, size_t columns)
{
    double at = log_x ? log(x / low) / log(high / low) : (x - low) / (high - low);
    return floor(at * (double)columns);
}

static bool shown(const struct pleat_plot_series *series, size_t i, bool log_x)
{
    return isfinite(series->x[i]) && isfinite(series->y[i]) && !(log_x && series->x[i] <= 0);
}

static int add(const struct pleat_plot_series *series, size_t i, struct pleat_plot_points *points)
{
    return pleat_array_push(points, ((struct pleat_plot_point){series->x[i], series->y[i]}));
}

static int close_group(const struct pleat_plot_series *series, struct group *group,
                       struct pleat_plot_points *points)
{
    if (!group->open)
        return 0;
    group->open = false;
    bool rises = group->least < group->most;
    const size_t keep[] = {group->first, rises ? group->least : group->most,
                           rises ? group->most : group->least, group->last};
    for (size_t i = 0; i < 4; i++)
        if ((i == 0 || keep[i] > keep[i - 1]) && add(series, keep[i], points))
            return PLEAT_E_NOMEM;
    return 0;
}

static int add_gap(struct pleat_plot_points *points)
{
    if (points->count == 0 || isnan(points->items[points->count - 1].y))
        return 0;
    struct pleat_plot_point gap = {points->items[points->count - 1].x, (double)NAN};
    return pleat_array_push(points, gap);
}

int pleat_plot_thin(const struct pleat_plot_series *series, double low, double high, bool log_x,
                    size_t columns, struct pleat_plot_points *points)
{
    struct group group = {0};
    for (size_t i = 0; i < series->count; i++) {
        if (!shown(series, i, log_x)) {
            if (close_group(series, &group, points) || add_gap(points))
                return PLEAT_E_NOMEM;
            continue;
        }
        double column = high > low ? column_of(series->x[i], low, high, log_x, columns) : 0;
        if (group.open && group.column != column && close_group(series, &group, points))
            return PLEAT_E_NOMEM;
        if (!group.open)
            group = (struct group){i, i, i, i, column, true};
        group.last = i;
        if (series->y[i] < series->y[group.least])
            group.least = i;
        if (series->y[i] > series->y[group.most])
            group.most = i;
    }
    return close_group(series, &group, points);
}
