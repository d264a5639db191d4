#include "adapter/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/step.h"
#include "wire/reply.h"

/* A controller that was late may still carry out a request. How long after it answers again a job
 * of such a request is looked for. */
enum { UNWANTED_MS = 30000 };
/* A job that is being started for longer counts as running: on a node that has died it would be
 * started for ever, while one that runs is given up when no agent calls from it. */
enum { STARTING_MS = 5000 };

static void arm(struct pleat_adapter_watch *watch);

static bool is_in_state(const json_t *job, const char *state)
{
    return pleat_reply_is(job, "state", state);
}

/* ---- what is watched ---- */

static struct pleat_adapter_watched *find(struct pleat_adapter_watch *watch, uint32_t job)
{
    for (size_t i = 0; i < watch->watched.count; i++)
        if (watch->watched.items[i].job == job)
            return &watch->watched.items[i];
    return NULL;
}

static void note(struct pleat_adapter_watch *watch, struct pleat_adapter_watched *watched,
                 const json_t *job)
{
    const char *starting = watch->calls->system->starting;
    if (!starting || !is_in_state(job, "pending") || !pleat_reply_is(job, "reason", starting))
        watched->starting_since_ms = 0;
    else if (!watched->starting_since_ms)
        watched->starting_since_ms = uv_now(watch->calls->loop);
    watched->runs = is_in_state(job, "running") ||
                    (watched->starting_since_ms &&
                     uv_now(watch->calls->loop) - watched->starting_since_ms > STARTING_MS);
    snprintf(watched->reason, sizeof(watched->reason), "%s", pleat_reply_text(job, "reason", ""));
    watched->start = pleat_reply_int(job, "start", 0);
    watched->end = pleat_reply_int(job, "end", 0);
}

void pleat_adapter_watch_add(struct pleat_adapter_watch *watch, const json_t *job)
{
    uint32_t number = (uint32_t)pleat_reply_int(job, "job", 0);
    struct pleat_adapter_watched *watched = find(watch, number);
    if (!watched) {
        struct pleat_adapter_watched new = {.job = number};
        if (pleat_array_push(&watch->watched, new))
            abort();
        watched = &watch->watched.items[watch->watched.count - 1];
    }
    snprintf(watched->name, sizeof(watched->name), "%s", pleat_reply_text(job, "name", ""));
    note(watch, watched, job);
    arm(watch);
}

void pleat_adapter_watch_remove(struct pleat_adapter_watch *watch, uint32_t job)
{
    struct pleat_adapter_watched *watched = find(watch, job);
    if (watched)
        *watched = watch->watched.items[--watch->watched.count];
}

void pleat_adapter_watch_unwanted(struct pleat_adapter_watch *watch, const char *name)
{
    struct pleat_adapter_unwanted new = {0};
    snprintf(new.name, sizeof(new.name), "%s", name);
    if (pleat_array_push(&watch->unwanted, new))
        abort();
    arm(watch);
}

/* ---- what the controller says ---- */

/* Reasons that stay until somebody changes the cluster's configuration. */
static bool is_never(const struct pleat_adapter_system *system, const json_t *job)
{
    for (const char *const *reason = system->never; *reason; reason++)
        if (pleat_reply_is(job, "reason", *reason))
            return true;
    return false;
}

static void tell(struct pleat_adapter_watch *watch, const struct pleat_adapter_watched *watched,
                 const char *method, const json_t *job)
{
    json_t *params = json_copy((json_t *)job);
    if (watched->runs)
        json_object_set_new(params, "state", json_string("running"));
    else if (is_never(watch->calls->system, job))
        json_object_set_new(params, "never", json_true());
    pleat_adapter_notify(watch->calls->lines, method, params);
}

static void tell_end(struct pleat_adapter_watch *watch, const struct pleat_adapter_watched *watched,
                     const char *why)
{
    json_t *params = json_pack("{sIss}", "job", (json_int_t)watched->job, "name", watched->name);
    if (!params)
        abort();
    json_object_set_new(params, "why", pleat_json_text(why));
    pleat_adapter_notify(watch->calls->lines, "ended", params);
    pleat_adapter_steps_over(watched->job);
}

/* Its processes have been told to end, and may take a while. */
static void tell_ending(struct pleat_adapter_watch *watch, struct pleat_adapter_watched *watched,
                        const json_t *job)
{
    json_t *params = json_pack("{sIss}", "job", (json_int_t)watched->job, "name", watched->name);
    if (!params)
        abort();
    json_object_set_new(params, "why", pleat_json_text(pleat_reply_text(job, "reason", "")));
    json_object_set(params, "end", json_object_get(job, "end"));
    pleat_adapter_notify(watch->calls->lines, "ending", params);
    watched->ending = true;
}

/* Compares a job with what was known of it; false: it is over. job NULL: the controller knows no
 * such job. */
static bool compare(struct pleat_adapter_watch *watch, struct pleat_adapter_watched *watched,
                    const json_t *job)
{
    if (!job || is_in_state(job, "ended")) {
        tell_end(watch, watched, job ? pleat_reply_text(job, "reason", "") : "GONE");
        return false;
    }
    if (is_in_state(job, "ending")) {
        if (!watched->ending)
            tell_ending(watch, watched, job);
        return true;
    }
    const struct pleat_adapter_watched before = *watched;
    note(watch, watched, job);
    if (watched->runs) {
        if (!before.runs)
            tell(watch, watched, "granted", job);
        else if (before.end != watched->end)
            tell(watch, watched, "moved", job);
    } else if (before.runs) {
        /* its processors are gone, and it waits for others, which Pleat has not asked for */
        tell_end(watch, watched, "REQUEUED");
        pleat_adapter_watch_unwanted(watch, watched->name);
        return false;
    } else if (before.start != watched->start || strcmp(before.reason, watched->reason) != 0) {
        tell(watch, watched, "pending", job);
    }
    return true;
}

static const json_t *job_in(const json_t *jobs, uint32_t number, const char *name)
{
    size_t i;
    json_t *job;
    json_array_foreach(jobs, i, job)
    {
        if (pleat_reply_int(job, "job", 0) == number && pleat_reply_is(job, "name", name))
            return job;
    }
    return NULL;
}

static void carry_out_release(struct pleat_adapter_call *call)
{
    call->failure = call->calls->ops->release(call->job, call->name, &call->err);
}

static void on_released(struct pleat_adapter_call *call)
{
    (void)call; /* the next question shows whether it is still there */
}

static void release(struct pleat_adapter_watch *watch, const json_t *job)
{
    struct pleat_adapter_call *call = pleat_adapter_call_create(watch->calls, 0);
    call->job = (uint32_t)pleat_reply_int(job, "job", 0);
    snprintf(call->name, sizeof(call->name), "%s", pleat_reply_text(job, "name", ""));
    call->carry_out = carry_out_release;
    call->done = on_released;
    pleat_adapter_call_begin(call);
}

/* Ends unwanted jobs; forgets those that were looked for long enough, or have ended. */
static void look_for_unwanted(struct pleat_adapter_watch *watch, const json_t *jobs)
{
    uint64_t now = uv_now(watch->calls->loop);
    for (size_t i = watch->unwanted.count; i-- > 0;) {
        struct pleat_adapter_unwanted *unwanted = &watch->unwanted.items[i];
        bool ended = false;
        size_t k;
        json_t *job;
        json_array_foreach(jobs, k, job)
        {
            if (!pleat_reply_is(job, "name", unwanted->name))
                continue;
            ended = is_in_state(job, "ended") || is_in_state(job, "ending");
            if (!ended)
                release(watch, job);
        }
        if (!unwanted->since_ms)
            unwanted->since_ms = now;
        if (ended || now - unwanted->since_ms > UNWANTED_MS)
            *unwanted = watch->unwanted.items[--watch->unwanted.count];
    }
}

static void tell_whether_it_answers(struct pleat_adapter_watch *watch, const char *trouble)
{
    json_t *params = json_pack("{sb}", "answers", trouble == NULL);
    if (!params)
        abort();
    if (trouble)
        json_object_set_new(params, "text", pleat_json_text(trouble));
    pleat_adapter_notify(watch->calls->lines, "controller", params);
    watch->silent = trouble != NULL;
}

static void on_asked(struct pleat_adapter_call *call)
{
    struct pleat_adapter_watch *watch = call->arg;
    watch->asking = false;
    if (call->failure) {
        if (!watch->silent)
            tell_whether_it_answers(watch, call->err.text);
    } else {
        if (watch->silent)
            tell_whether_it_answers(watch, NULL);
        for (size_t i = watch->watched.count; i-- > 0;) {
            /* comparing may add to the unwanted ones, not to these */
            struct pleat_adapter_watched *watched = &watch->watched.items[i];
            if (!compare(watch, watched, job_in(call->result, watched->job, watched->name)))
                *watched = watch->watched.items[--watch->watched.count];
        }
        look_for_unwanted(watch, call->result);
    }
    arm(watch);
}

static void carry_out_jobs(struct pleat_adapter_call *call)
{
    call->failure = call->calls->ops->jobs(&call->result, &call->err);
}

static bool ask(void *arg)
{
    struct pleat_adapter_watch *watch = arg;
    if (watch->watched.count + watch->unwanted.count == 0)
        return false;
    struct pleat_adapter_call *call = pleat_adapter_call_create(watch->calls, 0);
    watch->asking = true;
    call->arg = watch;
    call->carry_out = carry_out_jobs;
    call->done = on_asked;
    pleat_adapter_call_begin(call);
    return true;
}

/* Has the controller asked an interval from now, if there is something to ask for. */
static void arm(struct pleat_adapter_watch *watch)
{
    if (!watch->asking && watch->watched.count + watch->unwanted.count > 0)
        pleat_adapter_pace_want(watch->pace, &watch->question,
                                uv_now(watch->calls->loop) + watch->pace->interval_ms);
}

void pleat_adapter_watch_open(struct pleat_adapter_watch *watch, struct pleat_adapter_calls *calls,
                              struct pleat_adapter_pace *pace)
{
    watch->calls = calls;
    watch->pace = pace;
    watch->question = (struct pleat_adapter_question){.ask = ask, .arg = watch};
}
