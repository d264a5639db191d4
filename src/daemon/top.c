/* `top`, a frame of the live view: machines, running jobs, waiting jobs and why they wait, the last
 * ended ones. One answer of bounded size, so that a frame costs one request.
 */
#include <string.h>
#include <unistd.h>

#include "daemon/account.h"
#include "daemon/buffer_json.h"
#include "daemon/daemon.h"
#include "daemon/job_json.h"
#include "daemon/jobs.h"
#include "daemon/specs.h"
#include "daemon/top.h"
#include "daemon/why.h"

enum { TEXT_MAX_BYTES = 120 };

/* Indexes of components that have ended, the latest first. */
PLEAT_ARRAY(latest, uint32_t);

/* The first TEXT_MAX_BYTES bytes at most, cut between UTF-8 characters. */
static json_t *short_text(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length > TEXT_MAX_BYTES)
        for (length = TEXT_MAX_BYTES; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    return text ? json_stringn(text, length) : json_null();
}

/* The nodes of a site that has several; null: it has one. */
static json_t *nodes_to_json(const struct pleat_view *view, uint32_t site)
{
    if (!view->sites[site].several)
        return json_null();
    json_t *nodes = json_array();
    for (uint32_t n = 0; n < view->node_count; n++)
        if (view->nodes[n].site == site && view->nodes[n].slots > 0)
            json_array_append_new(
                nodes, json_pack("{s:I, s:i, s:i, s:b}", "node", (json_int_t)view->nodes[n].node,
                                 "processors", view->nodes[n].slots, "used", view->nodes[n].claimed,
                                 "drained", view->nodes[n].drained));
    return nodes;
}

static json_t *sites_to_json(struct daemon *d, const struct pleat_view *view)
{
    json_t *sites = json_array();
    for (uint32_t s = 0; s < view->site_count && s < d->config.site_count; s++) {
        const struct pleat_site *site = &view->sites[s];
        int32_t unused = pleat_view_site_unused(site) - site->others;
        if (site->gone)
            continue;
        json_array_append_new(
            sites,
            json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:b, s:o}", "name", d->config.sites[s].name,
                      "processors", site->capacity, "free", unused > 0 ? unused : 0, "used",
                      site->claimed, "background", site->background + site->others, "threshold",
                      site->threshold, "drained", site->drained, "nodes", nodes_to_json(view, s)));
    }
    return sites;
}

static json_t *resize_to_json(struct daemon *d, const struct pleat_component *c)
{
    if (c->resize == PLEAT_NONE || c->state != PLEAT_RESIZING)
        return json_null();
    const struct pleat_resize *resize = pleat_core_resize(d->core, c->resize);
    return json_pack("{s:i, s:i, s:s, s:s}", "from", resize->from, "to", resize->to, "step",
                     pleat_resize_step_name((enum pleat_resize_step)resize->step), "by",
                     pleat_resize_by(resize));
}

/* Takes `why`. */
static void add_job(struct daemon *d, uint32_t component, json_t *why, json_t *jobs)
{
    const struct pleat_component *c = &pleat_core_view(d->core)->components[component];
    struct job *job = job_of_component(d, component);
    int32_t processes = job_processes(d, (int64_t)c->job, c);
    bool over = pleat_component_state_is_final(c->state), reason = c->reason != PLEAT_REASON_NONE;
    json_t *object = json_pack(
        "{s:I, s:o, s:s, s:s, s:i, s:i, s:i, s:i, s:s?, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:s?, "
        "s:o, s:o, s:i}",
        "job", (json_int_t)c->job, "name", short_text(job_name(d, (int64_t)c->job)), "state",
        pleat_component_state_name((enum pleat_component_state)c->state), "kind",
        pleat_kind_name((enum pleat_job_kind)c->kind), "min",
        job_minimum(pleat_core_view(d->core), c), "max", job_maximum(pleat_core_view(d->core), c),
        "processors", c->processors, "target", c->target, "site",
        c->site == PLEAT_NONE ? NULL : d->config.sites[c->site].name, "submit_s",
        json_seconds(c->submit_us), "start_s", json_seconds(c->start_us), "end_s",
        json_seconds(c->end_us), "attempt", (int)c->attempt, "priority", (int)c->priority, "resize",
        resize_to_json(d, c), "why", why ? why : json_null(), "reason",
        reason ? pleat_reason_name((enum pleat_reason)c->reason) : NULL, "exit_code",
        over ? json_integer(c->code) : json_null(), "signal",
        over && c->signal ? json_integer(c->signal) : json_null(), "processes", processes);
    if (!object)
        return;
    json_object_set_new(object, "buffer", buffer_to_json(d, c));
    json_object_set_new(object, "section",
                        json_boolean(pleat_view_is_not_now(pleat_core_view(d->core), c)));
    json_object_set_new(object, "text", short_text(job ? job_account(d, job)->text : NULL));
    json_object_set_new(object, "progress",
                        job && job->has_progress
                            ? json_pack("{s:I, s:f}", "iteration", (json_int_t)job->iteration,
                                        "iteration_s", (double)job->iteration_us / 1e6)
                            : json_null());
    if (job_add_untaken(d, object, (int64_t)c->job)) {
        json_object_set_new(object, "why", json_null());
        json_object_set_new(object, "reason",
                            short_text(json_string_value(json_object_get(object, "reason"))));
    }
    json_array_append_new(jobs, object);
}

/* Inserts a component, and keeps the `most` ones that ended last. */
static void keep_latest(struct latest *latest, const struct pleat_view *view, uint32_t component,
                        int64_t most)
{
    int64_t end_us = view->components[component].end_us;
    size_t at = latest->count;
    if ((int64_t)at == most) {
        if (at == 0 || view->components[latest->items[at - 1]].end_us >= end_us)
            return;
        latest->count--;
    }
    if (pleat_array_reserve(latest, 1))
        return; /* out of memory: this one is not shown */
    for (at = latest->count++; at > 0; at--) {
        if (view->components[latest->items[at - 1]].end_us >= end_us)
            break;
        latest->items[at] = latest->items[at - 1];
    }
    latest->items[at] = component;
}

/* Adds jobs that have processors, or are giving them back; collects the last ended ones. */
static void add_present(struct daemon *d, int64_t limit, struct latest *latest, int64_t ended,
                        json_t *jobs)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    for (uint32_t c = 0; c < view->component_count; c++) {
        enum pleat_component_state state = (enum pleat_component_state)view->components[c].state;
        if (!job_of_component(d, c))
            continue; /* forgotten */
        if (pleat_component_state_is_final(state))
            keep_latest(latest, view, c, ended);
        else if (state != PLEAT_QUEUED && (int64_t)json_array_size(jobs) < limit)
            add_job(d, c, NULL, jobs);
    }
}

static void add_waiting(struct daemon *d, const struct pleat_pass *pass, uint32_t first,
                        int64_t limit, json_t *jobs)
{
    for (uint32_t c = first; c != PLEAT_NONE && (int64_t)json_array_size(jobs) < limit;
         c = pass->view->components[c].next)
        add_job(d, c, why_waits_short(pass, c), jobs);
}

/* Adds jobs that wait beside the queue: held, or because a node could not start them. */
static void add_held(struct daemon *d, const struct pleat_pass *pass, int64_t limit, json_t *jobs)
{
    const struct pleat_view *view = pass->view;
    for (uint32_t c = 0; c < view->component_count && (int64_t)json_array_size(jobs) < limit; c++)
        if (view->components[c].state == PLEAT_QUEUED && view->components[c].holds)
            add_job(d, c, why_waits_short(pass, c), jobs);
}

/* Adds waiting jobs and why they wait: first those in the queue, in its order, then those beside
 * it, then reservations in the order of their times. */
static int add_queue(struct daemon *d, int64_t limit, json_t *jobs, struct pleat_error *err)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    struct pleat_rehearsal rehearsal;
    if (d->jobs.living == 0)
        return 0;
    int rc = pleat_core_rehearse(d->core, daemon_now_us(d), &rehearsal);
    if (rc)
        pleat_error_set(err, rc, "out of memory");
    if (!rc) {
        add_waiting(d, &rehearsal.pass, view->queue_first, limit, jobs);
        add_held(d, &rehearsal.pass, limit, jobs);
        add_waiting(d, &rehearsal.pass, view->reserved_first, limit, jobs);
    }
    pleat_rehearsal_finish(&rehearsal);
    return rc;
}

int top_to_json(struct daemon *d, int64_t limit, int64_t ended, json_t **result,
                struct pleat_error *err)
{
    struct latest latest = {0};
    json_t *jobs = json_array(), *policies = json_object();
    add_present(d, limit, &latest, ended, jobs);
    int rc = add_queue(d, limit, jobs, err);
    int64_t left_out = (int64_t)d->jobs.living - (int64_t)json_array_size(jobs);
    for (size_t i = 0; !rc && i < latest.count; i++)
        add_job(d, latest.items[i], NULL, jobs);
    pleat_array_finish(&latest);
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        json_object_set_new(policies, pleat_question_name((enum pleat_question)q),
                            json_string(pleat_core_policy(d->core, (enum pleat_question)q)->name));
    *result = json_pack(
        "{s:f, s:i, s:f, s:s?, s:o, s:o, s:o, s:o, s:I}", "now_s", (double)daemon_now_us(d) / 1e6,
        "pid", (int)getpid(), "started_s", (double)d->clock.started_us / 1e6, "holding",
        d->turn.holding ? d->turn.holding_why.text : NULL, "policies", policies, "counts",
        jobs_counts(d), "sites", sites_to_json(d, pleat_core_view(d->core)), "jobs", jobs,
        "left_out", (json_int_t)(left_out > 0 ? left_out : 0));
    if (!rc && !*result)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (rc)
        json_decref(*result);
    return rc;
}
