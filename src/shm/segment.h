/* segment.h - memory shared by an agent and the processes of a job: what mailbox.h and fold.h have
 * in common.
 *
 * It is a memfd, opened by the processes through /proc/AGENT/fd/N, so that nothing is left behind
 * however they end; sealed, so that nobody is hit by SIGBUS whatever the other side does; and it
 * says what it is, so that a library of another version finds out.
 */
#ifndef PLEAT_SHM_SEGMENT_H
#define PLEAT_SHM_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What every segment begins with. */
struct pleat_segment_header {
    uint64_t magic;
    uint32_t version;
    uint32_t count; /* of what it has room for: the kind says of what */
};

/* Constants of one kind of segment. */
struct pleat_segment_kind {
    const char *called;      /* "mailbox" */
    const char *memfd;       /* its name in /proc */
    const char *environment; /* the variable that holds its path */
    const char *library;     /* the one that opens it */
    uint64_t magic;
    uint32_t version;
    size_t least, most; /* bytes that one may have */
};

/* A new one of `bytes` bytes, all zero but the header's magic number and version. *fd is
 * close-on-exec; *at is to be unmapped by the caller. */
int pleat_segment_create(const struct pleat_segment_kind *kind, size_t bytes, void **at, int *fd,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Maps the one at `path`, if it is one of this kind and version. Whether the count fits the bytes
 * is for the caller to see: pleat_segment_contradicts is the message if it does not. */
int pleat_segment_open(const struct pleat_segment_kind *kind, const char *path, void **at,
                       size_t *bytes, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_segment_contradicts(const struct pleat_segment_kind *kind, const char *path, size_t bytes,
                              struct pleat_error *err);

#endif
