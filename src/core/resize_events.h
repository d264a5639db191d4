/* resize_events.h - deadlines of resizes */
#ifndef PLEAT_CORE_RESIZE_EVENTS_H
#define PLEAT_CORE_RESIZE_EVENTS_H

#include "core/state.h"

void on_resize_deadline(struct pleat_core *core, uint32_t resize);

#endif
