#include "agent/relaunch_plan.h"

#include <inttypes.h>

#include "agent/crash.h"
#include "base/clock.h"

static void relaunch_free(struct pleat_relaunch *relaunch)
{
    json_decref(relaunch->argv);
    json_decref(relaunch->env);
    json_decref(relaunch->nodes);
    free(relaunch);
}

void pleat_relaunch_drop(struct pleat_run *run)
{
    if (run->relaunch)
        relaunch_free(run->relaunch);
    run->relaunch = NULL;
}

struct pleat_relaunch *pleat_relaunch_make(const struct pleat_run *run,
                                           const struct pleat_relaunch_order *order,
                                           struct pleat_error *err)
{
    struct pleat_relaunch *made = calloc(1, sizeof(*made));
    if (made) {
        made->resize = order->resize;
        made->processes = order->processes;
        made->grace_us = order->grace_us;
        made->warm_us = order->warm_us;
        made->or_merges = order->or_merges;
        made->moves = order->moves;
        made->argv = json_deep_copy(order->argv);
        made->env = json_deep_copy(order->env);
        made->nodes = json_deep_copy(order->nodes);
        if ((run->launches || made->moves || (made->argv && made->env)) &&
            !made->nodes == !order->nodes)
            return made;
        relaunch_free(made);
    }
    (void)pleat_error_set(err, PLEAT_E_NOMEM, "no memory to relaunch run %" PRIu64, run->id);
    return NULL;
}

int pleat_relaunch_plan(struct pleat_run *run, const struct pleat_relaunch_order *order,
                        struct pleat_error *err)
{
    struct pleat_relaunch *made = pleat_relaunch_make(run, order, err);
    if (!made)
        return PLEAT_E_NOMEM;
    pleat_relaunch_drop(run);
    run->relaunch = made;
    return 0;
}

void pleat_relaunch_saved(struct pleat_run *run, uint32_t before,
                          const struct pleat_mailbox_cost *cost)
{
    struct pleat_relaunch *relaunch = run->relaunch;
    relaunch->stage = PLEAT_RELAUNCH_LEAVING;
    relaunch->leaving_us = pleat_clock_monotonic_us();
    relaunch->before = before;
    relaunch->cost = *cost;
    pleat_agent_crash_point("lead", "saved");
}

bool pleat_relaunch_is_due(const struct pleat_run *run)
{
    return run->relaunch && run->relaunch->stage == PLEAT_RELAUNCH_LEAVING;
}
