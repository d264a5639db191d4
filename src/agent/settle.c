#include "agent/settle.h"

#include "agent/launching.h"
#include "agent/outcomes.h"
#include "agent/owner.h"
#include "agent/relaunch_plan.h"
#include "agent/succession.h"

void pleat_malleable_withdrawn(struct pleat_malleable *malleable)
{
    uint64_t resize = malleable->request.resize;
    pleat_malleable_abandon(malleable);
    pleat_bind_cancel(malleable->run);
    pleat_succession_tell(malleable->run, "withdrawn", resize,
                          pleat_outcome_params(malleable->run, resize));
}

void pleat_malleable_failed(struct pleat_malleable *malleable, const char *text)
{
    uint64_t resize = malleable->request.resize;
    json_t *params = pleat_outcome_params(malleable->run, resize);
    pleat_malleable_abandon(malleable);
    pleat_bind_cancel(malleable->run);
    if (params && json_object_set_new(params, "text", pleat_json_text(text))) {
        json_decref(params);
        params = NULL;
    }
    pleat_succession_tell(malleable->run, "resize_failed", resize, params);
}

/* The way in which the change was made; a relaunch's plan is still there when this is told. */
static const char *way_of(const struct pleat_relaunch *relaunch)
{
    if (!relaunch)
        return "merge";
    return relaunch->handed_over ? "relaunch" : "restart";
}

/* `warning`: empty, or an error that did not prevent the change. */
static json_t *describe_applied(const struct pleat_malleable *malleable, uint32_t processes,
                                const struct pleat_mailbox_cost *cost, const char *warning)
{
    json_t *params = pleat_outcome_params(malleable->run, malleable->request.resize);
    const struct {
        const char *name;
        uint64_t value;
    } members[] = {{"processes", pleat_run_processors(malleable->run, processes)},
                   {"wait_us", cost->wait_ns / 1000},
                   {"save_us", cost->save_ns / 1000},
                   {"processes_us", cost->processes_ns / 1000},
                   {"redistribute_us", cost->redistribute_ns / 1000},
                   {"load_us", cost->load_ns / 1000},
                   {"total_us", cost->total_ns / 1000},
                   {"bytes", cost->bytes}};
    int result = params ? 0 : -1;
    for (size_t i = 0; !result && i < sizeof(members) / sizeof(*members); i++)
        result =
            json_object_set_new(params, members[i].name, pleat_outcome_number(members[i].value));
    if (!result && cost->total_ns)
        result = json_object_set_new(params, "way", json_string(way_of(malleable->run->relaunch)));
    if (!result && *malleable->instead)
        result = json_object_set_new(params, "instead", pleat_json_text(malleable->instead));
    if (!result && *warning)
        result = json_object_set_new(params, "warning", pleat_json_text(warning));
    if (!result)
        return params;
    json_decref(params);
    return NULL;
}

void pleat_malleable_applied(struct pleat_malleable *malleable, uint32_t processes,
                             const struct pleat_mailbox_cost *cost, const char *warning)
{
    uint64_t resize = malleable->request.resize;
    json_t *params = describe_applied(malleable, processes, cost, warning);
    bool all = processes == malleable->request.target;
    pleat_launches_sized(malleable->run, processes);
    pleat_malleable_abandon(malleable);
    pleat_bind_accept(malleable->run,
                      all ? SIZE_MAX : pleat_run_processors(malleable->run, processes));
    if (processes >= malleable->size_before) /* in a shrink: when the leaving processes are gone */
        (void)pleat_bind_close(malleable->run);
    pleat_outcome_add(malleable->run, "applied", resize, params);
}
