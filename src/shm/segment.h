/* segment.h - memory shared by an agent and the processes of a job: what mailbox.h and fold.h have
 * in common.
 *
 * It is a memfd, which the processes open through /proc/AGENT/fd/N, so that nothing is left behind,
 * however they end. It is sealed, so that no process gets SIGBUS, whatever the other side does. Its
 * header names kind and version, so that a library of another version notices.
 */
#ifndef PLEAT_SHM_SEGMENT_H
#define PLEAT_SHM_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The beginning of every segment. */
struct pleat_segment_header {
    uint64_t magic;
    uint32_t version;
    uint32_t count; /* number of ranks or processes for which it has room */
};

/* The constants of one kind of segment. */
struct pleat_segment_kind {
    const char *called;      /* for messages, such as "mailbox" */
    const char *memfd;       /* its name in /proc */
    const char *environment; /* environment variable with its path */
    const char *library;     /* the library that opens it, for messages */
    uint64_t magic;
    uint32_t version;
    size_t least, most; /* sizes that it may have, in bytes */
};

/* Makes a segment of `bytes` bytes, all zero but the header's magic number and version. *fd is
 * close-on-exec; the caller unmaps *at. PLEAT_E_SYSTEM. */
int pleat_segment_create(const struct pleat_segment_kind *kind, size_t bytes, void **at, int *fd,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Maps the segment at `path`, if it has this kind and version; the caller unmaps *at. The caller
 * must check that header.count fits *bytes; pleat_segment_contradicts makes the error if it does
 * not. */
int pleat_segment_open(const struct pleat_segment_kind *kind, const char *path, void **at,
                       size_t *bytes, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_segment_contradicts(const struct pleat_segment_kind *kind, const char *path, size_t bytes,
                              struct pleat_error *err);

#endif
