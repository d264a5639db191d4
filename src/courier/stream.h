/* stream.h - a file into which the output of a run is written, once for each byte. */
#ifndef PLEAT_COURIER_STREAM_H
#define PLEAT_COURIER_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "courier/record.h"

struct stream {
    int fd;             /* -1: this stream is not the courier's */
    bool is_file;       /* a regular file; else a pipe or a device, which has no places */
    const char *beside; /* the path of its record */
    struct record record;
};

/* Opens `path`, behind what is in it. truncate: it is emptied first, unless this run has begun to
 * write to it. Returns 0 or an errno. */
int stream_open(struct stream *stream, const char *path, const char *beside, uint64_t run,
                bool truncate);
/* Writes a piece of the run's output, whose first byte has the number `offset`, as far as it is not
 * in the file yet. Returns 0 or an errno; then what was written of it counts, and it may come
 * again. */
int stream_put(struct stream *stream, int64_t offset, const char *bytes, size_t count);

#endif
