/* write.h - the turn's transaction */
#ifndef PLEAT_DAEMON_WRITE_H
#define PLEAT_DAEMON_WRITE_H

#include "base/error.h"

struct daemon;

/* Writes what the turn has made, in one transaction. A damaged log is repaired first; the turn is
 * written in either case. */
int turn_write(struct daemon *d, struct pleat_error *err);

#endif
