/* files.h - files that are brought before a start */
#ifndef PLEAT_CORE_FILES_H
#define PLEAT_CORE_FILES_H

#include "core/state.h"

void inputs_free(struct pleat_core *core, uint32_t component);
/* The component is PLACED: its files are brought and its processors claimed, each in its time. */
void component_placed(struct pleat_core *core, uint32_t component);
/* The time to claim for a placed component has come. */
void on_placed_deadline(struct pleat_core *core, uint32_t component);
void stage_effect(struct pleat_core *core, uint32_t component);
/* Files on their way to the component are not wanted any more. */
void staging_drop(struct pleat_component *component);

#endif
