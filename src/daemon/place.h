/* place.h - the locks of state and runtime directory, and where it listens. In them is a record of
 * it (base/lock_record.h). */
#ifndef PLEAT_DAEMON_PLACE_H
#define PLEAT_DAEMON_PLACE_H

#include <stdbool.h>

#include "base/error.h"

struct daemon;
struct pleat_connection;
struct pleat_listener;

struct place {
    int lock_fd, runtime_lock_fd; /* 0: not taken */
    struct pleat_listener *listener;
    void (*accept)(void *arg, struct pleat_connection *connection);
    bool homeless; /* it listens nowhere, and that was said */
};

/* 0, or PLEAT_E_BUSY when another daemon has one of the directories, or one of
 * another machine had and its jobs may still run there. */
int place_lock(struct daemon *d, struct pleat_error *err);
/* `accept`, with the daemon, takes what connects. */
int place_listen(struct daemon *d, void (*accept)(void *, struct pleat_connection *),
                 struct pleat_error *err);
/* Listens again where its socket was removed; ends the process at once where another pleatd has the
 * log. To call now and then. */
void place_check(struct daemon *d);
/* At an end in order: another machine may go on with the log, unless jobs run here. */
void place_leave(struct daemon *d);

#endif
