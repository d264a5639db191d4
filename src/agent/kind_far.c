/* kind_far.c - the kind of runs that are a process of an evolving run which another node's agent
 * leads. What it writes goes to that agent, through the daemon (outflow.h). */
#include "agent/far.h"
#include "agent/kind.h"

static bool is_wanted(const struct pleat_run_request *request)
{
    return request->far != NULL;
}

static void environment(const struct pleat_run *run, const struct pleat_generation *generation,
                        struct pleat_string *own)
{
    (void)generation;
    pleat_far_add_variables(run, own);
}

static void over(struct pleat_run *run, bool broken)
{
    (void)broken;
    pleat_far_stop(run);
}

const struct pleat_run_kind pleat_kind_far = {
    .name = "far process",
    .is_wanted = is_wanted,
    .create = pleat_far_create,
    .destroy = pleat_far_destroy,
    .environment = environment,
    .started = pleat_kind_starts_itself,
    .look = pleat_kind_nothing,
    .goes_on = pleat_kind_never,
    .is_broken = pleat_kind_never,
    .over = over,
    .unwanted = pleat_kind_nothing,
    .part = pleat_kind_no_part,
    .ranks = pleat_kind_no_ranks,
    .report = pleat_far_again,
    .describe = pleat_far_list,
    .change = pleat_kind_no_change,
    .withdraw = pleat_kind_no_relaunch,
    .relaunch = pleat_kind_no_relaunch,
    .checkpoint = pleat_kind_no_checkpoint,
    .arm = pleat_kind_no_timers,
    .greeted = pleat_kind_no_timers,
};
