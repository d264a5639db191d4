/* peer.h - whose process is at the other end of a TCP connection within this machine.
 *
 * Private to libpleat-loopback, and its tests. Asks the kernel (sock_diag; where that is not to be
 * had, /proc/net/tcp), so it needs no rights and trusts nobody's word.
 */
#ifndef PLEAT_LOOPBACK_PEER_H
#define PLEAT_LOOPBACK_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* The user whose open socket is the other end of the connected TCP socket `fd`. False: it is none
 * of this machine's, it was closed already (nobody can tell whose it was), or `fd` is no such
 * socket. */
bool pleat_peer_user(int fd, uid_t *user);
/* The same by only one of the two ways. */
bool pleat_peer_user_by_diag(int fd, uid_t *user);
bool pleat_peer_user_by_proc(int fd, uid_t *user);

#endif
