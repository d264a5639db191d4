#include "model/effect.h"

/* "claim", "start", ...; "?" for a number that is no effect's. */
static const char *effect_name(unsigned kind)
{
    static const char *const names[PLEAT_EFFECT_COUNT] = {
#define EFFECT(kind, number, name, member) [PLEAT_##kind] = (name),
#include "model/effects.def"
#undef EFFECT
    };
    return kind < PLEAT_EFFECT_COUNT && names[kind] ? names[kind] : "?";
}

int pleat_effect_unsupported(const struct pleat_effect *effect, const char *who,
                             struct pleat_error *err)
{
    if (effect->kind >= PLEAT_EFFECT_FIRST_NOTE)
        return 0;
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED, "%s does not carry out '%s' (effect %u)", who,
                           effect_name(effect->kind), effect->kind);
}
