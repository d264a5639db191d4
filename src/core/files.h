/* files.h - files that are brought before a start */
#ifndef PLEAT_CORE_FILES_H
#define PLEAT_CORE_FILES_H

#include "core/state.h"

void inputs_free(struct pleat_core *core, uint32_t component);
/* The files of a PLACED component are brought to its site, unless they are there. */
void files_bring(struct pleat_core *core, uint32_t component);
void stage_effect(struct pleat_core *core, uint32_t component);
/* Files on their way to the component are not wanted any more. */
void staging_drop(struct pleat_core *core, uint32_t component);

#endif
