/* Local users of a site, who know nothing of Pleat.
 *
 * Local users take only free processors: nothing from Pleat's jobs, as Pleat takes nothing from
 * them. Local jobs that the model draws queue at their site, first come, first served, and are
 * served before Pleat decides. A trace that asks for more processors than are free gets the free
 * ones, and the rest as they become free. */
#include "sim/internal.h"

static int32_t vacant(const struct sim *sim, uint32_t index)
{
    const struct site *site = &sim->sites[index];
    int32_t left = site_up(site) - site->local - sim->view->sites[index].claimed;
    return left > 0 ? left : 0;
}

static int serve_trace(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    int32_t most = site->local + vacant(sim, index);
    int32_t local = site->wanted < most ? site->wanted : most;
    if (local == site->local)
        return 0;
    site_count(sim, site);
    site->local = local;
    return site_tell_background(sim, index);
}

static int serve_queue(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    int rc = 0;
    while (!rc && site->first < site->waiting.count &&
           site->waiting.items[site->first] <= vacant(sim, index)) {
        site_count(sim, site);
        int32_t size = site->waiting.items[site->first++];
        int64_t ends = sim->now_us + site_exponential(&site->load, (double)site->spec->load_run_us);
        uint32_t handle = PLEAT_HEAP_NONE;
        site->local += size;
        rc = set_timer(sim, TIMER_LOCAL_ENDED, index, (uint32_t)size, ends, &handle);
    }
    if (site->first == site->waiting.count)
        site->first = site->waiting.count = 0;
    return rc ? rc : site_tell_background(sim, index);
}

int load_serve(struct sim *sim)
{
    int rc = 0;
    for (uint32_t s = 0; !rc && s < sim->site_count; s++) {
        const struct site *site = &sim->sites[s];
        if (!site->present)
            continue;
        if (site->spec->trace.count > 0)
            rc = serve_trace(sim, s);
        else if (site->spec->queue != PLEAT_QUEUE_NONE)
            rc = batch_serve(sim, s);
        else if (site->waiting.count > 0)
            rc = serve_queue(sim, s);
    }
    return rc;
}

int load_trace_point(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    const struct pleat_load_points *trace = &site->spec->trace;
    while (site->trace_next < trace->count && trace->items[site->trace_next].at_us <= sim->now_us)
        site->wanted = trace->items[site->trace_next++].processors;
    uint32_t handle = PLEAT_HEAP_NONE;
    return site->trace_next < trace->count
               ? set_timer(sim, TIMER_TRACE, index, 0, trace->items[site->trace_next].at_us,
                           &handle)
               : 0;
}

static int next_local_job(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    uint32_t handle = PLEAT_HEAP_NONE;
    int64_t at = sim->now_us + site_exponential(&site->load, (double)site->spec->load_gap_us);
    return set_timer(sim, TIMER_LOCAL, index, 0, at, &handle);
}

int load_comes(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    int32_t size =
        1 + (int32_t)pleat_random_below(&site->load, (uint64_t)site->spec->load_processors);
    int rc = 0;
    if (site->spec->queue != PLEAT_QUEUE_NONE)
        rc = batch_comes(sim, index, size,
                         site_exponential(&site->load, (double)site->spec->load_run_us));
    else if (pleat_array_push(&site->waiting, size))
        return nomem(sim);
    return rc ? rc : next_local_job(sim, index);
}

int load_goes(struct sim *sim, uint32_t index, int32_t size)
{
    struct site *site = &sim->sites[index];
    int32_t lost = size < site->local_lost ? size : site->local_lost;
    site_count(sim, site);
    site->local_lost -= lost;
    site->local -= size - lost;
    return site_tell_background(sim, index);
}

int load_begin(struct sim *sim, uint32_t index)
{
    const struct pleat_sim_site *spec = sim->sites[index].spec;
    if (spec->trace.count > 0)
        return load_trace_point(sim, index);
    int rc = spec->queue != PLEAT_QUEUE_NONE ? batch_begin(sim, index) : 0;
    return rc || spec->load_gap_us == 0 ? rc : next_local_job(sim, index);
}

void load_end(struct site *site)
{
    site->local_lost += site->local;
    site->local = 0;
    site->first = site->waiting.count = 0;
}

void load_strike(struct site *site, int64_t held, int64_t first, int64_t end)
{
    int64_t behind = held + site->local;
    int64_t from = first > held ? first : held, to = end < behind ? end : behind;
    if (to <= from)
        return;
    site->local -= (int32_t)(to - from);
    if (site->spec->trace.count == 0)
        site->local_lost += (int32_t)(to - from);
}
