#include "agent/launching.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/log.h"
#include "agent/malleable.h"
#include "agent/scratch.h"
#include "base/clock.h"

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

void pleat_call_drop(struct pleat_call *call)
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

void pleat_call_say(struct pleat_call *call, enum pleat_launching_kind kind, const char *text)
{
    struct pleat_error err;
    struct pleat_launching_record record = {0};
    snprintf(record.text, sizeof(record.text), "%.*s", (int)sizeof(record.text) - 1, text);
    if (pleat_launching_send(call->fd, kind, &record, &err))
        pleat_log("run %" PRIu64 ": %s", call->launches->run->id, err.text);
}

int pleat_call_say_start(struct pleat_call *call, bool resized, struct pleat_error *err)
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
        pleat_call_drop(launches->calls);
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

/* ---- the present launch ---- */

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
    return call && call->stage != PLEAT_CALL_WAITING;
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

bool pleat_launches_again(struct pleat_run *run, uint32_t processes)
{
    struct pleat_launches *launches = run->launches;
    struct pleat_call *call = launches->current;
    struct pleat_error err;
    pleat_launches_sized(run, processes);
    launches->broke = false;
    if (!call)
        return false;
    call->stage = PLEAT_CALL_RUNNING;
    if (pleat_call_say_start(call, true, &err) == 0)
        return true;
    pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, err.text);
    return false;
}
