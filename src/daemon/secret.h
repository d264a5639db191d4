/* secret.h - a random key of the instance, from which names follow that other users must not
 * foresee
 */
#ifndef PLEAT_DAEMON_SECRET_H
#define PLEAT_DAEMON_SECRET_H

#include "base/error.h"

struct daemon;

/* Reads d->secret and d->secret_text from the log, or, if that has none, from the mark; otherwise
 * makes one. What the log had not is written. */
int secret_take(struct daemon *d, struct pleat_error *err);

#endif
