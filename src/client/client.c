#include "client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock_record.h"
#include "base/socket.h"

#define HELLO_LIMIT_US (10 * PLEAT_US_PER_S)
#define NEVER INT64_MAX

/* A notification that is kept for later, with its own copy of the attachment. */
struct kept {
    struct pleat_message message;
    char *bytes;
};

struct pleat_client {
    int fd;
    int broken; /* the code with which the connection failed; 0: it works */
    struct pleat_reader *reader;
    struct pleat_string out;
    size_t out_sent;
    int64_t last_id;
    json_t *hello; /* the daemon's hello, the whole message */
    const atomic_int *interrupted;
    PLEAT_ARRAY(, struct kept) queue;
    size_t queue_taken;  /* number of queue items that were handed out */
    struct kept current; /* the notification that is lent to the caller */
    char socket_path[sizeof(((struct pleat_paths *)0)->socket)];
};

/* ---- the connection ---- */

static int break_off(struct pleat_client *client, int code)
{
    client->broken = code;
    return code;
}

static int closed_by_daemon(struct pleat_client *client, struct pleat_error *err)
{
    return break_off(client,
                     pleat_error_set(err, PLEAT_E_CLOSED,
                                     "pleatd at %s closed the connection: it has ended, or sees "
                                     "an error; its log (pleatd.log in the state directory) says "
                                     "more",
                                     client->socket_path));
}

/* Waits until the socket is ready or a signal came (*ready 0 then). Signals are unblocked only
 * while waiting, so that one which sets the flag cannot come between looking at the flag and
 * waiting. */
static int wait_ready(struct pleat_client *client, short events, int64_t deadline_us, short *ready,
                      struct pleat_error *err)
{
    struct pollfd polled = {.fd = client->fd, .events = events};
    struct timespec limit = {0};
    sigset_t all, before;
    int64_t left_us = deadline_us == NEVER ? 0 : deadline_us - pleat_clock_monotonic_us();
    if (left_us > 0) {
        limit.tv_sec = left_us / PLEAT_US_PER_S;
        limit.tv_nsec = left_us % PLEAT_US_PER_S * 1000;
    }
    *ready = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int count = -1, reason = EINTR;
    bool interrupted = client->interrupted && *client->interrupted;
    if (!interrupted) {
        count = ppoll(&polled, 1, deadline_us == NEVER ? NULL : &limit, &before);
        reason = errno;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (interrupted)
        return PLEAT_INTERRUPTED;
    if (count < 0 && reason != EINTR)
        return break_off(client, pleat_error_sys(err, reason, "cannot wait for pleatd"));
    if (count == 0)
        return pleat_error_set(err, PLEAT_E_TIMEOUT,
                               "pleatd at %s does not answer in time: it may be stopped, or wait "
                               "for the file system of its log (see 'ps -o pid,stat,wchan,args -C "
                               "pleatd'); what was asked for may still be done",
                               client->socket_path);
    if (count > 0)
        *ready = polled.revents;
    return 0;
}

static void send_some(struct pleat_client *client)
{
    struct pleat_string *out = &client->out;
    ssize_t sent = send(client->fd, out->text + client->out_sent, out->length - client->out_sent,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0)
        client->out_sent += (size_t)sent;
    else if (errno != EAGAIN && errno != EINTR)
        client->out_sent = out->length; /* the daemon is gone; what it has sent can still be read */
    if (client->out_sent == out->length) {
        out->length = 0;
        client->out_sent = 0;
    }
}

static int receive_some(struct pleat_client *client, struct pleat_error *err)
{
    char buffer[16384];
    ssize_t got = recv(client->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno == ECONNRESET))
        return closed_by_daemon(client, err);
    if (got < 0) {
        if (errno == EAGAIN || errno == EINTR)
            return 0;
        return break_off(client, pleat_error_sys(err, errno, "cannot read from pleatd"));
    }
    int status = pleat_reader_feed(client->reader, buffer, (size_t)got, err);
    return status ? break_off(client, status) : 0;
}

/* Waits, then sends and receives what can be done without waiting. */
static int turn(struct pleat_client *client, int64_t deadline_us, struct pleat_error *err)
{
    bool sending = client->out.length > 0;
    short ready;
    int status =
        wait_ready(client, (short)(POLLIN | (sending ? POLLOUT : 0)), deadline_us, &ready, err);
    if (status)
        return status;
    if (sending && ready & (POLLOUT | POLLERR | POLLHUP))
        send_some(client);
    if (ready & (POLLIN | POLLERR | POLLHUP))
        return receive_some(client, err);
    return 0;
}

/* Receives the next message of any kind. 1: *message is filled; release it. Else as turn. */
static int next_message(struct pleat_client *client, int64_t deadline_us,
                        struct pleat_message *message, struct pleat_error *err)
{
    for (;;) {
        int got = pleat_reader_next(client->reader, message, err);
        if (got > 0)
            return 1;
        if (got < 0)
            return break_off(client, got);
        int status = turn(client, deadline_us, err);
        if (status)
            return status;
    }
}

static int check_usable(const struct pleat_client *client, struct pleat_error *err)
{
    if (!client->broken)
        return 0;
    return pleat_error_set(err, client->broken, "the connection to pleatd at %s is lost",
                           client->socket_path);
}

/* ---- opening and closing ---- */

static int connect_socket(struct pleat_client *client, struct pleat_error *err)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = pleat_socket_connect(client->socket_path);
    if (client->fd >= 0)
        return 0;
    if (errno == ENOENT || errno == ECONNREFUSED)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no pleatd runs (nobody listens at %s)",
                               client->socket_path);
    if (errno == EACCES || errno == EPERM)
        return pleat_error_set(err, PLEAT_E_PERMISSION,
                               "%s is another user's: set PLEAT_DIR to a directory of your own",
                               client->socket_path);
    return pleat_error_sys(err, errno, "cannot connect to pleatd at %s", client->socket_path);
}

static int check_owner(struct pleat_client *client, struct pleat_error *err)
{
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);
    if (getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
        return pleat_error_sys(err, errno, "cannot tell who serves %s", client->socket_path);
    if (peer.uid != geteuid())
        return pleat_error_set(err, PLEAT_E_PERMISSION,
                               "%s is served by user %lu, not by you: set PLEAT_DIR to a "
                               "directory of your own",
                               client->socket_path, (unsigned long)peer.uid);
    return 0;
}

static int exchange_hellos(struct pleat_client *client, struct pleat_error *err)
{
    struct pleat_message message;
    const char *role;
    int status = pleat_write_hello(&client->out, "client", NULL);
    if (status)
        return pleat_error_set(err, status, "out of memory to greet pleatd");
    status = next_message(client, pleat_clock_monotonic_us() + HELLO_LIMIT_US, &message, err);
    if (status != 1)
        return status;
    status = pleat_read_hello(&message, &role, err);
    if (!status && strcmp(role, "daemon") != 0)
        status = pleat_error_set(err, PLEAT_E_PROTOCOL, "%s is served by a '%s', not by pleatd",
                                 client->socket_path, role);
    if (!status)
        client->hello = json_incref(message.json);
    pleat_message_finish(&message);
    return status;
}

int pleat_client_open(const struct pleat_paths *paths, struct pleat_client **client,
                      struct pleat_error *err)
{
    struct pleat_client *fresh = calloc(1, sizeof(*fresh));
    if (!fresh || pleat_reader_create(&fresh->reader)) {
        free(fresh);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory to speak to pleatd");
    }
    fresh->fd = -1;
    memcpy(fresh->socket_path, paths->socket, sizeof(fresh->socket_path));
    int status = connect_socket(fresh, err);
    struct pleat_error ignored;
    /* cron, for example, has another XDG_RUNTIME_DIR than pleatd was started with; or pleatd had to
     * move */
    if (status == PLEAT_E_NOTFOUND &&
        pleat_paths_recorded_socket(paths, fresh->socket_path, sizeof(fresh->socket_path)) &&
        strcmp(fresh->socket_path, paths->socket) != 0)
        status = connect_socket(fresh, &ignored) ? status : 0;
    struct pleat_lock_record record;
    if (status == PLEAT_E_NOTFOUND && pleat_lock_record_read(&record, paths->state))
        status = pleat_lock_record_check(&record, paths->state, err) ? PLEAT_E_BUSY : status;
    if (!status)
        status = check_owner(fresh, err);
    if (!status)
        status = exchange_hellos(fresh, err);
    if (status) {
        pleat_client_close(fresh);
        return status;
    }
    *client = fresh;
    return 0;
}

static void finish_kept(struct kept *kept)
{
    pleat_message_finish(&kept->message);
    free(kept->bytes);
    kept->bytes = NULL;
}

void pleat_client_close(struct pleat_client *client)
{
    if (!client)
        return;
    if (client->fd >= 0)
        close(client->fd);
    for (size_t i = client->queue_taken; i < client->queue.count; i++)
        finish_kept(&client->queue.items[i]);
    pleat_array_finish(&client->queue);
    finish_kept(&client->current);
    pleat_reader_destroy(client->reader);
    pleat_string_finish(&client->out);
    json_decref(client->hello);
    free(client);
}

void pleat_client_set_interrupt(struct pleat_client *client, const atomic_int *interrupted)
{
    client->interrupted = interrupted;
}

bool pleat_client_is_lost(const struct pleat_client *client)
{
    return client->broken == PLEAT_E_CLOSED || client->broken == PLEAT_E_SYSTEM;
}

const json_t *pleat_client_hello(const struct pleat_client *client)
{
    return json_object_get(client->hello, "params");
}

/* ---- notifications ---- */

/* Turns a message into one that owns its attachment. On failure the message is released. */
static int keep(struct pleat_message *message, struct kept *kept, struct pleat_error *err)
{
    *kept = (struct kept){.message = *message};
    if (message->bytes) {
        kept->bytes = malloc(message->bytes_count + 1);
        if (!kept->bytes) {
            finish_kept(kept);
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a notification");
        }
        memcpy(kept->bytes, message->bytes, message->bytes_count);
        kept->message.bytes = kept->bytes;
    }
    return 0;
}

static int queue_notification(struct pleat_client *client, struct pleat_message *message,
                              struct pleat_error *err)
{
    struct kept kept;
    if (client->queue.count - client->queue_taken >= PLEAT_CLIENT_QUEUE_MAX) {
        pleat_message_finish(message);
        return break_off(client, pleat_error_set(err, PLEAT_E_TOOBIG,
                                                 "more than %d notifications that nobody took",
                                                 PLEAT_CLIENT_QUEUE_MAX));
    }
    int status = keep(message, &kept, err);
    if (status)
        return break_off(client, status);
    if (pleat_array_push(&client->queue, kept)) {
        finish_kept(&kept);
        return break_off(client,
                         pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a notification"));
    }
    return 0;
}

/* Handles, and takes over, a message that is not the one waited for. */
static int dispatch(struct pleat_client *client, struct pleat_message *message,
                    struct pleat_error *err)
{
    int status = 0;
    if (message->kind == PLEAT_NOTIFICATION)
        return queue_notification(client, message, err);
    if (message->kind == PLEAT_FAILURE && message->id == 0) {
        if (err)
            *err = message->error;
        status = break_off(client, message->error.code);
    } else if (message->kind == PLEAT_REQUEST) {
        status = break_off(client, pleat_error_set(err, PLEAT_E_PROTOCOL,
                                                   "pleatd sent a request ('%s') to a client",
                                                   message->method));
    } /* else the answer to an interrupted call */
    pleat_message_finish(message);
    return status;
}

/* Moves the oldest queued notification to client->current. 0: there is none. */
static int take_queued(struct pleat_client *client)
{
    if (client->queue_taken == client->queue.count)
        return 0;
    client->current = client->queue.items[client->queue_taken++];
    if (client->queue_taken == client->queue.count)
        client->queue.count = client->queue_taken = 0;
    return 1;
}

int pleat_client_next_notification(struct pleat_client *client, int timeout_ms,
                                   const struct pleat_message **message, struct pleat_error *err)
{
    struct pleat_message received;
    struct pleat_error own;
    int64_t deadline_us =
        timeout_ms < 0 ? NEVER : pleat_clock_monotonic_us() + (int64_t)timeout_ms * 1000;
    if (!err)
        err = &own;
    finish_kept(&client->current);
    *message = &client->current.message;
    if (take_queued(client))
        return 1;
    int status = check_usable(client, err);
    while (!status) {
        status = next_message(client, deadline_us, &received, err);
        if (status == PLEAT_E_TIMEOUT && !client->broken)
            return 0;
        if (status != 1)
            return status;
        if (received.kind == PLEAT_NOTIFICATION) {
            status = keep(&received, &client->current, err);
            return status ? break_off(client, status) : 1;
        }
        status = dispatch(client, &received, err);
    }
    return status;
}

/* ---- calls ---- */

/* Takes the daemon's answer from a message, and releases the message. */
static int take_answer(struct pleat_message *message, json_t **result, struct pleat_string *bytes,
                       struct pleat_error *err)
{
    int status = 0;
    if (message->kind == PLEAT_FAILURE) {
        if (err)
            *err = message->error;
        status = message->error.code;
    } else {
        if (bytes && message->bytes)
            pleat_string_add_bytes(bytes, message->bytes, message->bytes_count);
        if (bytes && bytes->failed)
            status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for what pleatd sent");
        else if (result)
            *result = json_incref(json_object_get(message->json, "result"));
    }
    pleat_message_finish(message);
    return status;
}

static int call(struct pleat_client *client, const char *method, json_t *params,
                const char *attached, size_t count, json_t **result, struct pleat_string *bytes,
                struct pleat_error *err)
{
    struct pleat_message message;
    int status = check_usable(client, err);
    if (status) {
        json_decref(params);
        return status;
    }
    int64_t id = ++client->last_id;
    status = pleat_write_request_bytes(&client->out, id, method, params, attached, count);
    if (status)
        return pleat_error_set(err, status, "the request '%s' cannot be sent: %s", method,
                               status == PLEAT_E_TOOBIG ? "it exceeds the limit of 1 MB"
                                                        : pleat_error_name(status));
    send_some(client);
    for (;;) {
        status = next_message(client, NEVER, &message, err);
        if (status != 1)
            return status;
        bool answer = message.kind == PLEAT_RESULT || message.kind == PLEAT_FAILURE;
        if (answer && message.id == id)
            return take_answer(&message, result, bytes, err);
        status = dispatch(client, &message, err);
        if (status)
            return status;
    }
}

int pleat_client_call_bytes(struct pleat_client *client, const char *method, json_t *params,
                            json_t **result, struct pleat_string *bytes, struct pleat_error *err)
{
    return call(client, method, params, NULL, 0, result, bytes, err);
}

int pleat_client_call_with(struct pleat_client *client, const char *method, json_t *params,
                           const char *bytes, size_t count, json_t **result,
                           struct pleat_error *err)
{
    return call(client, method, params, bytes, count, result, NULL, err);
}

int pleat_client_call(struct pleat_client *client, const char *method, json_t *params,
                      json_t **result, struct pleat_error *err)
{
    return pleat_client_call_bytes(client, method, params, result, NULL, err);
}
