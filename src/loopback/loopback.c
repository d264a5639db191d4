/* loopback.c - libpleat-loopback: only this user on this machine reaches what Open MPI listens on.
 *
 * It is preloaded into mpirun and its ranks if all are on one machine, and into MPICH's hydra where
 * that has several nodes. Open MPI 4.1 listens on every
 * address for its out-of-band messages and for TCP between ranks (by which spawned ranks are
 * reached), and on 127.0.0.1 for PMIx. No parameter changes that. A peer that connects and sends
 * nothing blocks mpirun, which reads from accepted connections and waits. hydra listens on every
 * address, too, and a connection of anybody ends the program. So these calls are changed, for Open
 * MPI's own libraries and for the programs of hydra only:
 *
 *   bind     of a stream to every address becomes the loopback address
 *
 *   connect  to an address of this machine goes to the loopback address, where the others listen;
 * it comes from the address that was wanted, since Open MPI checks where a peer comes from
 *
 *   accept   closes another user's connection, as if it had not come (EAGAIN)
 *
 *   gethostname (Open MPI's only) gives the name of the node (PLEAT_NODE_NAME), where the machine
 * has several: by it Open MPI tells which ranks are on one node
 *
 * The program's own sockets, and those of other libraries, are not touched.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loopback/peer.h"

/* The functions of the C library, or of another preloaded library. */
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

static union {
    void *symbol;
    int (*call)(char *, size_t);
} real_gethostname;

/* Also called by functions that are used before constructors have run. It writes the same values
 * again. */
__attribute__((constructor)) static void find_real(void)
{
    real_bind.symbol = dlsym(RTLD_NEXT, "bind");
    real_connect.symbol = dlsym(RTLD_NEXT, "connect");
    real_accept.symbol = dlsym(RTLD_NEXT, "accept");
    real_accept4.symbol = dlsym(RTLD_NEXT, "accept4");
    real_gethostname.symbol = dlsym(RTLD_NEXT, "gethostname");
}

/* ---- which sockets are meant ---- */

/* Whether the code at `address` belongs to Open MPI or to its PMIx. */
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

/* Whether this process is one of hydra's, which has all of its code in the program. */
static bool is_hydra(void)
{
    static const char *const programs[] = {"mpiexec.hydra", "hydra_pmi_proxy"};
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; slash && i < sizeof(programs) / sizeof(*programs); i++)
        if (!strcmp(slash + 1, programs[i]))
            return true;
    return false;
}

static bool is_meant(const void *caller)
{
    return is_open_mpi(caller) || is_hydra();
}

static bool is_stream(int fd)
{
    int type = 0;
    socklen_t size = sizeof(type);
    return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_STREAM;
}

/* A copy of an IPv4 or IPv6 address, which can be changed. */
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

/* Whether the address is reached from other machines, so it is no loopback address. Open MPI does
 * not use IPv4 addresses in IPv6. */
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

/* Whether the address is this machine's: only then it can be bound. */
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
int gethostname(char *name, size_t size);

TAKEN_OVER int bind(int fd, const struct sockaddr *address, socklen_t size)
{
    union name name;
    const void *caller = __builtin_return_address(0);
    if (!real_bind.symbol)
        find_real();
    bool inet = copy_name(&name, address, size);
    bool none = address && size >= sizeof(address->sa_family) && address->sa_family == AF_UNSPEC;
    if (!(none || (inet && is_every_address(&name))) || !is_meant(caller) || !is_stream(fd))
        return real_bind.call(fd, address, size);
    /* Open MPI 4.1 does this by mistake before it connects; the socket could then not be bound
     * again */
    if (none)
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
    if (!copy_name(&name, address, size) || !is_outside(&name) || !is_meant(caller) ||
        !is_stream(fd) || !is_of_this_machine(&name))
        return real_connect.call(fd, address, size);
    (void)bind_to(fd, &name); /* fails if Open MPI has bound it already */
    to_loopback(&name);
    return real_connect.call(fd, &name.any, size);
}

/* Returns the accepted connection; but if it is not this user's, closes it, and returns -1 with
 * EAGAIN. */
static int sift(int fd)
{
    uid_t user = 0;
    struct sockaddr_storage name = {.ss_family = AF_UNSPEC};
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
    return is_meant(caller) ? sift(accepted) : accepted;
}

TAKEN_OVER int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    const void *caller = __builtin_return_address(0);
    if (!real_accept4.symbol)
        find_real();
    int accepted = real_accept4.call(fd, address, size, flags);
    return is_meant(caller) ? sift(accepted) : accepted;
}

TAKEN_OVER int gethostname(char *name, size_t size)
{
    const void *caller = __builtin_return_address(0);
    const char *node = getenv("PLEAT_NODE_NAME");
    if (!real_gethostname.symbol)
        find_real();
    if (!node || !*node || strlen(node) >= size || !is_open_mpi(caller))
        return real_gethostname.call(name, size);
    strcpy(name, node);
    return 0;
}
