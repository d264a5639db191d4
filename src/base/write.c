#include "base/write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
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

int pleat_write_private(const char *path, const void *bytes, size_t count)
{
    char fresh[PATH_MAX];
    int length = snprintf(fresh, sizeof(fresh), "%s.new", path);
    if (length < 0 || (size_t)length >= sizeof(fresh))
        return ENAMETOOLONG;
    (void)unlink(fresh); /* of a process that was killed here */
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return errno;
    int code = pleat_write_all(fd, bytes, count);
    if (close(fd) && !code)
        code = errno;
    if (!code && rename(fresh, path))
        code = errno;
    if (code)
        (void)unlink(fresh);
    return code;
}
