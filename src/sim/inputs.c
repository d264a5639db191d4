/* Inputs to the core, timers, and what the watchers of a run are told. */
#include "sim/internal.h"

int nomem(struct sim *sim)
{
    return pleat_error_set(sim->err, PLEAT_E_NOMEM, "out of memory");
}

int set_timer(struct sim *sim, enum timer_kind kind, uint32_t index, uint32_t extra, int64_t at_us,
              uint32_t *handle)
{
    if (*handle != PLEAT_HEAP_NONE) {
        pleat_heap_move(&sim->timers, *handle, at_us);
        return 0;
    }
    uint64_t payload = (uint64_t)kind << 56 | (uint64_t)extra << 32 | index;
    return pleat_heap_push(&sim->timers, at_us, payload, handle) ? nomem(sim) : 0;
}

void stop_timer(struct sim *sim, uint32_t *handle)
{
    if (*handle == PLEAT_HEAP_NONE)
        return;
    pleat_heap_remove(&sim->timers, *handle);
    *handle = PLEAT_HEAP_NONE;
}

/* Files take exactly as long as the policies expect. */
PLEAT_COLD int record(struct sim *sim, const struct pleat_event *events, size_t count)
{
    struct pleat_events *log = sim->options->log;
    for (size_t i = 0; log && i < count; i++) {
        if (pleat_array_push(log, events[i]))
            return nomem(sim);
        pleat_event_clean(&log->items[log->count - 1]);
    }
    return sim->options->check ? pleat_core_check(sim->core, sim->err) : 0;
}

int input_or_why(struct sim *sim, const struct pleat_event *event, struct pleat_error *err)
{
    int rc = pleat_core_apply(sim->core, event, &sim->effects, err);
    if (rc)
        return rc == PLEAT_CORE_STALE ? 0 : rc;
    sim->totals->inputs++;
    return sim->is_watched ? record(sim, event, 1) : 0;
}

int input(struct sim *sim, const struct pleat_event *event)
{
    return input_or_why(sim, event, sim->err);
}

int try_input(struct sim *sim, const struct pleat_event *event)
{
    struct pleat_error why;
    int rc = input_or_why(sim, event, &why);
    if (rc == PLEAT_E_NOMEM)
        return nomem(sim);
    return rc;
}

int changed(struct sim *sim, const struct app *app, int32_t from, int32_t to, int64_t stood_us)
{
    if (!sim->options->on_change)
        return 0;
    struct pleat_sim_change change = {.time_us = sim->now_us,
                                      .decided_us = to > 0 ? app->decided_us : sim->now_us,
                                      .stood_us = stood_us,
                                      .job = app->job,
                                      .site = app->site,
                                      .from = from,
                                      .to = to,
                                      .processes =
                                          to > 0 && app->wish->mpl_max > 0 ? app->processes : to,
                                      .mandatory = app->mandatory && from > 0 && to > 0,
                                      .offered = from > 0 && to > 0 ? app->offered : 0};
    return sim->options->on_change(sim->options->context, &change);
}
