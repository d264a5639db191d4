#include "daemon/parts.h"

#include <string.h>

#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/parts_inside.h"
#include "daemon/parts_process.h"
#include "daemon/parts_start.h"
#include "daemon/process_sites.h"
#include "daemon/runs.h"
#include "daemon/specs.h"
#include "model/runner_kind.h"

/* The grace of a launcher of which a part was lost. */
#define LEAD_GRACE_S 1.0

enum { CODE_NOT_STARTED = 126, CODE_UNWANTED = 143, CODE_LOST = 255 };

/* ---- finding ---- */

struct pending_exit *parts_pending_exit(struct daemon *d, uint64_t run)
{
    for (size_t i = 0; i < d->parts.exits.count; i++)
        if (d->parts.exits.items[i].run == run)
            return &d->parts.exits.items[i];
    return NULL;
}

static bool claim_has_node(struct daemon *d, uint32_t claim, uint32_t site, uint32_t node)
{
    if (pleat_core_claim(d->core, claim)->site != site)
        return false;
    for (uint32_t p = pleat_core_claim(d->core, claim)->first_piece; p != PLEAT_NONE;
         p = pleat_core_piece(d->core, p)->next)
        if (pleat_core_piece(d->core, p)->node == node)
            return true;
    return false;
}

/* A growth's claim counts, too, though it is the component's only when the growth has been
 * applied; so do those with prepared processes. */
bool part_has_node(struct daemon *d, uint32_t component, uint32_t site, uint32_t node)
{
    const struct pleat_component *comp = component_of(d, component);
    uint32_t growth =
        comp->resize != PLEAT_NONE ? pleat_core_resize(d->core, comp->resize)->claim : PLEAT_NONE;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = pleat_core_claim(d->core, c)->next)
        if (claim_has_node(d, c, site, node))
            return true;
    uint32_t prepared = comp->buffer != PLEAT_NONE
                            ? pleat_core_view(d->core)->buffers[comp->buffer].first_claim
                            : PLEAT_NONE;
    for (uint32_t c = prepared; c != PLEAT_NONE; c = pleat_core_claim(d->core, c)->next)
        if (claim_has_node(d, c, site, node))
            return true;
    return growth != PLEAT_NONE && claim_has_node(d, growth, site, node);
}

/* Whether the run has a mailbox on each node: then its program may be started again, and a part
 * that has ended keeps the state for the next one on its node. */
static bool has_mailboxes(struct daemon *d, uint64_t run)
{
    const struct job *job = job_of_component(d, run_component(d, run));
    return job &&
           pleat_runner_kind_find(job_spec(d, job->id)->runner)->starts & PLEAT_STARTS_MAILBOX;
}

bool parts_is_other(const struct agent *agent, uint32_t component)
{
    const struct pleat_component *c = component_of(agent->daemon, component);
    return c->site != PLEAT_NONE && (agent->site != c->site || agent->node != c->lead_node);
}

/* ---- telling ---- */

/* Tells the agent that leads the run. If that is not there it is told after its list. */
void part_tell(struct daemon *d, const struct part *part)
{
    uint32_t component = run_component(d, part->run);
    if (component == PLEAT_NONE || (part->state != PART_STARTED && part->state != PART_ENDED))
        return;
    const struct pleat_component *c = component_of(d, component);
    json_t *params = part->end ? json_deep_copy(part->end) : json_object();
    json_object_set_new(params, "run", json_integer((json_int_t)part->run));
    json_object_set_new(params, "part", json_integer(part->number));
    json_object_set_new(params, "ended", json_boolean(part->state == PART_ENDED));
    if (c->site != PLEAT_NONE)
        part_request(d, c->site, c->lead_node, "part_told", params);
    else
        json_decref(params);
}

void part_end(struct daemon *d, struct part *part, double grace_s)
{
    if (part->told_to_end)
        return;
    part->told_to_end = true;
    part_request(d, part->site, part->node, "kill",
                 json_pack("{s:I, s:f}", "run", (json_int_t)part->there, "grace_s", grace_s));
}

void parts_end_run(struct daemon *d, const struct part *part)
{
    uint32_t component = run_component(d, part->run);
    const struct job *job = job_of_component(d, component);
    const struct pleat_component *c = job ? component_of(d, component) : NULL;
    char text[120];
    if (!c || c->site == PLEAT_NONE || c->exited || c->state == PLEAT_FINISHING)
        return;
    int number = (int)json_integer_value(json_object_get(part->end, "signal"));
    if (part->over_memory)
        snprintf(text, sizeof(text), "it wanted more memory on node %u than its limit", part->node);
    else if (number)
        snprintf(text, sizeof(text), "what it runs on node %u was ended by signal %d", part->node,
                 number);
    else if (part->spoiled)
        snprintf(text, sizeof(text),
                 "what it ran on node %u has ended with exit code %d, and the rest of it went on",
                 part->node, (int)json_integer_value(json_object_get(part->end, "code")));
    else
        snprintf(text, sizeof(text), "what it ran on node %u is lost", part->node);
    note_make(d, daemon_now_us(d), "warning", job->id, note_text(text));
    if (!parts_pending_exit(d, part->run))
        part_request(
            d, c->site, c->lead_node, "kill",
            json_pack("{s:I, s:f}", "run", (json_int_t)part->run, "grace_s", LEAD_GRACE_S));
}

/* Starts the part that has waited for the end of this one. */
static void go_on_after(struct daemon *d, const struct part *part)
{
    for (size_t i = 0; i < d->parts.items.count; i++) {
        struct part *next = &d->parts.items.items[i];
        if (next->run == part->run && next->site == part->site && next->node == part->node)
            part_go_on(d, next);
    }
}

/* The part has ended; `end` is stolen. */
static void ended(struct daemon *d, struct part *part, json_t *end)
{
    part->state = PART_ENDED;
    json_decref(part->wish);
    json_decref(part->end);
    part->wish = NULL;
    part->end = end;
    part_tell(d, part);
    if ((part->failed || part->over_memory) && part->role == PART_NOW)
        parts_end_run(d, part);
    part_forget_after(d, part);
    go_on_after(d, part);
}

static void ended_with(struct daemon *d, struct part *part, int code, const char *text)
{
    ended(d, part,
          json_pack("{s:i, s:i, s:o*, s:b}", "code", code, "signal", 0, "text",
                    text ? pleat_json_text(text) : NULL, "failed", code == CODE_NOT_STARTED));
}

void part_lost(struct daemon *d, struct part *part)
{
    part->failed = true;
    ended(d, part, json_pack("{s:i, s:i, s:b}", "code", CODE_LOST, "signal", 0, "lost", (int)true));
}

/* Sends the request to start it, once its node's agent is there. */
void part_go_on(struct daemon *d, struct part *part)
{
    struct pleat_error err = {0};
    struct agent *agent = agent_get(d, part->site, part->node);
    const bool has_mailbox = has_mailboxes(d, part->run);
    const bool process = part->role == PART_PROCESS;
    if (part->state != PART_WANTED || !agent)
        return;
    if (!agent->connection || !agent->listed) {
        agent_want(agent);
        return;
    }
    part_take_number(d, part, has_mailbox || process);
    if (!part_has_room(d, part))
        return;
    /* the ranks of other nodes have half of it: it is of no use */
    if (has_mailbox && part_has_lost_state(d, part)) {
        part_lost(d, part);
        return;
    }
    part->state = PART_SENT;
    if (process ? part_process_start(d, part, &err) : part_start(d, part, &err))
        ended_with(d, part, CODE_NOT_STARTED, err.text);
}

void part_unwanted(struct daemon *d, struct part *part)
{
    if (part->state == PART_WANTED)
        ended_with(d, part, CODE_UNWANTED, NULL);
    else if (part_is_live(part))
        part_end(d, part, PART_REST_GRACE_S);
}

/* ---- the agent that leads the run ---- */

void part_set_role(struct daemon *d, struct part *part, const char *name)
{
    static const char *const names[] = {
        [PART_NOW] = "now", [PART_NEW] = "new", [PART_OLD] = "old", [PART_PROCESS] = "process"};
    const enum part_role before = part->role;
    for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(names[i], name))
            part->role = (enum part_role)i;
    /* the run was to go on with the part that has just ended */
    if (before == PART_NEW && part->role == PART_NOW && part->state == PART_ENDED &&
        (part->failed || part->over_memory))
        parts_end_run(d, part);
}

void parts_role(struct agent *agent, const json_t *params)
{
    struct part *part = parts_find(agent->daemon, (uint64_t)part_number_in(params, "run"),
                                   (uint32_t)part_number_in(params, "part"));
    if (part)
        part_set_role(agent->daemon, part, json_string_value(json_object_get(params, "role")));
}

struct part *part_add(struct daemon *d, const struct part *fresh)
{
    if (pleat_array_push(&d->parts.items, *fresh)) {
        daemon_log("out of memory: a part of run %llu is not known",
                   (unsigned long long)fresh->run);
        return NULL;
    }
    return &d->parts.items.items[d->parts.items.count - 1];
}

/* An earlier part of the run on the same node has ended, and its agent still keeps it. */
static void forget_earlier(struct daemon *d, const struct part *part)
{
    for (size_t i = 0; i < d->parts.items.count; i++) {
        struct part *other = &d->parts.items.items[i];
        if (part_is_with(part, other) && other->state == PART_ENDED)
            part_forget(d, other);
    }
}

void parts_wanted(struct agent *agent, uint32_t component, const json_t *params)
{
    struct daemon *d = agent->daemon;
    struct pleat_error err = {0};
    int64_t run = 0, number = 0, node = 0;
    int rc = pleat_get_int(params, "run", true, 1, INT64_MAX, &run, &err);
    if (!rc)
        rc = pleat_get_int(params, "part", true, 1, UINT32_MAX, &number, &err);
    if (!rc)
        rc = pleat_get_int(params, "node", true, 0, UINT32_MAX - 1, &node, &err);
    if (rc) {
        daemon_log("agent of node %u, 'part_wanted': %s", agent->node, err.text);
        return;
    }
    struct part *known = parts_find(d, (uint64_t)run, (uint32_t)number);
    if (known) {
        part_tell(d, known);
        return;
    }
    const char *name = json_string_value(json_object_get(params, "site"));
    const uint32_t site = name ? process_sites_find(d, name) : agent->site;
    const struct part *before = parts_find_on(d, (uint64_t)run, site, (uint32_t)node);
    bool busy = before && before->state != PART_ENDED;
    const bool process = json_is_object(json_object_get(params, "process"));
    struct part fresh = {.run = (uint64_t)run,
                         .number = (uint32_t)number,
                         .site = site,
                         .node = (uint32_t)node,
                         .role = process                                          ? PART_PROCESS
                                 : json_is_true(json_object_get(params, "waits")) ? PART_NEW
                                                                                  : PART_NOW,
                         .wish = json_deep_copy(params)};
    struct part *part = part_add(d, &fresh);
    if (!part)
        return;
    if (!part_has_node(d, component, site, part->node) ||
        (site == agent->site && part->node == agent->node))
        ended_with(d, part, CODE_NOT_STARTED, "the job has no other node with that name");
    else if (busy && !process && !has_mailboxes(d, part->run))
        ended_with(d, part, CODE_NOT_STARTED, "the job has a part on that node already");
    else if (parts_pending_exit(d, part->run))
        ended_with(d, part, CODE_UNWANTED, NULL);
    else {
        if (!process && !has_mailboxes(d, part->run))
            forget_earlier(d, part);
        part_go_on(d, part);
    }
}

void parts_unwanted(struct agent *agent, uint32_t component, const json_t *params)
{
    struct daemon *d = agent->daemon;
    (void)component;
    struct part *part = parts_find(d, (uint64_t)json_integer_value(json_object_get(params, "run")),
                                   (uint32_t)json_integer_value(json_object_get(params, "part")));
    if (part)
        part_unwanted(d, part);
}

static void drop(struct part *part)
{
    json_decref(part->wish);
    json_decref(part->end);
}

void parts_left(struct agent *agent, const json_t *params)
{
    struct daemon *d = agent->daemon;
    struct part *part = parts_find(d, (uint64_t)json_integer_value(json_object_get(params, "run")),
                                   (uint32_t)json_integer_value(json_object_get(params, "part")));
    if (part && part->role == PART_PROCESS && part->state == PART_ENDED) {
        part_forget(d, part);
        drop(part); /* its agent has counted what it used */
        *part = d->parts.items.items[--d->parts.items.count];
        return;
    }
    const struct part *there = part ? parts_find_on(d, part->run, part->site, part->node) : NULL;
    if (part && part == there && part->state == PART_ENDED)
        parts_leave_node(d, part);
}

void parts_released(struct daemon *d)
{
    for (size_t i = 0; i < d->parts.items.count; i++) {
        struct part *part = &d->parts.items.items[i];
        uint32_t component = run_component(d, part->run);
        if (part->left || component == PLEAT_NONE || !has_mailboxes(d, part->run) ||
            component_of(d, component)->site != part->site ||
            part_has_node(d, component, part->site, part->node))
            continue;
        part->left = true;
        part->state_lost = false;
        if (part_is_live(part))
            ended_with(d, part, CODE_UNWANTED, NULL);
    }
}

/* ---- the other agents ---- */

static void exited(struct daemon *d, struct part *part, const json_t *params)
{
    part->cpu_us = part_number_in(params, "cpu_us");
    part->max_rss_kb = part_number_in(params, "max_rss_kb");
    part->memory_kb = part_number_in(params, "memory_kb");
    part->over_memory = json_is_true(json_object_get(params, "over_memory"));
    bool told = json_is_true(json_object_get(params, "told"));
    part->failed = (part_number_in(params, "signal") && !told) ||
                   json_is_true(json_object_get(params, "lost"));
    part->bad_us = part_number_in(params, "code") > 0 && !told ? daemon_now_us(d) : 0;
    ended(d, part,
          json_pack("{s:I, s:I, s:O?, s:b, s:I, s:I}", "code",
                    (json_int_t)part_number_in(params, "code"), "signal",
                    (json_int_t)part_number_in(params, "signal"), "text",
                    json_object_get(params, "text"), "lost",
                    json_is_true(json_object_get(params, "lost")), "cpu_us",
                    (json_int_t)part->cpu_us, "max_rss_kb", (json_int_t)part->max_rss_kb));
}

void parts_notice(struct agent *agent, uint32_t component, const char *method, const json_t *params)
{
    struct daemon *d = agent->daemon;
    uint64_t there = (uint64_t)part_number_in(params, "run");
    struct part *part = parts_find_there(agent, there);
    if (parts_change_heard(agent, component, method, params))
        return;
    if (!part) {
        if (!strcmp(method, "exited") || !strcmp(method, "start_failed"))
            part_request(d, agent->site, agent->node, "forget",
                         json_pack("{s:I}", "run", (json_int_t)there));
        return;
    }
    if (!strcmp(method, "started") && part->state == PART_SENT) {
        part->state = PART_STARTED;
        part->has_state = has_mailboxes(d, part->run);
        part_forget_before(d, part);
        part_tell(d, part);
        go_on_after(d, part);
        parts_change_again(d, part->site, part->node);
    } else if (!strcmp(method, "start_failed") && part->state != PART_ENDED) {
        ended(d, part,
              json_pack("{s:I, s:i, s:O?, s:b, s:O?}", "code",
                        (json_int_t)part_number_in(params, "code"), "signal", 0, "text",
                        json_object_get(params, "text"), "failed", (int)true, "user_fault",
                        json_object_get(params, "user_fault")));
    } else if (!strcmp(method, "exited") && part->state != PART_ENDED) {
        exited(d, part, params);
    } else if (!strcmp(method, "folded")) {
        struct job *job = job_of_component(d, component);
        if (job)
            job_folded_take(job, part->run, agent->node, params);
    }
}

void parts_refused(struct agent *agent, const struct asked *asked, const struct pleat_error *why)
{
    struct part *part = parts_find_there(agent, asked->run);
    if (!part || !part_is_live(part))
        return;
    if (!strcmp(asked->method, "start"))
        ended_with(agent->daemon, part, CODE_NOT_STARTED, why->text);
    else if (why->code == PLEAT_E_NOTFOUND)
        ended_with(agent->daemon, part, CODE_UNWANTED, NULL);
}

/* ---- the end of a run ---- */

bool parts_end_rest(struct daemon *d, uint64_t run)
{
    bool none = true;
    for (size_t i = 0; i < d->parts.items.count; i++) {
        struct part *part = &d->parts.items.items[i];
        if (part->run != run)
            continue;
        part_unwanted(d, part);
        none = none && !part_is_live(part);
    }
    return none;
}

bool parts_are_on(struct daemon *d, uint32_t site, uint32_t node)
{
    for (size_t i = 0; i < d->parts.items.count; i++) {
        const struct part *part = &d->parts.items.items[i];
        if (part->site == site && part->node == node && part->state != PART_ENDED)
            return true;
    }
    for (size_t i = 0; i < d->runs.count; i++) {
        const struct pleat_component *c = component_of(d, d->runs.items[i].component);
        if ((c->site != site || c->lead_node != node) &&
            part_has_node(d, d->runs.items[i].component, site, node))
            return true;
    }
    return false;
}

void parts_signal(struct daemon *d, uint64_t run, int32_t number)
{
    for (size_t i = 0; i < d->parts.items.count; i++) {
        const struct part *part = &d->parts.items.items[i];
        if (part->run == run && part_is_live(part))
            part_request(d, part->site, part->node, "limit_signal",
                         json_pack("{s:I, s:i, s:s}", "run", (json_int_t)part->there, "signal",
                                   (int)number, "to", "all"));
    }
}

bool parts_has(const struct daemon *d, uint64_t run)
{
    for (size_t i = 0; i < d->parts.items.count; i++)
        if (d->parts.items.items[i].run == run && d->parts.items.items[i].state != PART_ENDED)
            return true;
    return false;
}

void parts_forget(struct daemon *d, uint64_t run)
{
    struct part_list *items = &d->parts.items;
    for (size_t i = 0; i < items->count;) {
        struct part *part = &items->items[i];
        if (part->run != run) {
            i++;
            continue;
        }
        part_forget(d, part);
        drop(part);
        items->items[i] = items->items[--items->count];
    }
    parts_change_forget(d, run);
    struct pending_exit *pending = parts_pending_exit(d, run);
    if (!pending)
        return;
    json_decref(pending->params);
    *pending = d->parts.exits.items[--d->parts.exits.count];
}

void parts_finish(struct daemon *d)
{
    for (size_t i = 0; i < d->parts.items.count; i++)
        drop(&d->parts.items.items[i]);
    for (size_t i = 0; i < d->parts.exits.count; i++)
        json_decref(d->parts.exits.items[i].params);
    pleat_array_finish(&d->parts.items);
    pleat_array_finish(&d->parts.exits);
    parts_change_finish(d);
}
