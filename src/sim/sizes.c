/* Accepted sizes that are those of an application's speedup table: the core is told them as a list,
 * before any job. */
#include <stdlib.h>

#include "sim/internal.h"

enum { AN_EVENT = sizeof(((struct pleat_event *)0)->u.sizes.values) / sizeof(int32_t) };

static int tell(struct sim *sim, const struct pleat_speedup *speedup, uint32_t list)
{
    const struct pleat_table_row *rows = sim->workload->table.items + speedup->first;
    int rc = 0;
    for (uint32_t told = 0; !rc && told < speedup->count; told += AN_EVENT) {
        uint32_t left = speedup->count - told;
        struct pleat_event event = {
            .time_us = sim->now_us,
            .kind = PLEAT_EV_SIZES,
            .component = PLEAT_NONE,
            .u.sizes = {.list = list, .count = left < AN_EVENT ? left : AN_EVENT}};
        for (uint32_t i = 0; i < event.u.sizes.count; i++)
            event.u.sizes.values[i] = rows[told + i].processors;
        rc = input(sim, &event);
    }
    return rc;
}

static bool has_tables(const struct pleat_workload *workload)
{
    for (size_t i = 0; i < workload->apps.count; i++)
        if (workload->apps.items[i].speedup.kind == PLEAT_SPEEDUP_TABLE)
            return true;
    return false;
}

int sizes_begin(struct sim *sim)
{
    const struct pleat_workload *workload = sim->workload;
    uint32_t count = 0;
    int rc = 0;
    if (!has_tables(workload))
        return 0; /* saves a look at every job */
    sim->lists = malloc(workload->apps.count * sizeof(*sim->lists));
    if (!sim->lists)
        return nomem(sim);
    for (size_t i = 0; i < workload->apps.count; i++)
        sim->lists[i] = -1;
    for (size_t i = 0; !rc && i < workload->jobs.count; i++) {
        const struct pleat_workload_job *job = &workload->jobs.items[i];
        if (job->sizes_kind != PLEAT_SIZES_LIST || sim->lists[job->app] >= 0)
            continue;
        rc = tell(sim, &workload->apps.items[job->app].speedup, count);
        sim->lists[job->app] = (int32_t)count++;
    }
    return rc;
}
