/* submission.h - a submission becomes a job, inside a turn */
#ifndef PLEAT_DAEMON_SUBMISSION_H
#define PLEAT_DAEMON_SUBMISSION_H

#include "base/error.h"
#include "model/event.h"

struct daemon;
struct input;
struct pleat_spec;

/* Numbers the job, as only the turn can; its list of sizes goes into the log before it. */
int submission_prepare(struct daemon *d, struct input *input, struct pleat_error *err);
/* The core has taken it; its spec is written with it. */
void submission_taken(struct daemon *d, struct input *input);
/* Terms, partition, deadline, reservation, what it waits for, of a job just submitted. A
 * reservation that cannot be kept is known only now: the job is in the log, so it is cancelled
 * there, and its submission refused. */
int submission_complete(struct daemon *d, const struct pleat_event *submit,
                        const struct pleat_spec *spec, struct pleat_error *err);

#endif
