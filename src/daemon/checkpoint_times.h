/* checkpoint_times.h - checkpoints that a job was submitted with: at regular times, and before its
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
    int64_t asked;    /* the moment for which a checkpoint was asked for last; 0: none */
    int64_t asked_us; /* when it was asked for */
};

PLEAT_ARRAY(timed_jobs, struct timed_job);

/* The job runs, as far as is known. May be called again. */
void checkpoint_times_watch(struct daemon *d, const struct job *job);
/* The same for all running jobs, after a recovery. */
void checkpoint_times_recover(struct daemon *d);
/* To be called before any other function of this header. */
void checkpoint_times_init(struct daemon *d);
/* Asks for the checkpoints that are due, and sets the time of the next look. */
void checkpoint_times_look(struct daemon *d);
/* The agent refuses checkpoint `number` of the job. If the job is writing another one the
 * checkpoint is asked for again later; otherwise the refusal is noted, and the moment is over.
 * Checkpoints that were not asked for here are left alone. */
void checkpoint_times_refused(struct daemon *d, const struct job *job, int64_t number,
                              const struct pleat_error *why);
/* A process of the job was asked for a checkpoint, by a signal. The agent repeats this until it is
 * asked for the checkpoint with that number. */
void checkpoint_times_wanted(struct daemon *d, struct job *job, int64_t number);
void checkpoint_times_finish(struct daemon *d);

/* The checkpoint from which the job goes on when it is started again: the last one that it has
 * written, if its file is still there; of its user's requeuing none. Says so among its events.
 * NULL: there is none. Valid until the next checkpoint. */
const char *checkpoint_to_go_on_from(struct daemon *d, struct job *job);

#endif
