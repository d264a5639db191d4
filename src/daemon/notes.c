/* Makes notes (docs/protocol.md) of effects and events. */
#include <string.h>

#include "base/clock.h"
#include "daemon/account.h"
#include "daemon/accounts.h"
#include "daemon/asked_text.h"
#include "daemon/buffer_json.h"
#include "daemon/curve.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/ways.h"
#include "wire/message.h"

json_t *note_text(const char *text)
{
    return json_pack("{s:o}", "text", pleat_json_text(text));
}

void note_make(struct daemon *d, int64_t time_us, const char *kind, int64_t job, json_t *data)
{
    struct made_note note = {.time_us = time_us, .kind = kind, .job = job, .data = data};
    if (!data || pleat_array_push(&d->notes, note)) {
        json_decref(data);
        daemon_log("out of memory: a note of kind '%s' is lost", kind);
        return;
    }
    if (job >= 0)
        job_note(d, job, kind, time_us, data);
}

static json_t *text_or_null(enum pleat_reason reason)
{
    return reason == PLEAT_REASON_NONE ? json_null() : json_string(pleat_reason_name(reason));
}

static json_t *pieces_to_json(struct daemon *d, const struct pleat_claim *claim)
{
    json_t *pieces = json_array();
    for (uint32_t p = claim->first_piece; p != PLEAT_NONE; p = pleat_core_piece(d->core, p)->next) {
        const struct pleat_piece *piece = pleat_core_piece(d->core, p);
        json_array_append_new(pieces,
                              json_pack("{s:i, s:i, s:i}", "node", (int)piece->node, "first",
                                        (int)piece->first, "count", (int)piece->count));
    }
    return pieces;
}

static void note_claim(struct daemon *d, const struct pleat_effect *effect)
{
    static const char *const states[] = {"free", "requested", "held", "releasing"};
    const struct pleat_claim *claim = pleat_core_claim(d->core, effect->u.claim.index);
    uint64_t id = effect->kind == PLEAT_DO_SPLIT ? effect->u.claim.into : effect->id;
    const struct job *job = job_of_component(d, effect->component);
    note_make(d, effect->time_us, "slots", job ? job->id : -1,
              json_pack("{s:I, s:s, s:s, s:i, s:s, s:o}", "claim", (json_int_t)id, "purpose",
                        pleat_purpose_name((enum pleat_purpose)effect->u.claim.purpose), "state",
                        states[effect->u.claim.state & 3], "count", effect->u.claim.count, "site",
                        d->config.sites[effect->u.claim.site].name, "pieces",
                        effect->u.claim.state == PLEAT_CLAIM_HELD ? pieces_to_json(d, claim)
                                                                  : json_array()));
}

static void add_cost(struct daemon *d, json_t *data, struct job *job, uint64_t resize)
{
    const struct change *change = account_change(job_account(d, job), (int64_t)resize);
    if (change && change->way != PLEAT_WAY_AUTO)
        json_object_set_new(data, "way", json_string(pleat_resize_way_name(change->way)));
    if (!change || !change->has_cost)
        return;
    if (change->instead)
        json_object_set_new(data, "instead", json_true());
    json_object_set_new(data, "wait_s", json_real((double)change->wait_us / 1e6));
    json_object_set_new(data, "processes_s", json_real((double)change->processes_us / 1e6));
    json_object_set_new(data, "redistribute_s", json_real((double)change->redistribute_us / 1e6));
    json_object_set_new(data, "total_s", json_real((double)change->total_us / 1e6));
    json_object_set_new(data, "bytes", json_integer(change->bytes));
}

/* The way that is chosen now, for a resize that its job's processes are about to be told of. */
static void add_way(struct daemon *d, json_t *data, struct job *job,
                    const struct pleat_effect *effect)
{
    struct pleat_way_choice choice;
    if (pleat_view_is_unbegun(pleat_core_view(d->core), job_component(d, job)))
        return; /* a program that has not begun is started again: there is nothing to choose */
    if (!ways_choose(d, job, effect->u.change.processors > effect->u.change.from, &choice))
        return;
    json_object_set_new(data, "way", json_string(pleat_resize_way_name(choice.way)));
    json_object_set_new(data, "way_reason", json_string(choice.reason));
}

static json_t *policy_name(const struct daemon *d, enum pleat_question question)
{
    return json_string(pleat_core_policy(d->core, question)->name);
}

/* Whether this effect is the first of its resize: then the policies in force are those that decided
 * it. */
static bool begins(const struct daemon *d, const struct pleat_effect *effect)
{
    const struct pleat_component *c = &pleat_core_view(d->core)->components[effect->component];
    bool asks = c->flags & PLEAT_COMPONENT_ASKS;
    bool shrinks = effect->u.change.processors < effect->u.change.from;
    return effect->u.change.outcome == PLEAT_OUTCOME_NONE &&
           effect->u.change.step == (asks      ? PLEAT_RESIZE_OFFERED
                                     : shrinks ? PLEAT_RESIZE_GRANTED
                                               : PLEAT_RESIZE_ACCEPTED);
}

static const char *by_whom(const struct pleat_effect *effect)
{
    if (effect->flags & PLEAT_BY_USER)
        return "user";
    bool site = effect->u.change.reason == PLEAT_REASON_SITE_TIME ||
                effect->u.change.reason == PLEAT_REASON_TAKEN;
    return site ? "site" : "policy";
}

static void note_resize(struct daemon *d, const struct pleat_effect *effect)
{
    struct job *job = job_of_component(d, effect->component);
    const struct job *waiter =
        effect->u.change.waiter == PLEAT_NONE ? NULL : job_of_component(d, effect->u.change.waiter);
    bool ended = effect->u.change.outcome != PLEAT_OUTCOME_NONE;
    json_t *data = json_pack(
        "{s:I, s:s, s:o, s:i, s:i, s:i, s:i, s:b, s:s, s:o, s:o}", "resize", (json_int_t)effect->id,
        "step",
        ended ? "ended" : pleat_resize_step_name((enum pleat_resize_step)effect->u.change.step),
        "outcome",
        ended ? json_string(pleat_outcome_name((enum pleat_outcome)effect->u.change.outcome))
              : json_null(),
        "from", effect->u.change.from, "to", effect->u.change.processors, "offered",
        effect->u.change.offered, "accepted", effect->u.change.accepted, "mandatory",
        effect->flags & PLEAT_MANDATORY, "by", by_whom(effect), "waiter",
        waiter ? json_integer(waiter->id) : json_null(), "cause",
        text_or_null((enum pleat_reason)effect->u.change.reason));
    if (data && job && !ended && effect->u.change.step == PLEAT_RESIZE_GRANTED)
        add_way(d, data, job, effect);
    else if (data && job)
        add_cost(d, data, job, effect->id);
    if (data && !strcmp(by_whom(effect), "policy") && begins(d, effect))
        json_object_set_new(data, "policy", policy_name(d, PLEAT_MALLEABILITY));
    note_make(d, effect->time_us, "resize", job ? job->id : -1, data);
}

static void note_state(struct daemon *d, const struct pleat_effect *effect, int64_t job)
{
    const struct pleat_component *c = &pleat_core_view(d->core)->components[effect->component];
    enum pleat_component_state from = (enum pleat_component_state)effect->u.state.from;
    enum pleat_component_state to = (enum pleat_component_state)effect->u.state.to;
    if (to == PLEAT_PLACED)
        return; /* without staging, nothing happens between placing and claiming */
    json_t *data = json_pack("{s:s, s:s, s:o}", "from",
                             pleat_component_state_name(from == PLEAT_PLACED ? PLEAT_QUEUED : from),
                             "to", pleat_component_state_name(to), "reason",
                             text_or_null((enum pleat_reason)effect->u.state.reason));
    if (data && from == PLEAT_PLACED && to == PLEAT_CLAIMING) { /* the note names the policies */
        json_object_set_new(data, "queue", policy_name(d, PLEAT_QUEUE));
        json_object_set_new(data, "moldability", policy_name(d, PLEAT_MOLDABILITY));
        json_t *learned = curve_start_to_json(d, c);
        if (learned)
            json_object_set_new(data, "learned", learned);
    }
    if (data && to == PLEAT_FINISHING && c->flags & PLEAT_COMPONENT_PREPARES)
        json_object_set_new(data, "buffer", buffer_to_json(d, c)); /* its run is over */
    note_make(d, effect->time_us, "state", job, data);
}

static void note_warning(struct daemon *d, const struct pleat_effect *effect, int64_t id)
{
    char text[300];
    bool of_resize = true; /* false: the warning about a senseless answer outlives its resize */
    if (effect->u.change.outcome == PLEAT_OUTCOME_NOT_HONOURED)
        snprintf(text, sizeof(text),
                 "it was told to shrink from %d to %d processors and has not done so in time: "
                 "if it has not done so in another %g s, it is ended and, if that is "
                 "possible, started again at that size",
                 effect->u.change.from, effect->u.change.processors,
                 (double)pleat_core_parameter(d->core, PLEAT_PARAM_GRACE_US) / 1e6);
    else if (effect->u.change.outcome == PLEAT_OUTCOME_RELAUNCHED)
        snprintf(text, sizeof(text),
                 "no state of the job was held: it was started again from its beginning");
    else {
        of_resize = false;
        snprintf(text, sizeof(text),
                 "the application's answer to a resize made no sense (more than was offered, "
                 "answered twice, or out of order): it was not followed");
    }
    note_make(d, effect->time_us, "warning", id,
              of_resize ? json_pack("{s:o, s:I}", "text", pleat_json_text(text), "resize",
                                    (json_int_t)effect->id)
                        : note_text(text));
}

void note_effect(struct daemon *d, const struct pleat_effect *effect)
{
    const struct job *job =
        effect->component == PLEAT_NONE ? NULL : job_of_component(d, effect->component);
    int64_t id = job ? job->id : -1;
    switch (effect->kind) {
    case PLEAT_NOTE_STATE:
        if (pleat_component_state_is_final(effect->u.state.to) && id >= 0)
            accounts_ended(d, job_of_component(d, effect->component));
        else if (effect->u.state.to == PLEAT_FINISHING && id >= 0)
            programs_run_over(d, job_of_component(d, effect->component));
        note_state(d, effect, id);
        break;
    case PLEAT_NOTE_SIZE:
        note_make(d, effect->time_us, "size", id,
                  json_pack("{s:i, s:i}", "processors", effect->u.run.processors, "processes",
                            effect->u.run.processes));
        break;
    case PLEAT_NOTE_CLAIM:
    case PLEAT_DO_SPLIT:
    case PLEAT_DO_CLAIM:
    case PLEAT_DO_RELEASE:
        note_claim(d, effect);
        break;
    case PLEAT_NOTE_RESIZE:
        note_resize(d, effect);
        break;
    case PLEAT_NOTE_LIMITS:
        note_make(d, effect->time_us, "limits", id,
                  json_pack("{s:i, s:i, s:s}", "min", effect->u.change.processors, "max",
                            effect->u.change.processes, "by",
                            effect->flags & PLEAT_BY_USER ? "user" : "program"));
        break;
    case PLEAT_NOTE_ASKED:
        note_make(d, effect->time_us, "asked", id, asked_data(d, effect));
        break;
    case PLEAT_NOTE_SECTION:
        note_make(d, effect->time_us, "section", id,
                  json_pack("{s:b}", "not_now", effect->flags & PLEAT_NOT_NOW));
        break;
    case PLEAT_NOTE_WARNING:
        note_warning(d, effect, id);
        break;
    default:
        break;
    }
}

/* Notes what a user asked for, where no effect says it, and the signal before the time limit. */
static void note_of_job(struct daemon *d, const struct pleat_event *event)
{
    const struct job *job = job_of_component(d, event->component);
    const struct pleat_component *c = job ? job_component(d, job) : NULL;
    bool needs = event->flags & PLEAT_RELEASE_NEEDS;
    if (!job)
        return;
    const struct pleat_terms *terms = pleat_view_terms(pleat_core_view(d->core), c);
    if (event->kind == PLEAT_EV_HOLD)
        note_make(d, event->time_us, "hold", job->id, json_pack("{s:s}", "by", "user"));
    else if (event->kind == PLEAT_EV_RELEASE)
        note_make(d, event->time_us, "release", job->id,
                  json_pack("{s:s, s:b, s:b}", "by", "user", "hold",
                            !needs || (event->flags & PLEAT_RELEASE_HOLD), "needs", needs));
    else if (event->kind == PLEAT_EV_SIGNALLED)
        note_make(
            d, event->time_us, "signal", job->id,
            json_pack("{s:i, s:f, s:b}", "signal", (int)terms->signal_number, "left_s",
                      (double)(pleat_core_run_until(d->core, event->component) - event->time_us) /
                          1e6,
                      "script", terms->signal_script));
}

void note_event(struct daemon *d, const struct pleat_event *event)
{
    if (event->kind == PLEAT_EV_HOLD || event->kind == PLEAT_EV_RELEASE ||
        event->kind == PLEAT_EV_SIGNALLED)
        note_of_job(d, event);
    if (event->kind == PLEAT_EV_BACKGROUND)
        note_make(d, event->time_us, "background", -1,
                  json_pack("{s:s, s:i}", "site", d->config.sites[event->component].name,
                            "processors", event->u.site.background));
    if (event->kind == PLEAT_EV_DRAIN || event->kind == PLEAT_EV_RESUME) {
        char text[240];
        snprintf(text, sizeof(text), "site %s is %s", d->config.sites[event->component].name,
                 event->kind == PLEAT_EV_DRAIN
                     ? "drained by its user: no job is started or grown there"
                     : "resumed by its user");
        note_make(d, event->time_us, "daemon", -1, note_text(text));
    }
    if (event->kind == PLEAT_EV_NODE_DRAIN || event->kind == PLEAT_EV_NODE_RESUME) {
        char text[240];
        snprintf(text, sizeof(text), "node %u of site %s is %s", event->u.node.node,
                 d->config.sites[event->component].name,
                 event->kind == PLEAT_EV_NODE_DRAIN
                     ? "drained by its user: no job is started or grown there"
                     : "resumed by its user");
        note_make(d, event->time_us, "daemon", -1, note_text(text));
    }
    if (event->kind == PLEAT_EV_POLICY) {
        const struct pleat_policy *policy =
            pleat_policy_get((enum pleat_question)event->u.policy.question, event->u.policy.policy);
        if (policy)
            note_make(d, event->time_us, "policy", -1,
                      json_pack("{s:s, s:s}", "question", pleat_question_name(policy->question),
                                "name", policy->name));
    }
}

json_t *note_to_json(int64_t seq, int64_t time_us, const char *kind, int64_t job,
                     const json_t *data)
{
    json_t *object =
        json_pack("{s:I, s:f, s:s, s:o}", "seq", (json_int_t)seq, "time_s", (double)time_us / 1e6,
                  "kind", kind, "job", job < 0 ? json_null() : json_integer(job));
    if (object && data)
        json_object_update_missing(object, (json_t *)(uintptr_t)data);
    return object;
}
