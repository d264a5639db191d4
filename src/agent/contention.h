/* contention.h - whether a foreign process computes on a processor of a folded run.
 *
 * Time for which a CPU was busy (/proc/stat counts it) and which the run's processes did not use
 * was used by others. The kernel counts in ticks, so the time between two looks must be about ten
 * ticks. The mark of a processor changes only when several looks in a row agree.
 */
#ifndef PLEAT_AGENT_CONTENTION_H
#define PLEAT_AGENT_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_CONTENTION_LOOK_US INT64_C(100000)

/* The mark of one processor. Zeroed: not contended. */
struct pleat_contention {
    bool contended;
    uint8_t against; /* looks in a row that contradict the mark */
};

/* Takes one look into account. During elapsed_us the CPU was busy for busy_us, and the run's
 * processes used own_us of it. Returns whether the mark has changed. */
bool pleat_contention_look(struct pleat_contention *contention, int64_t elapsed_us, int64_t busy_us,
                           int64_t own_us);

/* Microseconds since boot for which each CPU [0, count) was busy; 0 for a CPU that is not there.
 * `proc` is a directory like /proc. PLEAT_E_SYSTEM. */
int pleat_contention_read(const char *proc, int64_t *busy_us, uint32_t count,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
