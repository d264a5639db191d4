/* timings.h - what iterations take, by size */
#ifndef PLEAT_CORE_TIMINGS_H
#define PLEAT_CORE_TIMINGS_H

#include "core/state.h"

/* Forgets what is known about the component's iterations. */
void timings_drop(struct pleat_core *core, uint32_t component);

#endif
