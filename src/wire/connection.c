#include "wire/connection.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/connection-internal.h"

#define FLUSH_LIMIT_MS 1000
#define READ_SIZE (64 * 1024)

enum connection_state {
    CONNECTING,
    ESTABLISHED, /* accepted but not started, or open */
    FLUSHING,    /* closed by the owner; what is queued is still being written */
    CLOSING      /* the handles are being closed */
};

struct pleat_connection {
    uv_pipe_t pipe;
    uv_timer_t flush_limit;
    uv_connect_t connect;
    struct pleat_connection_callbacks callbacks;
    void *arg;
    struct pleat_reader *reader;
    struct pleat_string early; /* queued before the connection was established */
    enum connection_state state;
    int handles; /* handles not closed yet */
    size_t backlog;
    int peer_pid;
    struct pleat_error reason;
};

/* One write under way. Owns its text. */
struct write_request {
    uv_write_t request;
    struct pleat_connection *connection;
    char *text;
    size_t length;
};

void pleat_ignore_sigpipe(void)
{
    struct sigaction action;
    if (sigaction(SIGPIPE, NULL, &action) || action.sa_flags & SA_SIGINFO ||
        action.sa_handler != SIG_DFL)
        return;
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

int pleat_unix_address(const char *path, struct sockaddr_un *address, struct pleat_error *err)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof(address->sun_path))
        return pleat_error_set(err, length ? PLEAT_E_TOOBIG : PLEAT_E_INVALID,
                               "the path of a socket has from 1 to %zu bytes, this has %zu: '%s'",
                               sizeof(address->sun_path) - 1, length, path);
    memcpy(address->sun_path, path, length);
    return 0;
}

int pleat_peer_credentials(uv_stream_t *stream, struct ucred *peer, struct pleat_error *err)
{
    uv_os_fd_t fd;
    socklen_t size = sizeof(*peer);
    int failure = uv_fileno((uv_handle_t *)stream, &fd);
    if (failure)
        return pleat_error_sys(err, -failure, "cannot tell who is connected");
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size))
        return pleat_error_sys(err, errno, "cannot tell who is connected");
    return 0;
}

/* ---- life and death ---- */

struct pleat_connection *pleat_connection_make(uv_loop_t *loop)
{
    struct pleat_connection *connection = calloc(1, sizeof(*connection));
    if (!connection)
        return NULL;
    if (pleat_reader_create(&connection->reader)) {
        free(connection);
        return NULL;
    }
    /* neither can fail: they only fill in the handle */
    (void)uv_pipe_init(loop, &connection->pipe, 0);
    (void)uv_timer_init(loop, &connection->flush_limit);
    connection->handles = 2;
    connection->pipe.data = connection;
    connection->flush_limit.data = connection;
    connection->connect.data = connection;
    connection->state = CONNECTING;
    return connection;
}

uv_stream_t *pleat_connection_stream(struct pleat_connection *connection)
{
    return (uv_stream_t *)&connection->pipe;
}

void pleat_connection_established(struct pleat_connection *connection, int peer_pid)
{
    connection->state = ESTABLISHED;
    connection->peer_pid = peer_pid;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct pleat_connection *connection = handle->data;
    if (--connection->handles > 0)
        return;
    /* by now every write request has had its callback (cancelled if need be) */
    if (connection->callbacks.closed)
        connection->callbacks.closed(connection->arg, connection, &connection->reason);
    pleat_reader_destroy(connection->reader);
    pleat_string_finish(&connection->early);
    free(connection);
}

static void close_handles(struct pleat_connection *connection)
{
    if (connection->state == CLOSING)
        return;
    connection->state = CLOSING;
    uv_close((uv_handle_t *)&connection->pipe, on_handle_closed);
    uv_close((uv_handle_t *)&connection->flush_limit, on_handle_closed);
}

/* Ends the connection for a reason. The loop calls `closed` when the handles are closed. */
static void fail(struct pleat_connection *connection, const struct pleat_error *reason)
{
    if (connection->state == CLOSING)
        return;
    connection->reason = *reason;
    close_handles(connection);
}

/* As fail, but tells the peer the reason first, if that is possible without waiting. */
static void fail_telling(struct pleat_connection *connection, const struct pleat_error *reason)
{
    struct pleat_string line = {0};
    if (connection->state == ESTABLISHED && pleat_write_failure(&line, 0, reason) == 0) {
        uv_buf_t buffer = uv_buf_init(line.text, (unsigned)line.length);
        (void)uv_try_write(pleat_connection_stream(connection), &buffer, 1);
    }
    pleat_string_finish(&line);
    fail(connection, reason);
}

static void on_flush_limit(uv_timer_t *timer)
{
    close_handles(timer->data);
}

void pleat_connection_close(struct pleat_connection *connection)
{
    if (!connection)
        return;
    memset(&connection->callbacks, 0, sizeof(connection->callbacks));
    if (connection->state == CLOSING || connection->state == FLUSHING)
        return;
    bool connecting = connection->state == CONNECTING;
    if (!connecting)
        uv_read_stop(pleat_connection_stream(connection));
    if (connection->backlog == 0) {
        close_handles(connection);
        return;
    }
    if (!connecting)
        connection->state = FLUSHING;
    if (uv_timer_start(&connection->flush_limit, on_flush_limit, FLUSH_LIMIT_MS, 0))
        close_handles(connection);
}

/* ---- writing ---- */

static void on_written(uv_write_t *request, int status)
{
    struct write_request *write = request->data;
    struct pleat_connection *connection = write->connection;
    connection->backlog -= write->length;
    free(write->text);
    free(write);
    if (connection->state == CLOSING)
        return;
    if (status < 0) {
        struct pleat_error err;
        pleat_error_set(&err, PLEAT_E_CLOSED,
                        "the peer closed the connection while it was sent to: %s",
                        uv_strerror(status));
        fail(connection, &err);
    } else if (connection->state == FLUSHING && connection->backlog == 0) {
        close_handles(connection);
    } else if (connection->backlog == 0 && connection->callbacks.drained) {
        connection->callbacks.drained(connection->arg, connection);
    }
}

/* Takes over text, whose length is in the backlog already. */
static int write_text(struct pleat_connection *connection, char *text, size_t length,
                      struct pleat_error *err)
{
    struct write_request *write = malloc(sizeof(*write));
    if (!write) {
        free(text);
        connection->backlog -= length;
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for %zu bytes to send", length);
    }
    *write = (struct write_request){.connection = connection, .text = text, .length = length};
    write->request.data = write;
    uv_buf_t buffer = uv_buf_init(text, (unsigned)length);
    int status =
        uv_write(&write->request, pleat_connection_stream(connection), &buffer, 1, on_written);
    if (status < 0) {
        connection->backlog -= length;
        free(write->text);
        free(write);
        return pleat_error_set(err, PLEAT_E_CLOSED, "cannot send to the peer: %s",
                               uv_strerror(status));
    }
    return 0;
}

static int send_checked(struct pleat_connection *connection, struct pleat_string *out,
                        struct pleat_error *err)
{
    if (out->failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a message to send");
    if (out->length == 0)
        return 0;
    if (out->length > PLEAT_CONNECTION_BACKLOG_MAX - connection->backlog)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "the peer does not read: %zu bytes wait for it (at most %d)",
                               connection->backlog + out->length, PLEAT_CONNECTION_BACKLOG_MAX);
    if (connection->state == CONNECTING) {
        pleat_string_add_bytes(&connection->early, out->text, out->length);
        if (connection->early.failed)
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a message to send");
        connection->backlog += out->length;
        return 0;
    }
    char *text = out->text;
    size_t length = out->length;
    memset(out, 0, sizeof(*out));
    connection->backlog += length;
    return write_text(connection, text, length, err);
}

int pleat_connection_send(struct pleat_connection *connection, struct pleat_string *out)
{
    struct pleat_error err;
    int status = PLEAT_E_CLOSED;
    if (connection->state == CONNECTING || connection->state == ESTABLISHED) {
        status = send_checked(connection, out, &err);
        if (status)
            fail(connection, &err);
    }
    pleat_string_finish(out);
    return status;
}

size_t pleat_connection_backlog(const struct pleat_connection *connection)
{
    return connection->backlog;
}

int pleat_connection_peer_pid(const struct pleat_connection *connection)
{
    return connection->peer_pid;
}

/* ---- reading ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    /* shared by all connections: libuv calls on_read before it asks again, and the reader copies */
    static _Thread_local char shared[READ_SIZE];
    (void)handle;
    (void)suggested;
    *buffer = uv_buf_init(shared, sizeof(shared));
}

/* Hands over all complete messages; stops if a callback closes the connection. */
static void deliver(struct pleat_connection *connection)
{
    struct pleat_message message;
    struct pleat_error err;
    int got;
    while (connection->state == ESTABLISHED &&
           (got = pleat_reader_next(connection->reader, &message, &err)) != 0) {
        if (got < 0) {
            fail_telling(connection, &err);
            return;
        }
        connection->callbacks.message(connection->arg, connection, &message);
        pleat_message_finish(&message);
    }
}

static void on_end(struct pleat_connection *connection, ssize_t status)
{
    struct pleat_error reason = {0};
    size_t left = pleat_reader_pending(connection->reader);
    if (left > 0)
        pleat_error_set(&reason, PLEAT_E_CLOSED, "the peer closed in the middle of a message");
    else if (status != UV_EOF)
        pleat_error_set(&reason, PLEAT_E_CLOSED, "the connection broke: %s",
                        uv_strerror((int)status));
    fail(connection, &reason);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct pleat_connection *connection = stream->data;
    struct pleat_error err;
    if (count == 0 || connection->state != ESTABLISHED)
        return;
    if (count < 0)
        on_end(connection, count);
    else if (pleat_reader_feed(connection->reader, buffer->base, (size_t)count, &err))
        fail_telling(connection, &err);
    else
        deliver(connection);
}

static int start_reading(struct pleat_connection *connection, struct pleat_error *err)
{
    int status = uv_read_start(pleat_connection_stream(connection), on_alloc, on_read);
    /* UV_EALREADY: the connection is handed over to other callbacks, see pleat_connection_start */
    if (status < 0 && status != UV_EALREADY)
        return pleat_error_sys(err, -status, "cannot read from the peer");
    return 0;
}

int pleat_connection_start(struct pleat_connection *connection,
                           const struct pleat_connection_callbacks *callbacks, void *arg)
{
    if (connection->state != ESTABLISHED)
        return PLEAT_E_STATE;
    connection->callbacks = *callbacks;
    connection->arg = arg;
    int status = start_reading(connection, NULL);
    if (status)
        memset(&connection->callbacks, 0, sizeof(connection->callbacks));
    return status;
}

/* ---- connecting ---- */

static int check_server(struct pleat_connection *connection, struct pleat_error *err)
{
    struct ucred peer = {0};
    int status = pleat_peer_credentials(pleat_connection_stream(connection), &peer, err);
    if (status)
        return status;
    if (peer.uid != geteuid())
        return pleat_error_set(err, PLEAT_E_PERMISSION,
                               "the socket is served by user %lu, not by you: not used",
                               (unsigned long)peer.uid);
    connection->peer_pid = peer.pid;
    return 0;
}

static void on_connected(uv_connect_t *request, int status)
{
    struct pleat_connection *connection = request->data;
    struct pleat_error err;
    if (connection->state == CLOSING)
        return;
    bool owner_closed = uv_is_active((uv_handle_t *)&connection->flush_limit);
    if (status < 0) {
        pleat_error_set(&err, PLEAT_E_CLOSED, "cannot connect: %s", uv_strerror(status));
        fail(connection, &err);
        return;
    }
    if (check_server(connection, &err)) {
        fail(connection, &err);
        return;
    }
    connection->state = owner_closed ? FLUSHING : ESTABLISHED;
    if (connection->early.length > 0) {
        char *text = connection->early.text;
        size_t length = connection->early.length;
        memset(&connection->early, 0, sizeof(connection->early));
        if (write_text(connection, text, length, &err)) {
            fail(connection, &err);
            return;
        }
    }
    if (!owner_closed && start_reading(connection, &err))
        fail(connection, &err);
}

int pleat_connection_open(uv_loop_t *loop, const char *path,
                          const struct pleat_connection_callbacks *callbacks, void *arg,
                          struct pleat_connection **connection, struct pleat_error *err)
{
    struct sockaddr_un address; /* libuv would cut a long path short */
    int status = pleat_unix_address(path, &address, err);
    if (status)
        return status;
    struct pleat_connection *fresh = pleat_connection_make(loop);
    if (!fresh)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a connection to %s", path);
    pleat_ignore_sigpipe();
    fresh->callbacks = *callbacks;
    fresh->arg = arg;
    uv_pipe_connect(&fresh->connect, &fresh->pipe, path, on_connected);
    *connection = fresh;
    return 0;
}
