/* placed.h - placed components, until their processors are claimed */
#ifndef PLEAT_CORE_PLACED_H
#define PLEAT_CORE_PLACED_H

#include "core/state.h"

/* The component is PLACED: its files are brought and its processors claimed, each in its time. */
void component_placed(struct pleat_core *core, uint32_t component);
/* The time to claim for a placed component has come. */
void on_placed_deadline(struct pleat_core *core, uint32_t component);

#endif
