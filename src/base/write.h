/* write.h - writing all of something. */
#ifndef PLEAT_BASE_WRITE_H
#define PLEAT_BASE_WRITE_H

#include <stddef.h>

/* Writes all bytes: one write(2) may take only some of them, or be interrupted. Blocks until they
 * are taken, also where the descriptor does not block. Returns 0 or an errno. */
int pleat_write_all(int fd, const void *bytes, size_t count);

#endif
