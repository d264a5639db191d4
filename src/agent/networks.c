#include "agent/networks.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
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
