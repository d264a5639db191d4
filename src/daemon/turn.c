/* A turn: applies inputs, decides, writes, and only then acts and answers. */
#include <string.h>

#include "base/clock.h"
#include "daemon/agents.h"
#include "daemon/archive.h"
#include "daemon/carry_out.h"
#include "daemon/checkpoints.h"
#include "daemon/clean.h"
#include "daemon/clients.h"
#include "daemon/crash.h"
#include "daemon/daemon.h"
#include "daemon/follow.h"
#include "daemon/mark.h"
#include "daemon/notes.h"
#include "daemon/notify.h"
#include "daemon/parked.h"
#include "daemon/sites.h"
#include "daemon/sites_change.h"
#include "daemon/specs.h"
#include "daemon/submission.h"
#include "daemon/times.h"
#include "daemon/turn.h"
#include "daemon/turn_inputs.h"
#include "daemon/write.h"

enum { HOLD_INPUTS_MAX = 100000, RETRY_MS = 1000, COLLECT_MS = 1, COLLECT_FROM_US = 2000 };

/* Number of clients that asked for something in one of the last two turns: they are likely to ask
 * again. */
static size_t busy_clients(const struct daemon *d)
{
    size_t count = 0;
    for (const struct client *client = d->clients; client; client = client->next)
        count += client->connection && client->asked && client->asked + 1 >= d->turn.number;
    return count;
}

/* Whether to wait for more inputs, since one commit can serve many: if the disk is slow and several
 * clients send a request after each answer, the turn waits a moment for those that were just
 * answered. */
static bool collects(struct daemon *d)
{
    if (d->turn.commit_us < COLLECT_FROM_US || d->turn.inputs.count >= busy_clients(d))
        return false;
    return uv_is_active((uv_handle_t *)&d->turn.collect) || !d->turn.collected;
}

static void on_collected(uv_timer_t *handle)
{
    struct daemon *d = handle->data;
    d->turn.collected = true;
    turn_want(d); /* else the loop would sleep before on_check runs */
}

static void on_check(uv_check_t *handle)
{
    struct daemon *d = handle->data;
    if (d->turn.inputs.count > 0 && !d->turn.holding && collects(d)) {
        if (!uv_is_active((uv_handle_t *)&d->turn.collect))
            uv_timer_start(&d->turn.collect, on_collected, COLLECT_MS, 0);
        uv_idle_stop(&d->turn.busy); /* the loop sleeps until an input comes or the time is over */
        return;
    }
    if ((!turn_is_quiet(d) || pleat_store_is_damaged(d->store)) && !d->turn.holding)
        turn_run(d);
    turn_idle(d);
    if ((turn_is_quiet(d) && !clean_waits(d)) || d->turn.holding)
        uv_idle_stop(&d->turn.busy);
}

void turn_idle(struct daemon *d)
{
    while (clean_waits(d) && turn_is_quiet(d))
        clean_run(d);
    if (turn_is_quiet(d))
        archive_run(d);
}

static void on_deadline(uv_timer_t *handle)
{
    struct pleat_event time = {.kind = PLEAT_EV_TIME, .component = PLEAT_NONE};
    turn_event(handle->data, &time);
}

void turn_init(struct daemon *d)
{
    uv_idle_init(&d->loop, &d->turn.busy);
    uv_check_init(&d->loop, &d->turn.check);
    uv_timer_init(&d->loop, &d->turn.deadline);
    uv_timer_init(&d->loop, &d->turn.retry);
    uv_timer_init(&d->loop, &d->turn.collect);
    d->turn.collect.data = d;
    d->turn.check.data = d->turn.deadline.data = d->turn.retry.data = d;
    uv_check_start(&d->turn.check, on_check);
}

static void arm(struct daemon *d)
{
    int64_t at = pleat_core_next_deadline(d->core);
    if (at == PLEAT_NEVER) {
        uv_timer_stop(&d->turn.deadline);
        return;
    }
    int64_t left_ms = (at - daemon_now_us(d) + 999) / 1000;
    uv_timer_start(&d->turn.deadline, on_deadline, left_ms > 0 ? (uint64_t)left_ms : 0, 0);
}

static void answer(struct daemon *d, const struct input *input, int rc,
                   const struct pleat_error *err)
{
    struct pleat_string out = {0};
    if (!input->client)
        return;
    if (rc < 0) {
        rc = pleat_write_failure(&out, input->request, err);
    } else {
        json_t *result;
        if (input->reply == REPLY_SUBMIT && input->spec->array.count)
            result = json_pack("{s:I, s:i, s:[]}", "job", (json_int_t)d->turn.array.job, "tasks",
                               input->spec->array.count, "warnings");
        else if (input->reply == REPLY_SUBMIT)
            result =
                json_pack("{s:I, s:[]}", "job", (json_int_t)input->event.u.submit.job, "warnings");
        else if (input->reply == REPLY_RESIZE)
            result = json_pack("{s:i, s:i}", "from", input->before, "to",
                               input->event.u.demand.processors);
        else
            result = json_object();
        rc = client_answer(&out, input->request, result);
    }
    if (rc) {
        pleat_string_finish(&out);
    } else {
        turn_hold_reply(d, input->client, &out);
    }
}

static void input_finish(struct input *input)
{
    json_decref(input->spec_json);
    if (input->spec) {
        pleat_spec_finish(input->spec);
        free(input->spec);
    }
}

/* The user has drained or resumed a node; it may be closed for its errors all the same. */
static void node_was_set(struct daemon *d, uint32_t site, uint32_t number)
{
    const struct pleat_node *node = pleat_view_node(pleat_core_view(d->core), site, number);
    if (node)
        sites_node_shut(d, site, number, pleat_view_node_is_closed(node));
}

static void apply_input(struct daemon *d, struct input *input)
{
    struct pleat_error err = {0};
    size_t before = d->turn.effects.count;
    input->event.time_us = daemon_now_us(d);
    int rc = 0;
    if (input->event.kind == PLEAT_EV_SUBMIT)
        rc = submission_prepare(d, input, &err);
    if (!rc)
        rc = pleat_core_apply(d->core, &input->event, &d->turn.effects, &err);
    if (rc == 0) {
        if (input->event.kind == PLEAT_EV_SUBMIT)
            submission_taken(d, input);
        turn_record(d, &input->event);
        turn_take_notes(d, before);
        if (input->event.kind == PLEAT_EV_SUBMIT)
            rc = submission_complete(d, &input->event, input->spec, &err);
        if (input->event.kind == PLEAT_EV_POLICY)
            agents_learn(d);
        if (input->event.kind == PLEAT_EV_NODE_DRAIN || input->event.kind == PLEAT_EV_NODE_RESUME)
            node_was_set(d, input->event.component, input->event.u.node.node);
        if (input->event.kind == PLEAT_EV_SITE_GONE)
            site_list_gone(d, input->event.component);
    } else if (rc < 0 && input->spec && input->spec->array.count) {
        d->turn.array.why = input->spec->array.place == 0 ? err : d->turn.array.why;
    } else if (rc < 0 && !input->client) {
        daemon_log("event '%s' refused: %s", pleat_event_name(input->event.kind), err.text);
    }
    answer(d, input, rc, &err);
    if (input->client)
        client_drop(input->client);
    input_finish(input);
}

static void decide(struct daemon *d)
{
    struct pleat_error err = {0};
    size_t before = d->turn.effects.count, records = d->turn.records.count;
    int rc = pleat_core_pass(d->core, daemon_now_us(d), &d->turn.records, &d->turn.effects, &err);
    if (rc) {
        daemon_log("pass: %s", err.text);
        note_make(d, daemon_now_us(d), "warning", -1, note_text(err.text));
    }
    for (size_t i = records; i < d->turn.records.count; i++)
        note_event(d, &d->turn.records.items[i]);
    turn_take_notes(d, before);
}

/* Tells what was written. Notes that were made while effects were carried out are not written yet,
 * and are left for the next turn. */
static void notify_written(struct daemon *d, size_t written)
{
    for (size_t i = 0; i < written; i++) {
        clients_notify(d, &d->notes.items[i]);
        notify_note(d, &d->notes.items[i]);
        json_decref(d->notes.items[i].data);
    }
    jobs_told(d, written);
    d->notes.count -= written;
    memmove(d->notes.items, d->notes.items + written, d->notes.count * sizeof(d->notes.items[0]));
    if (d->notes.count)
        turn_want(d);
}

/* Carries out and tells what is written now. */
static void act(struct daemon *d)
{
    size_t written = d->notes.count;
    for (size_t i = 0; i < d->turn.effects.count; i++) {
        struct pleat_effect effect = d->turn.effects.items[i];
        carry_out(d, &effect);
        crash_point();
    }
    d->turn.effects.count = 0;
    d->turn.records.count = 0;
    d->site_list.changed = false;
    sites_left(d);
    if (written)
        notify_written(d, written);
    specs_written(d);
    programs_written(d);
    archive_written(d);
    clean_written(d);
    for (size_t i = 0; i < d->turn.replies.count; i++) {
        client_send(d->turn.replies.items[i].client, &d->turn.replies.items[i].out);
        crash_point();
        client_drop(d->turn.replies.items[i].client);
    }
    d->turn.replies.count = 0;
    parked_check(d);
    inputs_check(d);
    terminals_check(d);
    checkpoints_check(d);
    checkpoint_times_look(d);
    sites_leave(d);
    arm(d);
}

static void on_retry(uv_timer_t *handle)
{
    turn_run(handle->data);
}

static void hold(struct daemon *d, const struct pleat_error *why)
{
    if (!d->turn.holding)
        daemon_log("the log cannot be written: %s; effects and answers wait, trying again",
                   why->text);
    d->turn.holding = true;
    d->turn.holding_why = *why;
    uv_timer_start(&d->turn.retry, on_retry, RETRY_MS, 0);
}

void turn_run(struct daemon *d)
{
    struct pleat_error err = {0};
    if (!d->turn.holding) {
        struct inputs inputs = d->turn.inputs;
        memset(&d->turn.inputs, 0,
               sizeof(d->turn.inputs)); /* inputs that arrive meanwhile are for the next turn */
        uv_timer_stop(&d->turn.collect);
        d->turn.collected = false;
        d->turn.number += inputs.count > 0;
        for (size_t i = 0; i < inputs.count; i++) {
            if (inputs.items[i].client)
                inputs.items[i].client->asked = d->turn.number;
            apply_input(d, &inputs.items[i]);
        }
        pleat_array_finish(&inputs);
        if (pleat_core_wants_pass(d->core)) {
            times_recall_waiting(d);
            decide(d);
        }
    }
    archive_prepare(d);
    bool anything = d->turn.records.count || d->notes.count || d->specs.made.count ||
                    d->clean.dropped.count || d->clean.drops_shared || d->site_list.changed ||
                    d->programs.changed || pleat_store_is_damaged(d->store);
    if (anything && turn_write(d, &err)) {
        hold(d, &err);
        return;
    }
    if (anything)
        log_mark(d);
    if (d->turn.holding) {
        daemon_log("the log can be written again");
        d->turn.holding = false;
        if (d->turn.inputs.count)
            turn_want(d);
    }
    act(d);
}

void turn_finish(struct daemon *d)
{
    for (size_t i = 0; i < d->turn.inputs.count; i++)
        input_finish(&d->turn.inputs.items[i]);
    for (size_t i = 0; i < d->notes.count; i++)
        json_decref(d->notes.items[i].data);
    specs_written(d);
    for (size_t i = 0; i < d->turn.replies.count; i++)
        pleat_string_finish(&d->turn.replies.items[i].out);
    pleat_array_finish(&d->turn.inputs);
    pleat_array_finish(&d->turn.records);
    pleat_array_finish(&d->turn.effects);
    pleat_array_finish(&d->notes);
    pleat_array_finish(&d->specs.made);
    pleat_array_finish(&d->turn.replies);
}
