#include "base/socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int pleat_socket_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int failed = fd < 0;
    while (!failed && connect(fd, (const struct sockaddr *)&address, sizeof(address)))
        failed = errno != EINTR;
    if (failed && fd >= 0) {
        int code = errno;
        close(fd);
        errno = code;
    }
    return failed ? -1 : fd;
}
