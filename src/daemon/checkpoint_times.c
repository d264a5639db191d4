#include "daemon/checkpoint_times.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/account.h"
#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/specs.h"
#include "daemon/turn_inputs.h"
#include "wire/message.h"

/* an agent that was away, or was writing another checkpoint, is asked again after this */
#define AGAIN_US (2 * PLEAT_US_PER_S)

static struct timed_job *find(struct daemon *d, int64_t job)
{
    for (size_t i = 0; i < d->checkpoints.timed.count; i++)
        if (d->checkpoints.timed.items[i].job == job)
            return &d->checkpoints.timed.items[i];
    return NULL;
}

void checkpoint_times_watch(struct daemon *d, const struct job *job)
{
    const struct pleat_spec_checkpoints *wanted = &job_spec(d, job->id)->checkpoints;
    if ((!wanted->every_us && !wanted->before_us) || find(d, job->id))
        return;
    struct timed_job made = {.job = job->id};
    if (pleat_array_push(&d->checkpoints.timed, made))
        daemon_log("job %lld: no memory for its checkpoints, none is written by itself",
                   (long long)job->id);
}

static bool runs(const struct pleat_component *component)
{
    return component->state == PLEAT_RUNNING || component->state == PLEAT_RESIZING;
}

void checkpoint_times_recover(struct daemon *d)
{
    for (size_t i = 0; i < d->jobs.by_number.count; i++) {
        const struct job *job = d->jobs.by_number.items[i];
        if (!job->ended && runs(job_component(d, job)))
            checkpoint_times_watch(d, job);
    }
}

/* ---- moments ---- */

/* When the checkpoint before the end of the run's time is due; PLEAT_NEVER: the run has no such
 * end, or no such checkpoint was asked for. */
static int64_t before_limit(struct daemon *d, const struct job *job,
                            const struct pleat_component *component,
                            const struct pleat_spec_checkpoints *wanted)
{
    int64_t until = wanted->before_us ? pleat_core_run_until(d->core, job->component) : PLEAT_NEVER;
    if (until == PLEAT_NEVER)
        return until;
    int64_t at = until - wanted->before_us;
    return at > component->start_us ? at : component->start_us + 1;
}

/* The last moment of a regular checkpoint that has come, or 0. *next: the one after it. */
static int64_t last_of_every(const struct pleat_component *component,
                             const struct pleat_spec_checkpoints *wanted, int64_t now,
                             int64_t *next)
{
    *next = PLEAT_NEVER;
    if (!wanted->every_us)
        return 0;
    int64_t past = now > component->start_us ? (now - component->start_us) / wanted->every_us : 0;
    *next = component->start_us + (past + 1) * wanted->every_us;
    return past ? component->start_us + past * wanted->every_us : 0;
}

/* The path of the next file: of the files that are kept it replaces the oldest. */
static int path_of(struct daemon *d, struct job *job, bool last, char path[PATH_MAX])
{
    const struct pleat_spec *spec = job_spec(d, job->id);
    const char *where = spec->checkpoint_dir ? spec->checkpoint_dir : spec->cwd ? spec->cwd : "";
    int length;
    if (last)
        length = snprintf(path, PATH_MAX, "%s/pleat-%lld.checkpoint", where, (long long)job->id);
    else
        length = snprintf(path, PATH_MAX, "%s/pleat-%lld.%d.checkpoint", where, (long long)job->id,
                          job_account(d, job)->checkpoint_place % spec->checkpoints.keep + 1);
    return length > 0 && length < PATH_MAX ? 0 : PLEAT_E_TOOBIG;
}

void checkpoint_times_wanted(struct daemon *d, struct job *job, int64_t number)
{
    const struct pleat_component *component = job_component(d, job);
    char path[PATH_MAX];
    struct pleat_error err = {0};
    if (number <= job_account(d, job)->checkpoint_last || path_of(d, job, true, path))
        return;
    if (agent_send(d, component->site, component->lead_node, "checkpoint",
                   json_pack("{s:I, s:I, s:s, s:b}", "run", (json_int_t)component->run,
                             "checkpoint", (json_int_t)number, "path", path, "stop", false),
                   &err))
        daemon_log("job %lld, a checkpoint: %s", (long long)job->id, err.text);
}

/* Whether the run ends at its user's limit. If its site takes its processors back before, it is
 * started again, and goes on from its checkpoint. */
static bool ends_at_limit(struct daemon *d, const struct job *job)
{
    const struct pleat_component *component = job_component(d, job);
    return component->limit_us > 0 && component->start_us + component->limit_us <=
                                          pleat_core_run_until(d->core, job->component);
}

static void ask(struct daemon *d, struct job *job, struct timed_job *timed, int64_t moment,
                bool last)
{
    const struct pleat_component *component = job_component(d, job);
    const struct pleat_spec *spec = job_spec(d, job->id);
    char path[PATH_MAX];
    struct pleat_error err = {0};
    timed->asked = moment;
    timed->asked_us = daemon_now_us(d);
    if (path_of(d, job, last, path)) {
        pleat_error_set(&err, PLEAT_E_TOOBIG, "its path is too long");
        checkpoint_times_refused(d, job, moment, &err);
        return;
    }
    if (agent_send(d, component->site, component->lead_node, "checkpoint",
                   json_pack("{s:I, s:I, s:s, s:b}", "run", (json_int_t)component->run,
                             "checkpoint", (json_int_t)moment, "path", path, "stop",
                             last && !spec->checkpoints.goes_on && ends_at_limit(d, job)),
                   &err))
        daemon_log("job %lld, a checkpoint: %s", (long long)job->id, err.text);
}

/* Returns when the job is to be looked at again. */
static int64_t look_at(struct daemon *d, struct job *job, struct timed_job *timed, int64_t now)
{
    const struct pleat_component *component = job_component(d, job);
    const struct pleat_spec_checkpoints *wanted = &job_spec(d, job->id)->checkpoints;
    int64_t over = job_account(d, job)->checkpoint_last;
    int64_t limit = before_limit(d, job, component, wanted), next;
    int64_t moment = last_of_every(component, wanted, now, &next);
    bool last = limit <= now && limit > over;
    moment = last ? limit : moment;
    if (limit > now && limit < next)
        next = limit;
    if (!moment || moment <= over)
        return next;
    if (timed->asked != moment || now >= timed->asked_us + AGAIN_US)
        ask(d, job, timed, moment, last);
    return timed->asked_us + AGAIN_US < next ? timed->asked_us + AGAIN_US : next;
}

static void on_timer(uv_timer_t *timer)
{
    checkpoint_times_look(timer->data);
}

void checkpoint_times_init(struct daemon *d)
{
    uv_timer_init(&d->loop, &d->checkpoints.timer);
    d->checkpoints.timer.data = d;
}

void checkpoint_times_look(struct daemon *d)
{
    int64_t at = PLEAT_NEVER, now = daemon_now_us(d);
    struct timed_jobs *timed = &d->checkpoints.timed;
    uv_timer_stop(&d->checkpoints.timer);
    if (d->turn.holding || d->stopping || d->ending)
        return;
    for (size_t i = 0; i < timed->count;) {
        struct job *job = job_find(d, timed->items[i].job);
        if (!job || job->ended || !runs(job_component(d, job))) {
            timed->items[i] = timed->items[--timed->count]; /* watched again when it runs again */
            continue;
        }
        int64_t next = look_at(d, job, &timed->items[i++], now);
        at = next < at ? next : at;
    }
    if (at != PLEAT_NEVER)
        uv_timer_start(&d->checkpoints.timer, on_timer,
                       at > now ? (uint64_t)((at - now + 999) / 1000) : 0, 0);
}

void checkpoint_times_refused(struct daemon *d, const struct job *job, int64_t number,
                              const struct pleat_error *why)
{
    const struct timed_job *timed = find(d, job->id);
    if (!timed || timed->asked != number || why->code == PLEAT_E_BUSY)
        return;
    note_make(d, daemon_now_us(d), "checkpoint", job->id,
              json_pack("{s:I, s:o, s:b, s:o}", "checkpoint", (json_int_t)number, "path",
                        json_null(), "stop", false, "text", pleat_json_text(why->text)));
    turn_want(d);
}

void checkpoint_times_finish(struct daemon *d)
{
    pleat_array_finish(&d->checkpoints.timed);
}

const char *checkpoint_to_go_on_from(struct daemon *d, struct job *job)
{
    char text[PATH_MAX + 100];
    const struct account *account = job_account(d, job);
    const char *path = json_string_value(json_object_get(account->checkpoint, "path"));
    if (!account->goes_on || !path)
        return NULL;
    bool there = access(path, R_OK) == 0;
    snprintf(text, sizeof(text),
             there ? "it goes on from its checkpoint of iteration %lld, %s"
                   : "it begins anew: its checkpoint of iteration %lld, %s, is not there",
             (long long)json_integer_value(json_object_get(account->checkpoint, "iteration")),
             path);
    note_make(d, daemon_now_us(d), "warning", job->id, note_text(text));
    return there ? path : NULL;
}
