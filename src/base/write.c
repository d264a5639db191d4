#include "base/write.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

int pleat_write_all(int fd, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        ssize_t written = write(fd, at, count);
        struct pollfd takes = {.fd = fd, .events = POLLOUT};
        if (written >= 0) {
            at += written;
            count -= (size_t)written;
        } else if (errno == EAGAIN) {
            (void)poll(&takes, 1, -1);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}
