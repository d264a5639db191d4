/* decided.h - the last decisions about a job */
#ifndef PLEAT_DAEMON_DECIDED_H
#define PLEAT_DAEMON_DECIDED_H

#include <jansson.h>

#include "base/error.h"

struct daemon;

/* Gives the last decisions about a job, oldest first, from its notes; the caller owns *decisions.
 * *queued_s: since when the job has been waiting, in seconds since 1970; unchanged where the notes
 * do not say it. */
int decided(struct daemon *d, int64_t job, json_t **decisions, double *queued_s,
            struct pleat_error *err);

#endif
