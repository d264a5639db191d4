/* What an application says of its present run beside its limits: that its size must not change now,
 * and when it expects to end.
 *
 * "Not now" keeps policies away from it; a resize that one of them wanted, and of which it was
 * told, is taken back, so that its processors need not wait for it. What its user or itself wants,
 * and a shrink for others that may not be refused, stays.
 *
 * When it expects to end is known for those who look (pleat_view_likely_end). Policies count with
 * that only where the parameter EXPECTED_ENDS says so: a promise that relies on a program's word
 * does not hold where the program is wrong, even if it only ends later than it said. */
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
        return PLEAT_CORE_STALE; /* the run is over, it cannot change, or that is known */
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
