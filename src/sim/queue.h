/* queue.h - the queue of a simulated batch system: who waits, who runs, and who may start.
 *
 * Jobs start in the order of their arrival. With backfilling (EASY: Lifka 1995; Mu'alem and
 * Feitelson 2001) a job may overtake those in front of it if that does not delay the first one.
 * This is so if its limit of time is over before the first one can start, as the limits of running
 * jobs say, or if it takes only processors that the first one leaves. The queue knows nothing of
 * Pleat and reads no clock. */
#ifndef PLEAT_SIM_QUEUE_H
#define PLEAT_SIM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

enum { QUEUE_DEPTH = 1000 }; /* how many waiting jobs are looked at, from the head on */
enum {
    QUEUE_MOST = 10000
}; /* while this many jobs wait none is drawn: batch systems have such
    * limits */
enum { QUEUE_OTHERS = UINT32_MAX }; /* owner of a job that is not Pleat's */

struct queue_job {
    int64_t limit_us; /* how long it runs at most; PLEAT_NEVER: no limit */
    int64_t run_us;   /* how long it runs; PLEAT_NEVER: until it is ended */
    int64_t ends_us;  /* running: when its limit is over */
    int64_t done_us;  /* running: when it ends by itself, or by its limit */
    int32_t count;    /* processors */
    uint32_t owner;   /* an allocation of Pleat's, or QUEUE_OTHERS */
};

PLEAT_ARRAY(queue_jobs, struct queue_job);

struct queue {
    struct queue_jobs waiting; /* in the order of arrival */
    struct queue_jobs running; /* in the order of ends_us */
    int32_t used;              /* processors of those that run */
    size_t own_waiting;        /* how many of the waiting jobs are Pleat's */
    bool backfills;
};

/* What the head of the queue waits for. */
struct queue_shadow {
    int64_t at_us; /* when the head can start; PLEAT_NEVER: nobody knows */
    int32_t extra; /* free processors that it leaves then */
};

/* A job arrives, behind all others. PLEAT_E_NOMEM. */
int queue_add(struct queue *queue, const struct queue_job *job);
/* When the head can start, if it cannot start now; `up`: processors of the cluster that are up. */
struct queue_shadow queue_shadow(const struct queue *queue, int32_t up);
/* Which waiting job may start now, with `up` processors up; SIZE_MAX: none. */
size_t queue_pick(const struct queue *queue, int32_t up, int64_t now_us);
/* Starts a waiting job; the record is valid until the next call. NULL: no memory. */
const struct queue_job *queue_start(struct queue *queue, size_t waiting, int64_t now_us);
/* Removes a running, or waiting, job. */
void queue_end(struct queue *queue, size_t running);
void queue_drop(struct queue *queue, size_t waiting);
/* When the next running job ends, by itself or by its limit; PLEAT_NEVER. */
int64_t queue_next(const struct queue *queue);
void queue_finish(struct queue *queue);

#endif
