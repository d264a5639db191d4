/* place.h - where pleatd is found: the locks of its state and runtime directories, each with a
 * record of the process that holds it (base/lock_record.h), and its socket.
 */
#ifndef PLEAT_DAEMON_PLACE_H
#define PLEAT_DAEMON_PLACE_H

#include <stdbool.h>

#include "base/error.h"

struct daemon;
struct pleat_connection;
struct pleat_listener;

struct place {
    int lock_fd, runtime_lock_fd; /* 0: not locked */
    struct pleat_listener *listener;
    void (*accept)(void *arg, struct pleat_connection *connection);
    bool homeless; /* the daemon listens nowhere, and has logged that */
};

/* Locks both directories. PLEAT_E_BUSY: another daemon has one of them, or a daemon of another
 * machine had, and its jobs may still run there. */
int place_lock(struct daemon *d, struct pleat_error *err);
/* Makes the socket; accept(d, connection) takes each connection. */
int place_listen(struct daemon *d, void (*accept)(void *, struct pleat_connection *),
                 struct pleat_error *err);
/* To be called now and then: listens again if the socket was removed; ends the process at once if
 * another pleatd has the log. */
void place_check(struct daemon *d);
/* At an end in order: lets another machine go on with the log, unless jobs still run here. */
void place_leave(struct daemon *d);

#endif
