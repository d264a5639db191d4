/* log_open.h - at a start: the log, and the core recovered from it */
#ifndef PLEAT_DAEMON_LOG_OPEN_H
#define PLEAT_DAEMON_LOG_OPEN_H

#include "base/error.h"

struct daemon;

/* Opens the log, or what is good of it, and takes its instance. After a death of pleatd its
 * structure is checked first, which reads all of it. */
int log_open(struct daemon *d, struct pleat_error *err);
/* Creates the core and recovers it from the log, or from what is good of it. */
int log_recover(struct daemon *d, struct pleat_error *err);

#endif
