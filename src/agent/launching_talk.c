#include "agent/launching_talk.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/ending.h"
#include "agent/launching.h"
#include "agent/life.h"
#include "agent/log.h"
#include "agent/malleable.h"
#include "agent/owner.h"
#include "agent/relaunch.h"
#include "agent/resize.h"
#include "base/clock.h"

/* From SIGTERM to SIGKILL, for processes that outlive a launcher whose program is to be started
 * again. */
#define REST_GRACE_US (2 * PLEAT_US_PER_S)

/* ---- the end of a launch ---- */

/* The current launch is over. What was outstanding for it is kept for the next one. */
static void launch_over(struct pleat_launches *launches)
{
    struct pleat_run *run = launches->run;
    struct pleat_call *call = launches->current;
    if (!call)
        return;
    run->part.killing = launches->broke = false;
    pleat_array_finish(&run->told);
    pleat_call_drop(call);
    pleat_relaunch_ended(run);
    pleat_malleable_shut(run->malleable);
}

static void over(struct pleat_call *call)
{
    pleat_call_say(call, PLEAT_LAUNCHING_OVER, "");
    launch_over(call->launches);
}

/* ---- what a `pleat launch` says ---- */

static void begin(struct pleat_call *call, const struct pleat_launching_record *record)
{
    struct pleat_launches *launches = call->launches;
    struct pleat_run *run = launches->run;
    struct pleat_error err = {0};
    char text[256];
    if (launches->current) {
        snprintf(text, sizeof(text),
                 "launch %" PRIu32 " of this job has not ended: of the programs that can change "
                 "their size one runs at a time; start this one after it, or in a job of its own",
                 launches->count);
        (void)pleat_error_set(&err, PLEAT_E_BUSY, "%s", text);
    } else if (run->state == PLEAT_RUN_ENDING || run->unwanted || run->killing) {
        (void)pleat_error_set(&err, PLEAT_E_STATE, "the job is being ended");
    } else if (!pleat_run_has_process(run, call->pid)) {
        (void)pleat_error_set(&err, PLEAT_E_PERMISSION, "this is no process of that job");
    } else if (pleat_malleable_open(run->malleable, &err) == 0) {
        launches->count++;
        launches->current = call;
        call->relaunches = record->relaunches != 0;
        call->stage = PLEAT_CALL_RUNNING;
        if (pleat_call_say_start(call, true, &err) == 0) {
            pleat_log("run %" PRIu64 " (job %s): launch %" PRIu32 " is %s", run->id, run->job,
                      launches->count, record->text);
            return;
        }
        launch_over(launches);
        return;
    }
    pleat_call_say(call, PLEAT_LAUNCHING_REFUSED, err.text);
    pleat_call_drop(call);
}

/* The program is to be started again, or may be: first all of its processes must be gone. */
static void wait_for_rest(struct pleat_call *call)
{
    struct pleat_launches *launches = call->launches;
    int64_t now = pleat_clock_monotonic_us();
    call->stage = PLEAT_CALL_REST;
    if (!launches->run->part.killing) {
        launches->run->part.killing = true;
        launches->run->part.ending_us = now;
        launches->run->part.term_at_us = now + launches->run->linger_us;
        launches->run->part.kill_at_us = launches->run->part.term_at_us + REST_GRACE_US;
    }
    pleat_call_say(call, PLEAT_LAUNCHING_REST, "");
    pleat_runs_sweep(launches->run->agent);
}

/* Whether no program is started again. When the script ends the run is over, and the script's exit
 * is the run's: a program that outlives the script is not started again, whatever was under way. */
static bool is_last(const struct pleat_run *run)
{
    return run->unwanted || run->state == PLEAT_RUN_ENDING;
}

static void ended(struct pleat_call *call, int status)
{
    struct pleat_launches *launches = call->launches;
    struct pleat_run *run = launches->run;
    if (call->stage != PLEAT_CALL_RUNNING || launches->current != call)
        return;
    pleat_malleable_look(run->malleable); /* changes applied just before the end count */
    launches->broke = !pleat_relaunch_is_due(run) && status != 0 && !is_last(run) &&
                      pleat_malleable_is_broken(run->malleable, &run->failure);
    if (!launches->broke && (!pleat_relaunch_is_due(run) || is_last(run))) {
        over(call);
        return;
    }
    if (launches->broke) {
        run->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        run->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    wait_for_rest(call);
}

/* The current program may be relaunched; what was under way is dropped. */
static void broke(struct pleat_run *run)
{
    pleat_relaunch_drop(run);
    pleat_malleable_pause(run->malleable);
    pleat_run_broke(run);
}

static void alone(struct pleat_call *call)
{
    struct pleat_launches *launches = call->launches;
    struct pleat_run *run = launches->run;
    if (call->stage != PLEAT_CALL_REST || launches->current != call)
        return;
    call->stage = PLEAT_CALL_WAITING;
    run->part.killing = false;
    pleat_array_finish(&run->told);
    bool goes_on = !is_last(run);
    if (goes_on && pleat_relaunch_is_due(run))
        pleat_relaunch_go(run);
    else if (goes_on && launches->broke)
        broke(run);
    else
        over(call);
}

static void on_record(struct pleat_call *call, const struct pleat_launching_record *record)
{
    struct pleat_error err;
    switch (record->kind) {
    case PLEAT_LAUNCHING_BEGIN:
        if (call->stage == PLEAT_CALL_NEW)
            begin(call, record);
        break;
    case PLEAT_LAUNCHING_ASK:
        if (call->stage == PLEAT_CALL_NEW && pleat_call_say_start(call, false, &err))
            pleat_log("run %" PRIu64 ": %s", call->launches->run->id, err.text);
        break;
    case PLEAT_LAUNCHING_ENDED:
        ended(call, record->status);
        break;
    case PLEAT_LAUNCHING_ALONE:
        alone(call);
        break;
    default:
        pleat_log("run %" PRIu64 ": 'pleat launch' said what means nothing",
                  call->launches->run->id);
        break;
    }
}

/* ---- listening ---- */

static void on_call(uv_poll_t *poll, int status, int events)
{
    struct pleat_call *call = poll->data;
    struct pleat_launches *launches = call->launches;
    struct pleat_launching_record record;
    struct pleat_error err;
    (void)status;
    (void)events;
    int code = pleat_launching_receive(call->fd, &record, &err);
    if (code == 0) {
        on_record(call, &record);
    } else if (code != PLEAT_E_NOTFOUND && launches->current == call) {
        pleat_log("run %" PRIu64 " (job %s): 'pleat launch' number %" PRIu32 " ended before its "
                  "program did",
                  launches->run->id, launches->run->job, launches->count);
        launch_over(launches);
    } else if (code != PLEAT_E_NOTFOUND) {
        pleat_call_drop(call);
    }
}

static void add_call(struct pleat_launches *launches, int fd, pid_t pid)
{
    struct pleat_call *call = calloc(1, sizeof(*call));
    if (!call || uv_poll_init(&launches->run->agent->loop, &call->poll, fd) < 0) {
        pleat_log("run %" PRIu64 ": no memory for a 'pleat launch'", launches->run->id);
        free(call);
        close(fd);
        return;
    }
    call->launches = launches;
    call->fd = fd;
    call->pid = pid;
    call->poll.data = call;
    call->next = launches->calls;
    launches->calls = call;
    launches->handles++;
    /* cannot fail for a fresh handle */
    (void)uv_poll_start(&call->poll, UV_READABLE | UV_DISCONNECT, on_call);
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    struct pleat_launches *launches = poll->data;
    struct pleat_error err;
    int fd = -1;
    pid_t pid = 0;
    (void)status;
    (void)events;
    int code = pleat_launching_accept(launches->fd, &fd, &pid, &err);
    if (code == 0)
        add_call(launches, fd, pid);
    else if (code != PLEAT_E_NOTFOUND)
        pleat_log("run %" PRIu64 ": %s", launches->run->id, err.text);
}

void pleat_launches_listen(struct pleat_run *run)
{
    /* cannot fail for a fresh handle */
    (void)uv_poll_start(&run->launches->poll, UV_READABLE, on_connection);
}

void pleat_launches_end(struct pleat_run *run)
{
    struct pleat_call *call = run->launches ? run->launches->current : NULL;
    if (call && call->stage == PLEAT_CALL_WAITING)
        over(call);
}
