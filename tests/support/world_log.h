/* world_log.h - what the log of a world must give when it is applied again. */
#ifndef PLEAT_TESTS_WORLD_LOG_H
#define PLEAT_TESTS_WORLD_LOG_H

#include "world.h"

/* A core from what pleat_core_save gave; fails the test if it cannot be loaded. */
struct pleat_core *world_core_of(const struct pleat_string *bytes);
/* Applying the whole log, decisions and all, to a new core gives the same records. */
void world_check_recovery(const struct world *world);
/* Applying only the inputs, and asking the policies at every PASS, gives the same decisions: from
 * the beginning (NULL), or from a state that was saved after the given number of records. */
void world_check_replay(const struct world *world, const struct pleat_string *from, size_t records);

#endif
