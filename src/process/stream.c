#include "process/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "process/transport.h"

#define ACK_US 5000          /* what was received is acknowledged after that at the latest */
#define PING_US 200000       /* first ping after the last thing heard */
#define PING_MOST_US 2000000 /* between two pings */
#define CONNECT_AGAIN_US 200000

static void due_at(struct pleat_processes *all, int64_t *due, int64_t when)
{
    *due = when;
    if (when < all->due)
        all->due = when;
}

/* The parts that every head has: whose it is. */
static void fill(const struct pleat_processes *all, struct pleat_head *head)
{
    head->from = all->self;
    head->window_messages = all->window_messages_log;
    head->window_bytes = all->window_bytes_log;
}

/* And what has come in the other direction, which counts as said. */
static void fill_about(const struct pleat_processes *all, struct pleat_peer *peer,
                       struct pleat_head *head)
{
    struct pleat_inward *in = &peer->in;
    fill(all, head);
    if (!in->stream)
        return;
    head->ack_stream = in->stream;
    head->received = in->received;
    head->taken = in->taken;
    head->taken_bytes = in->taken_bytes;
    in->said_received = in->received;
    in->said_taken = in->taken;
    in->said_bytes = in->taken_bytes;
    in->ack_due = 0;
}

/* ---- what comes from the peer ---- */

/* If it cannot be said, the peer asks again. */
static void acknowledge(struct pleat_processes *all, struct pleat_peer *peer, uint8_t flags,
                        uint64_t number)
{
    struct pleat_head head = {.kind = PLEAT_HEAD_ACK, .flags = flags, .number = number};
    if (!peer->in.stream)
        return;
    fill_about(all, peer, &head);
    (void)pleat_transport_say(all, peer, true, &head);
}

static void acknowledge_soon(struct pleat_processes *all, struct pleat_peer *peer)
{
    struct pleat_inward *in = &peer->in;
    if (in->taken - in->said_taken >= in->every ||
        in->taken_bytes - in->said_bytes >= in->every_bytes)
        acknowledge(all, peer, 0, 0);
    else if (!in->ack_due)
        due_at(all, &in->ack_due, pleat_clock_monotonic_us() + ACK_US);
}

/* The message is the next one. Out of memory: it is dropped, and comes again. */
static void accept(struct pleat_processes *all, struct pleat_peer *peer,
                   const struct pleat_head *head, zmq_msg_t *content)
{
    struct pleat_came *came = calloc(1, sizeof(*came));
    if (!came)
        return;
    zmq_msg_init(&came->content);
    zmq_msg_move(&came->content, content);
    came->from = peer;
    came->type = head->type;
    came->offset = PLEAT_HEAD_BYTES;
    came->bytes = zmq_msg_size(&came->content) - PLEAT_HEAD_BYTES;
    pleat_came_append(&all->came, came);
    peer->in.received++;
    peer->in.gap = false;
    acknowledge_soon(all, peer);
}

static void take_data(struct pleat_processes *all, struct pleat_peer *peer,
                      const struct pleat_head *head, zmq_msg_t *content)
{
    struct pleat_inward *in = &peer->in;
    if (head->number == in->received + 1) {
        accept(all, peer, head, content);
    } else if (head->number <= in->received) {
        acknowledge(all, peer, 0, 0);
    } else if (!in->gap) {
        in->gap = true;
        acknowledge(all, peer, PLEAT_HEAD_GAP, 0);
    }
}

/* ---- what the peer has of ours ---- */

static void send_again(struct pleat_processes *all, struct pleat_peer *peer)
{
    struct pleat_outward *out = &peer->out;
    out->again = out->numbered;
    if (out->unsent)
        out->again = out->unsent->number - 1;
    out->unsent = out->first;
    pleat_stream_flush(all, peer);
}

static void take_acknowledgement(struct pleat_processes *all, struct pleat_peer *peer,
                                 const struct pleat_head *head)
{
    struct pleat_outward *out = &peer->out;
    uint64_t sent = out->unsent ? out->unsent->number - 1 : out->numbered;
    if (head->ack_stream != all->stream || head->received > out->numbered ||
        head->taken_bytes > out->bytes)
        return;
    if (head->received > out->received || head->taken > out->taken) {
        out->ping_us = PING_US;
        if (out->ping_due)
            due_at(all, &out->ping_due, pleat_clock_monotonic_us() + PING_US);
    }
    if (head->received > out->received) {
        out->received = head->received;
        pleat_outward_forget(out, out->received);
    }
    if (head->taken > out->taken) {
        out->taken = head->taken;
        out->taken_bytes = head->taken_bytes;
        out->eager = false;
    }
    if (out->taken == out->numbered)
        out->ping_due = 0;
    if (head->kind != PLEAT_HEAD_ACK || head->received != out->received ||
        out->received >= out->numbered)
        return;
    if ((head->flags & PLEAT_HEAD_GAP) && out->received >= out->again)
        send_again(all, peer);
    else if ((head->flags & PLEAT_HEAD_ECHO) && head->number > out->received &&
             head->number <= sent)
        send_again(all, peer);
}

void pleat_stream_take(struct pleat_processes *all, const void *route, size_t route_size,
                       zmq_msg_t *content)
{
    struct pleat_head head;
    if (pleat_head_read(zmq_msg_data(content), zmq_msg_size(content), &head) ||
        head.from == all->self)
        return;
    struct pleat_peer *peer = pleat_peers_get(&all->peers, head.from);
    if (!peer)
        return;
    struct pleat_inward *in = &peer->in;
    if (head.stream && !in->stream)
        in->stream = head.stream;
    if (head.stream && head.stream != in->stream)
        return; /* a process that has this number by mistake */
    if (route_size) {
        in->every = (UINT64_C(1) << head.window_messages) / 4 + 1;
        in->every_bytes = (UINT64_C(1) << head.window_bytes) / 4 + 1;
        memcpy(in->route, route, route_size);
        in->route_size = route_size;
    }
    if (head.ack_stream)
        take_acknowledgement(all, peer, &head);
    if (head.kind == PLEAT_HEAD_DATA)
        take_data(all, peer, &head, content);
    else if (head.kind == PLEAT_HEAD_PING)
        acknowledge(all, peer, PLEAT_HEAD_ECHO, head.number);
}

/* ---- what goes to the peer ---- */

bool pleat_stream_has_room(const struct pleat_processes *all, const struct pleat_peer *peer,
                           size_t count)
{
    const struct pleat_outward *out = &peer->out;
    return out->numbered - out->taken < all->settings.window_messages &&
           out->bytes - out->taken_bytes + count <= all->settings.window_bytes;
}

void pleat_stream_flush(struct pleat_processes *all, struct pleat_peer *peer)
{
    struct pleat_outward *out = &peer->out;
    if (!out->unsent || !peer->address || peer->state == PLEAT_PROCESS_GONE)
        return;
    if (!peer->connected && pleat_transport_connect(all, peer)) {
        due_at(all, &out->ping_due, pleat_clock_monotonic_us() + CONNECT_AGAIN_US);
        return;
    }
    for (; out->unsent; out->unsent = out->unsent->next)
        if (!pleat_transport_send(all, peer, out->unsent))
            break;
    if (!out->ping_due || out->unsent) {
        out->ping_us = PING_US;
        due_at(all, &out->ping_due, pleat_clock_monotonic_us() + PING_US);
    }
}

void pleat_stream_send(struct pleat_processes *all, struct pleat_peer *peer,
                       struct pleat_kept *kept, int32_t type)
{
    struct pleat_outward *out = &peer->out;
    struct pleat_head head = {
        .kind = PLEAT_HEAD_DATA, .type = type, .stream = all->stream, .number = ++out->numbered};
    if (peer->address)
        fill_about(all, peer, &head);
    else
        fill(all, &head); /* it lies here for a while */
    pleat_head_write(&head, kept->bytes);
    kept->number = head.number;
    out->bytes += kept->size - PLEAT_HEAD_BYTES;
    *(out->last ? &out->last->next : &out->first) = kept;
    out->last = kept;
    if (!out->unsent)
        out->unsent = kept;
    pleat_stream_flush(all, peer);
}

/* Asks the peer what it has. Not while something was not sent, since the answer is about all that
 * was sent before. */
static void ping(struct pleat_processes *all, struct pleat_peer *peer)
{
    struct pleat_outward *out = &peer->out;
    struct pleat_head head = {.kind = PLEAT_HEAD_PING,
                              .stream = all->stream,
                              .number = out->unsent ? out->unsent->number - 1 : out->numbered};
    fill_about(all, peer, &head);
    (void)pleat_transport_say(all, peer, false, &head);
}

void pleat_stream_is_full(struct pleat_processes *all, struct pleat_peer *peer)
{
    if (!peer->out.eager)
        ping(all, peer);
    peer->out.eager = true;
}

void pleat_stream_taken(struct pleat_processes *all, struct pleat_came *came)
{
    struct pleat_peer *peer = came->from;
    zmq_msg_close(&came->content);
    peer->in.taken++;
    peer->in.taken_bytes += came->bytes;
    free(came);
    if (peer->id != all->self)
        acknowledge_soon(all, peer);
}

int64_t pleat_stream_give_up(struct pleat_processes *all, struct pleat_peer *peer)
{
    struct pleat_outward *out = &peer->out;
    int64_t lost = (int64_t)(out->numbered - out->taken);
    pleat_outward_forget(out, UINT64_MAX);
    out->unsent = NULL;
    out->ping_due = peer->in.ack_due = 0;
    pleat_transport_disconnect(all, peer);
    return lost;
}

void pleat_stream_due(struct pleat_processes *all, int64_t now)
{
    if (now < all->due)
        return;
    all->due = INT64_MAX;
    for (size_t i = 0; i < all->peers.count; i++) {
        struct pleat_peer *peer = all->peers.items[i];
        struct pleat_outward *out = &peer->out;
        if (peer->in.ack_due && peer->in.ack_due <= now) {
            peer->in.ack_due = 0;
            acknowledge(all, peer, 0, 0);
        }
        if (out->ping_due && out->ping_due <= now) {
            out->ping_us = out->ping_us * 2 < PING_MOST_US ? out->ping_us * 2 : PING_MOST_US;
            out->ping_due = now + out->ping_us;
            pleat_stream_flush(all, peer);
            ping(all, peer);
        }
        if (peer->in.ack_due && peer->in.ack_due < all->due)
            all->due = peer->in.ack_due;
        if (out->ping_due && out->ping_due < all->due)
            all->due = out->ping_due;
    }
}
