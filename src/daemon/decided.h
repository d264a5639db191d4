/* decided.h - the last decisions about a job */
#ifndef PLEAT_DAEMON_DECIDED_H
#define PLEAT_DAEMON_DECIDED_H

#include <jansson.h>

#include "base/error.h"

struct daemon;

/* Of a job, oldest first, from its notes. *queued_s: since when it
 * has been waiting (left as it is where that is not among them). */
int decided(struct daemon *d, int64_t job, json_t **decisions, double *queued_s,
            struct pleat_error *err);

#endif
