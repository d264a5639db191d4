#include "courier/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/write.h"

int record_read(const char *path, struct record *record)
{
    char text[128] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno;
    ssize_t count = read(fd, text, sizeof(text) - 1);
    close(fd);
    struct record read = {0};
    if (count <= 0 || sscanf(text, "%" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64 "\n", &read.run,
                             &read.done, &read.place, &read.count) != 4)
        return EINVAL;
    if (read.done < 0 || read.place < 0 || read.count < 0)
        return EINVAL;
    *record = read;
    return 0;
}

int record_write(const char *path, const struct record *record)
{
    char text[128];
    int length = snprintf(text, sizeof(text), "%" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
                          record->run, record->done, record->place, record->count);
    return pleat_write_private(path, text, (size_t)length);
}
