/* parts_start.h - the request that starts a part of a run on its node */
#ifndef PLEAT_DAEMON_PARTS_START_H
#define PLEAT_DAEMON_PARTS_START_H

#include "daemon/parts.h"

/* Asks the agent of the part's node, which is connected, to start the part. */
int part_start(struct daemon *d, const struct part *part, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
