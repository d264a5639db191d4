/* What an application says of its present run beside its limits: that its size must not change now,
 * and when it expects to end.
 *
 * While it says "not now" policies do not resize it. A resize that a policy wanted and that it was
 * told of already is taken back, so that no processors wait for it. Resizes that its user or the
 * application itself wants stay, and so do mandatory shrinks for others.
 *
 * The end that it expects is shown to users (pleat_view_likely_end). Policies reckon with it only
 * where the parameter EXPECTED_ENDS is set: a promise that relies on it is broken whenever the
 * program ends later than it said. */
#include "core/effects.h"
#include "core/handlers.h"
#include "core/resize_events.h"
#include "core/side.h"
#include "core/tally.h"

static bool is_of(const struct pleat_component *component, uint64_t run)
{
    return (component->state == PLEAT_RUNNING || component->state == PLEAT_RESIZING) &&
           component->run == run;
}

int on_section(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    uint32_t component = event->component;
    const struct pleat_component *comp = component_at(core, component);
    bool begins = event->flags & PLEAT_NOT_NOW;
    if (!is_of(comp, event->u.section.run) || comp->kind != PLEAT_MALLEABLE ||
        pleat_view_folds(comp) ||
        begins == (pleat_view_declaration(&core->view, comp)->not_now != 0))
        return PLEAT_CORE_STALE; /* the run is over, its size cannot change, or this is known */
    struct pleat_declaration *said = side_make(core, SIDE_DECLARATION, component);
    if (!said)
        return PLEAT_E_NOMEM;
    said->not_now = begins;
    core->view.sections |= begins;
    struct pleat_effect *note = emit_note(core, PLEAT_NOTE_SECTION, component, comp->run);
    if (note)
        note->flags = event->flags;
    if (begins && comp->resize != PLEAT_NONE)
        resize_put_off(core, comp->resize);
    core->wants_pass = true;
    return 0;
}

int on_expected(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    int64_t end_us = event->u.expected.end_us;
    const struct pleat_component *comp = component_at(core, event->component);
    if (!is_of(comp, event->u.expected.run) || end_us < 0 || end_us > PLEAT_NEVER / 4 ||
        pleat_view_declaration(&core->view, comp)->expected_us == end_us)
        return PLEAT_CORE_STALE;
    struct pleat_declaration *said = side_make(core, SIDE_DECLARATION, event->component);
    if (!said)
        return PLEAT_E_NOMEM;
    said->expected_us = end_us;
    if (end_us > 0 && core->parameters[PLEAT_PARAM_EXPECTED_ENDS]) {
        running_expect(core, event->component, end_us);
        core->wants_pass = true;
    }
    return 0;
}
