/* stranger.h - agents of another instance, or of nodes that are gone: they are told to end */
#ifndef PLEAT_DAEMON_STRANGER_H
#define PLEAT_DAEMON_STRANGER_H

#include <stdbool.h>
#include <stdint.h>

struct daemon;
struct pleat_connection;

/* Takes over the connection of such an agent. says: the log tells which runs it is told to end. */
void stranger_accept(struct daemon *d, struct pleat_connection *connection, const char *site,
                     uint32_t node, bool says);
void strangers_close(struct daemon *d);

#endif
