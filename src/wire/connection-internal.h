/* connection-internal.h - what the files of connections and listeners share; nobody else includes
 * it:
 *
 *   listener.c, listener_tcp.c   who connects
 *   connect.c                    connecting: names, addresses, the handshake's start
 *   connection.c                 reading, writing, closing
 *   authenticator.c              who the peer is
 *
 * Each may call those below it.
 */
#ifndef PLEAT_WIRE_CONNECTION_INTERNAL_H
#define PLEAT_WIRE_CONNECTION_INTERNAL_H

#include <sys/socket.h>
#include <sys/un.h>

#include "wire/authenticator.h"
#include "wire/connection.h"

enum pleat_connection_state {
    PLEAT_CONNECTING,
    PLEAT_HANDSHAKING, /* connected; the peer has not proved yet who it is */
    PLEAT_ESTABLISHED, /* accepted but not started, or open */
    PLEAT_FLUSHING,    /* closed by the owner; what is queued is still being written */
    PLEAT_CLOSING      /* the handles are being closed */
};

/* The other addresses of a host, while one is tried (connect.c). */
struct pleat_candidates;

struct pleat_connection {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
    } u;
    uv_timer_t limit; /* of connecting, or of flushing */
    uv_connect_t connect;
    struct pleat_connection_callbacks callbacks;
    void *arg;
    struct pleat_reader *reader;
    const struct pleat_authenticator *authenticator;
    struct pleat_tls *tls;     /* NULL: nothing is encrypted */
    struct pleat_string early; /* queued before the connection was established */
    enum pleat_connection_state state;
    bool owner_closed; /* while it was not established: it is flushed, then closed */
    bool started;      /* the owner has called pleat_connection_start, or pleat_connection_open */
    int handles;       /* handles and requests that are not over yet */
    size_t backlog;
    int peer_pid;
    struct pleat_error reason;
    struct pleat_candidates *candidates; /* NULL: none */
    void (*free_candidates)(struct pleat_candidates *candidates);
    /* Of a listener: the peer has proved who it is. The listener hands the connection over. */
    void (*established)(void *arg, struct pleat_connection *connection);
};

/* A connection around a stream not yet connected, or NULL (out of memory). The authenticator is
 * that of the kind of address. */
struct pleat_connection *pleat_connection_make(uv_loop_t *loop, enum pleat_address_kind kind);
/* The stream is connected: finds out who the peer is, which may take a handshake, and then
 * establishes the connection. `credentials`: for that. An error: the caller ends the connection. */
int pleat_connection_connected(struct pleat_connection *connection,
                               const struct pleat_credentials *credentials,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* Ends the connection for a reason. The loop calls `closed` when the handles are closed. */
void pleat_connection_fail(struct pleat_connection *connection, const struct pleat_error *reason);
/* One of `handles` is over; the last one frees the connection. */
void pleat_connection_release(struct pleat_connection *connection);

/* Fills a unix address. PLEAT_E_TOOBIG: the path does not fit; PLEAT_E_INVALID: it is empty. */
int pleat_unix_address(const char *path, struct sockaddr_un *address,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* Has SIGPIPE ignored, unless the program has set an action for it. */
void pleat_ignore_sigpipe(void);

struct pleat_listener {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
    } u;
    uv_timer_t retry; /* tries again after memory was short */
    int handles;      /* handles not closed yet */
    void (*on_accept)(void *arg, struct pleat_connection *connection);
    void *arg;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of a unix socket; else "" */
    dev_t device; /* identify our socket's file, which may be replaced */
    ino_t inode;
    struct pleat_guests *guests; /* of TCP: who may connect, and who is about to; NULL: unix */
    void (*leave)(struct pleat_guests *guests); /* ends handshakes that are under way */
    uv_connection_cb on_connection;
};

/* A listener without a socket, or NULL (out of memory). */
struct pleat_listener *pleat_listener_make(uv_loop_t *loop, enum pleat_address_kind kind,
                                           uv_connection_cb callback);
/* The listener cannot accept now, and tries again. */
void pleat_listener_retry(struct pleat_listener *listener);
/* Listens; an error closes the listener. */
int pleat_listener_listen(struct pleat_listener *listener, const char *where,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
