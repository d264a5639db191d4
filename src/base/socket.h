/* socket.h - connecting to a unix socket, for programs that wait for an answer. */
#ifndef PLEAT_BASE_SOCKET_H
#define PLEAT_BASE_SOCKET_H

/* Returns a descriptor, which is closed at exec, and blocks; -1 with errno (ENAMETOOLONG: the path
 * does not fit an address). Blocks while the listener's queue is full. */
int pleat_socket_connect(const char *path);

#endif
