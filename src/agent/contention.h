/* contention.h - whether somebody else computes on a processor of a folded run.
 *
 * What a CPU was busy with (/proc/stat counts it) and the run's processes did not use was somebody
 * else's. The kernel counts in ticks, so a look needs a time of about ten of them, and a processor
 * changes its mark only when several looks in a row agree.
 */
#ifndef PLEAT_AGENT_CONTENTION_H
#define PLEAT_AGENT_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_CONTENTION_LOOK_US INT64_C(100000)

/* One processor; a zeroed one is not contended. */
struct pleat_contention {
    bool contended;
    uint8_t against; /* looks in a row that say the opposite */
};

/* What part of `elapsed_us` others used there: busy and own are what the CPU and the run's
 * processes on it used. Returns whether the mark has changed. */
bool pleat_contention_look(struct pleat_contention *contention, int64_t elapsed_us, int64_t busy_us,
                           int64_t own_us);

/* What each CPU [0, count) has been busy with since boot, in microseconds; 0 for those that are not
 * there. `proc` is a directory as /proc. PLEAT_E_SYSTEM. */
int pleat_contention_read(const char *proc, int64_t *busy_us, uint32_t count,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
