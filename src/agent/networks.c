#include "agent/networks.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NETWORKS_MAX = 32 };

static int prefix_of(const struct sockaddr *mask)
{
    struct sockaddr_in address;
    memcpy(&address, mask, sizeof(address));
    return __builtin_popcount(address.sin_addr.s_addr);
}

static json_t *network(const struct ifaddrs *one)
{
    char text[INET_ADDRSTRLEN];
    struct sockaddr_in address;
    if (!one->ifa_addr || !one->ifa_netmask || one->ifa_addr->sa_family != AF_INET ||
        !(one->ifa_flags & IFF_UP) || one->ifa_flags & IFF_LOOPBACK)
        return NULL;
    memcpy(&address, one->ifa_addr, sizeof(address));
    if (!inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text)))
        return NULL;
    return json_pack("{s:s, s:s, s:i}", "name", one->ifa_name, "address", text, "prefix",
                     prefix_of(one->ifa_netmask));
}

static bool has_fabric(void)
{
    DIR *devices = opendir("/sys/class/infiniband");
    bool found = false;
    for (struct dirent *entry; devices && (entry = readdir(devices));)
        found = found || entry->d_name[0] != '.';
    if (devices)
        closedir(devices);
    return found;
}

void pleat_networks_add(json_t *hello)
{
    char host[256];
    struct ifaddrs *all = NULL;
    json_t *list = json_array();
    if (getifaddrs(&all))
        all = NULL;
    for (const struct ifaddrs *one = all; one && json_array_size(list) < NETWORKS_MAX;
         one = one->ifa_next) {
        json_t *entry = network(one);
        if (entry)
            (void)json_array_append_new(list, entry);
    }
    if (all)
        freeifaddrs(all);
    (void)json_object_set_new(hello, "networks", list);
    (void)json_object_set_new(hello, "fabric", json_boolean(has_fabric()));
    if (!gethostname(host, sizeof(host) - 1)) {
        host[sizeof(host) - 1] = '\0';
        (void)json_object_set_new(hello, "host", json_string(host)); /* NULL is no member */
    }
}

/* ---- this host, as others see it ---- */

static bool is_loopback(const struct sockaddr_storage *own)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    memcpy(&v4, own, sizeof(v4));
    memcpy(&v6, own, sizeof(v6));
    return own->ss_family == AF_INET ? ntohl(v4.sin_addr.s_addr) >> 24 == 127
                                     : IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

/* A connected socket for datagrams has the address of its route, and sends nothing. */
static bool on_the_way(const struct addrinfo *to, char *text, size_t size)
{
    struct sockaddr_storage own = {0};
    socklen_t length = sizeof(own);
    int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && !connect(fd, to->ai_addr, to->ai_addrlen) &&
                !getsockname(fd, (struct sockaddr *)&own, &length) && !is_loopback(&own) &&
                !getnameinfo((struct sockaddr *)&own, length, text, (socklen_t)size, NULL, 0,
                             NI_NUMERICHOST);
    if (fd >= 0)
        close(fd);
    return good;
}

static bool of_an_interface(char *text, size_t size)
{
    struct ifaddrs *all = NULL;
    bool found = false;
    if (getifaddrs(&all))
        return false;
    for (const struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
        json_t *entry = network(one);
        const char *address = json_string_value(json_object_get(entry, "address"));
        found = address != NULL;
        if (found)
            snprintf(text, size, "%s", address);
        json_decref(entry);
    }
    freeifaddrs(all);
    return found;
}

void pleat_networks_own(const char *towards, char *text, size_t size)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    bool good = false;
    if (towards && !getaddrinfo(towards, "9", &hints, &found)) { /* any port will do */
        for (const struct addrinfo *to = found; to && !good; to = to->ai_next)
            good = on_the_way(to, text, size);
        freeaddrinfo(found);
    }
    if (!good && !of_an_interface(text, size))
        snprintf(text, size, "127.0.0.1");
}
