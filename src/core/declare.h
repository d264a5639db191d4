/* declare.h - what an application says of its own maximum */
#ifndef PLEAT_CORE_DECLARE_H
#define PLEAT_CORE_DECLARE_H

#include "core/state.h"

/* The user asks for the maximum `asked`: the component gets as much of it as its application can
 * use. Its minimum and sizes are those of the user already. */
void declared_apply(struct pleat_core *core, struct pleat_component *component, int32_t asked);
/* The run is over: what its application said of itself does not hold any more. */
void declared_forget(struct pleat_component *component);

#endif
