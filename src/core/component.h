/* component.h - the life of one component, from start to end */
#ifndef PLEAT_CORE_COMPONENT_H
#define PLEAT_CORE_COMPONENT_H

#include "core/state.h"

void on_component_deadline(struct pleat_core *core, uint32_t component);

#endif
