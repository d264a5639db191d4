/* output.h - what several processes write, passed on line by line.
 *
 * MPICH makes standard output unbuffered, so its processes write parts of lines; written to one
 * file these would mix. Lines are passed on whole, a part of one when nothing has followed it for a
 * moment (somebody is being asked for something), or when it is very long. Nothing blocks: as long
 * as nobody takes what is written, nothing more is read from the processes.
 */
#ifndef PLEAT_PMI_OUTPUT_H
#define PLEAT_PMI_OUTPUT_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/* From one process. */
struct pleat_pmi_source {
    int fd;                   /* -1: none, or at its end */
    struct pleat_string held; /* the beginning of a line */
    int64_t since_us;         /* the last of that came then (monotonic) */
};

/* Where it goes. */
struct pleat_pmi_sink {
    int fd;                     /* -1: it cannot be written to any more */
    struct pleat_string queued; /* to be written */
    size_t written;             /* of that */
};

/* Whether a source is to be read when it can be. */
bool pleat_pmi_source_wanted(const struct pleat_pmi_source *source,
                             const struct pleat_pmi_sink *sink);
/* Reads what is there (`all`: to the end of it, and part of a line counts as a whole one). Closes
 * it at its end, or where nothing can be written any more: the process gets EPIPE. */
void pleat_pmi_source_read(struct pleat_pmi_source *source, struct pleat_pmi_sink *sink, bool all);
/* Passes on a part of a line that has waited long enough; when the next one will have, or
 * INT64_MAX.
 */
int64_t pleat_pmi_source_flush(struct pleat_pmi_source *source, struct pleat_pmi_sink *sink,
                               int64_t now_us);
void pleat_pmi_source_finish(struct pleat_pmi_source *source);

/* Writes what can be written without waiting; `wait`: all of it. */
void pleat_pmi_sink_write(struct pleat_pmi_sink *sink, bool wait);
static inline bool pleat_pmi_sink_waits(const struct pleat_pmi_sink *sink)
{
    return sink->fd >= 0 && sink->written < sink->queued.length;
}

#endif
