/* kind_part.c - the kind of runs that are a part of one that another node's agent leads: what its
 * MPI launcher has started on this node. What it writes goes to the launcher, through the daemon
 * (outflow.h).
 */
#include "agent/agent.h"
#include "agent/kind.h"
#include "agent/life.h"
#include "agent/outflow.h"
#include "agent/part_mailbox.h"
#include "base/clock.h"

/* After the last process of a part that was to end, what it wrote is heard within this time, or
 * lost. */
#define LAST_US PLEAT_US_PER_S

static bool is_wanted(const struct pleat_run_request *request)
{
    return request->part > 0;
}

static int create(struct pleat_run *run, const struct pleat_run_request *request,
                  struct pleat_error *err)
{
    run->part_number = request->part;
    int rc = request->mailbox_ranks ? pleat_part_mailbox_create(run, request, err) : 0;
    return rc ? rc : pleat_outflow_create(run, err);
}

static void destroy(struct pleat_run *run)
{
    pleat_outflow_destroy(run);
    pleat_part_mailbox_destroy(run);
}

/* The end is told when all that the part wrote was heard, but one that was told to end does not
 * wait for that without end. */
static bool goes_on(struct pleat_run *run)
{
    bool late = run->killing && pleat_clock_monotonic_us() >= run->kill_at_us + LAST_US;
    run->held = !late && pleat_outflow_holds(run);
    run->now.empty = true;
    return run->held;
}

/* What the end has waited for may have come. */
static void look(struct pleat_run *run)
{
    bool held = run->held;
    run->held = false;
    if (held)
        pleat_run_exited(run);
}

static void over(struct pleat_run *run, bool broken)
{
    (void)broken;
    pleat_outflow_destroy(run); /* the state is kept for the next part of the run on this node */
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

/* Whether what was told has arrived is not known: the daemon says when it is told again. */
static void greeted(struct pleat_agent *agent)
{
    for (size_t i = 0; i < agent->runs.count; i++)
        pleat_outflow_pause(agent->runs.items[i]);
}

const struct pleat_run_kind pleat_kind_part = {
    .name = "part",
    .is_wanted = is_wanted,
    .create = create,
    .destroy = destroy,
    .environment = environment,
    .started = pleat_kind_starts_itself,
    .look = look,
    .goes_on = goes_on,
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
    .arm = pleat_outflow_pump,
    .greeted = greeted,
};
