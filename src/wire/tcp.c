#include "wire/tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* An idle connection is tried after IDLE_S, then every EVERY_S, TIMES times; what was sent has to
 * be acknowledged within GONE_MS. */
enum { IDLE_S = 15, EVERY_S = 5, TIMES = 3, GONE_MS = 30000 };

void pleat_tcp_watch(uv_tcp_t *tcp)
{
    static const int every = EVERY_S, times = TIMES;
    static const unsigned gone = GONE_MS;
    uv_os_fd_t fd;
    (void)uv_tcp_nodelay(tcp, 1);
    (void)uv_tcp_keepalive(tcp, 1, IDLE_S);
    /* without these the kernel takes longer; the protocol's ping finds it, too */
    if (uv_fileno((uv_handle_t *)tcp, &fd))
        return;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof(times));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &gone, sizeof(gone));
}
