/* A component that has all that it needs is started, and runs. */
#include "core/running.h"
#include "core/buffer.h"
#include "core/deadlines.h"
#include "core/depend.h"
#include "core/effects.h"
#include "core/errors.h"
#include "core/handlers.h"
#include "core/move.h"
#include "core/node.h"
#include "core/resize.h"
#include "core/shares.h"
#include "core/state.h"
#include "core/tally.h"
#include "core/tell.h"
#include "core/terms.h"
#include "core/transition.h"

/* Inlined into both callers: every start goes through one of them. */
static inline __attribute__((always_inline)) void begin_running(struct pleat_core *core,
                                                                uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    const struct pleat_site *site = site_at(core, comp->site);
    comp->starting = 0;
    start_works(core, component);
    comp->start_us = now_of(core);
    comp->since_us = comp->start_us;
    comp->relaunches = 0;
    comp->signalled = PLEAT_SIGNALLED_NOT;
    comp->young = is_to_be_young(core, comp);
    if (comp->limit_us > 0 || core->view.lifetimes || !site->instant)
        running_arm(core, component);
    else
        disarm(core, &comp->deadline);
    comp->processors = comp->target;
    if (!pleat_view_folds(comp))
        comp->processes = comp->target;
    int64_t run_us = pleat_view_expected_run(comp, comp->processors);
    comp->expected_end_us =
        run_us < PLEAT_NEVER - comp->start_us ? comp->start_us + run_us : PLEAT_NEVER;
    set_state(core, component, PLEAT_RUNNING);
    if (comp->first_dependent != PLEAT_NONE)
        dependents_started(core, component);
    running_add(core, component);
    if (comp->buffer != PLEAT_NONE)
        buffer_enter(core, component);
    struct pleat_effect *note = emit_note(core, PLEAT_NOTE_SIZE, component, comp->run);
    if (note) {
        note->u.run.processors = comp->processors;
        note->u.run.processes = comp->processes;
    }
    if (comp->kind == PLEAT_MALLEABLE) { /* asked here: reading back the state just stored stalls */
        if (comp->declaration != PLEAT_NONE) /* its limits may have changed while it was started */
            comp->below = is_below(core, comp);
        resize_to_limits(core, component);
    }
    /* a pass is not needed if nobody can be resized and the site has no delays: the pass that
     * started the component knew that it would run */
    if (!site->instant || !core->settles || core->view.malleable_count > 0 || core->view.several)
        core->wants_pass = true;
}

void start_await(struct pleat_core *core, uint32_t component)
{
    start_or_reach(core, component);
    arm(core, &component_at(core, component)->deadline, DEADLINE_COMPONENT, component,
        now_of(core) + core->parameters[PLEAT_PARAM_START_US]);
}

void component_start(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    comp->run = core->next_id++;
    comp->starting = 1;
    comp->exited = 0;
    if (!site_at(core, comp->site)->instant) { /* it has no nodes: nobody is told */
        comp->lead_node = core_first_node(core, comp);
        shares_begin(core, component);
        start_await(core, component);
        return;
    }
    run_effect(core, component);
    begin_running(core, component);
}

int on_started(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    if (!component->starting || event->u.exit.run != component->run)
        return PLEAT_CORE_STALE;
    if (move_is_under_way(core, component)) {
        move_started(core, event->component);
        return 0;
    }
    if (component->state != PLEAT_CLAIMING)
        return PLEAT_CORE_STALE;
    begin_running(core, event->component);
    return 0;
}
