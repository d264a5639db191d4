/* local_load.h - how many processors of this machine are busy with work that Pleat did not start.
 *
 * That is all busy time (/proc/stat) less the time of pleatd, pleat-guard, pleat-agent and all
 * their descendants. The result is averaged over about 10 s, and changes only when the average is
 * more than 0.75 processors away from it.
 */
#ifndef PLEAT_SITE_LOCAL_LOAD_H
#define PLEAT_SITE_LOCAL_LOAD_H

#include "base/error.h"

#include <stdint.h>

struct pleat_local_load;

/* The number of CPUs that this process may use. */
int32_t pleat_local_cpus(void);

/* root: "" for the real /proc, else a directory that has a proc/ (recorded machines, tests).
 * PLEAT_E_NOMEM, PLEAT_E_TOOBIG. */
int pleat_local_load_create(const char *root, struct pleat_local_load **load,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads /proc once, for all processes. *background: processors busy with the work of others; 0 at
 * the first call. PLEAT_E_SYSTEM, PLEAT_E_INVALID: /proc cannot be read or understood. */
int pleat_local_load_sample(struct pleat_local_load *load, int64_t now_us, int32_t *background,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* From now on the load is known by node. cpus: those of the slots, in their order; NULL: those that
 * this process may use. PLEAT_E_NOMEM. */
int pleat_local_load_divide(struct pleat_local_load *load, const char *cpus,
                            uint32_t nodes) PLEAT_MUST_CHECK;
/* processors[n]: the part of the last background that is on node n. */
void pleat_local_load_parts(const struct pleat_local_load *load, int32_t *processors);
void pleat_local_load_destroy(struct pleat_local_load *load);

#endif
