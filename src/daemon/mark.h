/* mark.h - a file beside the log that says how far the log was. If the log lost its end without a
 * trace, the mark shows it.
 */
#ifndef PLEAT_DAEMON_MARK_H
#define PLEAT_DAEMON_MARK_H

#include <stdbool.h>
#include <stddef.h>

struct daemon;

/* The path of the log; `path` needs 600 bytes. */
void log_path(const struct daemon *d, char *path, size_t size);
/* Writes the mark. It is not synced: it outlives the death of pleatd, and a mark that is behind the
 * log after the machine's death does no harm. */
void log_mark(struct daemon *d);
/* Whether the log is behind its mark. Raises the highest job number to the mark's. */
bool log_is_behind(struct daemon *d);
/* Whether there is a log whose mark is missing or unreadable, so that nobody knows whether the
 * log's end is there. */
bool log_mark_is_lost(const struct daemon *d);
/* After a recovery: time goes on from the last record. keep: within the same boot of the machine it
 * goes on as before pleatd ended, whatever the system's clock says. */
void log_mark_clock(struct daemon *d, bool keep);
/* Takes d->secret_text from the mark, if that has it. */
void log_mark_secret(struct daemon *d);
/* Takes the instance from the mark; false if it has none. */
bool log_mark_instance(struct daemon *d);

#endif
