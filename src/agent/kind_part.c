/* kind_part.c - the kind of runs that are a part of a run that another node's agent leads: a
 * command that its MPI launcher has started on this node. The output goes to the launcher, through
 * the daemon (outflow.h). */
#include "agent/agent.h"
#include "agent/kind.h"
#include "agent/part_mailbox.h"

static bool is_wanted(const struct pleat_run_request *request)
{
    return request->part > 0;
}

static int create(struct pleat_run *run, const struct pleat_run_request *request,
                  struct pleat_error *err)
{
    run->part_number = request->part;
    return request->mailbox_ranks ? pleat_part_mailbox_create(run, request, err) : 0;
}

static void destroy(struct pleat_run *run)
{
    pleat_part_mailbox_destroy(run);
}

/* The state is kept for the next part of the run on this node. */
static void over(struct pleat_run *run, bool broken)
{
    (void)run;
    (void)broken;
}

static int describe(const struct pleat_run *run, json_t *text)
{
    int bad = json_object_set_new(text, "part", json_integer((json_int_t)run->part_number));
    return bad | pleat_part_mailbox_describe(run, text);
}

static void environment(const struct pleat_run *run, const struct pleat_generation *generation,
                        struct pleat_string *own)
{
    (void)generation;
    pleat_part_mailbox_add_variables(run, own);
}

const struct pleat_run_kind pleat_kind_part = {
    .name = "part",
    .leaves = true,
    .is_wanted = is_wanted,
    .create = create,
    .destroy = destroy,
    .environment = environment,
    .started = pleat_kind_starts_itself,
    .look = pleat_kind_nothing,
    .goes_on = pleat_kind_never,
    .is_broken = pleat_kind_never,
    .over = over,
    .unwanted = pleat_kind_nothing,
    .part = pleat_kind_no_part,
    .ranks = pleat_kind_no_ranks,
    .report = pleat_kind_no_report,
    .describe = describe,
    .change = pleat_kind_no_change,
    .withdraw = pleat_kind_no_relaunch,
    .relaunch = pleat_kind_no_relaunch,
    .checkpoint = pleat_kind_no_checkpoint,
    .arm = pleat_kind_no_timers,
    .greeted = pleat_kind_no_timers,
};
