/* check_component.h - recounting what one component has */
#ifndef PLEAT_CORE_CHECK_COMPONENT_H
#define PLEAT_CORE_CHECK_COMPONENT_H

#include "core/state.h"

/* Compares what a component holds with its state. */
int core_check_component(const struct pleat_core *core, uint32_t index, struct pleat_error *err);

#endif
