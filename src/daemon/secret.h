/* secret.h - of which names follow that others must not foresee */
#ifndef PLEAT_DAEMON_SECRET_H
#define PLEAT_DAEMON_SECRET_H

#include "base/error.h"

struct daemon;

/* Reads d->secret from the log, or makes one. */
int secret_take(struct daemon *d, struct pleat_error *err);

#endif
