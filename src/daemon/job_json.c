/* Jobs as JSON for clients. */
#include <math.h>
#include <string.h>

#include "daemon/account.h"
#include "daemon/accounts.h"
#include "daemon/asked_text.h"
#include "daemon/buffer_json.h"
#include "daemon/curve.h"
#include "daemon/daemon.h"
#include "daemon/declared.h"
#include "daemon/depend.h"
#include "daemon/files.h"
#include "daemon/job_json.h"
#include "daemon/jobs.h"
#include "daemon/specs.h"
#include "daemon/turn_inputs.h"
#include "daemon/waiting.h"

static json_t *slots_to_json(struct daemon *d, const struct pleat_component *component)
{
    json_t *slots = json_array();
    for (uint32_t c = component->first_claim; c != PLEAT_NONE;
         c = pleat_core_claim(d->core, c)->next) {
        for (uint32_t p = pleat_core_claim(d->core, c)->first_piece; p != PLEAT_NONE;
             p = pleat_core_piece(d->core, p)->next) {
            const struct pleat_piece *piece = pleat_core_piece(d->core, p);
            const uint32_t site = pleat_core_claim(d->core, c)->site;
            json_array_append_new(
                slots, json_pack("{s:i, s:i, s:i, s:s*}", "node", (int)piece->node, "first",
                                 (int)piece->first, "count", (int)piece->count, "site",
                                 site == component->site ? NULL : d->config.sites[site].name));
        }
    }
    return slots;
}

/* Why a waiting job waits, as a sentence where one suffices; else the reason of its state. */
/* The claim that a site has put into a queue of its own; NULL: there is none. */
static const struct pleat_claim *queued_claim(struct daemon *d, const struct pleat_component *c)
{
    uint32_t index = c->start_claim;
    if (c->resize != PLEAT_NONE)
        index = pleat_core_resize(d->core, c->resize)->claim;
    const struct pleat_claim *claim = index == PLEAT_NONE ? NULL : pleat_core_claim(d->core, index);
    return claim && claim->state == PLEAT_CLAIM_REQUESTED && claim->waits ? claim : NULL;
}

json_t *site_queue_to_json(struct daemon *d, const struct pleat_component *c)
{
    const struct pleat_claim *claim = queued_claim(d, c);
    if (!claim)
        return json_null();
    enum pleat_claim_wait why = (enum pleat_claim_wait)claim->waits;
    return json_pack("{s:s, s:i, s:s, s:s, s:o, s:o, s:o}", "site",
                     d->config.sites[claim->site].name, "processors", claim->count, "code",
                     pleat_claim_wait_word(why), "text", pleat_claim_wait_name(why), "since_s",
                     json_seconds(claim->asked_us), "expected_s",
                     json_seconds(claim->expected_us ? claim->expected_us : PLEAT_NEVER), "until_s",
                     json_seconds(claim->until_us ? claim->until_us : PLEAT_NEVER));
}

/* When a running job has to be over. */
static int64_t runs_until(const struct daemon *d, const struct job *job,
                          const struct pleat_component *c)
{
    bool runs = c->state == PLEAT_RUNNING || c->state == PLEAT_RESIZING;
    return runs ? pleat_core_run_until(d->core, job->component) : PLEAT_NEVER;
}

static json_t *site_queue_text(struct daemon *d, const struct pleat_claim *claim)
{
    int64_t left_us = claim->expected_us - daemon_now_us(d);
    char when[60] = "";
    if (claim->expected_us > 0)
        snprintf(when, sizeof(when), "; it may start in %.0f s",
                 left_us > 0 ? ceil((double)left_us / 1e6) : 0);
    return json_sprintf("waits in the queue of site %s: %s%s", d->config.sites[claim->site].name,
                        pleat_claim_wait_name((enum pleat_claim_wait)claim->waits), when);
}

static json_t *reason_to_json(struct daemon *d, const struct pleat_component *component)
{
    if (component->state == PLEAT_CLAIMING && queued_claim(d, component))
        return site_queue_text(d, queued_claim(d, component));
    if (component->state == PLEAT_QUEUED) {
        char text[160];
        if (component->aside == PLEAT_ASIDE_HELD && component->holds != PLEAT_HELD_BY_FAULT)
            holds_text(d, component, text, sizeof(text));
        else
            waiting_text(pleat_core_view(d->core), component, daemon_now_us(d), text, sizeof(text));
        return json_string(text);
    }
    return component->reason == PLEAT_REASON_NONE
               ? json_null()
               : json_string(pleat_reason_name((enum pleat_reason)component->reason));
}

int32_t job_minimum(const struct pleat_view *view, const struct pleat_component *c)
{
    if (!pleat_view_folds(c))
        return c->minimum;
    int32_t least = pleat_view_partition_least(view, c, c->mpl > 0 ? c->processes : c->maximum);
    int32_t fewest = c->mpl > 0 ? pleat_mpl(c->processes, c->mpl) : 1;
    return least > fewest ? least : fewest;
}

int32_t job_maximum(const struct pleat_view *view, const struct pleat_component *c)
{
    int32_t most = pleat_view_folds(c) ? pleat_view_partition_most(view, c) : PLEAT_SIZE_MAX;
    int32_t processes = pleat_view_folds(c) && c->mpl > 0 ? c->processes : c->maximum;
    return most < processes ? most : processes;
}

int32_t job_processes(struct daemon *d, int64_t job, const struct pleat_component *c)
{
    if (pleat_view_folds(c) || c->processes == 0) /* of a job that waits no spec need be read */
        return c->processes;
    return pleat_spec_tasks(job_spec(d, job), c->processes);
}

/* How long a job has waited and run, up to its end or now. run_us: PLEAT_NEVER before its start. */
struct spans {
    int64_t wait_us, run_us;
};

static struct spans spans_of(const struct pleat_component *c, int64_t now_us)
{
    bool started = c->start_us != PLEAT_NEVER;
    int64_t last_us = c->end_us != PLEAT_NEVER ? c->end_us : now_us;
    return (struct spans){.wait_us = (started ? c->start_us : last_us) - c->submit_us,
                          .run_us = started ? last_us - c->start_us : PLEAT_NEVER};
}

void job_add_times(json_t *object, const struct pleat_component *c, int64_t now_us)
{
    struct spans spans = spans_of(c, now_us);
    json_object_set_new(object, "submit_s", json_seconds(c->submit_us));
    json_object_set_new(object, "start_s", json_seconds(c->start_us));
    json_object_set_new(object, "end_s", json_seconds(c->end_us));
    json_object_set_new(object, "wait_s", json_seconds(spans.wait_us));
    json_object_set_new(object, "run_s", json_seconds(spans.run_us));
}

static void add_path(struct daemon *d, json_t *object, int64_t job, const char *member,
                     enum job_file which)
{
    char path[PATH_MAX];
    bool known = !job_file_path(d, job, which, path, sizeof(path), NULL);
    json_object_set_new(object, member, known ? json_string(path) : json_null());
}

static json_t *terms_or_null(int64_t us, int64_t none)
{
    return us == none ? json_null() : json_real((double)us / 1e6);
}

static void add_terms(struct daemon *d, json_t *object, const struct job *job,
                      const struct pleat_component *c)
{
    const struct pleat_spec *spec = job_spec(d, job->id);
    const struct pleat_terms *terms = pleat_view_terms(pleat_core_view(d->core), c);
    json_object_set_new(object, "estimate_s", json_real((double)c->estimate_us / 1e6));
    json_object_set_new(object, "limit_s", terms_or_null(c->limit_us, 0));
    json_object_set_new(object, "notice_s", terms_or_null(terms->notice_us, -1));
    json_object_set_new(object, "lifetime_s", terms_or_null(terms->lifetime_us, -1));
    json_object_set_new(object, "resize", json_string(pleat_resize_way_name(spec->resize)));
}

static json_t *progress_or_null(const struct job *job)
{
    return job->has_progress ? json_pack("{s:I, s:f}", "iteration", (json_int_t)job->iteration,
                                         "iteration_s", (double)job->iteration_us / 1e6)
                             : json_null();
}

/* The standard deviation of iterations at a size. */
static json_t *spread_or_null(const struct pleat_timing *timing)
{
    return timing->count > 1 ? json_real(sqrt(timing->squares / (timing->count - 1)) / 1e6)
                             : json_null();
}

/* Time of an iteration for each size that the core knows; it knows them only if a policy wants
 * them. */
static json_t *times_to_json(const struct pleat_view *view, const struct pleat_component *c)
{
    json_t *array = json_array();
    for (const struct pleat_timing *timing = pleat_timing_smallest(view, c); timing;
         timing = pleat_timing_greater(view, timing)) {
        double redistribution_s = (double)timing->redistribution_us / 1e6;
        json_array_append_new(
            array,
            json_pack("{s:i, s:f, s:o, s:o, s:o, s:o}", "processors", timing->processors,
                      "iteration_s", (double)timing->iteration_us / 1e6, "redistribution_s",
                      redistribution_s > 0 ? json_real(redistribution_s) : json_null(), "from",
                      timing->from > 0 ? json_integer(timing->from) : json_null(), "measured",
                      timing->count > 0 ? json_integer(timing->count) : json_null(), "spread_s",
                      spread_or_null(timing)));
    }
    return array;
}

bool job_add_untaken(const struct daemon *d, json_t *object, int64_t job)
{
    static const char *const nothing[] = {"start_s", "end_s",  "run_s",  "promised_s", "site",
                                          "resize",  "signal", "folded", "exit_code"};
    if (turn_has_taken(d, job))
        return false;
    json_object_set_new(object, "taken", json_false());
    json_object_set_new(object, "state", json_string(pleat_component_state_name(PLEAT_QUEUED)));
    json_object_set_new(object, "reason",
                        json_sprintf("not submitted yet: pleatd cannot write it into its log (%s)",
                                     d->turn.holding_why.text));
    json_object_set_new(object, "processors", json_integer(0));
    for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
        if (json_object_get(object, nothing[i]))
            json_object_set_new(object, nothing[i], json_null());
    if (json_object_get(object, "target"))
        json_object_set_new(object, "target", json_integer(0));
    if (json_object_get(object, "slots"))
        json_object_set_new(object, "slots", json_array());
    return true;
}

static void set(json_t *object, const char *name, json_t *value)
{
    json_object_set_new(object, name, value);
}

static void drop(json_t *object, const char *const *names)
{
    for (; *names; names++)
        json_object_del(object, *names);
}

static json_t *or_null(json_t *kept)
{
    return kept ? json_incref(kept) : json_null();
}

/* The job's spec without the members that are not shown. NULL: out of memory. */
static json_t *spec_to_show(struct daemon *d, struct job *job)
{
    static const char *const hidden[] = {"env",           "limits",     "token", "again",
                                         "deadline_in_s", "begin_in_s", NULL};
    struct pleat_error err;
    const json_t *spec = spec_json(d, job->id, &err);
    json_t *object = spec ? json_copy((json_t *)(uintptr_t)spec) : json_object();
    if (!object)
        return NULL;
    const char *name = json_string_value(json_object_get(object, "name"));
    drop(object, hidden);
    set(object, "job", json_integer(job->id));
    set(object, "name", json_string(name ? name : ""));
    if (!json_object_get(object, "array"))
        set(object, "array", json_null());
    return object;
}

/* Adds what the job may have, as its user, its program and the configuration say by now. */
static void add_wishes(struct daemon *d, json_t *object, const struct job *job,
                       const struct pleat_component *c)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    int32_t declared = pleat_view_declaration(view, c)->declared;
    set(object, "priority", json_integer(c->priority));
    set(object, "deadline_s", json_seconds(c->due_us));
    set(object, "begin_s", json_seconds(c->begin_us ? c->begin_us : PLEAT_NEVER));
    add_terms(d, object, job, c);
    set(object, "min", json_integer(job_minimum(view, c)));
    set(object, "max", json_integer(job_maximum(view, c)));
    set(object, "declared_max", declared ? json_integer(declared) : json_null());
    set(object, "declared", declared_to_json(d, c));
    set(object, "asked", asked_to_json(d, c));
    set(object, "credit", json_integer(pleat_view_ask(view, c)->credit));
}

/* Adds why the job waits, or how it ended. */
static void add_state(struct daemon *d, json_t *object, const struct job *job,
                      const struct pleat_component *c)
{
    bool over = pleat_component_state_is_final(c->state);
    set(object, "state",
        json_string(pleat_component_state_name((enum pleat_component_state)c->state)));
    set(object, "reason", reason_to_json(d, c));
    set(object, "promised_s",
        json_seconds(c->state == PLEAT_QUEUED ? c->promised_us : PLEAT_NEVER));
    set(object, "held_by", holds_to_json(c));
    set(object, "waits_for", needs_to_json(d, c));
    set(object, "site_queue", site_queue_to_json(d, c));
    set(object, "until_s", json_seconds(runs_until(d, job, c)));
    set(object, "exit_code", over ? json_integer(c->code) : json_null());
    set(object, "signal", over && c->signal ? json_integer(c->signal) : json_null());
    set(object, "attempt", json_integer(c->attempt));
}

/* Adds the processors that the job has, and where. */
static void add_processors(struct daemon *d, json_t *object, const struct job *job,
                           const struct pleat_component *c)
{
    const bool is_placed = c->site != PLEAT_NONE;
    set(object, "processors", json_integer(c->processors));
    set(object, "processes", json_integer(job_processes(d, job->id, c)));
    set(object, "mpl", json_integer(pleat_mpl(c->processes, c->processors)));
    set(object, "target", json_integer(c->target));
    set(object, "site", is_placed ? json_string(d->config.sites[c->site].name) : json_null());
    set(object, "slots", slots_to_json(d, c));
    set(object, "on_nodes",
        json_boolean(is_placed && pleat_core_view(d->core)->sites[c->site].several));
}

/* Adds what the job's program has said while it ran. */
static void add_said(struct daemon *d, json_t *object, struct job *job,
                     const struct pleat_component *c)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    bool over = pleat_component_state_is_final(c->state);
    set(object, "saved", or_null(job->saved));
    set(object, "not_now", json_integer(job_not_now(job, c)));
    set(object, "section", json_boolean(pleat_view_is_not_now(view, c)));
    set(object, "expects", or_null(over ? NULL : job->expects));
    set(object, "points", or_null(job->points));
    set(object, "folded", or_null(job->folded));
    set(object, "progress", progress_or_null(job));
    set(object, "times", times_to_json(view, c));
    set(object, "grids", measured_on_grids_to_json(&job->measured));
    set(object, "predicted_grids", measured_grids_to_json(&job->measured));
    set(object, "curve", curve_to_json(d, c));
    json_t *buffer = buffer_to_json(d, c);
    if (json_is_null(buffer) && job_account(d, job)->buffer)
        buffer = json_incref(job_account(d, job)->buffer);
    set(object, "buffer", buffer);
}

json_t *job_now_to_json(struct daemon *d, struct job *job, bool history)
{
    /* "stdout" and "stderr" say what these patterns became */
    static const char *const patterns[] = {"output", "error", NULL};
    const struct account *account = job_account(d, job);
    const struct pleat_component *c = job_component(d, job);
    json_t *object = spec_to_show(d, job);
    if (!object)
        return NULL;
    add_wishes(d, object, job, c);
    add_state(d, object, job, c);
    add_processors(d, object, job, c);
    add_said(d, object, job, c);
    job_add_times(object, c, daemon_now_us(d));
    account_add_counts(account, object);
    add_path(d, object, job->id, "stdout", JOB_OUTPUT);
    add_path(d, object, job->id, "stderr", JOB_ERROR);
    drop(object, patterns);
    if (history)
        set(object, "history", account_to_history(account));
    else
        json_object_del(object, "script"); /* a script may be long */
    job_add_untaken(d, object, job->id);
    return object;
}

json_t *job_to_json(struct daemon *d, struct job *job, bool history)
{
    json_t *object = job->accounted ? accounts_job(d, job->id, history) : NULL;
    return object ? object : job_now_to_json(d, job, history);
}

/* Members of job_brief, for a job that is taken from its account. */
static const char *const brief_members[] = {
    "job",      "name",       "state",   "reason", "text",      "min",
    "max",      "processors", "wait_s",  "run_s",  "exit_code", "signal",
    "progress", "processes",  "held_by", "array",  "taken",     NULL};

static json_t *brief_of_whole(json_t *whole)
{
    json_t *object = json_object();
    for (size_t i = 0; object && brief_members[i]; i++)
        json_object_set(object, brief_members[i], json_object_get(whole, brief_members[i]));
    json_decref(whole);
    return object;
}

json_t *job_brief(struct daemon *d, struct job *job)
{
    json_t *whole = job->accounted ? accounts_job(d, job->id, false) : NULL;
    if (whole)
        return brief_of_whole(whole);
    const struct pleat_component *c = job_component(d, job);
    const char *text = job_account(d, job)->text;
    struct pleat_error err;
    int32_t processes = job_processes(d, job->id, c);
    const json_t *spec = spec_json(d, job->id, &err);
    const char *name = json_string_value(json_object_get(spec, "name"));
    struct spans spans = spans_of(c, daemon_now_us(d));
    bool over = pleat_component_state_is_final(c->state);
    json_t *object = json_pack(
        "{s:I, s:s, s:s, s:o, s:s?, s:i, s:i, s:i, s:f, s:o, s:o, s:o, s:o, s:i, s:o, s:O?}", "job",
        (json_int_t)job->id, "name", name ? name : "", "state",
        pleat_component_state_name((enum pleat_component_state)c->state), "reason",
        reason_to_json(d, c), "text", text, "min", job_minimum(pleat_core_view(d->core), c), "max",
        job_maximum(pleat_core_view(d->core), c), "processors", c->processors, "wait_s",
        (double)spans.wait_us / 1e6, "run_s", json_seconds(spans.run_us), "exit_code",
        over ? json_integer(c->code) : json_null(), "signal",
        over && c->signal ? json_integer(c->signal) : json_null(), "progress",
        progress_or_null(job), "processes", processes, "held_by", holds_to_json(c), "array",
        json_object_get(spec, "array"));
    if (object)
        job_add_untaken(d, object, job->id);
    return object;
}

json_t *jobs_counts(struct daemon *d)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    int counts[PLEAT_STATE_COUNT] = {0};
    json_t *object = json_object();
    for (uint32_t c = 0; c < view->component_count; c++)
        if (job_of_component(d, c)) /* forgotten components have no job */
            counts[view->components[c].state]++;
    for (int s = PLEAT_QUEUED; s < PLEAT_STATE_COUNT; s++)
        if (counts[s])
            json_object_set_new(object, pleat_component_state_name((enum pleat_component_state)s),
                                json_integer(counts[s]));
    return object;
}
