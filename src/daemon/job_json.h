/* job_json.h - a job as clients see it */
#ifndef PLEAT_DAEMON_JOB_JSON_H
#define PLEAT_DAEMON_JOB_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "model/types.h"

struct daemon;
struct job;
struct pleat_component;

/* A job as `job` answers it, with "history" if wanted; an ended job is taken from its account. NULL
 * when out of memory. */
json_t *job_to_json(struct daemon *d, struct job *job, bool history);
/* The same, always from the core's state of now. */
/* Why, and until when, a claim of the job waits in its site's own queue; null: none does. */
json_t *site_queue_to_json(struct daemon *d, const struct pleat_component *c);
json_t *job_now_to_json(struct daemon *d, struct job *job, bool history);
/* The members that a list of many jobs needs (`brief` of `jobs` in docs/protocol.md). */
json_t *job_brief(struct daemon *d, struct job *job);
/* While the log cannot be written: overrides members of a job whose submission is not in it. What
 * the core decided about such a job does not count, and nobody was told that the job exists. False:
 * the job is in the log, and nothing was changed. */
bool job_add_untaken(const struct daemon *d, json_t *object, int64_t job);
/* How many jobs there are in each state, without states that have none: {"queued":1,..}. */
json_t *jobs_counts(struct daemon *d);
/* The fewest and the most processors that a job may have, whether it folds or not. */
int32_t job_minimum(const struct pleat_view *view, const struct pleat_component *c);
int32_t job_maximum(const struct pleat_view *view, const struct pleat_component *c);
/* How many processes the job has now. */
int32_t job_processes(struct daemon *d, int64_t job, const struct pleat_component *c);
/* Sets submit_s, start_s, end_s, wait_s, run_s. */
void job_add_times(json_t *object, const struct pleat_component *c, int64_t now_us);

/* Microseconds as decimal seconds; null for PLEAT_NEVER. */
static inline json_t *json_seconds(int64_t us)
{
    return us == PLEAT_NEVER ? json_null() : json_real((double)us / 1e6);
}

#endif
