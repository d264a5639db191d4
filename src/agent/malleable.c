#include "agent/resize.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shm/mailbox-rank.h"

/* ---- life ---- */

static void on_bell(uv_poll_t *poll, int status, int events)
{
    struct pleat_malleable *malleable = poll->data;
    char bytes[256];
    (void)status;
    (void)events;
    while (read(malleable->bell[0], bytes, sizeof(bytes)) == sizeof(bytes))
        ;
    if (malleable->run) {
        pleat_malleable_look(malleable);
        pleat_malleables_arm(malleable->run->agent);
    }
}

void pleat_malleable_path(const struct pleat_malleable *malleable, bool doorbell, char *buffer,
                          size_t size)
{
    snprintf(buffer, size, "/proc/%d/fd/%d", (int)malleable->run->agent->pid,
             doorbell ? malleable->bell[1] : malleable->fd);
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_descriptors(struct pleat_malleable *malleable)
{
    close_one(&malleable->fd);
    close_one(&malleable->bell[0]);
    close_one(&malleable->bell[1]);
}

static int watch_doorbell(struct pleat_malleable *malleable, struct pleat_error *err)
{
    /* The agent holds both ends, so the pipe neither hangs up nor breaks. */
    if (pipe2(malleable->bell, O_CLOEXEC | O_NONBLOCK))
        return pleat_error_sys(err, errno, "no pipe for the doorbell");
    int status =
        uv_poll_init(&malleable->run->agent->loop, &malleable->doorbell, malleable->bell[0]);
    if (status < 0)
        return pleat_error_sys(err, -status, "cannot watch the doorbell");
    malleable->doorbell.data = malleable;
    /* cannot fail for a fresh handle */
    (void)uv_poll_start(&malleable->doorbell, UV_READABLE, on_bell);
    return 0;
}

static void close_mailbox(struct pleat_malleable *malleable)
{
    pleat_mailbox_close(malleable->mailbox);
    malleable->mailbox = NULL;
    close_one(&malleable->fd);
}

int pleat_malleable_open(struct pleat_malleable *malleable, struct pleat_error *err)
{
    malleable->unbegun = false;
    int result =
        pleat_mailbox_create(malleable->max_ranks, &malleable->mailbox, &malleable->fd, err);
    if (!result)
        result = pleat_state_store_init(&malleable->state, err);
    if (result)
        close_mailbox(malleable);
    return result;
}

void pleat_malleable_shut(struct pleat_malleable *malleable)
{
    malleable->posted = malleable->unbegun = malleable->told_anything = false;
    if (!malleable->stopped)
        pleat_malleable_limit(malleable, 0); /* the limit was that of the program that ended */
    pleat_leavers_drop(malleable->leaving);
    malleable->leaving = NULL;
    close_mailbox(malleable);
    pleat_state_store_finish(&malleable->state);
}

int pleat_malleable_create(struct pleat_run *run, uint32_t max_ranks, bool at_once,
                           struct pleat_error *err)
{
    struct pleat_malleable *malleable = calloc(1, sizeof(*malleable));
    if (!malleable)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a mailbox");
    malleable->run = run;
    malleable->max_ranks = max_ranks;
    malleable->fd = malleable->bell[0] = malleable->bell[1] = -1;
    malleable->state.fd[0] = malleable->state.fd[1] = -1;
    int result = at_once ? pleat_malleable_open(malleable, err) : 0;
    if (!result)
        result = watch_doorbell(malleable, err);
    if (result) {
        pleat_mailbox_close(malleable->mailbox);
        pleat_state_store_finish(&malleable->state);
        close_descriptors(malleable);
        free(malleable);
        return result;
    }
    run->malleable = malleable;
    return 0;
}

static void on_doorbell_closed(uv_handle_t *handle)
{
    struct pleat_malleable *malleable = handle->data;
    close_descriptors(malleable);
    if (!malleable->run)
        free(malleable);
}

int pleat_malleable_renew(struct pleat_malleable *malleable, struct pleat_error *err)
{
    struct pleat_state_header header;
    close_mailbox(malleable);
    malleable->unbegun = pleat_state_store_held(&malleable->state, &header) == 0;
    int result =
        pleat_mailbox_create(malleable->max_ranks, &malleable->mailbox, &malleable->fd, err);
    if (!result && malleable->unbegun)
        pleat_mailbox_resume(malleable->mailbox, header.generation);
    return result;
}

void pleat_malleable_pause(struct pleat_malleable *malleable)
{
    pleat_malleable_abandon(malleable);
    pleat_leavers_drop_all(malleable);
    close_mailbox(malleable);
    pleat_malleables_arm(malleable->run->agent);
}

void pleat_malleable_stop(struct pleat_malleable *malleable)
{
    if (malleable->stopped)
        return;
    malleable->stopped = true;
    pleat_malleable_pause(malleable);
    pleat_state_store_finish(&malleable->state);
    uv_close((uv_handle_t *)&malleable->doorbell, on_doorbell_closed);
}

bool pleat_malleable_is_broken(const struct pleat_malleable *malleable, struct pleat_error *why)
{
    struct pleat_state_header held;
    char text[256];
    uint64_t iteration;
    if (!malleable->mailbox || pleat_state_store_held(&malleable->state, &held))
        return false;
    if (malleable->unbegun) {
        pleat_mailbox_failure(malleable->mailbox, text, sizeof(text));
        if (text[0])
            (void)pleat_error_set(why, PLEAT_E_STATE, "%s", text);
        return true;
    }
    return pleat_mailbox_entered(malleable->mailbox, &iteration) == 0 &&
           held.iteration == iteration;
}

void pleat_malleable_destroy(struct pleat_malleable *malleable)
{
    if (!malleable)
        return;
    pleat_malleable_stop(malleable);
    malleable->run = NULL;
    /* all handles are closed; otherwise the callback of the last one frees it */
    if (malleable->bell[0] < 0)
        free(malleable);
}

/* ---- watching ---- */

uint32_t pleat_malleable_processes(const struct pleat_malleable *malleable)
{
    if (!malleable->mailbox)
        return 0;
    struct pleat_mailbox_status status;
    pleat_mailbox_status(malleable->mailbox, &status);
    return status.attached ? status.size : 0;
}

static void on_resizing(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    for (size_t i = 0; i < agent->runs.count; i++)
        if (agent->runs.items[i]->malleable)
            pleat_malleable_look(agent->runs.items[i]->malleable);
    pleat_malleables_arm(agent);
}

static void tell_progress(struct pleat_malleable *malleable)
{
    struct pleat_mailbox_status now;
    const struct pleat_mailbox_status *then = &malleable->told;
    pleat_mailbox_status(malleable->mailbox, &now);
    if (!now.attached || malleable->unbegun)
        return;
    if (malleable->told_anything && now.size == then->size && now.iteration == then->iteration &&
        now.iteration_ns == then->iteration_ns)
        return;
    malleable->told = now;
    malleable->told_anything = true;
    pleat_agent_notify(malleable->run->agent, "progress",
                       json_pack("{s:I, s:I, s:o, s:o, s:b}", "run", (json_int_t)malleable->run->id,
                                 "processes",
                                 (json_int_t)pleat_run_processors(malleable->run, now.size),
                                 "iteration", pleat_outcome_number(now.iteration), "iteration_us",
                                 pleat_outcome_number(now.iteration_ns / 1000), "attached", true));
}

static void on_progress(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    for (size_t i = 0; i < agent->runs.count; i++)
        if (agent->runs.items[i]->malleable && agent->runs.items[i]->malleable->mailbox)
            tell_progress(agent->runs.items[i]->malleable);
}

static void arm(uv_timer_t *timer, uv_timer_cb callback, bool wanted, uint64_t every_ms)
{
    if (!wanted)
        uv_timer_stop(timer);
    else if (!uv_is_active((const uv_handle_t *)timer))
        uv_timer_start(timer, callback, every_ms, every_ms);
}

void pleat_malleables_arm(struct pleat_agent *agent)
{
    bool resizing = false;
    bool progress = false;
    if (agent->closing)
        return;
    for (size_t i = 0; i < agent->runs.count; i++) {
        const struct pleat_malleable *malleable = agent->runs.items[i]->malleable;
        if (!malleable || !malleable->mailbox)
            continue;
        progress = true;
        resizing = resizing || malleable->kind != PLEAT_REQUEST_NONE;
    }
    arm(&agent->resizing, on_resizing, resizing, PLEAT_RESIZE_POLL_MS);
    arm(&agent->progress, on_progress, progress && agent->connection && agent->reporting,
        PLEAT_PROGRESS_MS);
}

void pleat_malleables_forget_progress(struct pleat_agent *agent)
{
    for (size_t i = 0; i < agent->runs.count; i++)
        if (agent->runs.items[i]->malleable)
            agent->runs.items[i]->malleable->told_anything = false;
}
