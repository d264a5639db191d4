/* local_load.h - how many processors of this machine are busy with what Pleat did not start.
 *
 * All busy time (/proc/stat) less that of Pleat's own processes: those whose environment would say
 * so are all descendants of a pleat-agent, so the sum runs over the trees below processes of that
 * name and of pleatd. Averaged over about 10 s; a whole processor more or less before it changes.
 */
#ifndef PLEAT_SITE_LOCAL_LOAD_H
#define PLEAT_SITE_LOCAL_LOAD_H

#include "base/error.h"

#include <stdint.h>

struct pleat_local_load;

/* Processors that this process may use. */
int32_t pleat_local_cpus(void);

/* root: "" for the real /proc, else a directory that has a proc/ (recorded machines, tests). */
int pleat_local_load_create(const char *root, struct pleat_local_load **load,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads /proc once. *background: processors busy with the work of others; 0 at the first call. */
int pleat_local_load_sample(struct pleat_local_load *load, int64_t now_us, int32_t *background,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_local_load_destroy(struct pleat_local_load *load);

#endif
