/* load_trace.h - a file of background load: a line "SECONDS PROCESSORS" for each change. */
#ifndef PLEAT_CLI_SIM_LOAD_TRACE_H
#define PLEAT_CLI_SIM_LOAD_TRACE_H

#include "sim/platform.h"

/* Appends the points in the file `name` to *trace, which the caller finishes in any case. A
 * relative path counts from the directory of the file `beside`. PLEAT_E_NOTFOUND: the file cannot
 * be read. PLEAT_E_INVALID: err begins with "FILE:LINE: ". PLEAT_E_NOMEM. */
int pleat_load_trace_read(const char *beside, const char *name, struct pleat_load_points *trace,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
