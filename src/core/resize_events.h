/* resize_events.h - deadlines of resizes */
#ifndef PLEAT_CORE_RESIZE_EVENTS_H
#define PLEAT_CORE_RESIZE_EVENTS_H

#include "core/state.h"

/* The application says "not now": a resize that waits for it is taken back, unless it is
 * mandatory. */
void resize_put_off(struct pleat_core *core, uint32_t resize);
void on_resize_deadline(struct pleat_core *core, uint32_t resize);

/* The site takes the processors of a growth back, of which its application was told: it is
 * withdrawn. */
void resize_without_claim(struct pleat_core *core, uint32_t resize);

#endif
