/* runs.h - runs that an agent may still know */
#ifndef PLEAT_DAEMON_RUNS_H
#define PLEAT_DAEMON_RUNS_H

#include <stdint.h>

#include "base/array.h"

struct daemon;

struct active_run {
    uint64_t run;
    uint32_t component;
};

PLEAT_ARRAY(active_runs, struct active_run);

void run_remember(struct daemon *d, uint64_t run, uint32_t component);
void run_forget(struct daemon *d, uint64_t run);
/* The component of a run, or PLEAT_NONE. */
uint32_t run_component(const struct daemon *d, uint64_t run);
/* A run of the component that is known, but not `except`; 0: there is none. */
uint64_t run_besides(const struct daemon *d, uint32_t component, uint64_t except);
/* run_note writes the number of the last run that a job was given into a file in the job's
 * directory; run_noted reads it; 0: the file is missing or has no number. */
void run_note(struct daemon *d, int64_t job, uint64_t run);
uint64_t run_noted(struct daemon *d, int64_t job);

#endif
