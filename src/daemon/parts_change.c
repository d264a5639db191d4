#include "daemon/parts_change.h"

#include <string.h>

#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/parts_inside.h"
#include "daemon/runs.h"
#include "daemon/slots.h"
#include "policy/shares.h"

bool parts_change_is_for(struct daemon *d, const struct pleat_component *component)
{
    return pleat_view_share_nodes(pleat_core_view(d->core), component) > 1;
}

/* ---- the list ---- */

static void drop(struct run_change *change)
{
    for (size_t i = 0; i < change->parts.count; i++) {
        json_decref(change->parts.items[i].now);
        json_decref(change->parts.items[i].before);
    }
    pleat_array_finish(&change->parts);
}

static struct run_change *find(struct daemon *d, uint64_t run)
{
    for (size_t i = 0; i < d->parts.changes.count; i++)
        if (d->parts.changes.items[i].run == run)
            return &d->parts.changes.items[i];
    return NULL;
}

void parts_change_forget(struct daemon *d, uint64_t run)
{
    struct run_change *change = find(d, run);
    if (!change)
        return;
    drop(change);
    *change = d->parts.changes.items[--d->parts.changes.count];
}

void parts_change_finish(struct daemon *d)
{
    for (size_t i = 0; i < d->parts.changes.count; i++)
        drop(&d->parts.changes.items[i]);
    pleat_array_finish(&d->parts.changes);
}

static struct part_change *part_on(const struct run_change *change, uint32_t node)
{
    for (size_t i = 0; i < change->parts.count; i++)
        if (change->parts.items[i].node == node)
            return &change->parts.items[i];
    return NULL;
}

/* ---- making one ---- */

/* What the run has of these on a node, as members of a request. NULL: nothing, or no memory. */
static json_t *members(const struct node_slots_list *slots, uint32_t node)
{
    for (size_t i = 0; i < slots->count; i++) {
        const struct node_slots *one = &slots->items[i];
        json_t *ranges = one->node == node ? json_array() : NULL;
        for (size_t r = 0; ranges && r < one->ranges.count; r++)
            json_array_append_new(ranges, json_pack("{s:I, s:I}", "first",
                                                    (json_int_t)one->ranges.items[r].first, "count",
                                                    (json_int_t)one->ranges.items[r].count));
        for (size_t m = 0; ranges && m < one->more.count; m++)
            json_array_append_new(ranges, json_pack("{s:i}", "cpu", (int)one->more.items[m]));
        if (ranges)
            return json_pack("{s:i, s:o}", "target", (int)one->processors, "slots", ranges);
    }
    return NULL;
}

static int add_parts(struct run_change *change, const struct pleat_share_list *shares,
                     const struct node_slots_list *now, const struct node_slots_list *before,
                     struct pleat_error *err)
{
    for (size_t i = 0; i < shares->count; i++) {
        const uint32_t node = shares->items[i].node;
        struct part_change part = {
            .node = node, .now = members(now, node), .before = members(before, node)};
        bool bad =
            (!part.now && !change->back) || !part.before || pleat_array_push(&change->parts, part);
        if (!bad)
            continue;
        json_decref(part.now);
        json_decref(part.before);
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it would have no processors on node %u, where it has processes",
                               node);
    }
    return 0;
}

static int make(struct daemon *d, const struct pleat_effect *effect, struct run_change *change,
                struct pleat_error *err)
{
    const struct pleat_component *c = component_of(d, effect->component);
    struct node_slots_list now = {0}, before = {0};
    struct pleat_share_list shares = {0};
    *change = (struct run_change){.run = effect->u.change.run,
                                  .resize = effect->id,
                                  .site = c->site,
                                  .processors = effect->u.change.processors,
                                  .back = effect->kind == PLEAT_DO_WITHDRAW,
                                  .shrinks = effect->u.change.processors < effect->u.change.from};
    /* of one that is taken back it does not matter what it was to get, which may be unknown yet */
    int rc = change->back ? 0 : slots_of(d, c, effect->u.change.processors, &now, err);
    if (!rc)
        rc = slots_of(d, c, effect->u.change.from, &before, err);
    if (!rc && pleat_shares_of(pleat_core_view(d->core), c, &shares))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (!rc)
        rc = add_parts(change, &shares, &now, &before, err);
    pleat_array_finish(&shares);
    slots_finish(&now);
    slots_finish(&before);
    if (rc)
        drop(change);
    return rc;
}

/* The record of this resize. NULL: err says why. */
static struct run_change *change_of(struct daemon *d, const struct pleat_effect *effect,
                                    struct pleat_error *err)
{
    struct run_change *known = find(d, effect->u.change.run), fresh;
    if (known && known->resize == effect->id)
        return known;
    if (make(d, effect, &fresh, err))
        return NULL;
    parts_change_forget(d, effect->u.change.run);
    if (pleat_array_push(&d->parts.changes, fresh)) {
        drop(&fresh);
        pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        return NULL;
    }
    return &d->parts.changes.items[d->parts.changes.count - 1];
}

/* ---- requests ---- */

/* Under which number the agent of a node has the run, or its part of it; 0: it has none yet, or its
 * part has ended. */
static uint64_t number_there(struct daemon *d, const struct run_change *change, uint32_t node)
{
    uint32_t component = run_component(d, change->run);
    const struct pleat_component *c = component == PLEAT_NONE ? NULL : component_of(d, component);
    if (c && c->lead_node == node)
        return change->run;
    const struct part *part = parts_find_on(d, change->run, change->site, node);
    return part && part->state == PART_STARTED ? part->there : 0;
}

/* Asks a node for what it has not answered. An agent that is not there is asked when it is. */
static void ask(struct daemon *d, const struct run_change *change, const struct part_change *part)
{
    const uint64_t there = number_there(d, change, part->node);
    bool done =
        change->back ? part->withdrawn : part->applied && (part->vacated || !change->shrinks);
    if (done || !there)
        return;
    json_t *params = part_copy(change->back ? part->before : part->now, there);
    if (params &&
        (json_object_set_new(params, "resize", json_integer((json_int_t)change->resize)) ||
         (change->shrinks && json_object_set_new(params, "vacates", json_true())))) {
        json_decref(params);
        params = NULL;
    }
    part_request(d, change->site, part->node, change->back ? "withdraw" : "resize", params);
}

static void ask_all(struct daemon *d, const struct run_change *change)
{
    for (size_t i = 0; i < change->parts.count; i++)
        ask(d, change, &change->parts.items[i]);
}

int parts_change(struct daemon *d, const struct pleat_effect *effect, struct pleat_error *err)
{
    const struct pleat_component *c = component_of(d, effect->component);
    if (c->resize == PLEAT_NONE || pleat_core_resize(d->core, c->resize)->id != effect->id)
        return 0; /* it has ended since */
    struct run_change *change = change_of(d, effect, err);
    if (!change)
        return err->code;
    if (effect->kind == PLEAT_DO_WITHDRAW && change->applied) {
        change->applied = change->over = false; /* it came too late: that is told again */
        return 0;
    }
    if (effect->kind == PLEAT_DO_WITHDRAW) {
        change->back = true;
        change->failed = false;
    }
    change->over = false;
    ask_all(d, change);
    return 0;
}

void parts_change_again(struct daemon *d, uint32_t site, uint32_t node)
{
    for (size_t i = 0; i < d->parts.changes.count; i++) {
        const struct run_change *change = &d->parts.changes.items[i];
        const struct part_change *part = change->site == site ? part_on(change, node) : NULL;
        if (part && !change->over)
            ask(d, change, part);
    }
}

/* ---- answers ---- */

/* Is it, or may it be, the present resize of the run? Not one that an agent tells of an earlier
 * one.
 */
static bool is_present(const struct run_change *change, const json_t *params)
{
    return change && !change->over && (uint64_t)part_number_in(params, "resize") == change->resize;
}

static void take_back(struct daemon *d, struct run_change *change)
{
    if (change->back || change->applied)
        return;
    change->back = change->failed = true;
    ask_all(d, change);
}

bool parts_change_heard(struct agent *agent, uint32_t component, const char *method,
                        const json_t *params)
{
    struct daemon *d = agent->daemon;
    bool applied = !strcmp(method, "applied"), vacated = !strcmp(method, "vacated"),
         withdrawn = !strcmp(method, "withdrawn");
    if ((!applied && !vacated && !withdrawn) || !parts_change_is_for(d, component_of(d, component)))
        return false;
    struct run_change *change = find(d, parts_run_of((uint64_t)part_number_in(params, "run")));
    struct part_change *part = is_present(change, params) ? part_on(change, agent->node) : NULL;
    if (!part)
        return true;
    part->applied = part->applied || applied;
    part->vacated = part->vacated || vacated;
    part->withdrawn = part->withdrawn || withdrawn;
    if (applied && part_number_in(params, "total_us") > change->total_us)
        change->total_us = part_number_in(params, "total_us");
    if (withdrawn) /* maybe for an earlier pleatd */
        take_back(d, change);
    return true;
}

bool parts_change_refused(struct agent *agent, uint32_t component, const struct asked *asked,
                          const struct pleat_error *why)
{
    struct daemon *d = agent->daemon;
    if (strcmp(asked->method, "resize") != 0 || !parts_change_is_for(d, component_of(d, component)))
        return false;
    struct run_change *change = find(d, parts_run_of(asked->run));
    const struct job *job = job_of_component(d, component);
    if (!change || change->over || change->back || change->resize != asked->resize)
        return true;
    if (job)
        note_make(d, daemon_now_us(d), "warning", job->id, note_text(why->text));
    take_back(d, change);
    return true;
}

static bool all(const struct run_change *change, bool (*is)(const struct part_change *part))
{
    for (size_t i = 0; i < change->parts.count; i++)
        if (!is(&change->parts.items[i]))
            return false;
    return true;
}

static bool is_applied(const struct part_change *part)
{
    return part->applied;
}

static bool is_vacated(const struct part_change *part)
{
    return part->vacated;
}

static bool is_withdrawn(const struct part_change *part)
{
    return part->withdrawn;
}

/* What the core is to be told next; NULL: nothing yet. */
static const char *next_of(struct run_change *change)
{
    if (change->over)
        return NULL;
    if (change->back) {
        change->over = all(change, is_withdrawn);
        return !change->over ? NULL : change->failed ? "resize_failed" : "withdrawn";
    }
    if (!change->applied) {
        change->applied = all(change, is_applied);
        change->over = change->applied && !change->shrinks;
        return change->applied ? "applied" : NULL;
    }
    change->over = all(change, is_vacated);
    return change->over ? "vacated" : NULL;
}

bool parts_change_next(struct daemon *d, uint64_t *run, const char **method, json_t **params)
{
    for (size_t i = 0; i < d->parts.changes.count; i++) {
        struct run_change *change = &d->parts.changes.items[i];
        const char *next = next_of(change);
        if (!next)
            continue;
        *run = change->run;
        *method = next;
        *params = json_pack("{s:I, s:I, s:i, s:I}", "run", (json_int_t)change->run, "resize",
                            (json_int_t)change->resize, "processes", (int)change->processors,
                            "total_us", (json_int_t)change->total_us);
        return true;
    }
    return false;
}
