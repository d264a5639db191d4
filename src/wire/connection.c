#include "wire/connection.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/connection-internal.h"

#define FLUSH_LIMIT_MS 1000
#define READ_SIZE (64 * 1024)
#define PLAIN_SIZE (16 * 1024) /* the largest record of TLS */

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

/* ---- life and death ---- */

struct pleat_connection *pleat_connection_make(uv_loop_t *loop, enum pleat_address_kind kind)
{
    struct pleat_connection *connection = calloc(1, sizeof(*connection));
    if (!connection)
        return NULL;
    if (pleat_reader_create(&connection->reader)) {
        free(connection);
        return NULL;
    }
    /* none can fail: they only fill in the handle */
    if (kind == PLEAT_ADDRESS_UNIX)
        (void)uv_pipe_init(loop, &connection->u.pipe, 0);
    else
        (void)uv_tcp_init(loop, &connection->u.tcp);
    (void)uv_timer_init(loop, &connection->limit);
    connection->handles = 2;
    connection->u.handle.data = connection;
    connection->limit.data = connection;
    connection->connect.data = connection;
    connection->authenticator = pleat_authenticator_of(kind);
    connection->state = PLEAT_CONNECTING;
    return connection;
}

void pleat_connection_release(struct pleat_connection *connection)
{
    if (--connection->handles > 0)
        return;
    /* by now every write request has had its callback (cancelled if need be) */
    if (connection->callbacks.closed)
        connection->callbacks.closed(connection->arg, connection, &connection->reason);
    pleat_reader_destroy(connection->reader);
    pleat_tls_destroy(connection->tls);
    if (connection->candidates)
        connection->free_candidates(connection->candidates);
    pleat_string_finish(&connection->early);
    free(connection);
}

static void on_handle_closed(uv_handle_t *handle)
{
    pleat_connection_release(handle->data);
}

static void close_handles(struct pleat_connection *connection)
{
    if (connection->state == PLEAT_CLOSING)
        return;
    connection->state = PLEAT_CLOSING;
    /* between two addresses of a host the stream is closing already: its callback releases */
    if (!uv_is_closing(&connection->u.handle))
        uv_close(&connection->u.handle, on_handle_closed);
    uv_close((uv_handle_t *)&connection->limit, on_handle_closed);
}

void pleat_connection_fail(struct pleat_connection *connection, const struct pleat_error *reason)
{
    if (connection->state == PLEAT_CLOSING)
        return;
    connection->reason = *reason;
    close_handles(connection);
}

/* As pleat_connection_fail, but tells the peer the reason first, if that is possible without
 * waiting. */
static void fail_telling(struct pleat_connection *connection, const struct pleat_error *reason)
{
    struct pleat_string line = {0}, sealed = {0}, *out = &line;
    bool tells = connection->state == PLEAT_ESTABLISHED && connection->backlog == 0 &&
                 pleat_write_failure(&line, 0, reason) == 0;
    if (tells && connection->tls) {
        tells = !pleat_tls_write(connection->tls, line.text, line.length, &sealed, NULL);
        out = &sealed;
    }
    if (tells) {
        uv_buf_t buffer = uv_buf_init(out->text, (unsigned)out->length);
        (void)uv_try_write(&connection->u.stream, &buffer, 1);
    }
    pleat_string_finish(&line);
    pleat_string_finish(&sealed);
    pleat_connection_fail(connection, reason);
}

static void on_flush_limit(uv_timer_t *timer)
{
    close_handles(timer->data);
}

static int write_text(struct pleat_connection *connection, char *text, size_t length,
                      struct pleat_error *err);

/* Says that nothing more will come, so that the other end knows that nothing was cut off. */
static void say_bye(struct pleat_connection *connection)
{
    struct pleat_string bye = {0};
    if (connection->tls)
        pleat_tls_bye(connection->tls, &bye);
    if (bye.failed || bye.length == 0) {
        pleat_string_finish(&bye);
        return;
    }
    connection->backlog += bye.length;
    (void)write_text(connection, bye.text, bye.length, NULL);
}

void pleat_connection_close(struct pleat_connection *connection)
{
    if (!connection)
        return;
    memset(&connection->callbacks, 0, sizeof(connection->callbacks));
    if (connection->state == PLEAT_CLOSING || connection->state == PLEAT_FLUSHING)
        return;
    bool established = connection->state == PLEAT_ESTABLISHED;
    if (established) {
        uv_read_stop(&connection->u.stream);
        say_bye(connection);
    }
    if (established ? connection->backlog == 0 : connection->early.length == 0) {
        close_handles(connection);
        return;
    }
    if (established)
        connection->state = PLEAT_FLUSHING;
    connection->owner_closed = true;
    if (uv_timer_start(&connection->limit, on_flush_limit, FLUSH_LIMIT_MS, 0))
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
    if (connection->state == PLEAT_CLOSING)
        return;
    if (status < 0) {
        struct pleat_error err;
        pleat_error_set(&err, PLEAT_E_CLOSED,
                        "the peer closed the connection while it was sent to: %s",
                        uv_strerror(status));
        pleat_connection_fail(connection, &err);
    } else if (connection->state == PLEAT_FLUSHING && connection->backlog == 0) {
        close_handles(connection);
    } else if (connection->state == PLEAT_ESTABLISHED && connection->backlog == 0 &&
               connection->callbacks.drained) {
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
    int status = uv_write(&write->request, &connection->u.stream, &buffer, 1, on_written);
    if (status < 0) {
        connection->backlog -= length;
        free(write->text);
        free(write);
        return pleat_error_set(err, PLEAT_E_CLOSED, "cannot send to the peer: %s",
                               uv_strerror(status));
    }
    return 0;
}

/* As write_text, of what the peer is to read. */
static int write_plain(struct pleat_connection *connection, char *text, size_t length,
                       struct pleat_error *err)
{
    struct pleat_string sealed = {0};
    if (!connection->tls)
        return write_text(connection, text, length, err);
    int status = pleat_tls_write(connection->tls, text, length, &sealed, err);
    free(text);
    connection->backlog -= length;
    if (status) {
        pleat_string_finish(&sealed);
        return status;
    }
    connection->backlog += sealed.length;
    return write_text(connection, sealed.text, sealed.length, err);
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
    if (connection->state != PLEAT_ESTABLISHED) {
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
    return write_plain(connection, text, length, err);
}

int pleat_connection_send(struct pleat_connection *connection, struct pleat_string *out)
{
    struct pleat_error err;
    int status = PLEAT_E_CLOSED;
    if (!connection->owner_closed && connection->state <= PLEAT_ESTABLISHED) {
        status = send_checked(connection, out, &err);
        if (status)
            pleat_connection_fail(connection, &err);
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

void pleat_connection_peer_host(const struct pleat_connection *connection, char *host, size_t size)
{
    struct sockaddr_storage peer;
    int length = sizeof(peer);
    host[0] = '\0';
    if (connection->u.handle.type == UV_TCP &&
        !uv_tcp_getpeername(&connection->u.tcp, (struct sockaddr *)&peer, &length) &&
        uv_ip_name((const struct sockaddr *)&peer, host, size))
        host[0] = '\0';
}

const char *pleat_connection_identity(const struct pleat_connection *connection)
{
    return connection->tls ? pleat_tls_identity(connection->tls) : "";
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
    while (connection->state == PLEAT_ESTABLISHED &&
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
    if (connection->state == PLEAT_HANDSHAKING && status != UV_EOF)
        pleat_error_set(&reason, PLEAT_E_CLOSED,
                        "the connection broke before both knew each other (%s): the peer may have "
                        "no room for one more caller now",
                        uv_strerror((int)status));
    else if (connection->state == PLEAT_HANDSHAKING)
        pleat_error_set(&reason, PLEAT_E_PERMISSION,
                        "the peer closed the connection before both knew each other: it does not "
                        "know this identity with this key");
    else if (pleat_reader_pending(connection->reader) > 0)
        pleat_error_set(&reason, PLEAT_E_CLOSED, "the peer closed in the middle of a message");
    else if (status != UV_EOF)
        pleat_error_set(&reason, PLEAT_E_CLOSED, "the connection broke: %s",
                        uv_strerror((int)status));
    else if (connection->tls && !pleat_tls_is_over(connection->tls))
        pleat_error_set(&reason, PLEAT_E_CLOSED, "the connection was cut off");
    pleat_connection_fail(connection, &reason);
}

static void take_plain(struct pleat_connection *connection, const char *bytes, size_t count)
{
    struct pleat_error err;
    if (pleat_reader_feed(connection->reader, bytes, count, &err))
        fail_telling(connection, &err);
    else
        deliver(connection);
}

/* Decrypts all that has come. */
static void take_sealed(struct pleat_connection *connection)
{
    static _Thread_local char plain[PLAIN_SIZE];
    struct pleat_error err;
    size_t count = 0;
    int got = 0;
    while (connection->state == PLEAT_ESTABLISHED &&
           (got = pleat_tls_read(connection->tls, plain, sizeof(plain), &count, &err)) > 0)
        take_plain(connection, plain, count);
    if (got < 0)
        pleat_connection_fail(connection, &err);
    else if (connection->state == PLEAT_ESTABLISHED && pleat_tls_is_over(connection->tls))
        on_end(connection, UV_EOF);
}

static void go_on_handshake(struct pleat_connection *connection);

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct pleat_connection *connection = stream->data;
    struct pleat_error err;
    if (count == 0 ||
        (connection->state != PLEAT_ESTABLISHED && connection->state != PLEAT_HANDSHAKING))
        return;
    if (count < 0) {
        on_end(connection, count);
    } else if (!connection->tls) {
        take_plain(connection, buffer->base, (size_t)count);
    } else if (pleat_tls_feed(connection->tls, buffer->base, (size_t)count, &err)) {
        pleat_connection_fail(connection, &err);
    } else {
        if (connection->state == PLEAT_HANDSHAKING)
            go_on_handshake(connection);
        if (connection->state == PLEAT_ESTABLISHED && connection->started)
            take_sealed(connection);
    }
}

static int start_reading(struct pleat_connection *connection, struct pleat_error *err)
{
    int status = uv_read_start(&connection->u.stream, on_alloc, on_read);
    /* UV_EALREADY: the connection is handed over to other callbacks, see pleat_connection_start */
    if (status < 0 && status != UV_EALREADY)
        return pleat_error_sys(err, -status, "cannot read from the peer");
    return 0;
}

int pleat_connection_start(struct pleat_connection *connection,
                           const struct pleat_connection_callbacks *callbacks, void *arg)
{
    if (connection->state != PLEAT_ESTABLISHED)
        return PLEAT_E_STATE;
    connection->callbacks = *callbacks;
    connection->arg = arg;
    connection->started = true;
    int status = start_reading(connection, NULL);
    if (status)
        memset(&connection->callbacks, 0, sizeof(connection->callbacks));
    return status;
}

/* ---- finding out who the peer is ---- */

static int send_early(struct pleat_connection *connection, struct pleat_error *err)
{
    char *text = connection->early.text;
    size_t length = connection->early.length;
    memset(&connection->early, 0, sizeof(connection->early));
    return length ? write_plain(connection, text, length, err) : 0;
}

static int establish(struct pleat_connection *connection, struct pleat_error *err)
{
    connection->state = connection->owner_closed ? PLEAT_FLUSHING : PLEAT_ESTABLISHED;
    int status = send_early(connection, err);
    if (status)
        return status;
    if (connection->owner_closed) {
        uv_read_stop(&connection->u.stream);
        say_bye(connection);
        return 0;
    }
    uv_timer_stop(&connection->limit);
    if (!connection->established)
        return connection->started ? start_reading(connection, err) : 0;
    uv_read_stop(&connection->u.stream); /* until the owner wants to read */
    connection->established(connection->arg, connection);
    return 0;
}

/* 0, also where the handshake is not over. */
static int step_handshake(struct pleat_connection *connection, struct pleat_error *err)
{
    struct pleat_string out = {0};
    int got = pleat_tls_handshake(connection->tls, &out, err);
    if (got >= 0 && out.length > 0) {
        connection->backlog += out.length;
        int status = write_text(connection, out.text, out.length, err);
        if (status)
            return status;
    } else {
        pleat_string_finish(&out);
    }
    return got > 0 ? establish(connection, err) : got;
}

static void go_on_handshake(struct pleat_connection *connection)
{
    struct pleat_error err;
    if (step_handshake(connection, &err))
        pleat_connection_fail(connection, &err);
}

int pleat_connection_connected(struct pleat_connection *connection,
                               const struct pleat_credentials *credentials, struct pleat_error *err)
{
    const struct pleat_authenticator *authenticator = connection->authenticator;
    int status = 0;
    if (authenticator->ask)
        status = authenticator->ask(&connection->u.stream, credentials->server,
                                    &connection->peer_pid, err);
    if (!status && !authenticator->prove)
        return establish(connection, err);
    if (!status)
        status = authenticator->prove(credentials, &connection->tls, err);
    if (status)
        return status;
    connection->state = PLEAT_HANDSHAKING;
    status = credentials->server ? 0 : step_handshake(connection, err);
    return status ? status : start_reading(connection, err);
}
