/* effects.h - effects of the call under way */
#ifndef PLEAT_CORE_EFFECTS_H
#define PLEAT_CORE_EFFECTS_H

#include "core/state.h"

struct pleat_effect *emit(struct pleat_core *core, uint16_t kind, uint32_t component, uint64_t id);
/* Adds a note, if notes of this kind are wanted. NULL: they are not, or out of memory. */
static inline struct pleat_effect *emit_note(struct pleat_core *core, enum pleat_effect_kind kind,
                                             uint32_t component, uint64_t id)
{
    return core->notes & pleat_note_bit(kind) ? emit(core, (uint16_t)kind, component, id) : NULL;
}

#endif
