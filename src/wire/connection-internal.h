/* connection-internal.h - what connection.c and listener.c share; nobody else includes it. */
#ifndef PLEAT_WIRE_CONNECTION_INTERNAL_H
#define PLEAT_WIRE_CONNECTION_INTERNAL_H

#include <sys/socket.h>
#include <sys/un.h>

#include "wire/connection.h"

/* A connection around a pipe not yet connected, or NULL (out of memory). */
struct pleat_connection *pleat_connection_make(uv_loop_t *loop);
uv_stream_t *pleat_connection_stream(struct pleat_connection *connection);
/* Marks an accepted connection as established, after its peer was seen to be of this user. */
void pleat_connection_established(struct pleat_connection *connection, int peer_pid);
/* The process at the other end of a connected unix socket. */
int pleat_peer_credentials(uv_stream_t *stream, struct ucred *peer,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Fills a unix address. PLEAT_E_TOOBIG: the path does not fit; PLEAT_E_INVALID: it is empty. */
int pleat_unix_address(const char *path, struct sockaddr_un *address,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* Has SIGPIPE ignored, unless the program has set an action for it. */
void pleat_ignore_sigpipe(void);

#endif
