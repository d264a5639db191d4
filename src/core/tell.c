/* What is told to whoever runs a component: its START, its KILL, the steps of its resizes, the
 * signal before its time limit; and, after a restart or when an agent is back, what of that is not
 * answered yet. Nothing is decided here. */
#include "core/tell.h"
#include "core/effects.h"
#include "core/node.h"
#include "core/transition.h"
#include "model/occasion.h"

/* Emits KILL for a component in FINISHING, START for any other. */
void run_effect(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    bool kill = comp->state == PLEAT_FINISHING;
    struct pleat_effect *effect =
        emit(core, kill ? PLEAT_DO_KILL : PLEAT_DO_START, component, comp->run);
    if (!effect)
        return;
    effect->u.run.processors = comp->target;
    effect->u.run.processes = pleat_view_folds(comp) ? comp->processes : comp->target;
    effect->u.run.reason = comp->reason;
}

/* The occasion of a resize, as its application is told it. */
static enum pleat_occasion occasion_of(struct pleat_core *core, const struct pleat_resize *resize)
{
    const struct pleat_component *component = component_at(core, resize->component);
    const struct pleat_sizes sizes = pleat_view_sizes(&core->view, component);
    if (resize->to > resize->from)
        return resize->by_user ? PLEAT_OCCASION_USER : PLEAT_OCCASION_FREE;
    if (resize->waiter != PLEAT_NONE)
        return PLEAT_OCCASION_WAITING;
    if (!resize->by_user)
        return pleat_resize_is_by_site(resize) ? PLEAT_OCCASION_TAKEN : PLEAT_OCCASION_POLICY;
    bool usable =
        pleat_view_folds(component) || (resize->from <= component->maximum &&
                                        pleat_sizes_floor(&sizes, resize->from) == resize->from);
    return usable ? PLEAT_OCCASION_USER : PLEAT_OCCASION_LIMITS;
}

void resize_effect(struct pleat_core *core, uint32_t index, uint16_t kind,
                   enum pleat_outcome outcome)
{
    const struct pleat_resize *resize = resize_at(core, index);
    struct pleat_effect *effect = emit(core, kind, resize->component, resize->id);
    if (!effect)
        return;
    const struct pleat_component *component = component_at(core, resize->component);
    effect->flags = (uint16_t)((resize->mandatory ? PLEAT_MANDATORY : 0) |
                               (resize->by_user ? PLEAT_BY_USER : 0) |
                               pleat_occasion_flags(occasion_of(core, resize)));
    effect->u.change.run = component->run;
    effect->u.change.from = resize->from;
    effect->u.change.processors = resize->to;
    effect->u.change.processes = pleat_view_folds(component) ? component->processes : resize->to;
    effect->u.change.offered = resize->offered;
    effect->u.change.accepted = resize->accepted;
    effect->u.change.step = resize->step;
    effect->u.change.outcome = (uint8_t)outcome;
    effect->u.change.reason = resize->cause;
    effect->u.change.waiter = resize->waiter;
}

void resize_warn(struct pleat_core *core, uint32_t index)
{
    resize_note(core, index, PLEAT_NOTE_WARNING, PLEAT_OUTCOME_BAD_ANSWER);
}

static void reach_node(struct pleat_core *core, uint32_t component, uint32_t site, uint32_t node)
{
    struct pleat_effect *effect = emit(core, PLEAT_DO_REACH, component, 0);
    if (!effect)
        return;
    effect->u.reach.site = site;
    effect->u.reach.node = node;
}

static void reach(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    reach_node(core, component, comp->site, comp->lead_node);
}

uint32_t process_node(const struct pleat_core *core, uint32_t claim)
{
    const struct pleat_claim *c = &core->claims.items[claim];
    return pleat_view_claim_node(&core->view, c);
}

/* Emits that kind of effect about the process on a held claim, or REACH. */
static void process_order(struct pleat_core *core, uint32_t claim, uint16_t kind)
{
    const struct pleat_claim *c = claim_at(core, claim);
    const struct pleat_component *comp = component_at(core, c->component);
    const struct pleat_node *node =
        pleat_view_node(&core->view, c->site, process_node(core, claim));
    /* the run is led from there until it is over */
    if (!comp->exited && core_is_away(core, c->component)) {
        reach(core, c->component);
    } else if (node && node->away) {
        reach_node(core, c->component, c->site, node->node);
    } else {
        struct pleat_effect *effect = emit(core, kind, c->component, c->id);
        if (!effect)
            return;
        effect->u.claim.site = c->site;
        effect->u.claim.index = claim;
        effect->u.claim.count = c->count;
        effect->u.claim.state = c->state;
        effect->u.claim.purpose = c->purpose;
        effect->u.claim.run = comp->run;
    }
}

void process_effect(struct pleat_core *core, uint32_t claim)
{
    const struct pleat_claim *c = claim_at(core, claim);
    bool ends = c->process == PLEAT_KEPT_UNPREPARING;
    if (ends ||
        (c->process == PLEAT_KEPT_PREPARING && is_running(component_at(core, c->component))))
        process_order(core, claim, ends ? PLEAT_DO_UNPREPARE : PLEAT_DO_PREPARE);
}

void process_leave_effect(struct pleat_core *core, uint32_t claim)
{
    const struct pleat_claim *c = claim_at(core, claim);
    const bool leaves =
        c->state == PLEAT_CLAIM_HELD && c->purpose == PLEAT_FOR_RUN && c->lent & PLEAT_LENT_LEAVES;
    if (leaves && is_running(component_at(core, c->component)))
        process_order(core, claim, PLEAT_DO_LEAVE);
}

void processes_outstanding(struct pleat_core *core, uint32_t site, uint32_t node)
{
    for (uint32_t b = 0; core->view.prepares && b < core->buffers.count; b++) {
        uint32_t component = core->buffers.items[b].component;
        if (component == PLEAT_NONE)
            continue;
        bool led = component_at(core, component)->site == site &&
                   component_at(core, component)->lead_node == node;
        for (uint32_t c = core->buffers.items[b].first_claim; c != PLEAT_NONE;
             c = claim_at(core, c)->next)
            if (claim_at(core, c)->state == PLEAT_CLAIM_HELD &&
                (led || (claim_at(core, c)->site == site && process_node(core, c) == node)))
                process_effect(core, c);
        for (uint32_t c = component_at(core, component)->first_claim; c != PLEAT_NONE;
             c = claim_at(core, c)->next)
            if (led || (claim_at(core, c)->site == site && process_node(core, c) == node))
                process_leave_effect(core, c);
    }
}

void start_or_reach(struct pleat_core *core, uint32_t component)
{
    bool away = core_is_away(core, component);
    component_at(core, component)->untold = away;
    if (away)
        reach(core, component);
    else
        run_effect(core, component);
}

void ask_describe(struct pleat_core *core, uint32_t component, struct pleat_effect *effect)
{
    const struct pleat_component *comp = component_at(core, component);
    const struct pleat_ask *ask = pleat_view_ask(&core->view, comp);
    effect->u.asked.run = comp->run;
    effect->u.asked.number = ask->number;
    effect->u.asked.wanted = ask->wanted;
    effect->u.asked.processors = comp->processors;
    effect->u.asked.state = ask->state;
    effect->u.asked.reason = ask->reason;
    effect->u.asked.mandatory = ask->mandatory;
    effect->u.asked.unbegun = ask->unbegun;
}

void answer_effect(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    const struct pleat_ask *ask = pleat_view_ask(&core->view, comp);
    if ((ask->state != PLEAT_ASK_GRANTED && ask->state != PLEAT_ASK_REFUSED) ||
        (comp->state != PLEAT_RUNNING && comp->state != PLEAT_RESIZING) ||
        core_is_away(core, component))
        return; /* an agent that comes back is told */
    struct pleat_effect *effect = emit(core, PLEAT_DO_ANSWER, component, comp->run);
    if (effect)
        ask_describe(core, component, effect);
}

static void resize_outstanding(struct pleat_core *core, uint32_t index)
{
    switch (resize_at(core, index)->step) {
    case PLEAT_RESIZE_OFFERED:
        resize_effect(core, index, PLEAT_DO_ASK, PLEAT_OUTCOME_NONE);
        break;
    case PLEAT_RESIZE_GRANTED:
    case PLEAT_RESIZE_APPLIED:
        resize_effect(core, index, PLEAT_DO_RESIZE, PLEAT_OUTCOME_NONE);
        break;
    case PLEAT_RESIZE_WITHDRAWING:
        resize_effect(core, index, PLEAT_DO_WITHDRAW, PLEAT_OUTCOME_NONE);
        break;
    case PLEAT_RESIZE_RELAUNCHING:
        resize_effect(core, index, PLEAT_DO_RELAUNCH, PLEAT_OUTCOME_NONE);
        break;
    default:
        break;
    }
}

void outstanding_signal(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    if (comp->state != PLEAT_RUNNING && comp->state != PLEAT_RESIZING)
        return;
    if (core_is_away(core, component)) {
        reach(core, component);
        return;
    }
    struct pleat_effect *effect = emit(core, PLEAT_DO_SIGNAL, component, comp->run);
    if (!effect)
        return;
    const struct pleat_terms *terms = pleat_view_terms(&core->view, comp);
    effect->u.signal.number = terms->signal_number;
    effect->u.signal.script_only = terms->signal_script;
}

void outstanding_effects(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    bool run = comp->starting || (comp->state == PLEAT_FINISHING && !comp->exited);
    if (comp->signalled == PLEAT_SIGNALLED_TOLD)
        outstanding_signal(core, component);
    answer_effect(core, component);
    if (!run && comp->resize == PLEAT_NONE)
        return;
    if (core_is_away(core, component))
        reach(core, component);
    else if (run)
        run_effect(core, component);
    if (comp->resize != PLEAT_NONE && !core_is_away(core, component))
        resize_outstanding(core, comp->resize);
}
