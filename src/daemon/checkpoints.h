/* checkpoints.h - clients that wait for a checkpoint which they asked for (`checkpoint`) */
#ifndef PLEAT_DAEMON_CHECKPOINTS_H
#define PLEAT_DAEMON_CHECKPOINTS_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "daemon/checkpoint_times.h"

struct client;
struct daemon;

/* A checkpoint for which a client waits. */
struct awaited {
    struct awaited *next;
    struct client *client;
    int64_t request;
    int64_t checkpoint;
    int64_t job;
    uint64_t run;
    uint32_t site, node;
};

struct checkpoints {
    struct awaited *first;
    int64_t last; /* the last number given to a checkpoint */
    struct timed_jobs timed;
    uv_timer_t timer; /* of the next look at the awaited checkpoints */
};

/* A number for a checkpoint, above all that were given before, even by an earlier pleatd. */
int64_t checkpoint_number(struct daemon *d);
/* The client is answered when the outcome of the checkpoint is known. A copy of *awaited is
 * kept. */
int checkpoint_await(struct client *client, const struct awaited *awaited,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Answers the client that waits for the checkpoint, if there is one: with the result (stolen), or,
 * where that is NULL, with the failure. */
void checkpoint_settle(struct daemon *d, int64_t checkpoint, json_t *result,
                       const struct pleat_error *failure);
/* Takes a checkpoint for which this client waits out of the list, to be freed; NULL: there is
 * none. */
struct awaited *checkpoint_take_of(struct client *client);
/* Answers for jobs that have ended. */
void checkpoints_check(struct daemon *d);

#endif
