#include "agent/launching.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/log.h"
#include "agent/resize.h"
#include "agent/scratch.h"
#include "base/clock.h"

/* From SIGTERM to SIGKILL, for processes that outlive a launcher whose program is to be started
 * again. */
#define REST_GRACE_US (2 * PLEAT_US_PER_S)

enum stage {
    NEW,     /* it has said nothing yet */
    RUNNING, /* its program runs */
    REST,    /* its launcher has ended; it will say when no process is left */
    WAITING  /* no process is left: it waits until it is told what to do */
};

struct pleat_call {
    struct pleat_launches *launches;
    struct pleat_call *next;
    uv_poll_t poll;
    int fd;
    pid_t pid;
    enum stage stage;
    bool relaunches; /* its MPI cannot start processes at run time */
};

/* ---- life ---- */

static void let_go(struct pleat_launches *launches)
{
    if (--launches->handles == 0 && !launches->run)
        free(launches);
}

static void on_call_closed(uv_handle_t *handle)
{
    struct pleat_call *call = handle->data;
    struct pleat_launches *launches = call->launches;
    close(call->fd);
    free(call);
    let_go(launches);
}

static void drop(struct pleat_call *call)
{
    struct pleat_call **at = &call->launches->calls;
    while (*at && *at != call)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = call->next;
    if (call->launches->current == call)
        call->launches->current = NULL;
    uv_close((uv_handle_t *)&call->poll, on_call_closed);
}

static void say(struct pleat_call *call, enum pleat_launching_kind kind, const char *text)
{
    struct pleat_error err;
    struct pleat_launching_record record = {0};
    snprintf(record.text, sizeof(record.text), "%.*s", (int)sizeof(record.text) - 1, text);
    if (pleat_launching_send(call->fd, kind, &record, &err))
        pleat_log("run %" PRIu64 ": %s", call->launches->run->id, err.text);
}

static int say_start(struct pleat_call *call, bool resized, struct pleat_error *err)
{
    struct pleat_launches *launches = call->launches;
    struct pleat_malleable *malleable = launches->run->malleable;
    struct pleat_launching_record record = {.processes = launches->processes};
    if (resized) {
        record.launch = launches->count;
        pleat_malleable_path(malleable, false, record.mailbox, sizeof(record.mailbox));
        pleat_malleable_path(malleable, true, record.doorbell, sizeof(record.doorbell));
        pleat_state_store_paths(&malleable->state, record.state);
    }
    return pleat_launching_send(call->fd, PLEAT_LAUNCHING_START, &record, err);
}

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
    drop(call);
    pleat_relaunch_ended(run);
    pleat_malleable_shut(run->malleable);
}

static bool belongs(struct pleat_run *run, pid_t pid)
{
    struct pleat_agent *agent = run->agent;
    struct pleat_error err;
    if (pleat_tree_read(agent->proc, &agent->tree, &err))
        return false;
    struct pleat_tree_process *process = pleat_tree_find(&agent->tree, pid);
    return process && pleat_run_of_process(agent, process) == run->id;
}

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
    } else if (!belongs(run, call->pid)) {
        (void)pleat_error_set(&err, PLEAT_E_PERMISSION, "this is no process of that job");
    } else if (pleat_malleable_open(run->malleable, &err) == 0) {
        launches->count++;
        launches->current = call;
        call->relaunches = record->relaunches != 0;
        call->stage = RUNNING;
        if (say_start(call, true, &err) == 0) {
            pleat_log("run %" PRIu64 " (job %s): launch %" PRIu32 " is %s", run->id, run->job,
                      launches->count, record->text);
            return;
        }
        launch_over(launches);
        return;
    }
    say(call, PLEAT_LAUNCHING_REFUSED, err.text);
    drop(call);
}

static void over(struct pleat_call *call)
{
    say(call, PLEAT_LAUNCHING_OVER, "");
    launch_over(call->launches);
}

/* The program is to be started again, or may be: first all of its processes must be gone. */
static void wait_for_rest(struct pleat_call *call)
{
    struct pleat_launches *launches = call->launches;
    int64_t now = pleat_clock_monotonic_us();
    call->stage = REST;
    if (!launches->run->part.killing) {
        launches->run->part.killing = true;
        launches->run->part.ending_us = now;
        launches->run->part.term_at_us = now + launches->run->linger_us;
        launches->run->part.kill_at_us = launches->run->part.term_at_us + REST_GRACE_US;
    }
    say(call, PLEAT_LAUNCHING_REST, "");
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
    if (call->stage != RUNNING || launches->current != call)
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
    if (call->stage != REST || launches->current != call)
        return;
    call->stage = WAITING;
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

/* ---- listening ---- */

static void on_record(struct pleat_call *call, const struct pleat_launching_record *record)
{
    struct pleat_error err;
    switch (record->kind) {
    case PLEAT_LAUNCHING_BEGIN:
        if (call->stage == NEW)
            begin(call, record);
        break;
    case PLEAT_LAUNCHING_ASK:
        if (call->stage == NEW && say_start(call, false, &err))
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
        drop(call);
    }
    if (launches->run) {
        pleat_malleables_arm(launches->run->agent);
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

static void on_closed(uv_handle_t *handle)
{
    struct pleat_launches *launches = handle->data;
    close(launches->fd);
    let_go(launches);
}

int pleat_launches_create(struct pleat_run *run, uint32_t processes, bool adapts,
                          struct pleat_error *err)
{
    struct pleat_launches *launches = calloc(1, sizeof(*launches));
    if (!launches)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for what a script launches");
    launches->run = run;
    launches->processes = processes;
    launches->adapts = adapts;
    int code = pleat_launching_listen(&launches->fd, launches->name, err);
    int status = code ? 0 : uv_poll_init(&run->agent->loop, &launches->poll, launches->fd);
    if (status < 0) {
        close(launches->fd);
        code = pleat_error_sys(err, -status, "cannot listen to 'pleat launch'");
    }
    if (code) {
        free(launches);
        return code;
    }
    launches->poll.data = launches;
    launches->handles = 1;
    /* cannot fail for a fresh handle */
    (void)uv_poll_start(&launches->poll, UV_READABLE, on_connection);
    run->launches = launches;
    return 0;
}

void pleat_launches_stop(struct pleat_run *run)
{
    struct pleat_launches *launches = run->launches;
    if (!launches || launches->stopped)
        return;
    launches->stopped = true;
    run->part.killing = false;
    while (launches->calls)
        drop(launches->calls);
    uv_close((uv_handle_t *)&launches->poll, on_closed);
}

void pleat_launches_destroy(struct pleat_launches *launches)
{
    if (!launches)
        return;
    pleat_launches_stop(launches->run);
    launches->run = NULL;
    if (launches->handles == 0)
        free(launches);
}

/* ---- for relaunch.c and ending.c ---- */

void pleat_launches_sized(struct pleat_run *run, uint32_t processes)
{
    if (!run->launches || run->launches->processes == processes)
        return;
    run->launches->processes = processes;
    if (run->scratch)
        pleat_scratch_hosts(run->scratch, processes);
}

bool pleat_launches_busy(const struct pleat_run *run)
{
    const struct pleat_call *call = run->launches ? run->launches->current : NULL;
    return call && call->stage != WAITING;
}

bool pleat_launches_only_relaunch(const struct pleat_run *run)
{
    const struct pleat_launches *launches = run->launches;
    return launches && launches->adapts && launches->current && launches->current->relaunches;
}

pid_t pleat_launches_pid(const struct pleat_run *run)
{
    const struct pleat_call *call = run->launches ? run->launches->current : NULL;
    return call ? call->pid : 0;
}

void pleat_launches_kill(struct pleat_run *run, int64_t grace_us)
{
    int64_t now = pleat_clock_monotonic_us();
    bool first = !run->part.killing;
    if (first)
        run->part.ending_us = now;
    if (first || run->part.term_at_us > now)
        run->part.term_at_us = now;
    if (first || run->part.kill_at_us > now + grace_us)
        run->part.kill_at_us = now + grace_us;
    run->part.killing = true;
}

void pleat_launches_end(struct pleat_run *run)
{
    struct pleat_call *call = run->launches ? run->launches->current : NULL;
    if (call && call->stage == WAITING)
        over(call);
}

bool pleat_launches_again(struct pleat_run *run, uint32_t processes)
{
    struct pleat_launches *launches = run->launches;
    struct pleat_call *call = launches->current;
    struct pleat_error err;
    pleat_launches_sized(run, processes);
    launches->broke = false;
    if (!call)
        return false;
    call->stage = RUNNING;
    if (say_start(call, true, &err) == 0)
        return true;
    pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, err.text);
    return false;
}
