/* output.h - passes on what several processes write, line by line.
 *
 * MPICH makes standard output unbuffered, so its processes write parts of lines, which would mix in
 * one file. Lines are passed on whole. A part of a line is passed on if nothing has followed it for
 * 50 ms (such as a question to the user), or if it is very long. Nothing blocks: while nobody takes
 * what is written, nothing more is read from the processes.
 */
#ifndef PLEAT_PMI_OUTPUT_H
#define PLEAT_PMI_OUTPUT_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/* Output of one process. */
struct pleat_pmi_source {
    int fd;                      /* -1: none, or at its end */
    struct pleat_string partial; /* the beginning of a line, not passed on yet */
    int64_t since_us;            /* when the last of it came (monotonic time) */
};

/* Where the output goes. */
struct pleat_pmi_sink {
    int fd;                     /* -1: it cannot be written to any more */
    struct pleat_string queued; /* waits to be written */
    size_t written;             /* bytes of `queued` that are written */
};

/* Whether a source should be read when it has something. */
bool pleat_pmi_source_wanted(const struct pleat_pmi_source *source,
                             const struct pleat_pmi_sink *sink);
/* Reads what is there. all: to the end of it, and a part of a line counts as a whole one. Closes
 * the source at its end, or if the sink cannot be written to any more: then the process gets EPIPE.
 */
void pleat_pmi_source_read(struct pleat_pmi_source *source, struct pleat_pmi_sink *sink, bool all);
/* Passes on a part of a line that has waited long enough. Returns when the next part will have;
 * INT64_MAX: there is none. */
int64_t pleat_pmi_source_flush(struct pleat_pmi_source *source, struct pleat_pmi_sink *sink,
                               int64_t now_us);
void pleat_pmi_source_finish(struct pleat_pmi_source *source);

/* Writes what can be written without waiting; with `wait` all of it, which blocks. */
void pleat_pmi_sink_write(struct pleat_pmi_sink *sink, bool wait);
static inline bool pleat_pmi_sink_waits(const struct pleat_pmi_sink *sink)
{
    return sink->fd >= 0 && sink->written < sink->queued.length;
}

#endif
