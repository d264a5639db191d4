/* The largest size that an application says it can use, while it runs. Until the run ends this size
 * is the component's maximum, within the limits that its user asked for. */
#include "core/declare.h"
#include "core/handlers.h"
#include "core/limits.h"
#include "core/state.h"
#include "core/tally.h"

void declared_apply(struct pleat_core *core, struct pleat_component *component, int32_t asked)
{
    component->maximum = asked;
    component->asked = component->declared ? asked : 0;
    if (component->declared == 0 || component->declared >= asked)
        return;
    /* the user's minimum holds, and the application must accept some size up to the maximum */
    int32_t least = pleat_accept_smallest(&core->view, component);
    int32_t most = pleat_larger(component->declared, pleat_larger(least, 1));
    if (most < asked)
        component->maximum = most;
}

void declared_forget(struct pleat_component *component)
{
    if (component->declared)
        component->maximum = component->asked;
    component->declared = component->asked = 0;
}

int on_declared(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    int32_t maximum = event->u.declared.maximum;
    if ((component->state != PLEAT_RUNNING && component->state != PLEAT_RESIZING) ||
        event->u.declared.run != component->run || component->kind != PLEAT_MALLEABLE ||
        pleat_view_folds(component))
        return PLEAT_CORE_STALE; /* the run is over, or its size cannot change */
    if (maximum < 0 || maximum > PLEAT_SIZE_MAX || maximum == component->declared)
        return PLEAT_CORE_STALE;
    int32_t asked = pleat_view_asked(component), before = component->maximum;
    tally_out(core, event->component);
    component->declared = maximum;
    declared_apply(core, component, asked);
    tally_in(core, event->component);
    if (component->maximum != before)
        limits_changed(core, event->component);
    return 0;
}
