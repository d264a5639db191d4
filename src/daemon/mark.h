/* mark.h - how far the log was, in a file beside it: what is lost of its end without a trace
 * shows in that */
#ifndef PLEAT_DAEMON_MARK_H
#define PLEAT_DAEMON_MARK_H

#include <stdbool.h>
#include <stddef.h>

struct daemon;

/* The path of the log; a buffer of 600 bytes. */
void log_path(const struct daemon *d, char *path, size_t size);
/* Whether the log is behind its mark is known from it, so it is not synced: it outlives pleatd, and
 * only the death of the machine may leave it behind. */
void log_mark(struct daemon *d);
/* Whether the log is behind its mark; the highest number of a job is at least the mark's. */
bool log_is_behind(struct daemon *d);
/* There is a log, and its mark is missing or cannot be read: nobody knows whether its end is there.
 */
bool log_mark_is_lost(const struct daemon *d);
/* After a recovery: the time goes on from the last record; keep: as it went before, in the same
 * boot of the machine, whatever the system's clock says. */
void log_mark_clock(struct daemon *d, bool keep);
/* Takes the instance from the mark; false where it has none. */
bool log_mark_instance(struct daemon *d);

#endif
