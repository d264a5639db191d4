/* check_holds.h - recounting what holds components */
#ifndef PLEAT_CORE_CHECK_HOLDS_H
#define PLEAT_CORE_CHECK_HOLDS_H

#include "core/state.h"

/* Checks what holds one component; and all groups and dependencies. */
int core_check_holds(const struct pleat_core *core, uint32_t component, struct pleat_error *err);
int core_check_groups(const struct pleat_core *core, struct pleat_error *err);

#endif
