/* relaunch.h - ending all processes of a run, and starting it again */
#ifndef PLEAT_CORE_RELAUNCH_H
#define PLEAT_CORE_RELAUNCH_H

#include "core/state.h"

/* A resize cannot go on. All processes of the job are ended, and it is started again on
 * `processors`; where that is not possible, or not once more, the job is ended. */
PLEAT_COLD void relaunch_or_kill(struct pleat_core *core, uint32_t resize, int32_t processors,
                                 enum pleat_reason cause);
/* The component's processes died in a resize, or before they went on after one. False: the
 * component stays ended. */
PLEAT_COLD bool relaunch_broken(struct pleat_core *core, uint32_t component);

#endif
