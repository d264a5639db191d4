/* peer.h - which user has the other end of a TCP connection inside this machine.
 *
 * Private to libpleat-loopback and its tests. It asks the kernel (sock_diag; if that is not
 * available /proc/net/tcp), so it needs no rights, and trusts no process.
 */
#ifndef PLEAT_LOOPBACK_PEER_H
#define PLEAT_LOOPBACK_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* *user: the user whose open socket is the other end of the connected TCP socket `fd`. False: the
 * other end is not on this machine, or is closed already (then nobody can tell whose it was), or
 * `fd` is not such a socket. */
bool pleat_peer_user(int fd, uid_t *user);
/* The same, in only one of the two ways. */
bool pleat_peer_user_by_diag(int fd, uid_t *user);
bool pleat_peer_user_by_proc(int fd, uid_t *user);

#endif
