#include "agent/resize.h"

#include <inttypes.h>
#include <stdio.h>

#include "agent/checkpoint.h"
#include "agent/launching.h"
#include "agent/log.h"
#include "agent/notify.h"
#include "agent/owner.h"
#include "agent/relaunch.h"
#include "agent/settle.h"
#include "agent/succession.h"
#include "agent/warm.h"
#include "base/clock.h"

#define LEAVE_US (10 * PLEAT_US_PER_S) /* for processes to leave after their state was saved */

/* ---- what comes of the outstanding request ---- */

static void answered(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status)
{
    uint64_t resize = malleable->request.resize;
    pleat_malleable_abandon(malleable);
    pleat_mailbox_acknowledge(malleable->mailbox);
    pleat_outcome_add(
        malleable->run, "answer", resize,
        json_pack("{s:I, s:I, s:I}", "run", (json_int_t)malleable->run->id, "resize",
                  (json_int_t)resize, "accepted",
                  (json_int_t)pleat_run_processors(malleable->run, (uint32_t)status->accepted)));
}

/* The request is done: the application runs on `processes` now. Ranks from `first` on leave. */
static void done(struct pleat_malleable *malleable, uint32_t processes, uint32_t first,
                 const struct pleat_mailbox_cost *cost, const char *warning)
{
    uint64_t resize = malleable->request.resize;
    struct pleat_leavers *leaving = malleable->leaving;
    malleable->leaving = NULL;
    malleable->fitted = true;
    pleat_malleable_applied(malleable, processes, cost, warning);
    if (processes >= malleable->size_before) {
        pleat_leavers_drop(leaving);
        return;
    }
    if (!leaving) /* when the shrink was posted memory had run out: tried again */
        leaving = pleat_leavers_open(malleable->run, malleable->mailbox, first,
                                     malleable->size_before - first);
    if (leaving)
        pleat_leavers_watch(leaving, &malleable->watched, resize, processes);
    else
        pleat_log("run %" PRIu64 ": no memory to see its processes leave", malleable->run->id);
}

static void applied(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status)
{
    char warning[256];
    pleat_mailbox_failure(malleable->mailbox, warning, sizeof(warning));
    pleat_mailbox_acknowledge(malleable->mailbox);
    done(malleable, status->size, status->size, &status->cost, warning);
}

/* When the application began it had no use for some ranks, which left (pleat_session_limits). The
 * core shrinks it soon, as it is told these limits: such a request is done already. A request that
 * was sent before the core knew, and is for more processors than the application had, is refused.
 * Returns whether the request was dealt with. */
static bool has_fitted(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status)
{
    const struct pleat_mailbox_request *request = &malleable->request;
    const struct pleat_mailbox_cost none = {0};
    if (malleable->fitted || !status->surplus || malleable->kind != PLEAT_REQUEST_RESIZE ||
        request->relaunch || request->target < status->size)
        return false;
    if (request->target >= malleable->size_before)
        pleat_malleable_failed(malleable,
                               "the program has said that it cannot use as many as it has");
    else
        done(malleable, request->target, status->size, &none, "");
    return true;
}

/* Decides whether a resize is a relaunch. For a script this is known only now, since it may launch
 * programs of any MPI. */
static void choose_way(struct pleat_malleable *malleable)
{
    struct pleat_run *run = malleable->run;
    struct pleat_mailbox_request *request = &malleable->request;
    struct pleat_error err;
    const struct pleat_relaunch_order order = {
        .resize = request->resize, .processes = request->target, .grace_us = LEAVE_US};
    if (malleable->kind != PLEAT_REQUEST_RESIZE || request->relaunch ||
        !pleat_launches_only_relaunch(run))
        return;
    if (pleat_relaunch_plan(run, &order, &err))
        pleat_log("%s", err.text);
    else
        request->relaunch = true;
}

static void post(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status)
{
    const struct pleat_mailbox_request *request = &malleable->request;
    int result;
    choose_way(malleable);
    malleable->size_before = pleat_malleable_size(malleable, status);
    if (has_fitted(malleable, status))
        return;
    if (malleable->kind == PLEAT_REQUEST_ASK) {
        result = pleat_mailbox_ask(malleable->mailbox, request);
    } else {
        /* Leaving ranks are opened before the request is posted: later their pids may be those of
         * other processes. */
        if (!request->relaunch) /* new processes may start before the next look */
            pleat_bind_open(malleable->run);
        if (request->target < status->size && !request->relaunch && !malleable->leaving)
            malleable->leaving =
                pleat_leavers_open(malleable->run, malleable->mailbox, request->target,
                                   malleable->size_before - request->target);
        /* agents of other nodes do not know when the new ranks compute */
        malleable->request.beside =
            request->relaunch && malleable->run->succession && malleable->places == 1;
        result = pleat_agreement_post(malleable, status);
    }
    if (result == 0)
        malleable->posted = true;
    else if (result != PLEAT_E_BUSY) /* busy: the application overwrote it; looked at again */
        pleat_malleable_failed(malleable, "the application's mailbox does not take the request");
}

/* Whether a relaunch that cannot be a warm one is done by merging or splitting instead, as its
 * order allows. */
static bool merges_instead(struct pleat_malleable *malleable, const char *why)
{
    struct pleat_run *run = malleable->run;
    if (!run->relaunch || !run->relaunch->or_merges ||
        (malleable->posted && pleat_agreement_withdraw(malleable)))
        return false;
    snprintf(malleable->instead, sizeof(malleable->instead), "%s", why);
    malleable->posted = malleable->request.relaunch = false;
    pleat_relaunch_drop(run);
    return true;
}

/* Takes back the request if it is unwanted, or was given up; false: that is not so, or not possible
 * yet. If ranks are inside already the program saves its state, and is started again when it has
 * ended. If the nodes have agreed on it, they are asked, and it is tried again. */
static bool is_taken_back(struct pleat_malleable *malleable)
{
    char text[sizeof(malleable->gave_up)];
    if ((!malleable->unwanted && !malleable->gave_up[0]) ||
        (malleable->posted && pleat_agreement_withdraw(malleable)))
        return false;
    snprintf(text, sizeof(text), "%s", malleable->gave_up);
    if (malleable->unwanted)
        pleat_malleable_withdrawn(malleable);
    else
        pleat_malleable_failed(malleable, text);
    return true;
}

/* Where new processes are to be started first, goes on with that. Returns whether the request can
 * be posted. Where they do not come up nothing has happened, and the resize fails; but a mandatory
 * one is done without them. */
static bool is_prepared(struct pleat_malleable *malleable,
                        const struct pleat_mailbox_status *status)
{
    struct pleat_error why = {0};
    char text[sizeof(why.text) + 64];
    /* an earlier second generation must be gone before other processes come or go */
    if (!malleable->run->relaunch && malleable->kind == PLEAT_REQUEST_RESIZE &&
        pleat_succession_ends(malleable->run))
        return false;
    switch (pleat_warm_prepare(malleable, status, &why)) {
    case PLEAT_WARM_NOT:
        (void)merges_instead(malleable, "new processes cannot start beside those that run");
        return true;
    case PLEAT_WARM_READY:
        return true;
    case PLEAT_WARM_WAIT:
        return false;
    case PLEAT_WARM_FAILED:
        break;
    }
    snprintf(text, sizeof(text), "its new processes did not come up: %s", why.text);
    if (merges_instead(malleable, text))
        return false;
    if (malleable->request.mandatory)
        return true; /* the program saves its state, and is started again when it has ended */
    snprintf(malleable->gave_up, sizeof(malleable->gave_up),
             "its new processes did not come up, so it goes on: %s", why.text);
    return !is_taken_back(malleable);
}

/* An application that has finished its session comes to no adaptation point any more: then the
 * request is withdrawn. */
static bool withdraw_if_finished(struct pleat_malleable *malleable,
                                 const struct pleat_mailbox_status *status)
{
    if (!status->finished)
        return false;
    if (malleable->posted && pleat_agreement_withdraw(malleable))
        return false;
    pleat_malleable_withdrawn(malleable);
    return true;
}

/* The request was posted, and ranks have not left yet for a relaunch. */
static void look_at_posted(struct pleat_malleable *malleable,
                           const struct pleat_mailbox_status *status)
{
    static const char overwritten[] =
        "the application's mailbox lost the request: was its memory overwritten?";
    char text[256];
    if (malleable->kind == PLEAT_REQUEST_RESIZE && !pleat_agreement_look(malleable, status)) {
        malleable->posted = false;
        (void)is_taken_back(malleable);
        return;
    }
    switch (status->phase) {
    case PLEAT_MAILBOX_ANSWERED:
        answered(malleable, status);
        break;
    case PLEAT_MAILBOX_APPLIED:
        applied(malleable, status);
        break;
    case PLEAT_MAILBOX_FAILED:
        pleat_mailbox_failure(malleable->mailbox, text, sizeof(text));
        pleat_mailbox_acknowledge(malleable->mailbox);
        pleat_malleable_failed(malleable,
                               text[0] ? text : "the application could not change its size");
        break;
    case PLEAT_MAILBOX_SAVED:
        if (malleable->run->relaunch) {
            pleat_relaunch_saved(malleable->run, malleable->size_before, &status->cost);
            if (!pleat_warm_hand_over(malleable->run) && malleable->mailbox)
                pleat_mailbox_dismiss(malleable->mailbox);
        } else {
            pleat_malleable_failed(malleable, overwritten);
        }
        break;
    case PLEAT_MAILBOX_IDLE:
    case PLEAT_MAILBOX_PUT_OFF:
        pleat_malleable_failed(malleable, overwritten);
        break;
    case PLEAT_MAILBOX_ASKED:
    case PLEAT_MAILBOX_POSTED:
        if (!is_taken_back(malleable) && !withdraw_if_finished(malleable, status))
            (void)is_prepared(malleable, status);
        break;
    case PLEAT_MAILBOX_ENTERED:
        break;
    }
}

/* The program says why it cannot begin, for example on so few processors: it ends. */
static void tell_unable(struct pleat_malleable *malleable)
{
    char text[256];
    pleat_mailbox_failure(malleable->mailbox, text, sizeof(text));
    if (malleable->unable || !text[0])
        return;
    malleable->unable = true;
    pleat_log("run %" PRIu64 " (job %s): it cannot begin: %s", malleable->run->id,
              malleable->run->job, text);
    pleat_agent_notify(malleable->run->agent, "warning",
                       json_pack("{s:I, s:o}", "run", (json_int_t)malleable->run->id, "text",
                                 pleat_json_text(text)));
}

/* Says once that copies cannot be saved: the program would go on from an older one, or from none.
 */
static void tell_unkept(struct pleat_malleable *malleable)
{
    char why[256], text[sizeof(why) + 64];
    malleable->unkept = true;
    pleat_mailbox_why_unkept(malleable->mailbox, why, sizeof(why));
    snprintf(text, sizeof(text), "a copy to go on from was not saved (--save): %s", why);
    pleat_log("run %" PRIu64 " (job %s): %s", malleable->run->id, malleable->run->job, text);
    pleat_agent_notify(malleable->run->agent, "warning",
                       json_pack("{s:I, s:o}", "run", (json_int_t)malleable->run->id, "text",
                                 pleat_json_text(text)));
}

/* An application that was started again says its limits anew before it begins. */
static void look_at_limits(struct pleat_malleable *malleable,
                           const struct pleat_mailbox_status *status)
{
    struct pleat_mailbox_limits limits;
    if (status->limits == malleable->limits_seen ||
        pleat_mailbox_get_limits(malleable->mailbox, &limits))
        return;
    malleable->limits_seen = status->limits;
    pleat_malleable_limit(malleable, &limits);
}

/* There are too few ranks to begin, and a resize is outstanding: they leave, and those of the new
 * size are started. Nothing was computed, so there is no state, and nothing to wait for. */
static void begin_anew(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status)
{
    struct pleat_run *run = malleable->run;
    const struct pleat_mailbox_cost none = {0};
    const struct pleat_relaunch_order order = {.resize = malleable->request.resize,
                                               .processes = malleable->request.target,
                                               .grace_us = LEAVE_US};
    struct pleat_error err;
    if (!run->relaunch && run->launches && pleat_relaunch_plan(run, &order, &err))
        pleat_log("%s", err.text);
    if (!run->relaunch) {
        pleat_malleable_failed(malleable, "its program has not begun, and waits for more ranks");
        return;
    }
    malleable->size_before = pleat_malleable_size(malleable, status);
    malleable->posted = true;
    run->relaunch->anew = true;
    pleat_relaunch_saved(run, malleable->size_before, &none);
    pleat_mailbox_decide(malleable->mailbox, PLEAT_VERDICT_LEAVE);
}

static void look_at_ask(struct pleat_malleable *malleable)
{
    struct pleat_mailbox_ask ask;
    pleat_mailbox_get_ask(malleable->mailbox, &ask);
    pleat_malleable_ask(malleable, &ask);
}

/* Whether the outstanding request waits until no rank is in a section in which nothing may change.
 * A mandatory one is posted meanwhile: then the ranks agree on it as soon as they may. */
static bool is_held_back(const struct pleat_malleable *malleable,
                         const struct pleat_mailbox_status *status)
{
    return status->not_now && !malleable->request.mandatory;
}

void pleat_malleable_look(struct pleat_malleable *malleable)
{
    struct pleat_mailbox_status status;
    const struct pleat_relaunch *relaunch = malleable->run->relaunch;
    if (!malleable->mailbox)
        return;
    pleat_mailbox_status(malleable->mailbox, &status);
    if (status.begun)
        malleable->unbegun = false;
    malleable->lacks = status.lacks;
    if (status.begun || status.lacks) {
        look_at_limits(malleable, &status);
        look_at_ask(malleable);
    }
    if (!status.begun && !malleable->unbegun)
        tell_unable(malleable);
    if (status.unkept && !malleable->unkept)
        tell_unkept(malleable);
    if (pleat_wish_look(malleable, &status))
        return;
    if (malleable->kind == PLEAT_REQUEST_NONE && !relaunch && status.attached &&
        !malleable->unbegun && !status.lacks)
        pleat_wish_post(malleable, &status);
    if (malleable->kind == PLEAT_REQUEST_NONE ||
        (relaunch && relaunch->stage == PLEAT_RELAUNCH_STARTING))
        return;
    if (relaunch && relaunch->stage == PLEAT_RELAUNCH_LEAVING) {
        pleat_relaunch_press(malleable->run);
    } else if (relaunch && relaunch->stage == PLEAT_RELAUNCH_BEGINNING) {
        if (status.begun || status.lacks) {
            pleat_warm_count(malleable, relaunch);
            pleat_relaunch_begun(malleable->run, &status);
        }
    } else if (status.lacks && malleable->kind == PLEAT_REQUEST_RESIZE) {
        begin_anew(malleable, &status);
    } else if (malleable->posted) {
        look_at_posted(malleable, &status);
    } else if (status.begun && !malleable->unbegun && /* the ranks that stay are known */
               !withdraw_if_finished(malleable, &status) && !is_held_back(malleable, &status) &&
               is_prepared(malleable, &status)) {
        post(malleable, &status);
    }
}

/* ---- requests ---- */

static bool tell_again(const struct pleat_malleable *malleable, bool ask, uint64_t resize)
{
    return pleat_outcome_tell(malleable->run, ask ? PLEAT_OUTCOME_OF_ASK : PLEAT_OUTCOME_OF_RESIZE,
                              resize);
}

/* Whether the run is ending, or has ended, to go on elsewhere after that resize: its end says so.
 */
static bool has_moved(const struct pleat_malleable *malleable, uint64_t resize)
{
    return malleable->run->moved && malleable->run->moved == resize;
}

static bool is_outstanding(const struct pleat_malleable *malleable, bool ask, uint64_t resize)
{
    return malleable->kind == (ask ? PLEAT_REQUEST_ASK : PLEAT_REQUEST_RESIZE) &&
           malleable->request.resize == resize;
}

/* Whether the run takes requests. Where a script has no program at the moment, requests wait for
 * the next one. */
static bool takes_requests(const struct pleat_malleable *malleable)
{
    const struct pleat_run *run = malleable->run;
    return malleable->mailbox || (run->launches && !run->broken && pleat_run_is_live(run));
}

int pleat_malleable_request(struct pleat_malleable *malleable, bool ask,
                            const struct pleat_mailbox_request *request,
                            const struct pleat_relaunch_order *relaunch, const json_t *slots,
                            struct pleat_error *err)
{
    pleat_malleable_look(malleable);
    if (is_outstanding(malleable, ask, request->resize) ||
        (!ask && pleat_succession_will_tell(malleable->run, request->resize)) ||
        (!ask && has_moved(malleable, request->resize)) ||
        tell_again(malleable, ask, request->resize))
        return 0;
    if (malleable->kind != PLEAT_REQUEST_NONE)
        return pleat_error_set(
            err, PLEAT_E_BUSY,
            "run %" PRIu64 " is busy with %s %" PRIu64 ": wait for it or withdraw it",
            malleable->run->id, malleable->kind == PLEAT_REQUEST_ASK ? "question" : "resize",
            malleable->request.resize);
    if (!takes_requests(malleable))
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " has exited",
                               malleable->run->id);
    if (request->target > malleable->max_ranks)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "run %" PRIu64 " has room for %" PRIu32 " processes, not %" PRIu32,
                               malleable->run->id, malleable->max_ranks, request->target);
    int result = pleat_bind_plan(malleable->run, slots, err);
    if (!result && relaunch)
        result = pleat_relaunch_plan(malleable->run, relaunch, err);
    if (result)
        return result;
    malleable->kind = ask ? PLEAT_REQUEST_ASK : PLEAT_REQUEST_RESIZE;
    malleable->request = *request;
    malleable->posted = false;
    malleable->instead[0] = malleable->gave_up[0] = '\0';
    pleat_malleable_look(malleable);
    return 0;
}

int pleat_malleable_withdraw(struct pleat_malleable *malleable, uint64_t resize,
                             struct pleat_error *err)
{
    pleat_malleable_look(malleable);
    if (malleable->kind != PLEAT_REQUEST_NONE && malleable->request.resize == resize) {
        bool anew = malleable->run->relaunch && malleable->run->relaunch->anew;
        if (!malleable->posted || (!anew && pleat_agreement_withdraw(malleable) == 0))
            pleat_malleable_withdrawn(malleable);
        else /* ranks have entered the change: its outcome follows, or they put it off */
            malleable->unwanted = true;
        return 0;
    }
    if (pleat_succession_will_tell(malleable->run, resize) || has_moved(malleable, resize) ||
        tell_again(malleable, false, resize))
        return 0;
    if (!takes_requests(malleable))
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " has exited",
                               malleable->run->id);
    pleat_outcome_add(malleable->run, "withdrawn", resize,
                      pleat_outcome_params(malleable->run, resize));
    return 0;
}

bool pleat_malleable_outstanding(const struct pleat_malleable *malleable, uint64_t *resize)
{
    *resize = malleable->request.resize;
    return malleable->kind == PLEAT_REQUEST_RESIZE;
}
