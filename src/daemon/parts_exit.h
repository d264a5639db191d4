/* parts_exit.h - the end of a run, held back until nothing of it is left on its other nodes. */
#ifndef PLEAT_DAEMON_PARTS_EXIT_H
#define PLEAT_DAEMON_PARTS_EXIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct daemon;

/* A run has ended, as `params` say (of the notice `exited`; borrowed). True: that is held back. */
bool parts_hold(struct daemon *d, uint64_t run, const json_t *params);
/* The next end that is not held back any more, with what its parts used added: *params is the
 * caller's. */
bool parts_next_exit(struct daemon *d, uint64_t *run, json_t **params);
/* Ends runs that go on although a part of them ended badly by itself some seconds ago. To be called
 * now and then. */
void parts_end_spoiled(struct daemon *d);

#endif
