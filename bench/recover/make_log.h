/* make_log.h - goes on with a daemon's log, as if jobs had run. */
#ifndef PLEAT_BENCH_MAKE_LOG_H
#define PLEAT_BENCH_MAKE_LOG_H

#include "base/error.h"

/* Appends what a daemon writes for `jobs` jobs that run one after the other for a moment each:
 * records, specs, accounts; and a checkpoint after the first 70 % of them (the daemon makes no
 * checkpoint before as many bytes of records have come as the last one has). The daemon that has
 * the log must have ended. */
int bench_make_log(const char *path, int jobs, struct pleat_error *err);

#endif
