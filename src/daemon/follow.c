/* Sends events to the clients that follow them. */
#include "daemon/follow.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/notes.h"
#include "wire/connection.h"

enum { AHEAD_BYTES = 256 * 1024 }; /* bytes that may wait to be written to a client */

static void add(struct pleat_string *out, json_t *event)
{
    if (!event || pleat_write_notification(out, "event", event))
        daemon_log("a notification could not be written");
}

/* Events read from the log for a client. */
struct piece {
    struct follow *follow;
    struct pleat_string out;
};

static int take(void *arg, const struct pleat_note *note)
{
    struct piece *piece = arg;
    json_t *data = json_loads(note->data, 0, NULL);
    add(&piece->out, note_to_json(note->seq, note->time_us, note->kind, note->job, data));
    json_decref(data);
    piece->follow->last = note->seq;
    return piece->out.length >= AHEAD_BYTES;
}

/* Below 0: an error; 0: the client has all events; 1: there may be more. */
static int read_piece(struct client *client, struct piece *piece, struct pleat_error *err)
{
    const struct follow *follow = piece->follow;
    struct pleat_note_filter filter = {
        .job = follow->job, .after_seq = follow->last, .from_us = follow->from_us};
    return pleat_store_read_notes(client->daemon->store, &filter, take, piece, err);
}

void follow_on(struct client *client)
{
    struct piece piece = {.follow = &client->follow};
    struct pleat_error err;
    if (!client->follow.on || !client->follow.behind)
        return;
    int rc = read_piece(client, &piece, &err);
    if (rc < 0 && log_mend(client->daemon))
        rc = read_piece(client, &piece, &err); /* continues in the repaired log */
    if (rc < 0)
        daemon_log("a follower of events does not get all older ones: %s", err.text);
    client->follow.behind = rc > 0;
    if (piece.out.length)
        client_send(client, &piece.out); /* once that is written, follow_on is called again */
    else
        pleat_string_finish(&piece.out);
}

void follow_begin(struct client *client, const struct pleat_note_filter *filter)
{
    client->follow = (struct follow){.on = client->connection != NULL,
                                     .behind = true,
                                     .job = filter->job,
                                     .from_us = filter->from_us,
                                     .last = filter->after_seq};
}

static void tell(struct client *client, const struct made_note *note)
{
    struct follow *follow = &client->follow;
    struct pleat_string out = {0};
    if (follow->behind || (follow->job >= 0 && follow->job != note->job))
        return;
    if (pleat_connection_backlog(client->connection) >= AHEAD_BYTES) {
        follow->behind = true;
        return;
    }
    add(&out, note_to_json(note->seq, note->time_us, note->kind, note->job, note->data));
    follow->last = note->seq;
    client_send(client, &out);
}

void clients_notify(struct daemon *d, const struct made_note *note)
{
    struct client *next;
    for (struct client *client = d->clients; client; client = next) {
        next = client->next;
        if (client->follow.on)
            tell(client, note);
    }
}
