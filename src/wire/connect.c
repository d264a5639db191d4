/* Connecting: to a unix socket at once; to a host once its name was looked up, to one of its
 * addresses after the other until one answers. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/connection-internal.h"
#include "wire/tcp.h"

#define CONNECT_LIMIT_MS 10000 /* name, connection and handshake together */

struct pleat_candidates {
    struct pleat_connection *connection;
    uv_getaddrinfo_t lookup;
    struct addrinfo *first, *next; /* next: to be tried */
    struct pleat_address address;
    char identity[PLEAT_WIRE_IDENTITY_MAX + 1];
    unsigned char key[PLEAT_WIRE_KEY];
};

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

/* ---- a unix socket ---- */

static void on_unix_connected(uv_connect_t *request, int status)
{
    static const struct pleat_credentials nothing = {.server = false};
    struct pleat_connection *connection = request->data;
    struct pleat_error err;
    if (connection->state == PLEAT_CLOSING)
        return;
    if (status < 0)
        status = pleat_error_set(&err, PLEAT_E_CLOSED, "cannot connect: %s", uv_strerror(status));
    else
        status = pleat_connection_connected(connection, &nothing, &err);
    if (status)
        pleat_connection_fail(connection, &err);
}

static struct pleat_connection *make(uv_loop_t *loop, enum pleat_address_kind kind,
                                     const struct pleat_connection_callbacks *callbacks, void *arg)
{
    struct pleat_connection *fresh = pleat_connection_make(loop, kind);
    if (!fresh)
        return NULL;
    pleat_ignore_sigpipe();
    fresh->callbacks = *callbacks;
    fresh->arg = arg;
    fresh->started = true;
    return fresh;
}

int pleat_connection_open(uv_loop_t *loop, const char *path,
                          const struct pleat_connection_callbacks *callbacks, void *arg,
                          struct pleat_connection **connection, struct pleat_error *err)
{
    struct sockaddr_un address; /* libuv would cut a long path short */
    int status = pleat_unix_address(path, &address, err);
    if (status)
        return status;
    struct pleat_connection *fresh = make(loop, PLEAT_ADDRESS_UNIX, callbacks, arg);
    if (!fresh)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a connection to %s", path);
    uv_pipe_connect(&fresh->connect, &fresh->u.pipe, path, on_unix_connected);
    *connection = fresh;
    return 0;
}

/* ---- a host ---- */

static void try_next(struct pleat_candidates *candidates);

static void free_candidates(struct pleat_candidates *candidates)
{
    uv_freeaddrinfo(candidates->first);
    pleat_wire_wipe(candidates->key, sizeof(candidates->key));
    free(candidates);
}

static void fail_to_connect(struct pleat_candidates *candidates, const char *why)
{
    struct pleat_error err;
    struct pleat_string text = {0};
    pleat_address_text(&candidates->address, &text);
    pleat_error_set(&err, PLEAT_E_CLOSED, "cannot connect to %s: %s", text.text ? text.text : "?",
                    why);
    pleat_string_finish(&text);
    pleat_connection_fail(candidates->connection, &err);
}

/* The stream of an address that did not answer is closed: takes a new one for the next address. */
static void on_stream_closed(uv_handle_t *handle)
{
    struct pleat_connection *connection = handle->data;
    if (connection->state == PLEAT_CLOSING) {
        pleat_connection_release(connection);
        return;
    }
    (void)uv_tcp_init(connection->limit.loop, &connection->u.tcp); /* cannot fail */
    connection->u.handle.data = connection;
    try_next(connection->candidates);
}

static void on_tcp_connected(uv_connect_t *request, int status)
{
    struct pleat_connection *connection = request->data;
    struct pleat_candidates *candidates = connection->candidates;
    struct pleat_error err;
    if (connection->state == PLEAT_CLOSING)
        return;
    if (status < 0 && candidates->next) {
        uv_close(&connection->u.handle, on_stream_closed);
        return;
    }
    if (status < 0) {
        fail_to_connect(candidates, uv_strerror(status));
        return;
    }
    struct pleat_credentials credentials = {.identity = candidates->identity,
                                            .key = candidates->key};
    pleat_tcp_watch(&connection->u.tcp);
    if (pleat_connection_connected(connection, &credentials, &err))
        pleat_connection_fail(connection, &err);
}

static void try_next(struct pleat_candidates *candidates)
{
    struct pleat_connection *connection = candidates->connection;
    int status = UV_EAI_NODATA;
    while (candidates->next && status) {
        const struct sockaddr *address = candidates->next->ai_addr;
        candidates->next = candidates->next->ai_next;
        status =
            uv_tcp_connect(&connection->connect, &connection->u.tcp, address, on_tcp_connected);
    }
    if (status)
        fail_to_connect(candidates, uv_strerror(status));
}

static void on_lookup(uv_getaddrinfo_t *lookup, int status, struct addrinfo *found)
{
    struct pleat_candidates *candidates = lookup->data;
    struct pleat_connection *connection = candidates->connection;
    candidates->first = candidates->next = found;
    if (connection->state != PLEAT_CLOSING) {
        if (status)
            fail_to_connect(candidates, uv_strerror(status));
        else
            try_next(candidates);
    }
    pleat_connection_release(connection);
}

static void on_limit(uv_timer_t *timer)
{
    struct pleat_connection *connection = timer->data;
    fail_to_connect(connection->candidates, "no answer in time");
}

/* A number is taken at once. A name is looked up by a thread of libuv's, since that may take long.
 */
static int look_up(struct pleat_candidates *candidates, struct pleat_error *err)
{
    struct pleat_connection *connection = candidates->connection;
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                             .ai_socktype = SOCK_STREAM,
                             .ai_protocol = IPPROTO_TCP};
    char port[8];
    snprintf(port, sizeof(port), "%u", (unsigned)candidates->address.port);
    (void)uv_timer_start(&connection->limit, on_limit, CONNECT_LIMIT_MS, 0); /* cannot fail */
    if (getaddrinfo(candidates->address.host, port, &hints, &candidates->first) == 0) {
        candidates->next = candidates->first;
        try_next(candidates);
        return 0;
    }
    candidates->first = NULL;
    hints.ai_flags = AI_NUMERICSERV;
    candidates->lookup.data = candidates;
    int status = uv_getaddrinfo(connection->limit.loop, &candidates->lookup, on_lookup,
                                candidates->address.host, port, &hints);
    if (status)
        return pleat_error_sys(err, -status, "cannot look up '%s'", candidates->address.host);
    connection->handles++;
    return 0;
}

int pleat_connection_open_to(uv_loop_t *loop, const struct pleat_address *address,
                             const char *identity, const unsigned char key[PLEAT_WIRE_KEY],
                             const struct pleat_connection_callbacks *callbacks, void *arg,
                             struct pleat_connection **connection, struct pleat_error *err)
{
    if (address->kind == PLEAT_ADDRESS_UNIX)
        return pleat_connection_open(loop, address->path, callbacks, arg, connection, err);
    if (!pleat_wire_identity_is(identity))
        return pleat_error_set(err, PLEAT_E_INVALID, "an identity has from 1 to %d signs",
                               PLEAT_WIRE_IDENTITY_MAX);
    struct pleat_candidates *candidates = calloc(1, sizeof(*candidates));
    struct pleat_connection *fresh =
        candidates ? make(loop, PLEAT_ADDRESS_TCP, callbacks, arg) : NULL;
    if (!fresh) {
        free(candidates);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a connection to %s",
                               address->host);
    }
    candidates->connection = fresh;
    candidates->address = *address;
    memcpy(candidates->identity, identity, strlen(identity) + 1);
    memcpy(candidates->key, key, sizeof(candidates->key));
    fresh->candidates = candidates;
    fresh->free_candidates = free_candidates;
    int status = look_up(candidates, err);
    if (status) {
        pleat_connection_close(fresh); /* without a callback */
        return status;
    }
    *connection = fresh;
    return 0;
}
