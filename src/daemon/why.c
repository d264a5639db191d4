/* `why`: why a job waits, has its size, or ended. Facts from the core's records, a rehearsed pass
 * and the job's notes (docs/protocol.md, "Why"); the client makes sentences of them.
 */
#include <string.h>

#include "daemon/account.h"
#include "daemon/asked_text.h"
#include "daemon/buffer_json.h"
#include "daemon/curve.h"
#include "daemon/daemon.h"
#include "daemon/decided.h"
#include "daemon/declared.h"
#include "daemon/depend.h"
#include "daemon/job_json.h"
#include "daemon/jobs.h"
#include "daemon/specs.h"
#include "daemon/why.h"
#include "policy/expect.h"
#include "policy/why.h"

enum { AHEAD_MAX = 16, HOLDERS_MAX = 32, KEPT_MAX = 8 };

static json_t *number_of(const struct pleat_view *view, uint32_t component)
{
    return component == PLEAT_NONE ? json_null()
                                   : json_integer((json_int_t)view->components[component].job);
}

static json_t *policies_of(struct daemon *d)
{
    json_t *policies = json_object();
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        json_object_set_new(policies, pleat_question_name((enum pleat_question)q),
                            json_string(pleat_core_policy(d->core, (enum pleat_question)q)->name));
    return policies;
}

/* ---- waiting ---- */

/* What nobody uses of a site, others included. */
static int32_t unused_of(const struct pleat_pass *pass, uint32_t site)
{
    int32_t unused = pleat_plan_idle(pass->plan, site) - pass->view->sites[site].others;
    return unused > 0 ? unused : 0;
}

static json_t *sites_for(struct daemon *d, const struct pleat_pass *pass,
                         const struct pleat_component *comp)
{
    json_t *sites = json_array();
    for (uint32_t s = 0; s < pass->view->site_count; s++) {
        const struct pleat_site *site = &pass->view->sites[s];
        if ((comp->wanted_site != PLEAT_NONE && comp->wanted_site != s) || site->gone)
            continue;
        json_array_append_new(
            sites,
            json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:o}", "site",
                      d->config.sites[s].name, "processors", site->capacity, "free",
                      unused_of(pass, s), "used", site->claimed, "releasing", site->releasing,
                      "background", site->background + site->others, "reclaimable",
                      site->reclaimable, "drained", site->drained, "quiet_until_s",
                      site->quiet_until_us > pass->view->now_us ? json_seconds(site->quiet_until_us)
                                                                : json_null()));
    }
    return sites;
}

/* Who says when a running job ends; NULL: nobody. */
static const char *expected_by(const struct pleat_view *view, const struct pleat_component *comp)
{
    int64_t end_us = pleat_view_likely_end(view, comp);
    if (end_us == PLEAT_NEVER)
        return NULL;
    return end_us == pleat_view_declaration(view, comp)->expected_us ? "program" : "estimate";
}

static void add_holders(const struct pleat_view *view, uint32_t first, json_t *holders)
{
    for (uint32_t c = first; c != PLEAT_NONE && json_array_size(holders) < HOLDERS_MAX;
         c = view->components[c].next) {
        const struct pleat_component *comp = &view->components[c];
        json_array_append_new(
            holders, json_pack("{s:I, s:i, s:i, s:i, s:o, s:s?}", "job", (json_int_t)comp->job,
                               "processors", comp->processors, "target", comp->target, "least",
                               comp->kind == PLEAT_MALLEABLE ? pleat_accept_smallest(view, comp)
                                                             : comp->processors,
                               "expected_end_s", json_seconds(pleat_view_likely_end(view, comp)),
                               "expected_by", expected_by(view, comp)));
    }
}

/* The running jobs that hold processors of a site. */
static json_t *holders_of(const struct pleat_view *view, uint32_t site)
{
    json_t *holders = json_array();
    if (site == PLEAT_NONE)
        return holders;
    add_holders(view, view->sites[site].malleable_first, holders);
    add_holders(view, view->sites[site].rigid_first, holders);
    return holders;
}

/* The first AHEAD_MAX jobs in front of a component in the queue; *count: the number of all. */
static json_t *ahead_of(const struct pleat_view *view, uint32_t component, int *count)
{
    json_t *ahead = json_array();
    *count = 0;
    if (view->components[component].aside)
        return ahead;
    for (uint32_t c = view->queue_first; c != PLEAT_NONE && c != component;
         c = pleat_queue_next(view, c), ++*count)
        if (*count < AHEAD_MAX)
            json_array_append_new(ahead, json_pack("{s:I, s:i}", "job",
                                                   (json_int_t)view->components[c].job, "need",
                                                   pleat_accept_start(view, &view->components[c])));
    return ahead;
}

static void add_kept(const struct pleat_view *view, uint32_t first, uint32_t but, json_t *kept)
{
    for (uint32_t c = first; c != PLEAT_NONE && json_array_size(kept) < KEPT_MAX;
         c = view->components[c].next) {
        const struct pleat_component *comp = &view->components[c];
        int64_t at_us = comp->begin_us > 0 ? comp->begin_us : comp->promised_us;
        if (c != but && at_us != PLEAT_NEVER)
            json_array_append_new(
                kept, json_pack("{s:I, s:i, s:o, s:b}", "job", (json_int_t)comp->job, "need",
                                pleat_accept_start(view, comp), "at_s", json_seconds(at_us),
                                "reservation", comp->begin_us > 0));
    }
}

/* Jobs for which others must leave processors free: reservations, and jobs that were promised a
 * start. */
static json_t *kept_for(const struct pleat_view *view, uint32_t component)
{
    json_t *kept = json_array();
    add_kept(view, view->reserved_first, component, kept);
    add_kept(view, view->queue_first, component, kept);
    return kept;
}

/* Running jobs that are being shrunk for a component. */
static json_t *shrinking_for(struct daemon *d, const struct pleat_view *view, uint32_t component)
{
    json_t *shrinking = json_array();
    uint32_t site = view->components[component].site;
    for (uint32_t c = site == PLEAT_NONE ? PLEAT_NONE : view->sites[site].malleable_first;
         c != PLEAT_NONE; c = pleat_malleable_younger(view, c)) {
        const struct pleat_component *comp = &view->components[c];
        const struct pleat_resize *resize =
            comp->resize == PLEAT_NONE ? NULL : pleat_core_resize(d->core, comp->resize);
        if (resize && resize->waiter == component)
            json_array_append_new(
                shrinking,
                json_pack("{s:I, s:i, s:i, s:o, s:s}", "job", (json_int_t)comp->job, "from",
                          resize->from, "to", resize->to, "begun_s", json_seconds(resize->begun_us),
                          "step", pleat_resize_step_name((enum pleat_resize_step)resize->step)));
    }
    return shrinking;
}

/* What holds the job, as a sentence; null: nothing does. */
static json_t *held_or_null(struct daemon *d, const struct pleat_component *comp)
{
    char text[160];
    if (comp->aside != PLEAT_ASIDE_HELD)
        return json_null();
    holds_text(d, comp, text, sizeof(text));
    return json_string(text);
}

static json_t *queued_to_json(struct daemon *d, const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    struct pleat_wait_answer answer = pleat_why_waits(pass, component);
    int ahead_count;
    json_t *ahead = ahead_of(view, component, &ahead_count);
    return json_pack(
        "{s:s, s:i, s:i, s:o, s:o, s:o, s:i, s:i, s:b, s:o, s:i, s:i, s:b, s:o, s:i, s:i, s:o, "
        "s:o, s:o, s:o}",
        "code", pleat_waits_name(answer.code), "need", answer.need, "free", answer.free, "until_s",
        json_seconds(answer.until_us), "behind", number_of(view, answer.behind), "ahead", ahead,
        "ahead_count", ahead_count, "queued", (int)view->queue_count, "shrinks",
        pleat_pass_shrinks(pass), "promised_s", json_seconds(comp->promised_us), "earmarked",
        comp->earmarked, "coming", comp->coming, "aside", comp->aside, "shrinking",
        shrinking_for(d, view, component), "tries", (int)comp->tries, "max_tries", view->max_tries,
        "sites", sites_for(d, pass, comp), "holders", holders_of(view, answer.site), "kept_for",
        kept_for(view, component), "held", held_or_null(d, comp));
}

json_t *why_waits_short(const struct pleat_pass *pass, uint32_t component)
{
    struct pleat_wait_answer answer = pleat_why_waits(pass, component);
    const struct pleat_component *comp = &pass->view->components[component];
    return json_pack("{s:s, s:i, s:i, s:o, s:o, s:i, s:i}", "code", pleat_waits_name(answer.code),
                     "need", answer.need, "free", answer.free, "behind",
                     number_of(pass->view, answer.behind), "until_s", json_seconds(answer.until_us),
                     "earmarked", comp->earmarked, "coming", comp->coming);
}

/* A job that is placed: its processors are being claimed, or its program is being started. */
static json_t *starting_to_json(struct daemon *d, const struct pleat_component *comp)
{
    return json_pack("{s:s, s:i, s:s?, s:i, s:o}", "code", comp->starting ? "starting" : "claiming",
                     "need", comp->target > 0 ? comp->target : comp->earmarked, "site",
                     comp->site == PLEAT_NONE ? NULL : d->config.sites[comp->site].name, "attempt",
                     (int)comp->attempt, "site_queue", site_queue_to_json(d, comp));
}

/* ---- size ---- */

static json_t *resize_to_json(struct daemon *d, const struct pleat_view *view,
                              const struct pleat_component *comp)
{
    if (comp->resize == PLEAT_NONE)
        return json_null();
    const struct pleat_resize *resize = pleat_core_resize(d->core, comp->resize);
    return json_pack("{s:i, s:i, s:o, s:s, s:b, s:s, s:o}", "from", resize->from, "to", resize->to,
                     "begun_s", json_seconds(resize->begun_us), "step",
                     pleat_resize_step_name((enum pleat_resize_step)resize->step), "mandatory",
                     resize->mandatory, "by", pleat_resize_by(resize), "waiter",
                     number_of(view, resize->waiter));
}

static json_t *size_to_json(struct daemon *d, const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    struct pleat_size_answer answer = pleat_why_size(pass, component);
    const struct pleat_site *site = &view->sites[comp->site];
    int32_t most = comp->processors + (answer.growable > 0 ? answer.growable : 0);
    return json_pack(
        "{s:I, s:s, s:s, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:b, "
        "s:i, s:b, s:o, s:o}",
        "not_now", (json_int_t)job_not_now(job_of_component(d, component), comp), "code",
        pleat_size_name(answer.code), "site", d->config.sites[comp->site].name, "cap",
        comp->cap < PLEAT_SIZE_MAX ? json_integer(comp->cap) : json_null(), "least",
        pleat_accept_smallest(view, comp), "largest", answer.largest, "next", answer.next, "free",
        unused_of(pass, comp->site), "growable", answer.growable, "threshold", site->threshold,
        "background", site->background + site->others, "waiter", number_of(view, answer.waiter),
        "until_s", json_seconds(answer.until_us), "resize", resize_to_json(d, view, comp),
        "declared", declared_to_json(d, comp), "asked", asked_to_json(d, comp), "own_cap",
        (int)pleat_view_ask(view, comp)->caps, "credit", pleat_view_ask(view, comp)->credit,
        "section", pleat_view_is_not_now(view, comp), "spot", curve_spot_to_json(d, comp, most),
        "buffer", buffer_why_to_json(d, pass, component));
}

/* ---- all of it ---- */

static json_t *ending_to_json(const struct pleat_component *comp)
{
    bool over = pleat_component_state_is_final(comp->state);
    return json_pack("{s:s, s:o, s:o, s:o, s:b}", "reason",
                     pleat_reason_name((enum pleat_reason)comp->reason), "end_s",
                     json_seconds(comp->end_us), "exit_code",
                     over ? json_integer(comp->code) : json_null(), "signal",
                     over && comp->signal ? json_integer(comp->signal) : json_null(), "over", over);
}

/* Overrides the answer about a job whose submission is not in the log yet: nothing was decided. */
static void add_untaken(struct daemon *d, json_t *object, int64_t job)
{
    if (!job_add_untaken(d, object, job))
        return;
    json_object_del(object, "reason");
    json_object_set_new(object, "waiting",
                        json_pack("{s:s, s:s}", "code", "log", "log", d->turn.holding_why.text));
    json_object_set_new(object, "size", json_null());
    json_object_set_new(object, "ending", json_null());
    json_object_set_new(object, "decisions", json_array());
}

/* Sets "waiting", "size" or "ending", after the job's state. */
static int add_present(struct daemon *d, uint32_t component, json_t *object,
                       struct pleat_error *err)
{
    struct pleat_rehearsal rehearsal;
    const struct pleat_component *comp = &pleat_core_view(d->core)->components[component];
    json_t *waiting = NULL, *size = NULL, *ending = NULL;
    int rc = pleat_core_rehearse(d->core, daemon_now_us(d), &rehearsal);
    if (rc) {
        pleat_rehearsal_finish(&rehearsal);
        return pleat_error_set(err, rc, "out of memory");
    }
    if (comp->state == PLEAT_QUEUED)
        waiting = queued_to_json(d, &rehearsal.pass, component);
    else if (comp->state == PLEAT_PLACED || comp->state == PLEAT_CLAIMING)
        waiting = starting_to_json(d, comp);
    else if (comp->state == PLEAT_RUNNING || comp->state == PLEAT_RESIZING)
        size = size_to_json(d, &rehearsal.pass, component);
    else
        ending = ending_to_json(comp);
    if (waiting)
        json_object_set_new(waiting, "declared", declared_to_json(d, comp));
    json_object_set_new(object, "waiting", waiting ? waiting : json_null());
    json_object_set_new(object, "size", size ? size : json_null());
    json_object_set_new(object, "ending", ending ? ending : json_null());
    pleat_rehearsal_finish(&rehearsal);
    return 0;
}

int why_to_json(struct daemon *d, struct job *job, json_t **result, struct pleat_error *err)
{
    const struct pleat_component *c = job_component(d, job);
    json_t *decisions;
    double queued_s = (double)c->submit_us / 1e6;
    int rc = decided(d, job->id, &decisions, &queued_s, err);
    if (rc)
        return rc;
    json_t *object = json_pack(
        "{s:I, s:s, s:s, s:s, s:f, s:f, s:o, s:i, s:i, s:i, s:i, s:i, s:s?, s:o, s:o}", "job",
        (json_int_t)job->id, "name", job_name(d, job->id), "state",
        pleat_component_state_name((enum pleat_component_state)c->state), "kind",
        pleat_kind_name((enum pleat_job_kind)c->kind), "now_s", (double)daemon_now_us(d) / 1e6,
        "queued_s", queued_s, "start_s", json_seconds(c->start_us), "min",
        job_minimum(pleat_core_view(d->core), c), "max", job_maximum(pleat_core_view(d->core), c),
        "processors", c->processors, "target", c->target, "attempt", (int)c->attempt, "text",
        job_account(d, job)->text, "policies", policies_of(d), "decisions", decisions);
    rc = object ? add_present(d, job->component, object, err)
                : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (rc) {
        json_decref(object);
        return rc;
    }
    add_untaken(d, object, job->id);
    *result = object;
    return 0;
}
