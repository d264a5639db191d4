#include "agent/relaunch.h"

#include <inttypes.h>
#include <string.h>

#include "agent/crash.h"
#include "agent/ending.h"
#include "agent/execute.h"
#include "agent/launching.h"
#include "agent/life.h"
#include "agent/log.h"
#include "agent/owner.h"
#include "agent/remote.h"
#include "agent/scratch.h"
#include "agent/settle.h"
#include "agent/succession.h"
#include "base/clock.h"

/* From SIGTERM to SIGKILL, for processes that did not leave by themselves. */
#define END_GRACE_US (2 * PLEAT_US_PER_S)

/* ---- as the way of a resize ---- */

/* Ends all processes that are to be started again: those of the run, or of its current program. */
static void end_processes(struct pleat_run *run, int64_t grace_us)
{
    if (run->launches)
        pleat_launches_kill(run, grace_us);
    else
        pleat_run_kill(run, grace_us);
    pleat_runs_sweep(run->agent);
}

void pleat_relaunch_press(struct pleat_run *run)
{
    struct pleat_relaunch *relaunch = run->relaunch;
    if (relaunch->told_to_end || run->state != PLEAT_RUN_RUNNING ||
        pleat_clock_monotonic_us() - relaunch->leaving_us < relaunch->grace_us)
        return;
    relaunch->told_to_end = true;
    pleat_log("run %" PRIu64 " (job %s): its state is saved, but it does not end to be started "
              "again: ending it",
              run->id, run->job);
    end_processes(run, END_GRACE_US);
}

/* The cost of the resize is the sum of two parts, of the old processes and of the new ones. What
 * was neither saving nor loading was spent on ending and starting processes. */
void pleat_relaunch_begun(struct pleat_run *run, const struct pleat_mailbox_status *status)
{
    const struct pleat_relaunch *relaunch = run->relaunch;
    struct pleat_mailbox_cost cost = relaunch->cost;
    uint64_t resize = relaunch->resize;
    uint32_t before = relaunch->before;
    uint64_t since_ns = (uint64_t)(pleat_clock_monotonic_us() - relaunch->leaving_us) * 1000;
    cost.load_ns = status->loaded ? status->cost.load_ns : 0;
    cost.total_ns += since_ns;
    cost.redistribute_ns = 0;
    cost.processes_ns =
        cost.total_ns -
        (cost.save_ns + cost.load_ns < cost.total_ns ? cost.save_ns + cost.load_ns : cost.total_ns);
    uint32_t size = pleat_malleable_size(run->malleable, status);
    pleat_agent_crash_point("warm", "begun");
    pleat_succession_dismiss(run);
    pleat_agent_crash_point("warm", "dismissed");
    pleat_remote_tidy(run);
    pleat_malleable_applied(
        run->malleable, size, &cost,
        status->loaded || relaunch->anew ? "" : "it began from its beginning, not its state");
    if (size < before && run->succession) { /* old processes are still leaving */
        run->succession->vacates = true;
        run->succession->resize = resize;
        run->succession->processes = size;
    } else if (size < before) {
        pleat_leavers_tell(run, resize, size);
    }
    pleat_bind_tasks(run);
}

/* ---- as a request of its own ---- */

int pleat_relaunch_demand(struct pleat_run *run, const struct pleat_relaunch_order *order,
                          struct pleat_error *err)
{
    if (run->relaunch && run->relaunch->demanded && run->relaunch->resize == order->resize)
        return 0;
    /* a run that broke since then is to be relaunched once more */
    if (!run->broken && pleat_outcome_tell(run, PLEAT_OUTCOME_OF_RELAUNCH, order->resize))
        return 0;
    if (!run->broken && (run->unwanted || !pleat_run_is_live(run)))
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " %s", run->id,
                               pleat_run_is_live(run) ? "is being ended" : "has exited");
    int result = pleat_bind_plan(run, order->slots, err);
    if (result)
        return result;
    struct pleat_relaunch *made = pleat_relaunch_make(run, order, err);
    if (!made)
        return PLEAT_E_NOMEM;
    pleat_malleable_abandon(run->malleable);
    pleat_leavers_drop_all(&run->malleable->watched);
    pleat_succession_hush(run); /* the outcome is that of the relaunch */
    made->demanded = true;
    made->stage = PLEAT_RELAUNCH_LEAVING;
    run->relaunch = made;
    if (run->broken || (run->launches && !pleat_launches_busy(run)))
        pleat_relaunch_go(run);
    else
        end_processes(run, order->grace_us);
    return 0;
}

/* ---- starting again ---- */

/* The run is again as before its first start. Its resources used so far stay in its account, unless
 * the daemon was told of them. */
static void forget_end(struct pleat_run *run)
{
    if (run->broken)
        run->cpu_us = run->max_rss_kb = 0;
    if (run->left)
        pleat_log("run %" PRIu64 " (job %s): ended %" PRIu32
                  " processes before it is started again",
                  run->id, run->job, run->left);
    pleat_array_finish(&run->told);
    run->code = run->signal = 0;
    run->left = 0;
    run->killing = run->complained = run->broken = false;
    run->doubts = 0;
    memset(&run->failure, 0, sizeof(run->failure));
}

static int start_again(struct pleat_run *run, struct pleat_error *err)
{
    const json_t *nodes = run->relaunch->nodes;
    run->malleable->places = nodes ? (uint32_t)json_array_size(nodes) : 1;
    run->malleable->agreement.stage = PLEAT_AGREEMENT_NONE;
    int result = pleat_malleable_renew(run->malleable, err);
    if (!result && run->scratch)
        result = pleat_scratch_make(run->scratch, &run->scratch_lock, err);
    if (!result)
        result = pleat_remote_renew(run, nodes, err);
    pleat_bind_renew(run);
    if (!result)
        result = pleat_run_execute(run, &run->now, run->relaunch->argv, run->relaunch->env,
                                   pleat_run_start_settled, err);
    return result;
}

static void tell_relaunched(struct pleat_run *run)
{
    const struct pleat_relaunch *relaunch = run->relaunch;
    pleat_outcome_add(run, "relaunched", relaunch->resize,
                      json_pack("{s:I, s:I, s:I, s:i, s:b, s:o}", "run", (json_int_t)run->id,
                                "resize", (json_int_t)relaunch->resize, "processes",
                                (json_int_t)pleat_run_processors(run, relaunch->processes), "pid",
                                (int)run->now.pid, "from_state", relaunch->from_state, "iteration",
                                pleat_outcome_number(relaunch->iteration)));
    pleat_relaunch_drop(run);
}

void pleat_relaunch_started(struct pleat_run *run, const struct pleat_error *failure)
{
    struct pleat_relaunch *relaunch = run->relaunch;
    if (failure) {
        pleat_log("run %" PRIu64 " (job %s) cannot be started again: %s", run->id, run->job,
                  failure->text);
        run->now.pid = 0;
        run->failure = *failure;
        run->code = -1;
        pleat_run_finish(run, relaunch->from_state && !run->unwanted);
    } else if (relaunch->demanded) {
        tell_relaunched(run);
    } else {
        relaunch->stage = PLEAT_RELAUNCH_BEGINNING;
    }
}

/* Relaunches the program of a script, which itself goes on. Where no program runs at the moment
 * nothing is lost: the next one starts at the new size. */
static void launch_again(struct pleat_run *run)
{
    struct pleat_state_header held = {0};
    struct pleat_error failure = {0};
    struct pleat_relaunch *relaunch = run->relaunch;
    bool from_state = pleat_state_store_held(&run->malleable->state, &held) == 0;
    bool there = pleat_launches_pid(run) != 0;
    if (run->state == PLEAT_RUN_ENDING)
        return; /* the script has ended and with it the run, which is told elsewhere */
    run->code = run->signal = 0;
    run->broken = false;
    memset(&run->failure, 0, sizeof(run->failure));
    if (there && pleat_malleable_renew(run->malleable, &failure)) {
        pleat_log("run %" PRIu64 " (job %s) cannot be started again: %s", run->id, run->job,
                  failure.text);
        pleat_run_end(run, END_GRACE_US);
        return;
    }
    pleat_bind_open(run);
    pleat_bind_accept(run, SIZE_MAX);
    (void)pleat_bind_close(run);
    (void)pleat_launches_again(run, relaunch->processes);
    relaunch->from_state = from_state || !there;
    relaunch->iteration = from_state ? held.iteration : 0;
    if (relaunch->demanded)
        tell_relaunched(run);
    else
        relaunch->stage = PLEAT_RELAUNCH_BEGINNING;
}

void pleat_relaunch_ended(struct pleat_run *run)
{
    const struct pleat_relaunch *relaunch = run->relaunch;
    struct pleat_mailbox_status status = {0};
    if (!relaunch || relaunch->stage == PLEAT_RELAUNCH_PLANNED)
        return;
    status.size = relaunch->processes;
    if (relaunch->stage == PLEAT_RELAUNCH_BEGINNING)
        pleat_relaunch_begun(run, &status);
    else if (relaunch->demanded)
        launch_again(run);
    else
        pleat_malleable_failed(run->malleable,
                               "its 'pleat launch' ended before it could start it again");
}

void pleat_relaunch_move(struct pleat_run *run)
{
    struct pleat_mailbox_status status = {0};
    if (run->malleable->mailbox)
        pleat_mailbox_status(run->malleable->mailbox, &status);
    run->moved = run->relaunch->resize;
    run->moved_at = status.iteration;
    pleat_agent_crash_point("lead", "moved");
}

void pleat_relaunch_go(struct pleat_run *run)
{
    if (run->launches) {
        launch_again(run);
        return;
    }
    struct pleat_state_header held = {0};
    struct pleat_error failure = {0};
    struct pleat_relaunch *relaunch = run->relaunch;
    relaunch->from_state = pleat_state_store_held(&run->malleable->state, &held) == 0;
    relaunch->iteration = relaunch->from_state ? held.iteration : 0;
    relaunch->stage = PLEAT_RELAUNCH_STARTING;
    forget_end(run);
    if (start_again(run, &failure))
        pleat_relaunch_started(run, &failure);
    pleat_agent_crash_point("lead", "again");
}
