/* recover.h - recovers the core's state from the log */
#ifndef PLEAT_DAEMON_RECOVER_H
#define PLEAT_DAEMON_RECOVER_H

#include "base/error.h"

struct daemon;

int recover(struct daemon *d, struct pleat_error *err);
/* Queues inputs for what the configuration says differently from the log. */
void configure(struct daemon *d);

#endif
