/* stranger.h - agents of another instance: they are told to end */
#ifndef PLEAT_DAEMON_STRANGER_H
#define PLEAT_DAEMON_STRANGER_H

#include <stdint.h>

struct daemon;
struct pleat_connection;

/* Takes over the connection of an agent of another instance. */
void stranger_accept(struct daemon *d, struct pleat_connection *connection, const char *site,
                     uint32_t node);
void strangers_close(struct daemon *d);

#endif
