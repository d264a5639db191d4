/* checkpoint_times.h - checkpoints that a job was submitted with: every so often, and before its
 * time limit.
 *
 * Each moment at which one is due has a number, which is the moment itself in microseconds. So a
 * pleatd that was restarted asks for the same one, which the agent recognises, and an outcome in
 * the log says which moments are over. Where several moments have passed, as while no pleatd ran,
 * only the last of them counts.
 */
#ifndef PLEAT_DAEMON_CHECKPOINT_TIMES_H
#define PLEAT_DAEMON_CHECKPOINT_TIMES_H

#include <stdint.h>
#include <uv.h>

#include "base/array.h"
#include "base/error.h"

struct daemon;
struct job;

/* A running job with such checkpoints. */
struct timed_job {
    int64_t job;
    int64_t asked;    /* the moment for which one was asked last; 0: none */
    int64_t asked_us; /* when that was */
};

PLEAT_ARRAY(timed_jobs, struct timed_job);

/* The job runs, as far as is known. May be called again. */
void checkpoint_times_watch(struct daemon *d, const struct job *job);
/* The same for all that run, after a recovery. */
void checkpoint_times_recover(struct daemon *d);
/* Before anything else of these. */
void checkpoint_times_init(struct daemon *d);
/* Asks for what is due, and sees to the next look. */
void checkpoint_times_look(struct daemon *d);
/* The agent refuses checkpoint `number` of the job. If another one is being written it is asked for
 * again; otherwise that is noted, and the moment is over. One that nobody has asked for here is
 * left alone. */
void checkpoint_times_refused(struct daemon *d, const struct job *job, int64_t number,
                              const struct pleat_error *why);
/* A process of the job was asked for one, by a signal. An agent tells that until it is asked for it
 * with that number. */
void checkpoint_times_wanted(struct daemon *d, struct job *job, int64_t number);
void checkpoint_times_finish(struct daemon *d);

#endif
