/* jobs.h - this user's jobs: qstat's answers as the protocol has jobs. */
#ifndef PLEAT_GRIDENGINE_JOBS_H
#define PLEAT_GRIDENGINE_JOBS_H

#include <jansson.h>

#include "adapter/operations.h"

/* Grid Engine allows no colons in names of jobs, and Pleat's names have no equals signs: so one
 * stands for the other there. `out` has room for PLEAT_ADAPTER_NAME_MAX bytes and a NUL. */
void pleat_gridengine_name_out(const char *name, char *out);

/* As pleat_adapter_ops.jobs. */
int pleat_gridengine_jobs(json_t **jobs, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The jobs in what `qstat -xml -r -g t` says; a reason may be "?". */
json_t *pleat_gridengine_jobs_of(const json_t *root);
/* Whether this user has such a job that is not over. */
int pleat_gridengine_has_job(uint32_t number, const char *name, bool *has,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
#endif
