#include "model/workload.h"

#include <math.h>
#include <string.h>

void pleat_workload_finish(struct pleat_workload *workload)
{
    pleat_array_finish(&workload->jobs);
    pleat_array_finish(&workload->apps);
    pleat_array_finish(&workload->table);
    pleat_array_finish(&workload->costs);
    pleat_array_finish(&workload->phases);
    pleat_array_finish(&workload->asks);
    pleat_array_finish(&workload->inputs);
    memset(workload, 0, sizeof(*workload));
}

int pleat_workload_init(struct pleat_workload *workload)
{
    struct pleat_app rigid = {.speedup.kind = PLEAT_SPEEDUP_LINEAR};
    return pleat_array_push(&workload->apps, rigid);
}

/* ---- run time ---- */

/* Downey 1997, 2.2 (sigma up to 1) and 2.3 (above); n = 1 gives 1. */
static double downey(double a, double sigma, double n)
{
    if (sigma <= 1) {
        if (n <= a)
            return a * n / (a + sigma * (n - 1) / 2);
        if (n < 2 * a - 1)
            return a * n / (sigma * (a - 0.5) + n * (1 - sigma / 2));
        return a;
    }
    if (n < a + a * sigma - sigma)
        return n * a * (sigma + 1) / (sigma * (n + a - 1) + a);
    return a;
}

uint32_t pleat_table_rank(const struct pleat_table_row *rows, uint32_t count, double n)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (rows[middle].processors <= n)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double table_time(const struct pleat_table_row *rows, uint32_t count, double n)
{
    if (n <= rows[0].processors)
        return (double)rows[0].run_us * rows[0].processors / n;
    if (n >= rows[count - 1].processors)
        return (double)rows[count - 1].run_us;
    uint32_t high = pleat_table_rank(rows, count, n), low = high - 1; /* low's size <= n < high's */
    double here = 1.0 / rows[low].processors, there = 1.0 / rows[high].processors;
    double share = (here - 1 / n) / (here - there);
    return (double)rows[low].run_us + share * (double)(rows[high].run_us - rows[low].run_us);
}

/* The run time on n processors, in a unit of the application's own. */
static double relative_time(const struct pleat_workload *workload,
                            const struct pleat_speedup *speedup, int32_t n)
{
    switch (speedup->kind) {
    case PLEAT_SPEEDUP_AMDAHL:
        return speedup->serial + (1 - speedup->serial) / n;
    case PLEAT_SPEEDUP_DOWNEY:
        return 1 / downey(speedup->parallelism, speedup->sigma, n);
    case PLEAT_SPEEDUP_TABLE:
        return table_time(workload->table.items + speedup->first, speedup->count, n);
    default:
        return 1.0 / n;
    }
}

static double folded_time(const struct pleat_workload *workload, const struct pleat_app *app,
                          int32_t partition, int32_t processes)
{
    double alone = relative_time(workload, &app->speedup, processes);
    if (partition >= processes)
        return alone;
    int32_t mpl = processes / partition + (processes % partition != 0);
    double spread = app->local_queues ? (mpl + app->imbalance) / (1 + app->imbalance)
                                      : (double)processes / partition / (1 + app->imbalance);
    return alone * (spread > 1 ? spread : 1) * (1 + app->mpl_overhead * (mpl - 1));
}

double pleat_workload_section(const struct pleat_app *app, uint32_t number, bool end)
{
    double half = app->section_share / 2;
    return (number + 0.5) / app->sections + (end ? half : -half);
}

const char *pleat_varies_name(enum pleat_varies varies)
{
    static const char *const names[] = {"run", "process", "iteration", "object"};
    return names[varies];
}

/* Processes that are missing in an iteration, added up over all; `first`: those at the start, below
 * 0 where there are more than are needed. */
static double missing_with_losses(const struct pleat_app *app, double first)
{
    double missing = 0, kept = 0;
    for (int64_t at = 0, next; at < app->iterations; at = next) {
        int64_t gain = (at / app->gain_every + 1) * app->gain_every;
        int64_t loss = (at / app->loses_every + 1) * app->loses_every;
        next = gain < loss ? gain : loss;
        next = next < app->iterations ? next : app->iterations;
        missing += first + kept > 0 ? (first + kept) * (double)(next - at) : 0;
        kept += next == gain;
        kept -= next == loss && kept > 0;
    }
    return missing;
}

/* The run time of an application that asks for processes and gets none, in iterations with enough
 * processes. */
static double objects_time(const struct pleat_app *app, const struct pleat_workload_job *job,
                           int32_t partition)
{
    double share = app->balances ? 1.0 / partition : 1;
    if (app->loses_every > 0)
        return app->iterations + missing_with_losses(app, job->processors - partition) * app->gain /
                                     app->objects * share;
    int32_t gains = (app->iterations - 1) / app->gain_every; /* before the last iteration */
    double last = app->iterations - (double)gains * app->gain_every;
    /* from the `first` gain on there are too few processes: one, two, ... */
    double first = (double)partition - job->processors + 1;
    first = first > 0 ? first : 0;
    double lacking = gains < first ? 0 : gains - first + 1; /* periods in which some are missing */
    double one = first + job->processors - partition;       /* missing in the first of those */
    double sum = lacking > 0 ? (lacking - 1) * one + (lacking - 1) * (lacking - 2) / 2 : 0;
    double missing = sum * app->gain_every + (lacking > 0 ? (one + lacking - 1) * last : 0);
    return app->iterations + missing * app->gain / app->objects * share;
}

double pleat_workload_run_time(const struct pleat_workload *workload,
                               const struct pleat_workload_job *job, int32_t partition,
                               int32_t processes)
{
    const struct pleat_app *app = &workload->apps.items[job->app];
    double run = (double)job->run_us;
    if (app->component > 0) {
        int32_t components = partition / app->component;
        return components ? run * ceil((double)app->work / components) : INFINITY;
    }
    if (app->objects > 0)
        return run * objects_time(app, job, partition) / app->iterations;
    if (job->mpl_max > 0) {
        if (processes < 1)
            processes = partition;
        if (processes == job->processors && partition >= processes)
            return run;
        return run * folded_time(workload, app, partition, processes) /
               relative_time(workload, &app->speedup, job->processors);
    }
    if (job->processes > 0) {
        if (processes < 1)
            processes = job->processes;
        if (partition == job->processors && processes == job->processes)
            return run;
        return run * folded_time(workload, app, partition, processes) /
               folded_time(workload, app, job->processors, job->processes);
    }
    if (partition == job->processors)
        return run;
    return run * relative_time(workload, &app->speedup, partition) /
           relative_time(workload, &app->speedup, job->processors);
}

int64_t pleat_workload_resize_time(const struct pleat_workload *workload,
                                   const struct pleat_app *app, int32_t from, int32_t to)
{
    const struct pleat_resize_cost *cost = &app->cost;
    if (from == to)
        return 0;
    for (uint32_t i = 0; i < cost->count; i++) {
        const struct pleat_cost_row *row = &workload->costs.items[cost->first + i];
        if (row->from == from && row->to == to)
            return row->us;
    }
    if (cost->bytes <= 0)
        return cost->fixed_us;
    double least = from < to ? from : to, most = from < to ? to : from;
    return cost->fixed_us +
           (int64_t)llround(cost->bytes * (1 - least / most) / cost->bandwidth * 1e6);
}
