#include "courier/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int stream_open(struct stream *stream, const char *path, const char *beside, uint64_t run,
                bool truncate)
{
    struct stat about;
    bool begun = !record_read(beside, &stream->record) && stream->record.run == run;
    int how = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    stream->beside = beside;
    /* a FIFO without a reader is an error here, not a wait: so it is opened for writing only */
    if (!stat(path, &about) && !S_ISREG(about.st_mode))
        how = (how & ~O_RDWR) | O_WRONLY;
    stream->fd = open(path, how, 0600);
    if (stream->fd < 0 && errno == EACCES) /* its user may write, and not read */
        stream->fd = open(path, (how & ~O_RDWR) | O_WRONLY, 0600);
    if (stream->fd < 0)
        return errno;
    if (fstat(stream->fd, &about) || fcntl(stream->fd, F_SETFL, O_APPEND))
        return errno;
    stream->is_file = S_ISREG(about.st_mode);
    if (begun)
        return 0;
    if (truncate && stream->is_file && ftruncate(stream->fd, 0))
        return errno;
    stream->record = (struct record){.run = run};
    return record_write(beside, &stream->record);
}

/* How many of the bytes are in the file at that place. */
static size_t is_there(int fd, int64_t place, const char *bytes, size_t count)
{
    char found[4096];
    size_t same = 0;
    while (same < count) {
        size_t piece = count - same < sizeof(found) ? count - same : sizeof(found);
        ssize_t got = pread(fd, found, piece, place + (int64_t)same);
        if (got <= 0)
            return same;
        for (ssize_t i = 0; i < got; i++, same++)
            if (found[i] != bytes[same])
                return same;
    }
    return same;
}

/* The courier before this one may have written the piece of the record, or the beginning of it. */
static size_t look_at_doubt(struct stream *stream, const char *bytes, size_t count)
{
    struct record *record = &stream->record;
    size_t most = (size_t)record->count < count ? (size_t)record->count : count;
    size_t there = is_there(stream->fd, record->place, bytes, most);
    record->count -= (int64_t)there;
    record->place += (int64_t)there;
    record->done += (int64_t)there;
    if (there < most)
        record->count = 0;
    return there;
}

/* Others may write to the same file: a job of the same array, for one. They are kept out, so that
 * the piece goes where the record says. Where a file system has no locks it is written all the
 * same. */
static void lock(int fd, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    while (fcntl(fd, F_OFD_SETLKW, &whole) && errno == EINTR)
        ;
}

static int append(struct stream *stream, const char *bytes, size_t count)
{
    struct stat about;
    struct record *record = &stream->record;
    if (fstat(stream->fd, &about))
        return errno;
    record->place = about.st_size;
    record->count = (int64_t)count;
    int code = record_write(stream->beside, record);
    while (!code && record->count > 0) {
        ssize_t written = write(stream->fd, bytes, (size_t)record->count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            code = errno;
            break;
        }
        bytes += written;
        record->count -= written;
        record->place += written;
        record->done += written;
    }
    record->count = 0;
    return code;
}

/* To a pipe or a device. Nobody wants what a pipe without a reader would get. */
static int pass_on(struct stream *stream, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(stream->fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno != EPIPE)
            return errno;
        if (written < 0)
            written = (ssize_t)count;
        bytes += written;
        count -= (size_t)written;
        stream->record.done += written;
    }
    return 0;
}

int stream_put(struct stream *stream, int64_t offset, const char *bytes, size_t count)
{
    struct record *record = &stream->record;
    if (!stream->is_file && offset > record->done)
        record->done = offset; /* where a pipe begins again is not known */
    if (offset > record->done && offset <= record->done + record->count) {
        int64_t heard = offset - record->done; /* so they are there */
        record->done += heard;
        record->place += heard;
        record->count -= heard;
    }
    if (offset > record->done)
        return EPROTO; /* a piece before it is missing */
    int64_t known = record->done - offset;
    if (known >= (int64_t)count)
        return 0;
    bytes += known;
    count -= (size_t)known;
    if (!stream->is_file)
        return pass_on(stream, bytes, count);
    if (record->count > 0) {
        size_t there = look_at_doubt(stream, bytes, count);
        bytes += there;
        count -= there;
    }
    if (count == 0)
        return 0;
    lock(stream->fd, F_WRLCK);
    int code = append(stream, bytes, count);
    lock(stream->fd, F_UNLCK);
    return code;
}
