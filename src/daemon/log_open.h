/* log_open.h - at a start: opens the log, and recovers the core from it */
#ifndef PLEAT_DAEMON_LOG_OPEN_H
#define PLEAT_DAEMON_LOG_OPEN_H

#include "base/error.h"

struct daemon;

/* Opens the log, or what can be read of it, and takes its instance. If pleatd did not end in order,
 * the structure of the whole file is checked first, which reads all of it. */
int log_open(struct daemon *d, struct pleat_error *err);
/* Creates the core and recovers it from the log, or from what can be read of it. */
int log_recover(struct daemon *d, struct pleat_error *err);

#endif
