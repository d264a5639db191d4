/* What the core asks of the world: the effects of the call under way. */
#include <string.h>

#include "core/effects.h"
#include "core/state.h"

struct pleat_effect *emit(struct pleat_core *core, uint16_t kind, uint32_t component, uint64_t id)
{
    struct pleat_effects *out = core->out;
    if (pleat_array_reserve(out, 1)) {
        core->failed = 1;
        return NULL;
    }
    struct pleat_effect *effect = &out->items[out->count++];
    memset(effect, 0, sizeof(*effect)); /* in place: copying a record just written would stall */
    effect->time_us = now_of(core);
    effect->id = id;
    effect->kind = kind;
    effect->component = component;
    return effect;
}
