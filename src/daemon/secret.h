/* secret.h - a random key of the instance, from which names follow that other users must not
 * foresee
 */
#ifndef PLEAT_DAEMON_SECRET_H
#define PLEAT_DAEMON_SECRET_H

#include "base/error.h"

struct daemon;

/* Reads d->secret from the log; if there is none, makes one and writes it. */
int secret_take(struct daemon *d, struct pleat_error *err);

#endif
