/* connection.h - a connection that speaks the protocol on a libuv loop (daemon and agent).
 *
 * Reads are handed over as messages; writes are queued and never block. A peer that does not read
 * (more than PLEAT_CONNECTION_BACKLOG_MAX bytes waiting), sends garbage, or is of another user is
 * closed with a reason. Callbacks run from the loop, never from inside a call on the connection.
 * Nothing here times out on its own: a peer that says nothing stays connected.
 *
 * Writing to a peer that has gone would raise SIGPIPE, so creating a listener or a connection sets
 * SIGPIPE to be ignored if it was at its default; uv_spawn restores it in children, a plain
 * fork and exec must do so itself. Freeing takes turns of the loop: run it after the last close.
 */
#ifndef PLEAT_WIRE_CONNECTION_H
#define PLEAT_WIRE_CONNECTION_H

#include <uv.h>

#include "wire/message.h"

#define PLEAT_CONNECTION_BACKLOG_MAX 16777216 /* 16 MiB */

struct pleat_connection;

struct pleat_connection_callbacks {
    /* A message, borrowed for the call. */
    void (*message)(void *arg, struct pleat_connection *connection,
                    const struct pleat_message *message);
    /* The connection is closed (error->code 0: by the peer, in order). This is the last callback;
     * the connection is freed when it returns. Not called after pleat_connection_close. */
    void (*closed)(void *arg, struct pleat_connection *connection, const struct pleat_error *error);
    /* All that was queued has been written. May be NULL. Not called while the connection closes. */
    void (*drained)(void *arg, struct pleat_connection *connection);
};

/* Listens on a unix socket of mode 0600. An existing socket there is replaced, so hold the
 * instance's lock first. PLEAT_E_EXISTS: another kind of file is there; PLEAT_E_TOOBIG: the path
 * does not fit; otherwise PLEAT_E_SYSTEM. on_accept gets each new connection of this user (checked
 * with SO_PEERCRED; other users get one error line and are closed). It must call
 * pleat_connection_start or _close. */
struct pleat_listener;
int pleat_listener_create(uv_loop_t *loop, const char *path,
                          void (*on_accept)(void *arg, struct pleat_connection *connection),
                          void *arg, struct pleat_listener **listener,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether the socket's file was removed or replaced, so that nobody can connect. */
bool pleat_listener_is_lost(const struct pleat_listener *listener);
/* Stops listening, unlinks the socket, and frees the listener. Accepts NULL. */
void pleat_listener_close(struct pleat_listener *listener);

/* Starts connecting to a unix socket; failure to connect arrives as `closed`, as does a server that
 * runs under another user (PLEAT_E_PERMISSION). */
int pleat_connection_open(uv_loop_t *loop, const char *path,
                          const struct pleat_connection_callbacks *callbacks, void *arg,
                          struct pleat_connection **connection,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Begins to read from an accepted connection. Called again, also from inside `message`, it hands
 * the connection over to other callbacks. PLEAT_E_STATE: the connection is not open. */
int pleat_connection_start(struct pleat_connection *connection,
                           const struct pleat_connection_callbacks *callbacks,
                           void *arg) PLEAT_MUST_CHECK;
/* Queues *out, which is taken over and emptied, also on failure. Bytes queued before the connection
 * is established are kept. PLEAT_E_NOMEM if *out had failed; PLEAT_E_TOOBIG when the backlog would
 * exceed its limit; PLEAT_E_CLOSED when the connection is closing. After each of these the loop
 * calls `closed`, unless pleat_connection_close was called. */
int pleat_connection_send(struct pleat_connection *connection,
                          struct pleat_string *out) PLEAT_MUST_CHECK;
/* Bytes queued and not yet written. */
size_t pleat_connection_backlog(const struct pleat_connection *connection);
/* The peer's process id (SO_PEERCRED); 0: not known. */
int pleat_connection_peer_pid(const struct pleat_connection *connection);
/* Closes once what is queued has been written, at most 1 s later, and frees the connection. No
 * callback follows. May be called from a callback (from `closed` it does nothing). Accepts NULL. */
void pleat_connection_close(struct pleat_connection *connection);

#endif
