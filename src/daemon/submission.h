/* submission.h - turns an input of the kind SUBMIT into a job, inside a turn */
#ifndef PLEAT_DAEMON_SUBMISSION_H
#define PLEAT_DAEMON_SUBMISSION_H

#include "base/error.h"
#include "model/event.h"

struct daemon;
struct input;
struct pleat_spec;

/* Before the core gets the submission: gives the job its number, and writes its list of accepted
 * sizes into the log, if it has one that is new. */
int submission_prepare(struct daemon *d, struct input *input, struct pleat_error *err);
/* The core has accepted the submission: the job's spec will be written with it. */
void submission_taken(struct daemon *d, struct input *input);
/* Applies what follows a submission: terms, partition, deadline, reservation, what the job waits
 * for. A reservation that cannot be kept shows only here. The job is in the log by then, so it is
 * cancelled there, and an error is returned for its submission. */
int submission_complete(struct daemon *d, const struct pleat_event *submit,
                        const struct pleat_spec *spec, struct pleat_error *err);

#endif
