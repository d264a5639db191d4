/* files.h - files that are brought before a start */
#ifndef PLEAT_CORE_FILES_H
#define PLEAT_CORE_FILES_H

#include "core/state.h"

PLEAT_COLD void inputs_free(struct pleat_core *core, uint32_t component);
/* The files of a PLACED component are brought to its site, unless they are there. */
PLEAT_COLD void files_bring(struct pleat_core *core, uint32_t component);
PLEAT_COLD void stage_effect(struct pleat_core *core, uint32_t component);
/* Gives up the files on their way to the component. */
PLEAT_COLD void staging_drop(struct pleat_core *core, uint32_t component);

#endif
