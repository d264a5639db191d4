/* stream.h - no loss, no duplicate, in order: numbers, acknowledgements, windows.
 *
 * The messages from one process to another have the numbers 1, 2, ... The receiver takes the next
 * number only, and drops others. It says up to which number it has everything (`received`: the
 * sender need not keep it) and how much the program has taken (`taken`: that much of the window is
 * free), with each message in the other direction, else a few milliseconds later, or when a quarter
 * of the window is taken. A connection that broke may have lost messages. The sender learns of it
 * when the receiver says that there is a gap, or when it answers a ping without having got what was
 * sent before the ping; then it sends everything again from there. It pings where it has heard
 * nothing for a while. All functions need the lock. */
#ifndef PLEAT_PROCESS_STREAM_H
#define PLEAT_PROCESS_STREAM_H

#include "process/processes.h"

/* A message that has come, by the connection of that name where the other side has made it (0
 * bytes: it was made here). Takes over the content if it is for the program; the caller closes it
 * in any case. */
void pleat_stream_take(struct pleat_processes *all, const void *route, size_t route_size,
                       zmq_msg_t *content);

/* Whether a message of so many bytes fits into the window. */
bool pleat_stream_has_room(const struct pleat_processes *all, const struct pleat_peer *peer,
                           size_t count);
/* Appends a message for the peer, which takes over `kept`, and hands it to libzmq if the peer can
 * be reached. */
void pleat_stream_send(struct pleat_processes *all, struct pleat_peer *peer,
                       struct pleat_kept *kept, int32_t type);
/* Hands what waits to libzmq, if the peer can be reached. */
void pleat_stream_flush(struct pleat_processes *all, struct pleat_peer *peer);
/* The window is full, and the program waits: the peer is asked what it has taken. */
void pleat_stream_is_full(struct pleat_processes *all, struct pleat_peer *peer);

/* The program has taken a message, which is in no list any more. Releases it. */
void pleat_stream_taken(struct pleat_processes *all, struct pleat_came *came);

/* The peer is gone: nothing is sent to it any more. How many messages it is not known to have
 * taken.
 */
int64_t pleat_stream_give_up(struct pleat_processes *all, struct pleat_peer *peer);

/* Does what is due by now, and finds when something is due next (all->due). */
void pleat_stream_due(struct pleat_processes *all, int64_t now);

#endif
