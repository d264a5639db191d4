#include "agent/link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/paths.h"
#include "seal/seal.h"

#define PAUSE_MS 200
#define PAUSE_MOST_MS 3200

/* "IDENTITY:KEY" */
static int take_line(struct pleat_agent *agent, const char *text, struct pleat_error *err)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    if (length < sizeof(agent->link.identity)) {
        memcpy(agent->link.identity, text, length);
        agent->link.identity[length] = '\0';
    }
    if (!colon || length >= sizeof(agent->link.identity) ||
        !pleat_wire_identity_is(agent->link.identity) ||
        !pleat_wire_key_parse(colon + 1, agent->link.key))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--connect: the key is not of the form IDENTITY:KEY, with %d "
                               "hexadecimal digits",
                               2 * PLEAT_WIRE_KEY);
    return 0;
}

/* A line that was sealed on the way here. */
static int take_sealed(struct pleat_agent *agent, const char *line, struct pleat_error *err)
{
    char text[PLEAT_WIRE_IDENTITY_MAX + 2 * PLEAT_WIRE_KEY + 4];
    int result = pleat_seal_open(line, text, sizeof(text), err);
    if (result)
        return pleat_error_prefix(err, result, "--connect");
    text[strcspn(text, "\n")] = '\0';
    result = take_line(agent, text, err);
    pleat_wire_wipe(text, sizeof(text));
    return result;
}

/* One of the first three stays open, so that no other file gets its number. */
static void done_with(int fd)
{
    int nothing = fd <= STDERR_FILENO ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    if (nothing < 0) {
        close(fd);
        return;
    }
    (void)dup2(nothing, fd);
    close(nothing);
}

static int take_from_descriptor(struct pleat_agent *agent, int fd, struct pleat_error *err)
{
    char text[PLEAT_SEAL_ROOM];
    size_t length = 0;
    ssize_t got = 0;
    while (length < sizeof(text) - 1 &&
           ((got = read(fd, text + length, sizeof(text) - 1 - length)) > 0 ||
            (got < 0 && errno == EINTR)))
        length += got > 0 ? (size_t)got : 0;
    int code = errno;
    done_with(fd);
    if (got < 0)
        return pleat_error_sys(err, code, "--key-fd %d", fd);
    text[length] = '\0';
    text[strcspn(text, "\n")] = '\0';
    int result =
        pleat_seal_is_sealed(text) ? take_sealed(agent, text, err) : take_line(agent, text, err);
    pleat_wire_wipe(text, sizeof(text));
    return result;
}

/* The text is overwritten where it stands, since that is what /proc shows of this process and of
 * those that it forks. */
static int take_from_environment(struct pleat_agent *agent, struct pleat_error *err)
{
    char *text = getenv(PLEAT_AGENT_KEY_ENV);
    if (!text)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--connect needs a key: in " PLEAT_AGENT_KEY_ENV
                               ", or from --key-fd");
    int result = take_line(agent, text, err);
    pleat_wire_wipe(text, strlen(text));
    unsetenv(PLEAT_AGENT_KEY_ENV);
    return result;
}

bool pleat_link_is_tcp(const struct pleat_agent *agent)
{
    return agent->options.connect != NULL;
}

int pleat_link_take(struct pleat_agent *agent, int key_fd, struct pleat_error *err)
{
    if (!pleat_link_is_tcp(agent))
        return 0;
    int result = pleat_address_parse(agent->options.connect, &agent->link.address, err);
    if (!result && agent->link.address.kind != PLEAT_ADDRESS_TCP)
        result = pleat_error_set(err, PLEAT_E_INVALID, "it is a path: give it with --daemon");
    if (result)
        return pleat_error_prefix(err, result, "--connect");
    return key_fd >= 0 ? take_from_descriptor(agent, key_fd, err)
                       : take_from_environment(agent, err);
}

/* The path of the socket that the daemon recorded in the state directory, which both use; without a
 * record, the path from the options. */
static const char *socket_path(const struct pleat_agent *agent, char *recorded, size_t size)
{
    struct pleat_paths paths = {0};
    if (!agent->options.state)
        return agent->options.daemon;
    snprintf(paths.state, sizeof(paths.state), "%s", agent->options.state);
    return pleat_paths_recorded_socket(&paths, recorded, size) ? recorded : agent->options.daemon;
}

/* Likewise the port, if the daemon could not have its old one. */
static void take_recorded_port(struct pleat_agent *agent)
{
    char path[1024], text[16] = "";
    unsigned port = 0;
    if (!agent->options.state)
        return;
    snprintf(path, sizeof(path), "%s/" PLEAT_AGENT_PORT, agent->options.state);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (read(fd, text, sizeof(text) - 1) > 0 && sscanf(text, "%u", &port) == 1 && port > 0 &&
        port <= UINT16_MAX)
        agent->link.address.port = (uint16_t)port;
    close(fd);
}

bool pleat_link_shares_state(const struct pleat_agent *agent)
{
    char path[1024], text[2 * PLEAT_WIRE_KEY + 2] = "";
    unsigned char key[PLEAT_WIRE_KEY] = {0};
    const struct pleat_agent_options *options = &agent->options;
    if (!options->state)
        return false;
    snprintf(path, sizeof(path), "%s/agent-%s-%u.key", options->state, options->site,
             options->node);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    ssize_t count = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[strcspn(text, " \n")] = '\0';
    bool same =
        count > 0 && pleat_wire_key_parse(text, key) && !memcmp(key, agent->link.key, sizeof(key));
    pleat_wire_wipe(text, sizeof(text));
    pleat_wire_wipe(key, sizeof(key));
    return same;
}

void pleat_link_find_state(struct pleat_agent *agent)
{
    enum { LOOKS = 20, LOOK_NS = 100000000 };
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    if (!pleat_link_is_tcp(agent) || !agent->options.state)
        return;
    /* a file server may show a file of another machine late, but not the directory */
    for (int i = 0; i < LOOKS && !access(agent->options.state, X_OK); i++) {
        if (pleat_link_shares_state(agent))
            return;
        (void)nanosleep(&pause, NULL);
    }
    agent->options.state = NULL;
}

int pleat_link_open(struct pleat_agent *agent, const struct pleat_connection_callbacks *callbacks,
                    struct pleat_error *err)
{
    char recorded[108];
    if (!pleat_link_is_tcp(agent))
        return pleat_connection_open(&agent->loop, socket_path(agent, recorded, sizeof(recorded)),
                                     callbacks, agent, &agent->connection, err);
    take_recorded_port(agent);
    return pleat_connection_open_to(&agent->loop, &agent->link.address, agent->link.identity,
                                    agent->link.key, callbacks, agent, &agent->connection, err);
}

uint64_t pleat_link_pause_ms(struct pleat_agent *agent)
{
    uint64_t pause_ms = PAUSE_MS;
    if (!pleat_link_is_tcp(agent))
        return pause_ms;
    for (int i = 0; i < agent->link.failures && pause_ms < PAUSE_MOST_MS; i++)
        pause_ms *= 2;
    agent->link.failures++;
    return pause_ms + (uint64_t)agent->number % (pause_ms / 2);
}
