/* kind_spread.c - the kind of runs that have parts on other nodes. */
#include "agent/kind.h"
#include "agent/remote.h"

static bool is_wanted(const struct pleat_run_request *request)
{
    return request->nodes && !request->mailbox_ranks;
}

static int create(struct pleat_run *run, const struct pleat_run_request *request,
                  struct pleat_error *err)
{
    return pleat_remote_create(run, request->nodes, err);
}

static void environment(const struct pleat_run *run, const struct pleat_generation *generation,
                        struct pleat_string *own)
{
    (void)generation;
    pleat_remote_add_variables(run, false, own);
}

static void over(struct pleat_run *run, bool broken)
{
    (void)broken;
    pleat_remote_stop(run);
}

const struct pleat_run_kind pleat_kind_spread = {
    .name = "spread",
    .leaves = true,
    .is_wanted = is_wanted,
    .create = create,
    .destroy = pleat_remote_destroy,
    .environment = environment,
    .started = pleat_kind_starts_itself,
    .look = pleat_kind_nothing,
    .goes_on = pleat_kind_never,
    .is_broken = pleat_kind_never,
    .over = over,
    .unwanted = pleat_kind_nothing,
    .part = pleat_kind_no_part,
    .ranks = pleat_kind_no_ranks,
    .report = pleat_remote_report,
    .describe = pleat_remote_describe,
    .change = pleat_kind_no_change,
    .withdraw = pleat_kind_no_relaunch,
    .relaunch = pleat_kind_no_relaunch,
    .checkpoint = pleat_kind_no_checkpoint,
    .arm = pleat_kind_no_timers,
    .greeted = pleat_kind_no_timers,
};
