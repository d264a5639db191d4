/* messages.c - send, receive, probe. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "process/directory.h"
#include "process/loop.h"
#include "process/messages.h"
#include "process/stream.h"
#include "process/transport.h"

#define UNKNOWN_MS                                                                                 \
    1000 /* a number that is told by a message may be here before the agent's word                 \
          */

int pleat_messages_unknown(const struct pleat_processes *all, int32_t process,
                           struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "process %d knows of no process %d in this run; pleat_process_list has "
                           "those that there are",
                           all->self, process);
}

static int is_gone(const struct pleat_peer *peer, const char *then, struct pleat_error *err)
{
    static const char *const reasons[] = {"",        "it ended",         "it was stopped",
                                          "it died", "its node is lost", "it could not be started",
                                          "it ended"};
    return pleat_error_set(err, PLEAT_E_CLOSED, "process %d is gone (%s): %s", peer->id,
                           reasons[peer->reason <= PLEAT_PROCESS_UNSAID ? peer->reason : 0], then);
}

/* A message to this process itself: it has come at once. */
static int send_here(struct pleat_processes *all, struct pleat_peer *own, int32_t type,
                     const void *bytes, size_t count)
{
    struct pleat_came *came = calloc(1, sizeof(*came));
    if (!came || zmq_msg_init_size(&came->content, count)) {
        free(came);
        return PLEAT_E_NOMEM;
    }
    if (count)
        memcpy(zmq_msg_data(&came->content), bytes, count);
    came->from = own;
    came->type = type;
    came->bytes = count;
    own->out.numbered++;
    own->out.bytes += count;
    pleat_came_append(&all->came, came);
    return 0;
}

static int send_there(struct pleat_processes *all, struct pleat_peer *peer, int32_t type,
                      const void *bytes, size_t count)
{
    struct pleat_kept *kept = pleat_kept_make(bytes, count);
    if (!kept)
        return PLEAT_E_NOMEM;
    pleat_stream_send(all, peer, kept, type);
    return 0;
}

/* Finds a process; waits a moment for the agent's word of it. heard: it is enough that something
 * has come from it. NULL: it is not known. */
static struct pleat_peer *find(struct pleat_processes *all, int32_t process, bool heard,
                               int64_t until)
{
    struct pleat_peer *peer;
    int64_t most = pleat_loop_until(UNKNOWN_MS);
    while (!(peer = pleat_peers_find(&all->peers, process)) || (!peer->state && !heard))
        if (all->alone || !pleat_loop_wait(all, until < most ? until : most))
            return NULL;
    return peer;
}

int pleat_messages_send(struct pleat_processes *all, int32_t to, int32_t type, const void *bytes,
                        size_t count, int64_t until, struct pleat_error *err)
{
    struct pleat_peer *peer = find(all, to, false, until);
    if (!peer)
        return pleat_messages_unknown(all, to, err);
    bool own = to == all->self;
    while (peer->state == PLEAT_PROCESS_GONE || !pleat_stream_has_room(all, peer, count)) {
        if (peer->state == PLEAT_PROCESS_GONE)
            return is_gone(peer, "the message was not sent", err);
        if (own)
            return PLEAT_PROCESS_FULL;
        pleat_stream_is_full(all, peer);
        pleat_transport_drain(all);
        if (pleat_stream_has_room(all, peer, count))
            break;
        if (!pleat_loop_wait(all, until))
            return PLEAT_PROCESS_FULL;
    }
    int rc =
        own ? send_here(all, peer, type, bytes, count) : send_there(all, peer, type, bytes, count);
    if (!own)
        pleat_transport_drain(all);
    return rc ? pleat_error_set(err, rc, "no memory for a message of %zu bytes to process %d",
                                count, to)
              : 0;
}

int pleat_messages_check(const struct pleat_processes *all, int32_t type, const void *bytes,
                         size_t count, struct pleat_error *err)
{
    if (type < 0 || (count && !bytes))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a message needs a type of at least 0, and bytes: the type is %d, "
                               "the bytes are %s",
                               type, bytes ? "there" : "NULL");
    if (count > all->settings.window_bytes)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "a message of %zu bytes does not fit into the window of %zu bytes: "
                               "send it in parts, or begin with a larger window_bytes",
                               count, all->settings.window_bytes);
    return 0;
}

int pleat_process_send(struct pleat_processes *processes, int32_t to, int32_t type,
                       const void *bytes, size_t count, int timeout_ms, struct pleat_error *err)
{
    int rc = pleat_processes_usable(processes, err);
    if (!rc)
        rc = pleat_messages_check(processes, type, bytes, count, err);
    if (rc)
        return rc;
    pleat_loop_enter(processes);
    rc = pleat_messages_send(processes, to, type, bytes, count, pleat_loop_until(timeout_ms), err);
    pleat_loop_leave(processes);
    return rc;
}

/* The first message that fits; NULL: none. */
static struct pleat_came *match(const struct pleat_processes *all, const struct pleat_peer *of,
                                int32_t type)
{
    struct pleat_came *came = of ? of->in.waiting.first : all->came.first;
    while (came && type >= 0 && came->type != type)
        came = of ? came->next_of : came->next;
    return came;
}

/* Waits for a message. 0, PLEAT_PROCESS_NOTHING, or an error. */
static int await(struct pleat_processes *all, int32_t from, int32_t type, int64_t until,
                 struct pleat_came **found, struct pleat_error *err)
{
    struct pleat_peer *of = from < 0 ? NULL : find(all, from, true, until);
    if (from >= 0 && !of)
        return pleat_messages_unknown(all, from, err);
    if (!(*found = match(all, of, type)))
        pleat_loop_work(all);
    while (!(*found = match(all, of, type))) {
        if (of && of->state == PLEAT_PROCESS_GONE)
            return is_gone(of, "there is no such message of it", err);
        if (all->leaving && !all->leaving_seen) {
            all->leaving_seen = true;
            return PLEAT_PROCESS_NOTHING;
        }
        if (all->alone && until == INT64_MAX)
            return pleat_error_set(err, PLEAT_E_STATE,
                                   "this process is alone (it was not started by 'pleat run "
                                   "--evolving'), and would wait for ever: it has sent no such "
                                   "message to itself");
        if (!pleat_loop_wait(all, until))
            return PLEAT_PROCESS_NOTHING;
    }
    return 0;
}

static int check_wish(int32_t from, int32_t type, const void *bytes, size_t room,
                      struct pleat_error *err)
{
    return from < -1 || type < -1 || (room && !bytes)
               ? pleat_error_set(err, PLEAT_E_INVALID,
                                 "there are no messages of type %d from process %d, or there is "
                                 "nowhere to put one: -1 stands for any",
                                 type, from)
               : 0;
}

static void describe(const struct pleat_came *came, struct pleat_process_message *message)
{
    if (message)
        *message = (struct pleat_process_message){
            .from = came->from->id, .type = came->type, .bytes = came->bytes};
}

/* Takes it out of the queue, into `bytes`. */
static void take(struct pleat_processes *all, struct pleat_came *came, void *bytes)
{
    if (came->bytes)
        memcpy(bytes, (const char *)zmq_msg_data(&came->content) + came->offset, came->bytes);
    pleat_came_remove(&all->came, came);
    if (came->from->id == all->self) {
        came->from->out.taken++;
        came->from->out.taken_bytes += came->bytes;
    }
    pleat_stream_taken(all, came);
}

int pleat_process_receive(struct pleat_processes *processes, int32_t from, int32_t type,
                          void *bytes, size_t room, struct pleat_process_message *message,
                          int timeout_ms, struct pleat_error *err)
{
    struct pleat_came *came = NULL;
    int rc = pleat_processes_usable(processes, err);
    if (!rc)
        rc = check_wish(from, type, bytes, room, err);
    if (rc)
        return rc;
    pleat_loop_enter(processes);
    rc = await(processes, from, type, pleat_loop_until(timeout_ms), &came, err);
    if (came) {
        describe(came, message);
        if (came->bytes > room)
            rc = pleat_error_set(err, PLEAT_E_TOOBIG,
                                 "the message of type %d from process %d has %zu bytes, and there "
                                 "is room for %zu; it is still there",
                                 came->type, came->from->id, came->bytes, room);
        else
            take(processes, came, bytes);
    }
    pleat_loop_leave(processes);
    return rc;
}

int pleat_process_probe(struct pleat_processes *processes, int32_t from, int32_t type,
                        struct pleat_process_message *message, int timeout_ms,
                        struct pleat_error *err)
{
    struct pleat_came *came = NULL;
    int rc = pleat_processes_usable(processes, err);
    if (!rc)
        rc = check_wish(from, type, NULL, 0, err);
    if (rc)
        return rc;
    pleat_loop_enter(processes);
    rc = await(processes, from, type, pleat_loop_until(timeout_ms), &came, err);
    if (came)
        describe(came, message);
    pleat_loop_leave(processes);
    return rc;
}
