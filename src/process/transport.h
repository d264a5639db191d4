/* transport.h - libzmq: two sockets. `in` is bound, and everybody connects to it; `out` is
 * connected to whom this process sends something. Answers come back by the connection by which was
 * asked. Both let in, and go to, only who has the run's key. All functions need the lock. */
#ifndef PLEAT_PROCESS_TRANSPORT_H
#define PLEAT_PROCESS_TRANSPORT_H

#include "process/processes.h"

/* Makes the sockets, and binds `in`: all->address. Needs all->secret, public, self and stream. */
int pleat_transport_open(struct pleat_processes *all, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Ends them; what is on its way has a moment more. */
void pleat_transport_close(struct pleat_processes *all);

/* Connects to the peer's address. Does not block; libzmq connects again by itself whenever the
 * connection breaks. 0, or an error: it is tried again later. */
int pleat_transport_connect(struct pleat_processes *all, struct pleat_peer *peer) PLEAT_MUST_CHECK;
void pleat_transport_disconnect(struct pleat_processes *all, struct pleat_peer *peer);

/* Hands a message to libzmq: to the peer, which is connected. False: it could not be, try later. */
bool pleat_transport_send(struct pleat_processes *all, const struct pleat_peer *peer,
                          struct pleat_kept *kept);
/* The same for a head alone: by the connection to the peer, or back by the one that came from it.
 */
bool pleat_transport_say(struct pleat_processes *all, const struct pleat_peer *peer, bool back,
                         const struct pleat_head *head);

/* Takes everything that libzmq has. */
void pleat_transport_drain(struct pleat_processes *all);

#endif
