#include "agent/warm.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/crash.h"
#include "agent/execute.h"
#include "agent/log.h"
#include "agent/owner.h"
#include "agent/relaunch_plan.h"
#include "agent/remote.h"
#include "agent/succession.h"
#include "base/clock.h"

/* From SIGTERM to SIGKILL, for old processes that did not leave by themselves. */
#define END_GRACE_US (2 * PLEAT_US_PER_S)

/* The most cold relaunches in a row after new processes did not come up. */
#define COLD_MOST 8

/* ---- preparing ---- */

/* Whether the program can be started beside itself. What comes from a terminal or a pipe is read by
 * one of the two and missing in the other; a file is read by each from its beginning, as it is
 * where the old processes end first. */
static bool can_be_warm(const struct pleat_malleable *malleable,
                        const struct pleat_mailbox_status *old)
{
    const struct pleat_run *run = malleable->run;
    return (malleable->cold == 0 || run->relaunch->or_merges) && old->waits &&
           run->state == PLEAT_RUN_RUNNING && !run->killing && !run->launches &&
           (!run->stdin_path || run->input_is_file) && !run->terminal;
}

static void started(struct pleat_run *run, const struct pleat_error *failure)
{
    if (failure)
        run->succession->failure = *failure;
}

static int start(struct pleat_run *run, struct pleat_error *err)
{
    const struct pleat_relaunch *relaunch = run->relaunch;
    int result = pleat_succession_make(run, run->malleable->max_ranks, err);
    if (result)
        return result;
    if (relaunch->nodes)
        pleat_mailbox_place(run->succession->mailbox, 0,
                            (uint32_t)json_array_size(relaunch->nodes));
    result = pleat_remote_prepare(run, relaunch->nodes, err);
    if (result) {
        pleat_remote_drop_new(run);
        pleat_succession_free(run);
        return result;
    }
    pleat_bind_open(run); /* new processes may use the new processors from now on */
    run->succession->deadline_us = pleat_clock_monotonic_us() + relaunch->warm_us;
    result = pleat_run_execute(run, &run->succession->other, relaunch->argv, relaunch->env, started,
                               err);
    if (result) {
        pleat_remote_drop_new(run);
        pleat_succession_free(run);
    }
    pleat_agent_crash_point("warm", "started");
    return result;
}

/* Says why the new processes will not come up. False: they may. */
static bool has_failed(const struct pleat_run *run, const struct pleat_mailbox_status *coming,
                       struct pleat_error *why)
{
    const struct pleat_succession *succession = run->succession;
    const struct pleat_relaunch *relaunch = run->relaunch;
    const int status = succession->status;
    char text[256];
    if (succession->failure.code) {
        *why = succession->failure;
    } else if (succession->ended) {
        pleat_mailbox_failure(succession->mailbox, text, sizeof(text));
        (void)pleat_error_set(why, PLEAT_E_STATE,
                              "they ended with %s %d before they could begin%s%s",
                              WIFSIGNALED(status) ? "signal" : "exit code",
                              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                              text[0] ? ": " : "", text);
    } else if (coming->begun || coming->finished) {
        (void)pleat_error_set(why, PLEAT_E_STATE, "they do not wait for the state");
    } else if (coming->attached && coming->size + coming->surplus != relaunch->processes) {
        (void)pleat_error_set(why, PLEAT_E_STATE,
                              "there are %" PRIu32 " of them instead of %" PRIu32, coming->size,
                              relaunch->processes);
    } else if (succession->stage == PLEAT_SUCCESSION_COMING &&
               pleat_clock_monotonic_us() > succession->deadline_us) {
        (void)pleat_error_set(why, PLEAT_E_TIMEOUT, "they were not ready within %.3g s",
                              (double)relaunch->warm_us / PLEAT_US_PER_S);
    } else {
        return false;
    }
    return true;
}

static enum pleat_warm fail(struct pleat_malleable *malleable, struct pleat_error *why)
{
    struct pleat_run *run = malleable->run;
    pleat_log("run %" PRIu64 " (job %s): new processes were started to take over from those that "
              "run, but %s: these go on",
              run->id, run->job, why->text);
    if (!run->relaunch->or_merges) { /* otherwise pleatd knows when to try again */
        malleable->cold = malleable->warm_failures < 3 ? 1U << malleable->warm_failures : COLD_MOST;
        malleable->warm_failures++;
    }
    run->relaunch->warm_us = 0;
    run->relaunch->warm_failed = true;
    pleat_succession_drop(run);
    return PLEAT_WARM_FAILED;
}

static void become_ready(struct pleat_succession *succession)
{
    if (succession->stage == PLEAT_SUCCESSION_READY)
        return;
    succession->stage = PLEAT_SUCCESSION_READY;
    pleat_agent_crash_point("warm", "ready");
}

enum pleat_warm pleat_warm_prepare(struct pleat_malleable *malleable,
                                   const struct pleat_mailbox_status *old, struct pleat_error *why)
{
    struct pleat_run *run = malleable->run;
    struct pleat_relaunch *relaunch = run->relaunch;
    struct pleat_mailbox_status coming;
    if (!relaunch || !relaunch->warm_us)
        return PLEAT_WARM_NOT;
    if (pleat_succession_ends(run)) /* there are two generations at most */
        return PLEAT_WARM_WAIT;
    if (!run->succession && !can_be_warm(malleable, old)) {
        relaunch->warm_us = 0;
        return PLEAT_WARM_NOT;
    }
    if (!run->succession)
        return start(run, why) ? fail(malleable, why) : PLEAT_WARM_WAIT;
    pleat_mailbox_status(run->succession->mailbox, &coming);
    if (has_failed(run, &coming, why))
        return fail(malleable, why);
    if (!run->succession->other.starting && coming.attached &&
        coming.waiting + pleat_remote_waiting(run) == coming.size)
        become_ready(run->succession);
    return run->succession->stage == PLEAT_SUCCESSION_READY ? PLEAT_WARM_READY : PLEAT_WARM_WAIT;
}

/* ---- handing over ---- */

bool pleat_warm_hand_over(struct pleat_run *run)
{
    struct pleat_succession *succession = run->succession;
    struct pleat_relaunch *relaunch = run->relaunch;
    struct pleat_state_header held = {0};
    if (!succession || succession->stage != PLEAT_SUCCESSION_READY || !relaunch)
        return false;
    if (succession->ended || pleat_state_store_held(&run->malleable->state, &held)) {
        pleat_succession_drop(run);
        return false;
    }
    const struct pleat_generation old = run->now;
    run->now = succession->other;
    succession->other = old;
    succession->ended = run->state != PLEAT_RUN_RUNNING;
    succession->left =
        pleat_malleable_hand_over(run->malleable, succession->mailbox, succession->fd);
    run->malleable->places = relaunch->nodes ? (uint32_t)json_array_size(relaunch->nodes) : 1;
    pleat_remote_hand_over(run);
    succession->mailbox = NULL;
    succession->fd = -1;
    succession->stage = PLEAT_SUCCESSION_LEAVING;
    succession->ending_us = pleat_clock_monotonic_us();
    succession->term_at_us = succession->ending_us + relaunch->grace_us;
    succession->kill_at_us = succession->term_at_us + END_GRACE_US;
    /* the run is as after a start */
    run->state = PLEAT_RUN_RUNNING;
    run->code = run->signal = 0;
    run->left = 0;
    run->complained = false;
    run->doubts = 0;
    relaunch->stage = PLEAT_RELAUNCH_BEGINNING;
    relaunch->handed_over = true;
    relaunch->from_state = true;
    relaunch->iteration = held.iteration;
    pleat_bind_hand_over(run);
    pleat_agent_crash_point("warm", "hands over");
    pleat_mailbox_go(run->malleable->mailbox, held.generation);
    pleat_agent_crash_point("warm", "went");
    pleat_agreement_go(run->malleable, held.generation);
    return true;
}

void pleat_warm_count(struct pleat_malleable *malleable, const struct pleat_relaunch *relaunch)
{
    if (relaunch->handed_over)
        malleable->warm_failures = 0;
    else if (!relaunch->warm_failed && malleable->cold)
        malleable->cold--;
}

/* Whether the ranks are inside the relaunch, or have left it: then the state is held, or may be. */
static bool may_be_saved(const struct pleat_malleable *malleable)
{
    struct pleat_mailbox_status status;
    pleat_mailbox_status(malleable->mailbox, &status);
    return malleable->posted &&
           (status.phase == PLEAT_MAILBOX_ENTERED || status.phase == PLEAT_MAILBOX_SAVED);
}

void pleat_warm_look(struct pleat_run *run)
{
    struct pleat_succession *succession = run->succession;
    if (!succession)
        return;
    bool is_new = !pleat_succession_ends(run);
    if (!is_new && succession->other.empty &&
        (run->state == PLEAT_RUN_ENDING || !pleat_remote_has_others(run))) {
        const struct pleat_succession gone = *succession;
        pleat_remote_drop_new(run);
        succession->params = NULL;
        pleat_succession_free(run);
        if (gone.outcome)
            pleat_outcome_add(run, gone.outcome, gone.resize, gone.params);
        if (gone.vacates)
            pleat_leavers_tell(run, gone.resize, gone.processes);
        pleat_agent_crash_point("warm", "gone");
    } else if (run->state == PLEAT_RUN_ENDING && (!is_new || !may_be_saved(run->malleable))) {
        /* the run is ending: it does not wait longer for the other generation than it must */
        pleat_succession_end(run, 0, END_GRACE_US);
    }
}

bool pleat_warm_survives(struct pleat_run *run)
{
    struct pleat_error err;
    struct pleat_malleable *malleable = run->malleable;
    if (!run->succession)
        return false;
    if (run->relaunch && !run->unwanted && pleat_malleable_broke_inside(malleable, &err)) {
        struct pleat_mailbox_status status;
        pleat_mailbox_status(malleable->mailbox, &status);
        pleat_relaunch_saved(run, status.size, &status.cost);
        if (pleat_warm_hand_over(run)) {
            pleat_log("run %" PRIu64 " (job %s): its processes died when their state was saved: "
                      "those that waited for it go on",
                      run->id, run->job);
            return true;
        }
    }
    pleat_succession_drop(run);
    return true;
}
