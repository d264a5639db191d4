/* Agents that call over TCP: the port, and the key of each. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/write.h"
#include "daemon/agent_listen.h"
#include "daemon/daemon.h"
#include "wire/connection.h"

/* A caller has to prove its identity within LIMIT_MS. At most MOST callers at a time have not done
 * so, MOST_OF_HOST of them from one address. Callers that were turned away are reported at most
 * every SAY_US. */
enum { LIMIT_MS = 10000, MOST = 128, MOST_OF_HOST = 32 };
#define SAY_US (10 * PLEAT_US_PER_S)

/* ---- files in the directory of state ---- */

static int write_private(const char *path, const char *text, struct pleat_error *err)
{
    int code = pleat_write_private(path, text, strlen(text));
    return code ? pleat_error_sys(err, code, "cannot write %s", path) : 0;
}

/* The first word of a file; false: there is none. */
static bool read_word(const char *path, char *word, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t count = fd < 0 ? -1 : read(fd, word, size - 1);
    if (fd >= 0)
        close(fd);
    word[count > 0 ? count : 0] = '\0';
    word[strcspn(word, " \n")] = '\0';
    return count > 0;
}

static void key_path(struct daemon *d, uint32_t site, uint32_t node, char *path, size_t size)
{
    snprintf(path, size, "%s/agent-%s-%u.key", d->paths.state, d->config.sites[site].name, node);
}

static void port_path(struct daemon *d, char *path, size_t size)
{
    snprintf(path, size, "%s/" PLEAT_AGENT_PORT, d->paths.state);
}

/* Whether a process holds the lock of the agent whose key has this name. */
static bool is_held(struct daemon *d, const char *name)
{
    char path[900];
    snprintf(path, sizeof(path), "%s/%.*s.lock", d->paths.state, (int)(strlen(name) - 4), name);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool locked = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return locked;
}

/* Whether the key is of a node whose site brings its agents: it holds until that node is gone, and
 * the lock is on that node. */
static bool is_brought(struct daemon *d, const char *name)
{
    for (uint32_t i = 0; i < d->config.site_count; i++) {
        const char *site = d->config.sites[i].name;
        size_t length = strlen(site);
        if (d->config.sites[i].brings_agents && !strncmp(name + 6, site, length) &&
            name[6 + length] == '-')
            return true;
    }
    return false;
}

/* Removes the keys of agents that are gone. Returns how many are left: of agents that live, maybe
 * from before the configuration changed. */
static int sweep(struct daemon *d)
{
    char path[900];
    int left = 0;
    DIR *directory = opendir(d->paths.state);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length < 10 || length > 255 || strncmp(entry->d_name, "agent-", 6) ||
            strcmp(entry->d_name + length - 4, ".key"))
            continue;
        if (is_brought(d, entry->d_name) || is_held(d, entry->d_name)) {
            left++;
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", d->paths.state, entry->d_name);
        (void)unlink(path);
    }
    if (directory)
        closedir(directory);
    return left;
}

/* ---- keys ---- */

static void identity_of(struct daemon *d, uint32_t site, uint32_t node, char *text, size_t size)
{
    snprintf(text, size, "%s/%u", d->config.sites[site].name, node);
}

static bool find(struct daemon *d, const char *identity, uint32_t *site, uint32_t *node)
{
    const char *slash = strrchr(identity, '/');
    char again[PLEAT_WIRE_IDENTITY_MAX + 1];
    if (!slash || sscanf(slash + 1, "%" SCNu32, node) != 1)
        return false;
    for (*site = 0; *site < d->config.site_count; (*site)++) {
        identity_of(d, *site, *node, again, sizeof(again));
        if (!strcmp(again, identity))
            return true;
    }
    return false;
}

static bool key_of(void *arg, const char *identity, unsigned char key[PLEAT_WIRE_KEY])
{
    struct daemon *d = arg;
    char path[700], text[2 * PLEAT_WIRE_KEY + 2];
    uint32_t site = 0, node = 0;
    if (!find(d, identity, &site, &node))
        return false;
    key_path(d, site, node, path, sizeof(path));
    /* of an agent that pleatd starts here the key counts for as long as that agent lives */
    if (d->config.sites[site].here.nodes > 0 && !is_held(d, strrchr(path, '/') + 1))
        return false;
    bool known = read_word(path, text, sizeof(text)) && pleat_wire_key_parse(text, key);
    pleat_wire_wipe(text, sizeof(text));
    return known;
}

int agent_key_make(struct daemon *d, uint32_t site, uint32_t node, struct pleat_string *line,
                   struct pleat_error *err)
{
    unsigned char key[PLEAT_WIRE_KEY];
    char path[700], text[2 * PLEAT_WIRE_KEY + 1], identity[PLEAT_WIRE_IDENTITY_MAX + 1];
    if (getrandom(key, sizeof(key), 0) != (ssize_t)sizeof(key))
        return pleat_error_sys(err, errno, "no random numbers");
    key_path(d, site, node, path, sizeof(path));
    pleat_wire_key_text(key, text);
    identity_of(d, site, node, identity, sizeof(identity));
    int rc = write_private(path, text, err);
    if (!rc)
        pleat_string_addf(line, "%s:%s\n", identity, text);
    if (!rc && line->failed)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    pleat_wire_wipe(key, sizeof(key));
    pleat_wire_wipe(text, sizeof(text));
    return rc;
}

void agent_key_forget(struct daemon *d, uint32_t site, uint32_t node)
{
    char path[700];
    key_path(d, site, node, path, sizeof(path));
    (void)unlink(path);
}

bool agent_key_is_of(struct daemon *d, const struct pleat_connection *connection, uint32_t site,
                     uint32_t node)
{
    const char *identity = pleat_connection_identity(connection);
    char wanted[PLEAT_WIRE_IDENTITY_MAX + 1];
    identity_of(d, site, node, wanted, sizeof(wanted));
    return !*identity || !strcmp(identity, wanted);
}

/* ---- the port ---- */

/* Anybody who reaches the port can have callers turned away: that must not fill the log. */
static void on_refused(void *arg, const struct pleat_error *why)
{
    struct daemon *d = arg;
    int64_t now = pleat_clock_monotonic_us();
    d->agent_listen.unsaid++;
    if (d->agent_listen.said_us && now - d->agent_listen.said_us < SAY_US)
        return;
    daemon_log("%" PRId64 " callers turned away at the port for agents, the last one: %s",
               d->agent_listen.unsaid, why->text);
    d->agent_listen.said_us = now;
    d->agent_listen.unsaid = 0;
}

static bool has_callers(const struct daemon *d)
{
    for (size_t i = 0; i < d->config.site_count; i++)
        if (d->config.sites[i].here.over_tcp || d->config.sites[i].brings_agents)
            return true;
    return false;
}

/* While all agents are on this machine, no other host has to reach the port. */
static const char *interface(const struct daemon *d)
{
    if (strcmp(d->config.agent_listen, "auto") != 0)
        return d->config.agent_listen;
    for (size_t i = 0; i < d->config.site_count; i++)
        if (d->config.sites[i].brings_agents)
            return "0.0.0.0";
    return "127.0.0.1";
}

static int listen_at(struct daemon *d, uint16_t port,
                     void (*accept)(void *arg, struct pleat_connection *), struct pleat_error *err)
{
    const struct pleat_guest_terms terms = {.key_of = key_of,
                                            .refused = on_refused,
                                            .arg = d,
                                            .limit_ms = LIMIT_MS,
                                            .most = MOST,
                                            .most_of_host = MOST_OF_HOST};
    return pleat_listener_create_tcp(&d->loop, interface(d), port, &terms, accept, d,
                                     &d->agent_listen.listener, err);
}

/* The port of the last pleatd, so that its agents find this one; 0: not known. */
static uint16_t kept_port(struct daemon *d)
{
    char path[700], text[16];
    unsigned port = 0;
    port_path(d, path, sizeof(path));
    if (!read_word(path, text, sizeof(text)) || sscanf(text, "%u", &port) != 1 || port > UINT16_MAX)
        return 0;
    return (uint16_t)port;
}

static int listen_now(struct daemon *d, struct pleat_error *err)
{
    char path[700], text[16];
    void (*accept)(void *arg, struct pleat_connection *) = d->agent_listen.accept;
    snprintf(d->agent_listen.at, sizeof(d->agent_listen.at), "%s", interface(d));
    uint16_t wanted = (uint16_t)d->config.agent_port, kept = wanted ? wanted : kept_port(d);
    int rc = listen_at(d, kept, accept, err);
    if (rc && kept && !wanted) {
        daemon_log("%s: another port is taken", err->text);
        rc = listen_at(d, 0, accept, err);
    }
    if (rc)
        return pleat_error_prefix(err, rc, "no agents can call (agent_listen, agent_port)");
    port_path(d, path, sizeof(path));
    snprintf(text, sizeof(text), "%u\n", (unsigned)pleat_listener_port(d->agent_listen.listener));
    return write_private(path, text, err);
}

int agent_listen_open(struct daemon *d, void (*accept)(void *arg, struct pleat_connection *),
                      struct pleat_error *err)
{
    d->agent_listen.accept = accept;
    return sweep(d) == 0 && !has_callers(d) ? 0 : listen_now(d, err);
}

int agent_listen_again(struct daemon *d, struct pleat_error *err)
{
    if (!has_callers(d) || (d->agent_listen.listener && !strcmp(d->agent_listen.at, interface(d))))
        return 0;
    agent_listen_close(d); /* agents that have called keep their connections */
    return listen_now(d, err);
}

void agent_listen_close(struct daemon *d)
{
    pleat_listener_close(d->agent_listen.listener);
    d->agent_listen.listener = NULL;
}

void agent_listen_address(struct daemon *d, struct pleat_string *out)
{
    struct pleat_address address = {.kind = PLEAT_ADDRESS_TCP};
    const char *at = interface(d);
    char own[PLEAT_ADDRESS_HOST_MAX + 1] = "";
    bool all = !strcmp(at, "0.0.0.0") || !strcmp(at, "::");
    if (strcmp(d->config.agent_host, "auto") != 0)
        snprintf(own, sizeof(own), "%s", d->config.agent_host);
    else if (!all || gethostname(own, sizeof(own) - 1))
        snprintf(own, sizeof(own), "%s", all ? "127.0.0.1" : at);
    memcpy(address.host, own, sizeof(own));
    address.port = pleat_listener_port(d->agent_listen.listener);
    pleat_address_text(&address, out);
}
