/* process-mpi-network.c - by which network processes of Open MPI reach one another, and where the
 * run's ompi-server is.
 *
 * Where all processes of a run are on one node they stay on the loopback interface. Else each uses
 * the interface that has the address by which the run's processes find it (PLEAT_PROCESS_HOST);
 * interfaces may have other names on other nodes.
 *
 * The file that says where ompi-server listens is in a directory of process 0's node. Open MPI
 * wants to know it at MPI_Init, when nobody may have sent a message yet. So process 0 joins a group
 * of the run whose name says it ("ompi-server.JOB.ADDRESS.PORT"), and those of other nodes look for
 * that. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/process-mpi.h"
#include "base/error.h"
#include "base/processes.h"

#define PREFIX PLEAT_PROCESS_MPI_SERVER_FILE "."

bool pleat_process_mpi_is_away(void)
{
    return getenv(PLEAT_PROCESS_AWAY_ENV) != NULL;
}

char *pleat_process_mpi_path(const char *name)
{
    const char *directory = getenv(PLEAT_PROCESS_DIR_ENV);
    char *path = NULL;
    if (!directory || asprintf(&path, "%s/%s", directory, name) < 0)
        return NULL;
    return path;
}

/* ---- the network ---- */

static bool has_address(const struct ifaddrs *one, const char *wanted)
{
    char text[NI_MAXHOST];
    socklen_t size = 0;
    if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET)
        size = sizeof(struct sockaddr_in);
    else if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET6)
        size = sizeof(struct sockaddr_in6);
    return size && !getnameinfo(one->ifa_addr, size, text, sizeof(text), NULL, 0, NI_NUMERICHOST) &&
           !strcmp(text, wanted);
}

int pleat_process_mpi_interface(char name[IF_NAMESIZE], bool *others, struct pleat_error *err)
{
    const char *host = getenv(PLEAT_PROCESS_HOST_ENV);
    struct ifaddrs *all = NULL;
    bool found = false;
    snprintf(name, IF_NAMESIZE, "lo");
    *others = host && strcmp(host, "ipc") != 0;
    if (!*others)
        return 0;
    if (getifaddrs(&all))
        return pleat_error_sys(err, errno, "cannot list this node's network interfaces");
    for (const struct ifaddrs *one = all; one && !found; one = one->ifa_next)
        if (has_address(one, host)) {
            found = true;
            *others = !(one->ifa_flags & IFF_LOOPBACK);
            snprintf(name, IF_NAMESIZE, "%s", one->ifa_name);
        }
    freeifaddrs(all);
    if (!found)
        return pleat_error_set(err, PLEAT_E_SYSTEM,
                               "no network interface of this node has the address %s any more, by "
                               "which the run's processes find it: start the job again",
                               host);
    return 0;
}

/* ---- where the server is ---- */

/* Takes "JOB.0;tcp://ADDRESS:PORT" apart; of several addresses the one that is wanted. */
static bool take_apart(char *line, const char *wanted, const char **job, const char **port)
{
    char *rest = NULL;
    *job = strtok_r(line, ".", &rest);
    for (const char *uri; *job && (uri = strtok_r(NULL, ";\n", &rest));) {
        const char *addresses = strstr(uri, "tcp://");
        const char *colon = strrchr(uri, ':');
        if (uri != addresses || !colon || colon < uri + 6)
            continue;
        *port = colon + 1;
        const size_t length = strlen(wanted);
        for (const char *one = uri + 6; one < colon; one += strcspn(one, ",:") + 1)
            if (!strncmp(one, wanted, length) && (one[length] == ',' || one[length] == ':'))
                return true;
    }
    return false;
}

int pleat_process_mpi_announce(const struct pleat_processes *processes, const char *path,
                               struct pleat_error *err)
{
    char line[4096], name[64];
    const char *host = getenv(PLEAT_PROCESS_HOST_ENV);
    const char *job = NULL, *port = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
    const int number = errno;
    if (fd >= 0)
        close(fd);
    if (length < 0)
        return pleat_error_sys(err, number, "cannot read %s", path);
    line[length] = '\0';
    if (!host || !take_apart(line, host, &job, &port) ||
        (size_t)snprintf(name, sizeof(name), PREFIX "%s.%s.%s", job, host, port) >= sizeof(name))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "ompi-server does not listen on %s, by which the run's processes "
                               "reach one another: Open MPI needs an IPv4 address there, and "
                               "OMPI_MCA_oob_tcp_if_include or _exclude must not leave it out; or "
                               "keep all processes on one node (pleat run --one-node)",
                               host ? host : "this node");
    /* the group is the library's own: nothing changes of what the caller has said */
    return pleat_process_group_join((struct pleat_processes *)(uintptr_t)processes, name, err);
}

/* "JOB.ADDRESS.PORT" becomes what Open MPI takes. */
static bool put_together(char *name, char *uri, size_t size)
{
    char *address = strchr(name, '.');
    char *port = strrchr(name, '.');
    if (!address || address == port)
        return false;
    *address++ = *port++ = '\0';
    return (size_t)snprintf(uri, size, "%s.0;tcp://%s:%s", name, address, port) < size;
}

bool pleat_process_mpi_find_server(const struct pleat_processes *processes, char *uri, size_t size)
{
    char name[64];
    for (int i = 0; pleat_process_group_name(processes, 0, i, name, sizeof(name)) > i; i++)
        if (!strncmp(name, PREFIX, strlen(PREFIX)) &&
            put_together(name + strlen(PREFIX), uri, size))
            return true;
    return false;
}
