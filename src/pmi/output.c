#include "pmi/output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define PART_US 50000                   /* time after which a part of a line is passed on */
#define LINE_MAX_LENGTH 65536           /* bytes; a longer line is passed on in parts */
#define QUEUE_MAX ((size_t)1024 * 1024) /* bytes; with more to write nothing is read */
/* bytes that are read after a process's end at most: more cannot be from that process */
#define PIPE_HOLDS ((size_t)1024 * 1024)

bool pleat_pmi_source_wanted(const struct pleat_pmi_source *source,
                             const struct pleat_pmi_sink *sink)
{
    return source->fd >= 0 && sink->queued.length - sink->written < QUEUE_MAX;
}

static void close_source(struct pleat_pmi_source *source)
{
    close(source->fd);
    source->fd = -1;
}

/* Passes on the first `count` bytes of the line that is not complete. */
static void pass_on(struct pleat_pmi_source *source, struct pleat_pmi_sink *sink, size_t count)
{
    if (sink->fd >= 0 && count)
        pleat_string_add_bytes(&sink->queued, source->partial.text, count);
    if (count)
        memmove(source->partial.text, source->partial.text + count, source->partial.length - count);
    source->partial.length -= count;
}

/* Passes on all whole lines, and a line that is too long in parts. */
static void pass_lines(struct pleat_pmi_source *source, struct pleat_pmi_sink *sink)
{
    const char *last =
        source->partial.length ? memrchr(source->partial.text, '\n', source->partial.length) : NULL;
    if (source->partial.length >= LINE_MAX_LENGTH)
        pass_on(source, sink, source->partial.length);
    else if (last)
        pass_on(source, sink, (size_t)(last - source->partial.text) + 1);
}

void pleat_pmi_source_read(struct pleat_pmi_source *source, struct pleat_pmi_sink *sink, bool all)
{
    char bytes[16384];
    size_t total = 0;
    while (source->fd >= 0) {
        ssize_t got = read(source->fd, bytes, sizeof(bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got > 0) {
            pleat_string_add_bytes(&source->partial, bytes, (size_t)got);
            source->since_us = pleat_clock_monotonic_us();
            pass_lines(source, sink);
        } else if (got == 0 || errno != EAGAIN) {
            close_source(source);
            all = true;
        }
        if (got < 0 || !all || (total += (size_t)got) >= PIPE_HOLDS)
            break;
    }
    if (all)
        pass_on(source, sink, source->partial.length);
    if (source->fd >= 0 && (sink->fd < 0 || source->partial.failed || sink->queued.failed))
        close_source(source);
}

int64_t pleat_pmi_source_flush(struct pleat_pmi_source *source, struct pleat_pmi_sink *sink,
                               int64_t now_us)
{
    if (source->partial.length == 0)
        return INT64_MAX;
    if (now_us < source->since_us + PART_US)
        return source->since_us + PART_US;
    pass_on(source, sink, source->partial.length);
    return INT64_MAX;
}

void pleat_pmi_source_finish(struct pleat_pmi_source *source)
{
    if (source->fd >= 0)
        close_source(source);
    pleat_string_finish(&source->partial);
}

/* Whether writing a little will not block. The sink may be a pipe that other processes share, so it
 * is not made nonblocking; poll promises room for PIPE_BUF bytes. */
static bool has_room(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLOUT};
    return poll(&polled, 1, 0) > 0;
}

void pleat_pmi_sink_write(struct pleat_pmi_sink *sink, bool wait)
{
    while (pleat_pmi_sink_waits(sink) && (wait || has_room(sink->fd))) {
        size_t left = sink->queued.length - sink->written;
        ssize_t written = write(sink->fd, sink->queued.text + sink->written,
                                left < PIPE_BUF || wait ? left : PIPE_BUF);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            if (errno != EPIPE)
                fprintf(stderr, "pleat-pmi: cannot pass on what is written: %s\n", strerror(errno));
            sink->fd = -1;
        } else {
            sink->written += (size_t)written;
        }
    }
    if (!pleat_pmi_sink_waits(sink))
        sink->queued.length = sink->written = 0;
}
