/* log_format.h - whether this pleatd knows all that the log may have in it */
#ifndef PLEAT_DAEMON_LOG_FORMAT_H
#define PLEAT_DAEMON_LOG_FORMAT_H

#include "base/error.h"

struct daemon;

/* Looks at what the pleatd that wrote the log knew; where that is less than this one knows, writes
 * down what this one does, before anything else is written. PLEAT_E_UNSUPPORTED: it knew more, so
 * its records may be such that this pleatd would take them for damage; nothing is changed. */
int log_format_take(struct daemon *d, struct pleat_error *err);
/* Writes down what this pleatd knows, inside the caller's transaction. */
int log_format_put(struct daemon *d, struct pleat_error *err);

#endif
