#include "loopback/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The ends of a connection, as the peer sees them: `from` is the peer's own address. */
struct ends {
    int family;
    uint32_t from[4], to[4]; /* in network byte order; IPv4 uses the first word */
    in_port_t from_port, to_port;
};

static int take_apart(const struct sockaddr_storage *name, uint32_t address[4], in_port_t *port)
{
    if (name->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)name;
        address[0] = in->sin_addr.s_addr;
        *port = in->sin_port;
    } else if (name->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)name;
        /* an IPv4 address on an IPv6 socket: the peer's socket may be an IPv4 one */
        if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
            memcpy(address, in6->sin6_addr.s6_addr + 12, 4);
        else
            memcpy(address, in6->sin6_addr.s6_addr, 16);
        *port = in6->sin6_port;
        return IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) ? AF_INET : AF_INET6;
    }
    return name->ss_family;
}

static bool ends_of(int fd, struct ends *ends)
{
    struct sockaddr_storage peer = {0}, own = {0};
    socklen_t peer_size = sizeof(peer), own_size = sizeof(own);
    memset(ends, 0, sizeof(*ends));
    if (getpeername(fd, (struct sockaddr *)&peer, &peer_size) ||
        getsockname(fd, (struct sockaddr *)&own, &own_size))
        return false;
    ends->family = take_apart(&peer, ends->from, &ends->from_port);
    return take_apart(&own, ends->to, &ends->to_port) == ends->family &&
           (ends->family == AF_INET || ends->family == AF_INET6);
}

/* ---- sock_diag(7) ---- */

struct question {
    struct nlmsghdr header;
    struct inet_diag_req_v2 about;
};

static bool ask(int netlink, const struct ends *ends, void *answer, size_t *size)
{
    struct question question = {
        .header = {.nlmsg_len = sizeof(question),
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .about = {.sdiag_family = (uint8_t)ends->family,
                  .sdiag_protocol = IPPROTO_TCP,
                  .idiag_states = 1u << TCP_ESTABLISHED,
                  .id = {.idiag_sport = ends->from_port,
                         .idiag_dport = ends->to_port,
                         .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
    memcpy(question.about.id.idiag_src, ends->from, sizeof(ends->from));
    memcpy(question.about.id.idiag_dst, ends->to, sizeof(ends->to));
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    if (sendto(netlink, &question, sizeof(question), 0, (struct sockaddr *)&kernel,
               sizeof(kernel)) < 0)
        return false;
    ssize_t count;
    do
        count = recv(netlink, answer, *size, 0);
    while (count < 0 && errno == EINTR);
    *size = count > 0 ? (size_t)count : 0;
    return count > 0;
}

bool pleat_peer_user_by_diag(int fd, uid_t *user)
{
    union {
        struct nlmsghdr header;
        char bytes[4096];
    } answer;
    size_t size = sizeof(answer);
    struct ends ends;
    if (!ends_of(fd, &ends))
        return false;
    int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (netlink < 0)
        return false;
    bool answered = ask(netlink, &ends, &answer, &size);
    close(netlink);
    if (!answered || !NLMSG_OK(&answer.header, size) ||
        answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        answer.header.nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
        return false;
    const struct inet_diag_msg *found = NLMSG_DATA(&answer.header);
    /* if there is no such connection the kernel may answer with a socket that listens at that port;
     * a closed socket has no inode, and is reported as root's */
    if (found->idiag_state != TCP_ESTABLISHED || !found->idiag_inode)
        return false;
    *user = found->idiag_uid;
    return true;
}

/* ---- proc(5), /proc/net/tcp ---- */

/* Writes an end as "0100007F:1F90", for IPv6 with four such words; returns the length. */
static int write_end(char *text, size_t size, int family, const uint32_t address[4], in_port_t port)
{
    if (family == AF_INET)
        return snprintf(text, size, "%08X:%04X", address[0], ntohs(port));
    return snprintf(text, size, "%08X%08X%08X%08X:%04X", address[0], address[1], address[2],
                    address[3], ntohs(port));
}

bool pleat_peer_user_by_proc(int fd, uid_t *user)
{
    struct ends ends;
    char wanted[128], line[512];
    if (!ends_of(fd, &ends))
        return false;
    int used = write_end(wanted, sizeof(wanted), ends.family, ends.from, ends.from_port);
    used += snprintf(wanted + used, sizeof(wanted) - (size_t)used, " ");
    used +=
        write_end(wanted + used, sizeof(wanted) - (size_t)used, ends.family, ends.to, ends.to_port);
    snprintf(wanted + used, sizeof(wanted) - (size_t)used, " %02X ", TCP_ESTABLISHED);
    FILE *file = fopen(ends.family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6", "re");
    unsigned uid = 0;
    unsigned long inode = 0;
    bool found = false;
    while (file && !found && fgets(line, sizeof(line), file)) {
        const char *at = strstr(line, wanted);
        found = at && sscanf(at + strlen(wanted), "%*s %*s %*s %u %*s %lu", &uid, &inode) == 2;
    }
    if (file)
        fclose(file);
    *user = uid;
    return found && inode;
}

bool pleat_peer_user(int fd, uid_t *user)
{
    return pleat_peer_user_by_diag(fd, user) || pleat_peer_user_by_proc(fd, user);
}
