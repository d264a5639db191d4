/* unpack.h - reads compressed files (gzip, bzip2, xz, zstd) from a descriptor. */
#ifndef PLEAT_WORKLOAD_UNPACK_H
#define PLEAT_WORKLOAD_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* The number of bytes that tell whether a file is compressed. */
enum { PLEAT_UNPACK_BYTES = 6 };

/* Whether the first bytes of a file (fewer, where it is shorter) are those of a compressed file. */
bool pleat_unpack_needed(const char *begin, size_t length);

/* Unpacks a file that begins with these bytes, which are copied, and goes on at the descriptor,
 * which is borrowed. name: for errors. PLEAT_E_INVALID: the file cannot be unpacked. PLEAT_E_NOMEM.
 */
struct pleat_unpack;
int pleat_unpack_open(struct pleat_unpack **unpack, int fd, const char *begin, size_t length,
                      const char *name, struct pleat_error *err) PLEAT_MUST_CHECK;
/* As read(2): *got 0 at the end. PLEAT_E_INVALID: the file is damaged, or ends early. */
int pleat_unpack_read(struct pleat_unpack *unpack, char *bytes, size_t size, size_t *got,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts NULL. */
void pleat_unpack_close(struct pleat_unpack *unpack);

#endif
