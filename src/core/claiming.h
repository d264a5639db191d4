/* claiming.h - the processors of a start */
#ifndef PLEAT_CORE_CLAIMING_H
#define PLEAT_CORE_CLAIMING_H

#include "core/state.h"

/* Claims the `missing` processors of the component at its site. */
void component_claim(struct pleat_core *core, uint32_t component, int32_t missing);
/* The processors claimed for the component's start have come: all, or as many as there were. */
void component_claimed(struct pleat_core *core, uint32_t component);
/* Was a component, whose claim fails for that reason, to start on more processors than any node of
 * its site has, where it keeps to one and fewer would do? How large nodes are may be known only
 * since it was placed. Then it is placed anew at once. */
bool component_would_be_smaller(const struct pleat_core *core, uint32_t component,
                                enum pleat_reason reason);
/* The start of the component cannot go on: it goes to the front of the queue, or fails. */
void component_claim_failed(struct pleat_core *core, uint32_t component, enum pleat_reason reason);

#endif
