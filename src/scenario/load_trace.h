/* load_trace.h - the use of a simulated site by others, from files: background load, with a line
 * "SECONDS PROCESSORS" for each change, or jobs (Standard Workload Format). */
#ifndef PLEAT_SCENARIO_LOAD_TRACE_H
#define PLEAT_SCENARIO_LOAD_TRACE_H

#include "sim/platform.h"

/* Appends the points in the file `name` to *trace, which the caller finishes in any case. A
 * relative path counts from the directory of the file `beside`. PLEAT_E_NOTFOUND: the file cannot
 * be read. PLEAT_E_INVALID: err begins with "FILE:LINE: ". PLEAT_E_NOMEM. */
int pleat_load_trace_read(const char *beside, const char *name, struct pleat_load_points *trace,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* Appends the jobs of the log `name` to those of others in the site's queue; their limits are their
 * users' estimates, else their run times. A relative path counts as above. PLEAT_E_INVALID: the log
 * is wrong (err names file, line and column), or has a job with more processors than the site. */
int pleat_load_log_read(const char *beside, const char *name, struct pleat_sim_site *site,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
