/* log_format.h - whether this pleatd knows all that the log may have in it */
#ifndef PLEAT_DAEMON_LOG_FORMAT_H
#define PLEAT_DAEMON_LOG_FORMAT_H

#include "base/error.h"

struct daemon;

/* Looks at what the pleatd that wrote the log knew. If this pleatd knows more, that is written down
 * before anything else is written. PLEAT_E_UNSUPPORTED: the other one knew more, so this pleatd
 * could take its records for damage; nothing is changed. */
int log_format_take(struct daemon *d, struct pleat_error *err);
/* Writes down what this pleatd knows, inside the caller's transaction. */
int log_format_put(struct daemon *d, struct pleat_error *err);

#endif
