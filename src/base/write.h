/* write.h - writing all of something. */
#ifndef PLEAT_BASE_WRITE_H
#define PLEAT_BASE_WRITE_H

#include <stddef.h>

/* Writes all bytes: one write(2) may take only some of them, or be interrupted. Blocks until they
 * are taken, also where the descriptor does not block. Returns 0 or an errno. */
int pleat_write_all(int fd, const void *bytes, size_t count);

/* Replaces a file of Pleat's own as a whole, by one that only this user can read: whoever reads it
 * sees the old one or the new one, also if this process is killed. A symbolic link in its place is
 * replaced, not followed. Not synced. Returns 0 or an errno; then the file is as it was. The
 * directory may have PATH.new for a moment, and after a kill until the next call. */
int pleat_write_private(const char *path, const void *bytes, size_t count);

#endif
