/* client.h - speaking to pleatd from a program that waits for its answers (the command line).
 *
 * No event loop and no threads: calls block until the answer is there, and take what the daemon
 * sends meanwhile. One thread uses a client at a time. SIGPIPE is never raised.
 */
#ifndef PLEAT_CLIENT_CLIENT_H
#define PLEAT_CLIENT_CLIENT_H

#include <signal.h>

#include "base/paths.h"
#include "wire/message.h"

/* The outcome of a wait that the interrupted flag ended. Not an error. */
#define PLEAT_INTERRUPTED 2

/* Notifications nobody took; one more is PLEAT_E_TOOBIG. */
#define PLEAT_CLIENT_QUEUE_MAX 65536

struct pleat_client;

/* Connects to the daemon's socket and exchanges hellos (at most 10 s: then PLEAT_E_TIMEOUT).
 * PLEAT_E_NOTFOUND: no daemon runs. PLEAT_E_BUSY: one of another machine has the log.
 * PLEAT_E_PERMISSION: it is another user's. PLEAT_E_PROTOCOL: of another version. PLEAT_E_CLOSED:
 * it ended meanwhile. PLEAT_E_SYSTEM, PLEAT_E_NOMEM. */
int pleat_client_open(const struct pleat_paths *paths, struct pleat_client **client,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* As pleat_client_open; when no daemon runs, starts one and waits until it answers (at most 10 s).
 * pleatd: its path, or NULL for pleat_client_find_daemon. It runs without arguments in a session of
 * its own, in /, its output appended to pleatd.log in the state directory, and must exit with 0 or
 * 4 when another one has the lock, after which whichever runs is used. interrupted: as below; may
 * be NULL. When the daemon fails, the error has the last lines of its log. Returns
 * PLEAT_INTERRUPTED (no client) besides what pleat_client_open does. */
int pleat_client_open_or_start(const struct pleat_paths *paths, const char *pleatd,
                               const volatile sig_atomic_t *interrupted,
                               struct pleat_client **client,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* The pleatd beside the running program, else the first on PATH. PLEAT_E_NOTFOUND. */
int pleat_client_find_daemon(char *path, size_t size, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts NULL. */
void pleat_client_close(struct pleat_client *client);

/* A flag that a signal handler sets: waits end with PLEAT_INTERRUPTED once it is not 0 (a signal
 * that arrives just before the wait is not missed). NULL: none. */
void pleat_client_set_interrupt(struct pleat_client *client,
                                const volatile sig_atomic_t *interrupted);
/* Notifications that arrive during a call go to the callback, which must not use the client;
 * without one they are queued for pleat_client_next_notification. */
void pleat_client_set_notified(struct pleat_client *client,
                               void (*notified)(void *arg, const struct pleat_message *message),
                               void *arg);
/* Whether the connection itself was lost: the daemon has ended, say. */
bool pleat_client_is_lost(const struct pleat_client *client);
/* The params of the daemon's hello; borrowed. */
const json_t *pleat_client_hello(const struct pleat_client *client);

/* Sends a request and waits for its result. params is stolen, also on failure; NULL means {}.
 * *result (may be NULL) is the caller's to json_decref. An error of the daemon is returned with its
 * own code and text. PLEAT_INTERRUPTED: no result was waited for; the daemon may still carry it
 * out, and the client can be used further. After PLEAT_E_CLOSED, PLEAT_E_PROTOCOL, PLEAT_E_TOOBIG
 * or PLEAT_E_SYSTEM of the connection itself every later call fails. */
int pleat_client_call(struct pleat_client *client, const char *method, json_t *params,
                      json_t **result, struct pleat_error *err) PLEAT_MUST_CHECK;
/* As above; appends the result's attachment, if it has one, to *bytes. */
int pleat_client_call_bytes(struct pleat_client *client, const char *method, json_t *params,
                            json_t **result, struct pleat_string *bytes,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Waits for a notification; timeout_ms below 0: for ever. 1: *message is borrowed until the next
 * call on the client. 0: none in time. PLEAT_INTERRUPTED. Or a failure. */
int pleat_client_next_notification(struct pleat_client *client, int timeout_ms,
                                   const struct pleat_message **message,
                                   struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
