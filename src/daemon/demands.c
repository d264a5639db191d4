/* Which processes the runs of a program asked for: kept from run to run, since policies predict
 * from it what the next run will ask for (Liu et al. 2009, 4.1). */
#include "daemon/demands.h"

#include <stdlib.h>
#include <string.h>

/* ---- a run ---- */

/* Makes half as many rows: two neighbours become one, at the earlier iteration, so that a process
 * is rather there too soon than too late. */
static void halve(struct demand_rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i += 2) {
        struct demand_row row = rows->items[i];
        if (i + 1 < rows->count)
            row.requests += rows->items[i + 1].requests;
        rows->items[kept++] = row;
    }
    rows->count = kept;
}

static void add_requests(struct demand_rows *rows, int32_t iteration, int32_t requests)
{
    struct demand_row *last = rows->count > 0 ? &rows->items[rows->count - 1] : NULL;
    if (last && last->iteration >= iteration) {
        last->requests += requests;
        return;
    }
    if (rows->count >= DEMAND_ROWS_MOST)
        halve(rows);
    struct demand_row row = {iteration, requests};
    if (pleat_array_push(rows, row) && rows->count > 0) /* no memory: as if it were one iteration */
        rows->items[rows->count - 1].requests += requests;
}

void demand_take(struct demand *demand, uint64_t run, uint32_t before, int32_t iteration,
                 uint32_t requests)
{
    if (demand->run != run) {
        demand_finish(demand);
        demand->run = run;
        demand->told = before;
    }
    uint32_t most = INT32_MAX / 2;
    if (requests > demand->told && requests <= most)
        add_requests(&demand->rows, iteration, (int32_t)(requests - demand->told));
    if (requests > demand->told)
        demand->told = requests;
}

bool demand_is_whole(const struct demand *demand, uint32_t requests)
{
    int64_t known = 0;
    for (size_t i = 0; i < demand->rows.count; i++)
        known += demand->rows.items[i].requests;
    return known == (int64_t)requests;
}

void demand_finish(struct demand *demand)
{
    pleat_array_finish(&demand->rows);
    *demand = (struct demand){0};
}

/* ---- several runs ---- */

int demands_add(struct demands *runs, struct demand *run)
{
    while (runs->count >= DEMAND_RUNS_MOST) {
        demand_finish(&runs->items[0]);
        memmove(&runs->items[0], &runs->items[1], --runs->count * sizeof(runs->items[0]));
    }
    if (pleat_array_push(runs, *run))
        return PLEAT_E_NOMEM;
    *run = (struct demand){0}; /* the rows are the list's now */
    return 0;
}

static int by_iteration(const void *a, const void *b)
{
    int32_t first = ((const struct demand_row *)a)->iteration;
    int32_t second = ((const struct demand_row *)b)->iteration;
    return (first > second) - (first < second);
}

/* Sorts the rows of several runs; one is left for each iteration. */
static void merge(struct demand_rows *rows)
{
    size_t kept = 0;
    if (rows->count == 0)
        return;
    qsort(rows->items, rows->count, sizeof(rows->items[0]), by_iteration);
    for (size_t i = 1; i < rows->count; i++)
        if (rows->items[i].iteration == rows->items[kept].iteration)
            rows->items[kept].requests += rows->items[i].requests;
        else
            rows->items[++kept] = rows->items[i];
    rows->count = kept + 1;
}

int demands_sum(const struct demands *runs, struct demand *sum)
{
    int64_t timed = 0;
    for (size_t r = 0; r < runs->count; r++) {
        const struct demand *run = &runs->items[r];
        sum->executions += run->executions;
        sum->requests += run->requests;
        sum->satisfied += run->satisfied;
        sum->waited_us += run->waited_us;
        sum->held_us += run->held_us;
        sum->most = run->most > sum->most ? run->most : sum->most;
        sum->iteration_us += run->iteration_us;
        timed += run->iteration_us > 0;
        for (size_t i = 0; i < run->rows.count; i++)
            if (pleat_array_push(&sum->rows, run->rows.items[i]))
                return PLEAT_E_NOMEM;
    }
    sum->iteration_us = timed > 0 ? sum->iteration_us / timed : 0;
    merge(&sum->rows);
    return 0;
}

void demands_finish(struct demands *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        demand_finish(&runs->items[i]);
    pleat_array_finish(runs);
}

/* ---- as JSON ---- */

static json_t *to_json(const struct demand *demand)
{
    json_t *asked = json_array();
    for (size_t i = 0; i < demand->rows.count; i++)
        json_array_append_new(asked,
                              json_pack("{s:i, s:i}", "iteration", demand->rows.items[i].iteration,
                                        "requests", demand->rows.items[i].requests));
    return json_pack(
        "{s:i, s:I, s:I, s:I, s:f, s:f, s:f, s:o}", "executions", demand->executions, "requests",
        (json_int_t)demand->requests, "satisfied", (json_int_t)demand->satisfied, "most",
        (json_int_t)demand->most, "iteration_s", (double)demand->iteration_us / 1e6, "waited_s",
        (double)demand->waited_us / 1e6, "held_s", (double)demand->held_us / 1e6, "asked", asked);
}

json_t *demands_to_json(const struct demands *runs)
{
    json_t *array = json_array();
    for (size_t i = 0; i < runs->count; i++)
        json_array_append_new(array, to_json(&runs->items[i]));
    return array;
}

json_t *demands_sum_to_json(const struct demands *runs)
{
    struct demand sum = {0};
    json_t *object = NULL;
    if (runs->count > 0 && !demands_sum(runs, &sum))
        object = to_json(&sum);
    if (object)
        json_object_set_new(object, "satisfaction",
                            sum.requests > 0
                                ? json_real((double)sum.satisfied / (double)sum.requests)
                                : json_null());
    if (object)
        json_object_set_new(
            object, "waste",
            json_real(sum.held_us > 0 ? (double)sum.waited_us / (double)sum.held_us : 0));
    demand_finish(&sum);
    return object ? object : json_null();
}

static int64_t microseconds(const json_t *object, const char *name)
{
    double seconds = json_number_value(json_object_get(object, name));
    return seconds > 0 && seconds < 1e9 ? (int64_t)(seconds * 1e6 + 0.5) : 0;
}

static int32_t whole(const json_t *object, const char *name)
{
    json_int_t value = json_integer_value(json_object_get(object, name));
    return value > 0 && value < INT32_MAX / 2 ? (int32_t)value : 0;
}

static void read_one(struct demands *runs, const json_t *object)
{
    struct demand run = {.executions = 1,
                         .most = (uint32_t)whole(object, "most"),
                         .requests = whole(object, "requests"),
                         .satisfied = whole(object, "satisfied"),
                         .iteration_us = microseconds(object, "iteration_s"),
                         .waited_us = microseconds(object, "waited_s"),
                         .held_us = microseconds(object, "held_s")};
    const json_t *rows = json_object_get(object, "asked"), *row;
    for (size_t i = 0; (row = json_array_get(rows, i)); i++)
        if (whole(row, "requests") > 0)
            add_requests(&run.rows, whole(row, "iteration"), whole(row, "requests"));
    if (demands_add(runs, &run))
        demand_finish(&run);
}

void demands_read(struct demands *runs, const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        read_one(runs, json_array_get(array, i));
}
