/* connection.h - a connection that speaks the protocol on a libuv loop (daemon and agent): to a
 * process of this machine over a unix socket, to one of another machine over TCP.
 *
 * The identity of the peer is known before anything is read from it. Over a unix socket the kernel
 * says that the peer is of the same user; over TCP the peer has proved that it has the right key,
 * and all is encrypted (tls.h). All else is the same for both.
 *
 * Reads are handed over as messages; writes are queued and never block. A peer that does not read
 * (more than PLEAT_CONNECTION_BACKLOG_MAX bytes waiting), sends garbage, or is of another user is
 * closed with a reason. Callbacks run from the loop, never from inside a call on the connection.
 * A peer that says nothing stays connected, as long as its machine can be reached.
 *
 * Writing to a peer that has gone would raise SIGPIPE, so creating a listener or a connection sets
 * SIGPIPE to be ignored if it was at its default; uv_spawn restores it in children, a plain
 * fork and exec must do so itself. Freeing takes turns of the loop: run it after the last close.
 */
#ifndef PLEAT_WIRE_CONNECTION_H
#define PLEAT_WIRE_CONNECTION_H

#include <uv.h>

#include "wire/address.h"
#include "wire/message.h"
#include "wire/tls.h"

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

/* Who may connect over TCP, and the limits of callers that have not proved their identity yet. */
struct pleat_guest_terms {
    pleat_key_of *key_of; /* the keys of those who may connect */
    void (*refused)(void *arg, const struct pleat_error *why); /* called when a caller was refused;
                                                                * may be NULL */
    void *arg;                                                 /* the argument of both functions */
    int limit_ms;     /* time in which a caller has to prove its identity */
    int most;         /* the most callers at a time that have not done so: others are turned away */
    int most_of_host; /* the same for callers of one address */
};

/* Listens over TCP at a number of this machine ("0.0.0.0": all of IPv4; "::": all) and a port (0:
 * any that is free). on_accept gets each caller that has proved its identity, and must call
 * pleat_connection_start or _close. PLEAT_E_INVALID: `host` is no such number; PLEAT_E_SYSTEM: the
 * address is not this machine's, or the port is taken. */
int pleat_listener_create_tcp(uv_loop_t *loop, const char *host, uint16_t port,
                              const struct pleat_guest_terms *terms,
                              void (*on_accept)(void *arg, struct pleat_connection *connection),
                              void *arg, struct pleat_listener **listener,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* The port at which it listens; 0: at a unix socket. */
uint16_t pleat_listener_port(const struct pleat_listener *listener);
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
/* Starts connecting to any address. Over TCP with a key, under the name that the server knows it by
 * (both are copied; not used for a unix socket, where they may be NULL). Failure arrives as
 * `closed`: PLEAT_E_CLOSED: nobody answers, or has room for one more caller; PLEAT_E_PERMISSION:
 * the other end does not know this identity with this key, or has itself not the key. At once:
 * PLEAT_E_INVALID: that is no identity.
 */
int pleat_connection_open_to(uv_loop_t *loop, const struct pleat_address *address,
                             const char *identity, const unsigned char key[PLEAT_WIRE_KEY],
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
/* The name under which the server knows the key that both ends have; "" over a unix socket. */
const char *pleat_connection_identity(const struct pleat_connection *connection);
/* The peer's process id (SO_PEERCRED); 0: not known. */
int pleat_connection_peer_pid(const struct pleat_connection *connection);
/* The number of the address from which the peer is connected over TCP; "" over a unix socket, or
 * where it does not fit. */
void pleat_connection_peer_host(const struct pleat_connection *connection, char *host, size_t size);
/* Closes once what is queued has been written, at most 1 s later, and frees the connection. No
 * callback follows. May be called from a callback (from `closed` it does nothing). Accepts NULL. */
void pleat_connection_close(struct pleat_connection *connection);

#endif
