/* said.h - what jobs' programs say of their present run: "not now", and when they expect to end */
#ifndef PLEAT_DAEMON_SAID_H
#define PLEAT_DAEMON_SAID_H

#include <jansson.h>
#include <stdint.h>

struct daemon;
struct job;

/* What an agent's notice `progress` says of that becomes inputs of the core, where it is news. */
void said_take(struct daemon *d, const struct job *job, uint64_t run, const json_t *params);

#endif
