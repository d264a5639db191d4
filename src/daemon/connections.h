/* connections.h - who connects: clients, which may ask, and agents */
#ifndef PLEAT_DAEMON_CONNECTIONS_H
#define PLEAT_DAEMON_CONNECTIONS_H

struct daemon;
struct pleat_connection;

/* Takes over a new connection. arg: the daemon. */
void connection_accept(void *arg, struct pleat_connection *connection);
void connections_close(struct daemon *d);

#endif
