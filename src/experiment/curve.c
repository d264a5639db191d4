#include "experiment/curve.h"

#include <stdbool.h>
#include <stdlib.h>

enum { STEPS_MAX = 1000, BINS = 240, SHARES_MAX = 1000 };

static int make_room(struct pleat_curve *curve, size_t count)
{
    *curve = (struct pleat_curve){.x = calloc(count + 1, sizeof(double)),
                                  .y = calloc(count + 1, sizeof(double))};
    if (curve->x && curve->y)
        return 0;
    pleat_curve_finish(curve);
    return PLEAT_E_NOMEM;
}

void pleat_curve_finish(struct pleat_curve *curve)
{
    free(curve->x);
    free(curve->y);
    *curve = (struct pleat_curve){0};
}

static void add(struct pleat_curve *curve, double x, double y)
{
    curve->x[curve->count] = x;
    curve->y[curve->count++] = y;
}

int pleat_curve_shares(struct pleat_curve *curve, const double *sorted, size_t count)
{
    size_t points = count < SHARES_MAX ? count : SHARES_MAX;
    if (make_room(curve, points + 1))
        return PLEAT_E_NOMEM;
    if (count > 0)
        add(curve, sorted[0], 0);
    for (size_t i = 1; i <= points; i++) {
        size_t rank = i * count / points; /* how many values are at most as large */
        add(curve, sorted[rank - 1], (double)rank / (double)count);
    }
    return 0;
}

/* ---- levels over time ---- */

static int compare_edges(const void *left, const void *right)
{
    const struct pleat_edge *a = left, *b = right;
    return a->at_us < b->at_us ? -1 : a->at_us > b->at_us;
}

/* Sorts edges by time, and makes one of all edges at one instant. */
static void sort_edges(struct pleat_edges *edges)
{
    size_t last = 0;
    bool sorted = true;
    if (edges->count == 0)
        return;
    for (size_t i = 1; i < edges->count && sorted; i++)
        sorted = edges->items[i].at_us >= edges->items[i - 1].at_us;
    if (!sorted)
        qsort(edges->items, edges->count, sizeof(*edges->items), compare_edges);
    for (size_t i = 1; i < edges->count; i++) {
        if (edges->items[i].at_us == edges->items[last].at_us)
            edges->items[last].by += edges->items[i].by;
        else
            edges->items[++last] = edges->items[i];
    }
    edges->count = last + 1;
}

static void add_steps(struct pleat_curve *curve, const struct pleat_edges *edges)
{
    int64_t level = 0;
    for (size_t i = 0; i < edges->count; i++) {
        level += edges->items[i].by;
        add(curve, (double)edges->items[i].at_us / 1e6, (double)level);
    }
}

/* Adds the mean level in each of `parts` equal parts of the time. */
static void add_means(struct pleat_curve *curve, const struct pleat_edges *edges, size_t parts)
{
    double from = (double)edges->items[0].at_us;
    double width = ((double)edges->items[edges->count - 1].at_us - from) / (double)parts;
    double level = 0;
    size_t next = 0;
    for (size_t bin = 0; bin < parts; bin++) {
        double start = from + (double)bin * width, end = start + width, at = start, area = 0;
        for (; next < edges->count && (double)edges->items[next].at_us < end; next++) {
            area += level * ((double)edges->items[next].at_us - at);
            at = (double)edges->items[next].at_us;
            level += (double)edges->items[next].by;
        }
        area += level * (end - at);
        add(curve, start / 1e6, area / width);
    }
    add(curve, (double)edges->items[edges->count - 1].at_us / 1e6, 0);
}

int pleat_curve_levels(struct pleat_curve *curve, struct pleat_edges *edges)
{
    sort_edges(edges);
    bool thin = edges->count > STEPS_MAX;
    int rc = make_room(curve, thin ? BINS + 1 : edges->count);
    if (!rc && thin)
        add_means(curve, edges, BINS);
    else if (!rc)
        add_steps(curve, edges);
    return rc;
}

int pleat_curve_means(struct pleat_curve *curve, struct pleat_edges *edges, size_t parts)
{
    sort_edges(edges);
    int rc = make_room(curve, parts + 1);
    if (!rc && edges->count > 0)
        add_means(curve, edges, parts);
    return rc;
}

int pleat_curve_queued(struct pleat_curve *curve, const struct pleat_workload *workload,
                       const struct pleat_sim_outcome *outcomes)
{
    struct pleat_edges edges = {0};
    if (pleat_array_reserve(&edges, workload->jobs.count * 2 + 1))
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < workload->jobs.count; i++) {
        int64_t submit_us = outcomes[i].submit_us;
        if (outcomes[i].start_us == PLEAT_NEVER || outcomes[i].start_us == submit_us)
            continue;
        edges.items[edges.count++] = (struct pleat_edge){submit_us, 1};
        edges.items[edges.count++] = (struct pleat_edge){outcomes[i].start_us, -1};
    }
    int rc = pleat_curve_levels(curve, &edges);
    pleat_array_finish(&edges);
    return rc;
}
