/* Accepted sizes that come from the speedup table of an application: the core is told them as a
 * list, before any job is submitted. */
#include <stdlib.h>

#include "model/submission.h"
#include "sim/internal.h"

static int tell(struct sim *sim, const struct pleat_speedup *speedup, uint32_t list)
{
    const struct pleat_table_row *rows = sim->workload->table.items + speedup->first;
    int32_t sizes[PLEAT_SIZES_LIST_MAX];
    struct pleat_event event;
    uint32_t told = 0;
    int rc = 0;
    for (uint32_t i = 0; i < speedup->count; i++)
        sizes[i] = rows[i].processors;
    while (!rc && pleat_submission_list(list, sizes, speedup->count, sim->now_us, &told, &event))
        rc = input(sim, &event);
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
        return 0; /* without tables there is no need to look at every job */
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
