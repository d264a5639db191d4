/* client.h - speaks to pleatd from a program that waits for the answers (the command line).
 *
 * No event loop and no threads: a call blocks until the answer is there, and handles what the
 * daemon sends meanwhile. One thread uses a client at a time. SIGPIPE is never raised.
 */
#ifndef PLEAT_CLIENT_CLIENT_H
#define PLEAT_CLIENT_CLIENT_H

#include <stdatomic.h>

#include "base/paths.h"
#include "wire/message.h"

/* Returned by a wait that the interrupted flag ended. Not an error. */
#define PLEAT_INTERRUPTED 2

/* Largest number of queued notifications; one more is PLEAT_E_TOOBIG. */
#define PLEAT_CLIENT_QUEUE_MAX 65536

struct pleat_client;

/* Connects to the daemon's socket and exchanges hellos. PLEAT_E_TIMEOUT: that took more than 10 s.
 * PLEAT_E_NOTFOUND: no daemon runs. PLEAT_E_BUSY: a daemon on another machine has the log.
 * PLEAT_E_PERMISSION: the daemon is another user's. PLEAT_E_PROTOCOL: it has another version.
 * PLEAT_E_CLOSED: it has ended meanwhile. PLEAT_E_SYSTEM, PLEAT_E_NOMEM. */
int pleat_client_open(const struct pleat_paths *paths, struct pleat_client **client,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* As pleat_client_open; but if no daemon runs, starts one and waits up to 10 s until it answers.
 * pleatd: its path; NULL: as pleat_client_find_daemon finds it. It runs without arguments in a
 * session of its own, in /, with its output appended to pleatd.log in the state directory. It must
 * exit with 4 if another one has the lock, or with 0 if it goes on in the background; the daemon
 * that runs then is used. If the daemon fails, the error has the last lines of its log.
 * interrupted: a flag as in pleat_client_set_interrupt, or NULL; once it is set, PLEAT_INTERRUPTED
 * is returned, and no client. */
int pleat_client_open_or_start(const struct pleat_paths *paths, const char *pleatd,
                               const atomic_int *interrupted, struct pleat_client **client,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* Finds the pleatd beside the running program, else the first on PATH. PLEAT_E_NOTFOUND. */
int pleat_client_find_daemon(char *path, size_t size, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts NULL. */
void pleat_client_close(struct pleat_client *client);

/* Sets the flag that a signal handler sets: once it is not 0, waits end with PLEAT_INTERRUPTED
 * (also if the signal arrives just before the wait). NULL: none. */
void pleat_client_set_interrupt(struct pleat_client *client, const atomic_int *interrupted);
/* Whether the connection itself was lost, for example since the daemon has ended. */
bool pleat_client_is_lost(const struct pleat_client *client);
/* The params of the daemon's hello. Borrowed until the client is closed. */
const json_t *pleat_client_hello(const struct pleat_client *client);

/* Sends a request and waits for its result. params is stolen, also on failure; NULL means {}. The
 * caller releases *result with json_decref; `result` may be NULL. An error of the daemon is
 * returned with its own code and text. PLEAT_INTERRUPTED: the result was not waited for; the daemon
 * may still carry the request out, and the client can be used further. After PLEAT_E_CLOSED,
 * PLEAT_E_PROTOCOL, PLEAT_E_TOOBIG or PLEAT_E_SYSTEM of the connection itself every later call
 * fails. */
int pleat_client_call(struct pleat_client *client, const char *method, json_t *params,
                      json_t **result, struct pleat_error *err) PLEAT_MUST_CHECK;
/* As pleat_client_call, and appends the result's attachment, if it has one, to *bytes. */
int pleat_client_call_bytes(struct pleat_client *client, const char *method, json_t *params,
                            json_t **result, struct pleat_string *bytes,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* As pleat_client_call, with an attachment of the request (borrowed). */
int pleat_client_call_with(struct pleat_client *client, const char *method, json_t *params,
                           const char *bytes, size_t count, json_t **result,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Waits for a notification for timeout_ms; below 0: for ever. 1: *message is borrowed until the
 * next call on the client. 0: none came in time. PLEAT_INTERRUPTED, or an error. */
int pleat_client_next_notification(struct pleat_client *client, int timeout_ms,
                                   const struct pleat_message **message,
                                   struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
