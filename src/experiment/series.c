#include "experiment/series.h"

#include <stdbool.h>

/* Appends the changes of the numbers, in any order. There is room for all. */
static void add_changes(const struct pleat_workload *workload,
                        const struct pleat_sim_outcome *outcomes, const struct pleat_edges *used,
                        struct pleat_series *changes)
{
    struct pleat_series_point *at = changes->items;
    for (size_t i = 0; i < workload->jobs.count; i++) {
        const struct pleat_workload_job *job = &workload->jobs.items[i];
        bool never = outcomes[i].start_us == PLEAT_NEVER;
        if (never && outcomes[i].fate != PLEAT_SIM_LEFT)
            continue; /* the job was turned away */
        *at++ = (struct pleat_series_point){
            .at_us = outcomes[i].submit_us, .queued = 1, .queued_processors = job->processors};
        if (never)
            continue;
        *at++ = (struct pleat_series_point){.at_us = outcomes[i].start_us,
                                            .running = 1,
                                            .queued = -1,
                                            .queued_processors = -job->processors};
        if (outcomes[i].end_us != PLEAT_NEVER)
            *at++ = (struct pleat_series_point){.at_us = outcomes[i].end_us, .running = -1};
    }
    for (size_t i = 0; i < used->count; i++)
        *at++ = (struct pleat_series_point){.at_us = used->items[i].at_us,
                                            .processors = used->items[i].by};
    changes->count = (size_t)(at - changes->items);
}

static int compare(const void *left, const void *right)
{
    const struct pleat_series_point *a = left, *b = right;
    return a->at_us < b->at_us ? -1 : a->at_us > b->at_us;
}

/* Makes sums of the sorted changes, one for each instant. */
static void add_up(struct pleat_series *series)
{
    struct pleat_series_point sum = {0};
    size_t count = 0;
    for (size_t i = 0; i < series->count; i++) {
        const struct pleat_series_point *change = &series->items[i];
        bool last = i + 1 == series->count || change[1].at_us != change->at_us;
        sum.at_us = change->at_us;
        sum.processors += change->processors;
        sum.running += change->running;
        sum.queued += change->queued;
        sum.queued_processors += change->queued_processors;
        if (last)
            series->items[count++] = sum;
    }
    series->count = count;
}

int pleat_series_make(const struct pleat_workload *workload,
                      const struct pleat_sim_outcome *outcomes, const struct pleat_edges *used,
                      struct pleat_series *series)
{
    if (pleat_array_reserve(series, workload->jobs.count * 3 + used->count + 1))
        return PLEAT_E_NOMEM;
    add_changes(workload, outcomes, used, series);
    qsort(series->items, series->count, sizeof(*series->items), compare);
    add_up(series);
    return 0;
}
