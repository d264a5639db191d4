#include "process/reach.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Takes tcp://HOST:PORT or tcp://[HOST]:PORT apart. */
static int split(const char *address, char *host, size_t room, char *port, size_t port_room)
{
    const char *begin = address + strlen("tcp://"), *colon = strrchr(address, ':');
    if (strncmp(address, "tcp://", strlen("tcp://")) != 0 || colon < begin)
        return -1;
    const char *end = colon;
    if (*begin == '[' && end > begin && end[-1] == ']') {
        begin++;
        end--;
    }
    int length = snprintf(host, room, "%.*s", (int)(end - begin), begin);
    if (length <= 0 || (size_t)length >= room)
        return -1;
    length = snprintf(port, port_room, "%s", colon + 1);
    return length <= 0 || (size_t)length >= port_room ? -1 : 0;
}

/* 0, or an errno. */
static int try_one(const struct addrinfo *to, int ms)
{
    int problem = 0;
    socklen_t size = sizeof(problem);
    int fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    struct pollfd watched = {.fd = fd, .events = POLLOUT};
    if (connect(fd, to->ai_addr, to->ai_addrlen) && errno != EINPROGRESS) {
        problem = errno;
    } else {
        int ready = poll(&watched, 1, ms);
        if (ready == 0)
            problem = ETIMEDOUT;
        else if (ready < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size))
            problem = errno;
    }
    close(fd);
    return problem;
}

int pleat_reach_try(const char *address, int ms, char *text, size_t size)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char host[200], port[16];
    if (split(address, host, sizeof(host), port, sizeof(port)) ||
        getaddrinfo(host, port, &hints, &found)) {
        snprintf(text, size, "that is no address of another host");
        return -1;
    }
    int problem = try_one(found, ms);
    freeaddrinfo(found);
    if (problem)
        snprintf(text, size, "%s", strerror(problem));
    return problem ? -1 : 0;
}
