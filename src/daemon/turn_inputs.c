/* Inputs of a turn, and what waits until the turn is written. */
#include "daemon/turn_inputs.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/notes.h"

static void on_busy(uv_idle_t *handle)
{
    (void)handle; /* an active idle handle keeps the loop from sleeping */
}

void turn_want(struct daemon *d)
{
    uv_idle_start(&d->turn.busy, on_busy);
}

bool turn_is_quiet(const struct daemon *d)
{
    return !d->turn.holding && !d->turn.inputs.count && !d->turn.records.count && !d->notes.count &&
           !d->specs.made.count && !d->site_list.changed && !d->clean.dropped.count &&
           !d->turn.replies.count;
}

void turn_input(struct daemon *d, const struct input *input)
{
    if (pleat_array_push(&d->turn.inputs, *input)) {
        daemon_log("out of memory: an input of kind '%s' is lost",
                   pleat_event_name(input->event.kind));
        return;
    }
    if (input->client)
        client_hold(input->client);
    if (!d->turn.holding)
        turn_want(d);
}

void turn_event(struct daemon *d, const struct pleat_event *event)
{
    struct input input = {.event = *event};
    turn_input(d, &input);
}

void turn_hold_reply(struct daemon *d, struct client *client, struct pleat_string *out)
{
    struct held_reply reply = {.client = client, .out = *out};
    if (pleat_array_push(&d->turn.replies, reply)) {
        pleat_string_finish(out);
        return;
    }
    client_hold(client);
}

bool turn_has_taken(const struct daemon *d, int64_t job)
{
    for (size_t i = 0; d->turn.holding && i < d->turn.records.count; i++)
        if (d->turn.records.items[i].kind == PLEAT_EV_SUBMIT &&
            d->turn.records.items[i].u.submit.job == (uint64_t)job)
            return false;
    return true;
}

void turn_reply(struct daemon *d, struct client *client, int64_t request, json_t *result)
{
    struct pleat_string out = {0};
    if (client_answer(&out, request, result))
        pleat_string_finish(&out);
    else
        turn_hold_reply(d, client, &out);
}

void turn_take_notes(struct daemon *d, size_t first)
{
    for (size_t i = first; i < d->turn.effects.count; i++)
        note_effect(d, &d->turn.effects.items[i]);
}

void turn_record(struct daemon *d, const struct pleat_event *event)
{
    if (pleat_array_push(&d->turn.records, *event))
        daemon_log("out of memory: the log is behind the state");
    else
        pleat_event_clean(&d->turn.records.items[d->turn.records.count - 1]);
    note_event(d, event);
}

int turn_apply(struct daemon *d, const struct pleat_event *event, struct pleat_error *err)
{
    size_t before = d->turn.effects.count;
    int rc = pleat_core_apply(d->core, event, &d->turn.effects, err);
    if (rc == 0) {
        turn_record(d, event);
        turn_take_notes(d, before);
    }
    return rc;
}
