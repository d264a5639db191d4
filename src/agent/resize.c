#include "agent/resize.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/log.h"

enum kind { NOTHING, ASK, RESIZE };

struct outcome {
    const char *method; /* a literal */
    uint64_t resize;
    json_t *params;
};
PLEAT_ARRAY(outcome_list, struct outcome);

struct pleat_malleable {
    struct pleat_run *run; /* NULL once destroyed, while the doorbell's handle is being closed */
    struct pleat_mailbox *mailbox; /* NULL once stopped */
    uint32_t max_ranks;
    int fd;
    int bell[2];
    uv_poll_t doorbell;

    enum kind kind;
    struct pleat_mailbox_request request;
    bool posted; /* it is in the mailbox; before, the application has not attached yet */
    uint32_t size_before;
    struct pleat_leavers *leaving; /* opened when a shrink was posted */

    struct pleat_leavers *watched;
    struct outcome_list outcomes;
    struct pleat_mailbox_status told; /* what `progress` said last */
    bool told_anything;
};

struct pleat_run *pleat_malleable_run(const struct pleat_malleable *malleable)
{
    return malleable->run;
}

struct pleat_leavers **pleat_malleable_leavers(struct pleat_malleable *malleable)
{
    return &malleable->watched;
}

/* ---- outcomes ---- */

static void outcome_drop(struct pleat_malleable *malleable, size_t at)
{
    json_decref(malleable->outcomes.items[at].params);
    malleable->outcomes.count--;
    memmove(malleable->outcomes.items + at, malleable->outcomes.items + at + 1,
            (malleable->outcomes.count - at) * sizeof(*malleable->outcomes.items));
}

void pleat_malleable_outcome(struct pleat_malleable *malleable, const char *method, uint64_t resize,
                             json_t *params)
{
    struct outcome outcome = {method, resize, params};
    if (malleable->outcomes.count >= PLEAT_OUTCOMES_MAX)
        outcome_drop(malleable, 0);
    if (params && pleat_array_push(&malleable->outcomes, outcome) == 0)
        json_incref(params);
    else
        pleat_log("run %" PRIu64 ": no memory to keep '%s'", malleable->run->id, method);
    pleat_agent_notify(malleable->run->agent, method, params);
}

static json_t *outcome_params(const struct pleat_malleable *malleable, uint64_t resize)
{
    return json_pack("{s:I, s:I}", "run", (json_int_t)malleable->run->id, "resize",
                     (json_int_t)resize);
}

static void tell(struct pleat_malleable *malleable, const struct outcome *outcome)
{
    pleat_agent_notify(malleable->run->agent, outcome->method, json_incref(outcome->params));
}

/* Tells again what came of a request; false when it is not known. */
static bool tell_again(struct pleat_malleable *malleable, bool ask, uint64_t resize)
{
    bool found = false;
    for (size_t i = 0; i < malleable->outcomes.count; i++) {
        const struct outcome *outcome = &malleable->outcomes.items[i];
        if (outcome->resize == resize && ask == (strcmp(outcome->method, "answer") == 0)) {
            tell(malleable, outcome);
            found = true;
        }
    }
    return found;
}

void pleat_malleable_report(struct pleat_malleable *malleable)
{
    for (size_t i = 0; i < malleable->outcomes.count; i++)
        tell(malleable, &malleable->outcomes.items[i]);
}

/* ---- what comes of the outstanding request ---- */

static void settle_request(struct pleat_malleable *malleable)
{
    malleable->kind = NOTHING;
    malleable->posted = false;
    pleat_leavers_drop(malleable->leaving);
    malleable->leaving = NULL;
}

static void withdrawn(struct pleat_malleable *malleable)
{
    uint64_t resize = malleable->request.resize;
    settle_request(malleable);
    pleat_malleable_outcome(malleable, "withdrawn", resize, outcome_params(malleable, resize));
}

static void failed(struct pleat_malleable *malleable, const char *text)
{
    uint64_t resize = malleable->request.resize;
    json_t *params = outcome_params(malleable, resize);
    settle_request(malleable);
    if (params && json_object_set_new(params, "text", pleat_json_text(text))) {
        json_decref(params);
        params = NULL;
    }
    pleat_malleable_outcome(malleable, "resize_failed", resize, params);
}

static void answered(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status)
{
    uint64_t resize = malleable->request.resize;
    settle_request(malleable);
    pleat_mailbox_acknowledge(malleable->mailbox);
    pleat_malleable_outcome(malleable, "answer", resize,
                            json_pack("{s:I, s:I, s:I}", "run", (json_int_t)malleable->run->id,
                                      "resize", (json_int_t)resize, "accepted",
                                      (json_int_t)status->accepted));
}

/* The application could write anything: what does not fit a JSON integer is cut. */
static json_int_t bounded(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (json_int_t)value;
}

static void applied(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status)
{
    uint64_t resize = malleable->request.resize;
    const struct pleat_mailbox_cost *cost = &status->cost;
    struct pleat_leavers *leaving = malleable->leaving;
    malleable->leaving = NULL;
    settle_request(malleable);
    pleat_mailbox_acknowledge(malleable->mailbox);
    pleat_malleable_outcome(
        malleable, "applied", resize,
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "run", (json_int_t)malleable->run->id,
                  "resize", (json_int_t)resize, "processes", (json_int_t)status->size, "wait_us",
                  bounded(cost->wait_ns / 1000), "processes_us", bounded(cost->processes_ns / 1000),
                  "redistribute_us", bounded(cost->redistribute_ns / 1000), "total_us",
                  bounded(cost->total_ns / 1000), "bytes", bounded(cost->bytes)));
    if (status->size >= malleable->size_before) {
        pleat_leavers_drop(leaving);
        return;
    }
    if (!leaving) /* there was no memory for it before: better late than never */
        leaving = pleat_leavers_open(malleable, malleable->mailbox, status->size,
                                     malleable->size_before - status->size);
    if (leaving)
        pleat_leavers_watch(leaving, resize, status->size);
    else
        pleat_log("run %" PRIu64 ": no memory to see its processes leave", malleable->run->id);
}

static void post(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status)
{
    const struct pleat_mailbox_request *request = &malleable->request;
    int result;
    malleable->size_before = status->size;
    if (malleable->kind == ASK) {
        result = pleat_mailbox_ask(malleable->mailbox, request);
    } else {
        /* before it is posted: later their pids may be other processes' */
        if (request->target < status->size && !malleable->leaving)
            malleable->leaving = pleat_leavers_open(malleable, malleable->mailbox, request->target,
                                                    status->size - request->target);
        result = pleat_mailbox_post(malleable->mailbox, request);
    }
    if (result == 0)
        malleable->posted = true;
    else if (result != PLEAT_E_BUSY) /* busy: somebody scribbled in it; look again */
        failed(malleable, "the application's mailbox does not take the request");
}

/* Where the application has ended its session, no adaptation point will come. */
static bool withdraw_if_finished(struct pleat_malleable *malleable,
                                 const struct pleat_mailbox_status *status)
{
    if (!status->finished)
        return false;
    if (malleable->posted && pleat_mailbox_withdraw(malleable->mailbox))
        return false;
    withdrawn(malleable);
    return true;
}

static void look(struct pleat_malleable *malleable)
{
    if (malleable->kind == NOTHING || !malleable->mailbox)
        return;
    struct pleat_mailbox_status status;
    char text[256];
    pleat_mailbox_status(malleable->mailbox, &status);
    if (!malleable->posted) {
        if (status.attached && !withdraw_if_finished(malleable, &status))
            post(malleable, &status);
        return;
    }
    switch (status.phase) {
    case PLEAT_MAILBOX_ANSWERED:
        answered(malleable, &status);
        break;
    case PLEAT_MAILBOX_APPLIED:
        applied(malleable, &status);
        break;
    case PLEAT_MAILBOX_FAILED:
        pleat_mailbox_failure(malleable->mailbox, text, sizeof(text));
        pleat_mailbox_acknowledge(malleable->mailbox);
        failed(malleable, text[0] ? text : "the application could not change its size");
        break;
    case PLEAT_MAILBOX_IDLE:
        failed(malleable,
               "the application's mailbox lost the request: was its memory overwritten?");
        break;
    case PLEAT_MAILBOX_ASKED:
    case PLEAT_MAILBOX_POSTED:
        (void)withdraw_if_finished(malleable, &status);
        break;
    case PLEAT_MAILBOX_ENTERED:
    case PLEAT_MAILBOX_SAVED:
        break;
    }
}

/* ---- requests ---- */

static bool is_outstanding(const struct pleat_malleable *malleable, bool ask, uint64_t resize)
{
    return malleable->kind == (ask ? ASK : RESIZE) && malleable->request.resize == resize;
}

int pleat_malleable_request(struct pleat_malleable *malleable, bool ask,
                            const struct pleat_mailbox_request *request, struct pleat_error *err)
{
    look(malleable);
    if (is_outstanding(malleable, ask, request->resize) ||
        tell_again(malleable, ask, request->resize))
        return 0;
    if (malleable->kind != NOTHING)
        return pleat_error_set(err, PLEAT_E_BUSY,
                               "run %" PRIu64 " is busy with %s %" PRIu64
                               ": wait for it or withdraw it",
                               malleable->run->id, malleable->kind == ASK ? "question" : "resize",
                               malleable->request.resize);
    if (!malleable->mailbox)
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " has exited",
                               malleable->run->id);
    if (request->target > malleable->max_ranks)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "run %" PRIu64 " has room for %" PRIu32 " processes, not %" PRIu32,
                               malleable->run->id, malleable->max_ranks, request->target);
    malleable->kind = ask ? ASK : RESIZE;
    malleable->request = *request;
    malleable->posted = false;
    look(malleable);
    pleat_malleables_arm(malleable->run->agent);
    return 0;
}

int pleat_malleable_withdraw(struct pleat_malleable *malleable, uint64_t resize,
                             struct pleat_error *err)
{
    look(malleable);
    if (malleable->kind != NOTHING && malleable->request.resize == resize) {
        if (!malleable->posted || pleat_mailbox_withdraw(malleable->mailbox) == 0)
            withdrawn(malleable);
        /* else ranks are inside: what comes of it follows */
        return 0;
    }
    if (tell_again(malleable, false, resize))
        return 0;
    if (!malleable->mailbox)
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " has exited",
                               malleable->run->id);
    pleat_malleable_outcome(malleable, "withdrawn", resize, outcome_params(malleable, resize));
    return 0;
}

uint32_t pleat_malleable_processes(const struct pleat_malleable *malleable)
{
    if (!malleable->mailbox)
        return 0;
    struct pleat_mailbox_status status;
    pleat_mailbox_status(malleable->mailbox, &status);
    return status.attached ? status.size : 0;
}

bool pleat_malleable_outstanding(const struct pleat_malleable *malleable, uint64_t *resize)
{
    *resize = malleable->request.resize;
    return malleable->kind == RESIZE;
}

/* ---- timers ---- */

static void on_resizing(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    for (size_t i = 0; i < agent->runs.count; i++)
        if (agent->runs.items[i]->malleable)
            look(agent->runs.items[i]->malleable);
    pleat_malleables_arm(agent);
}

static void tell_progress(struct pleat_malleable *malleable)
{
    struct pleat_mailbox_status now;
    const struct pleat_mailbox_status *then = &malleable->told;
    pleat_mailbox_status(malleable->mailbox, &now);
    if (malleable->told_anything && now.size == then->size && now.iteration == then->iteration &&
        now.iteration_ns == then->iteration_ns && now.attached == then->attached)
        return;
    if (!malleable->told_anything && !now.attached)
        return;
    malleable->told = now;
    malleable->told_anything = true;
    pleat_agent_notify(malleable->run->agent, "progress",
                       json_pack("{s:I, s:I, s:I, s:I, s:b}", "run", (json_int_t)malleable->run->id,
                                 "processes", (json_int_t)now.size, "iteration",
                                 bounded(now.iteration), "iteration_us",
                                 bounded(now.iteration_ns / 1000), "attached", now.attached));
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
        resizing = resizing || malleable->kind != NOTHING;
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
        look(malleable);
        pleat_malleables_arm(malleable->run->agent);
    }
}

void pleat_malleable_path(const struct pleat_malleable *malleable, bool doorbell, char *buffer,
                          size_t size)
{
    snprintf(buffer, size, "/proc/%d/fd/%d", (int)malleable->run->agent->pid,
             doorbell ? malleable->bell[1] : malleable->fd);
}

static void close_descriptors(struct pleat_malleable *malleable)
{
    int *all[] = {&malleable->fd, &malleable->bell[0], &malleable->bell[1]};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (*all[i] >= 0)
            close(*all[i]);
        *all[i] = -1;
    }
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

int pleat_malleable_create(struct pleat_run *run, uint32_t max_ranks, struct pleat_error *err)
{
    struct pleat_malleable *malleable = calloc(1, sizeof(*malleable));
    if (!malleable)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a mailbox");
    malleable->run = run;
    malleable->max_ranks = max_ranks;
    malleable->fd = malleable->bell[0] = malleable->bell[1] = -1;
    int result = pleat_mailbox_create(max_ranks, &malleable->mailbox, &malleable->fd, err);
    if (!result)
        result = watch_doorbell(malleable, err);
    if (result) {
        pleat_mailbox_close(malleable->mailbox);
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

void pleat_malleable_stop(struct pleat_malleable *malleable)
{
    if (!malleable->mailbox)
        return;
    look(malleable); /* what was done just before the end is still told */
    settle_request(malleable);
    pleat_leavers_drop_all(malleable);
    pleat_mailbox_close(malleable->mailbox);
    malleable->mailbox = NULL;
    uv_close((uv_handle_t *)&malleable->doorbell, on_doorbell_closed);
    pleat_malleables_arm(malleable->run->agent);
}

void pleat_malleable_destroy(struct pleat_malleable *malleable)
{
    if (!malleable)
        return;
    pleat_malleable_stop(malleable);
    while (malleable->outcomes.count)
        outcome_drop(malleable, malleable->outcomes.count - 1);
    pleat_array_finish(&malleable->outcomes);
    malleable->run = NULL;
    /* closed already: free now; else its callback does */
    if (malleable->fd < 0)
        free(malleable);
}
