/* claiming.h - the processors of a start */
#ifndef PLEAT_CORE_CLAIMING_H
#define PLEAT_CORE_CLAIMING_H

#include "core/state.h"

/* Claims the `missing` processors of the component at its site. */
void component_claim(struct pleat_core *core, uint32_t component, int32_t missing);
/* The processors claimed for the component's start have come: all, or as many as there were. */
void component_claimed(struct pleat_core *core, uint32_t component);
/* The start of the component cannot go on: it goes to the front of the queue, or fails. */
void component_claim_failed(struct pleat_core *core, uint32_t component, enum pleat_reason reason);

#endif
