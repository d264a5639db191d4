/* check_jobs.h - recounting jobs of several components */
#ifndef PLEAT_CORE_CHECK_JOBS_H
#define PLEAT_CORE_CHECK_JOBS_H

#include "core/state.h"

int core_check_jobs(const struct pleat_core *core, struct pleat_error *err);

#endif
