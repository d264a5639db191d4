/* limits.h - minimum and maximum of components */
#ifndef PLEAT_CORE_LIMITS_H
#define PLEAT_CORE_LIMITS_H

#include "core/state.h"

/* PLEAT_E_INVALID unless the limits make sense. */
int limits_check(int32_t minimum, int32_t maximum, struct pleat_error *err);
/* Is there a site on which it could run? err says what there is. */
int limits_check_fits(const struct pleat_core *core, const struct pleat_component *component,
                      struct pleat_error *err);
/* The run is over: what its application said of itself does not hold any more. */
void declared_forget(struct pleat_core *core, uint32_t component);
/* The same for a component that waits again, but what its application declared for its next runs,
 * too, stays: it is started at a size that the application can use. */
void declared_keep(struct pleat_core *core, uint32_t component);

#endif
