/* loopback.c - libpleat-loopback: what Open MPI listens on is for this machine and this user only.
 *
 * Preloaded into mpirun and its ranks where all are on one node. Open MPI 4.1 listens on every
 * address, for its out-of-band messages and for TCP between ranks (by which those that are spawned
 * are reached), and on 127.0.0.1 for PMIx; none of its parameters changes that. Whoever connects
 * and says nothing keeps mpirun from going on, since it reads from whom it has accepted and waits.
 * So here, for sockets of Open MPI's own libraries and of nothing else in the process:
 *
 *   bind     of a stream to every address takes the loopback address
 *   connect  to an address of this machine goes to the loopback address, where the others listen,
 *            from the address that was wanted: Open MPI looks whether it knows where one comes from
 *   accept   closes a connection of another user's, as if it had not come (EAGAIN)
 *
 * Programs' own sockets, and those of other libraries, are left as they are. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback/peer.h"

/* Those of the C library, or of what else is preloaded. */
static union {
    void *symbol;
    int (*call)(int, const struct sockaddr *, socklen_t);
} real_bind, real_connect;
static union {
    void *symbol;
    int (*call)(int, struct sockaddr *, socklen_t *);
} real_accept;
static union {
    void *symbol;
    int (*call)(int, struct sockaddr *, socklen_t *, int);
} real_accept4;

/* Also called by what is used before the constructors were: the same is written again. */
__attribute__((constructor)) static void find_real(void)
{
    real_bind.symbol = dlsym(RTLD_NEXT, "bind");
    real_connect.symbol = dlsym(RTLD_NEXT, "connect");
    real_accept.symbol = dlsym(RTLD_NEXT, "accept");
    real_accept4.symbol = dlsym(RTLD_NEXT, "accept4");
}

/* ---- which sockets ---- */

/* Whether the code at `address` is Open MPI's, or that of its PMIx. */
static bool is_open_mpi(const void *address)
{
    static const char *const libraries[] = {"mca_",         "pmix_mca_", "libpmix.", "libopen-rte.",
                                            "libopen-pal.", "libprrte.", "libmpi."};
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash ? slash + 1 : info.dli_fname;
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
        if (!strncmp(name, libraries[i], strlen(libraries[i])))
            return true;
    return false;
}

static bool is_stream(int fd)
{
    int type = 0;
    socklen_t size = sizeof(type);
    return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_STREAM;
}

/* An address of IPv4 or IPv6 that can be changed. False: it is something else. */
union name {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

static bool copy_name(union name *name, const struct sockaddr *from, socklen_t size)
{
    if (!from || size < sizeof(from->sa_family))
        return false;
    bool fits = (from->sa_family == AF_INET && size >= sizeof(name->in)) ||
                (from->sa_family == AF_INET6 && size >= sizeof(name->in6));
    memset(name, 0, sizeof(*name));
    if (fits)
        memcpy(name, from, size < sizeof(*name) ? size : sizeof(*name));
    return fits;
}

static bool is_every_address(const union name *name)
{
    return name->any.sa_family == AF_INET ? name->in.sin_addr.s_addr == htonl(INADDR_ANY)
                                          : IN6_IS_ADDR_UNSPECIFIED(&name->in6.sin6_addr);
}

/* One that others reach, too; not a loopback address. Those of IPv4 in IPv6 are not used there. */
static bool is_outside(const union name *name)
{
    return name->any.sa_family == AF_INET ? ntohl(name->in.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET
                                          : !IN6_IS_ADDR_LOOPBACK(&name->in6.sin6_addr) &&
                                                !IN6_IS_ADDR_V4MAPPED(&name->in6.sin6_addr);
}

static int bind_to(int fd, const union name *name)
{
    union name any_port = *name;
    if (name->any.sa_family == AF_INET)
        any_port.in.sin_port = 0;
    else
        any_port.in6.sin6_port = 0;
    return real_bind.call(fd, &any_port.any, sizeof(any_port));
}

/* Only an address of one's own can be bound to. */
static bool is_of_this_machine(const union name *name)
{
    int fd = socket(name->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool own = fd >= 0 && !bind_to(fd, name);
    if (fd >= 0)
        close(fd);
    return own;
}

static void to_loopback(union name *name)
{
    if (name->any.sa_family == AF_INET) {
        name->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
        name->in6.sin6_addr = in6addr_loopback;
        name->in6.sin6_scope_id = 0;
    }
}

/* ---- the calls ---- */

#define TAKEN_OVER __attribute__((visibility("default")))

int bind(int fd, const struct sockaddr *address, socklen_t size);
int connect(int fd, const struct sockaddr *address, socklen_t size);
int accept(int fd, struct sockaddr *address, socklen_t *size);
int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);

TAKEN_OVER int bind(int fd, const struct sockaddr *address, socklen_t size)
{
    union name name;
    const void *caller = __builtin_return_address(0);
    if (!real_bind.symbol)
        find_real();
    bool inet = copy_name(&name, address, size);
    bool none = address && size >= sizeof(address->sa_family) && address->sa_family == AF_UNSPEC;
    if (!(none || (inet && is_every_address(&name))) || !is_open_mpi(caller) || !is_stream(fd))
        return real_bind.call(fd, address, size);
    if (none) /* 4.1 before it connects, by mistake; the socket could not be bound once more */
        return 0;
    to_loopback(&name);
    return real_bind.call(fd, &name.any, size);
}

TAKEN_OVER int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    union name name;
    const void *caller = __builtin_return_address(0);
    if (!real_connect.symbol)
        find_real();
    if (!copy_name(&name, address, size) || !is_outside(&name) || !is_open_mpi(caller) ||
        !is_stream(fd) || !is_of_this_machine(&name))
        return real_connect.call(fd, address, size);
    (void)bind_to(fd, &name); /* unless Open MPI has bound it already */
    to_loopback(&name);
    return real_connect.call(fd, &name.any, size);
}

/* What Open MPI has accepted, or -1 in place of another user's. */
static int sift(int fd)
{
    uid_t user = 0;
    struct sockaddr_storage name;
    socklen_t size = sizeof(name);
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&name, &size) ||
        (name.ss_family != AF_INET && name.ss_family != AF_INET6) ||
        (pleat_peer_user(fd, &user) && user == geteuid()))
        return fd;
    close(fd);
    errno = EAGAIN;
    return -1;
}

TAKEN_OVER int accept(int fd, struct sockaddr *address, socklen_t *size)
{
    const void *caller = __builtin_return_address(0);
    if (!real_accept.symbol)
        find_real();
    int accepted = real_accept.call(fd, address, size);
    return is_open_mpi(caller) ? sift(accepted) : accepted;
}

TAKEN_OVER int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    const void *caller = __builtin_return_address(0);
    if (!real_accept4.symbol)
        find_real();
    int accepted = real_accept4.call(fd, address, size, flags);
    return is_open_mpi(caller) ? sift(accepted) : accepted;
}
