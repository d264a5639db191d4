/* asked.h - what jobs' programs ask for while they run */
#ifndef PLEAT_DAEMON_ASKED_H
#define PLEAT_DAEMON_ASKED_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"

struct daemon;
struct job;

/* An agent's notice `asked` becomes an input of the core, if it is news. */
int asked_take(struct daemon *d, const struct job *job, uint64_t run, const json_t *params,
               struct pleat_error *err);
#endif
