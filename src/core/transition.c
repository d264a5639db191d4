/* The one table of states. docs/architecture.md draws it. */
#include "core/transition.h"
#include "core/effects.h"
#include "core/state.h"

#define TO(state) (1u << PLEAT_##state)

static const unsigned allowed[PLEAT_STATE_COUNT] = {
    [PLEAT_NEW] = TO(QUEUED),
    [PLEAT_QUEUED] = TO(PLACED) | TO(DONE) | TO(CANCELLED) | TO(FAILED),
    [PLEAT_PLACED] = TO(STAGING_IN) | TO(CLAIMING) | TO(QUEUED) | TO(FINISHING),
    [PLEAT_STAGING_IN] = TO(CLAIMING) | TO(QUEUED) | TO(FINISHING),
    [PLEAT_CLAIMING] = TO(RUNNING) | TO(FINISHING) | TO(QUEUED),
    [PLEAT_RUNNING] = TO(RESIZING) | TO(FINISHING),
    [PLEAT_RESIZING] = TO(RUNNING) | TO(FINISHING),
    [PLEAT_FINISHING] = TO(STAGING_OUT) | TO(DONE) | TO(FAILED) | TO(CANCELLED) | TO(QUEUED),
    [PLEAT_STAGING_OUT] = TO(DONE) | TO(FAILED) | TO(CANCELLED),
};

bool pleat_transition_allowed(enum pleat_component_state from, enum pleat_component_state to)
{
    return from < PLEAT_STATE_COUNT && to < PLEAT_STATE_COUNT && (allowed[from] >> to & 1u);
}

void note_state(struct pleat_core *core, uint32_t component, enum pleat_component_state from)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_effect *note = emit(core, PLEAT_NOTE_STATE, component, comp->job);
    if (!note)
        return;
    note->u.state.from = from;
    note->u.state.to = comp->state;
    note->u.state.reason = comp->reason;
}
