/* A resize is a transaction: offered, accepted, granted, applied, completed or rolled back. Every
 * step has a deadline, every end a name. Processors count as the job's until its processes on them
 * are gone. docs/architecture.md has the table of steps. */
#include "core/resize.h"
#include "core/asks.h"
#include "core/buffer.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/effects.h"
#include "core/lent.h"
#include "core/node.h"
#include "core/shares.h"
#include "core/side.h"
#include "core/state.h"
#include "core/tally.h"
#include "core/tell.h"
#include "core/terms.h"
#include "core/transition.h"

static uint32_t resize_new(struct pleat_core *core)
{
    uint32_t index = core->free_resize;
    if (index != PLEAT_NONE) {
        core->free_resize = resize_at(core, index)->waiter;
        return index;
    }
    if (pleat_array_reserve(&core->resizes, 1)) {
        core->failed = 1;
        return PLEAT_NONE;
    }
    return (uint32_t)core->resizes.count++;
}

void resize_arm(struct pleat_core *core, uint32_t index, int64_t us)
{
    struct pleat_resize *resize = resize_at(core, index);
    resize->left_us = 0;
    if (resize->step == PLEAT_RESIZE_ACCEPTED || !core_is_away(core, resize->component)) {
        arm(core, &resize->deadline, DEADLINE_RESIZE, index, now_of(core) + us);
        return;
    }
    disarm(core, &resize->deadline);
    resize->left_us = us > 0 ? us : 1;
}

void resize_step(struct pleat_core *core, uint32_t index, enum pleat_resize_step step, int64_t us)
{
    resize_at(core, index)->step = (uint8_t)step;
    resize_note(core, index, PLEAT_NOTE_RESIZE, PLEAT_OUTCOME_NONE);
    resize_arm(core, index, us);
}

static void step_to(struct pleat_core *core, uint32_t index, enum pleat_resize_step step,
                    enum pleat_parameter limit)
{
    resize_step(core, index, step, core->parameters[limit]);
}

/* Counts what a shrink will free (sign 1), or takes that back (sign -1): as coming to its waiter,
 * or else to its site. */
static void announce(struct pleat_core *core, const struct pleat_resize *resize, int sign)
{
    if (resize->to >= resize->from || resize->step == PLEAT_RESIZE_MOVING)
        return;
    int32_t count = sign * (resize->from - resize->to);
    uint32_t site = component_at(core, resize->component)->site;
    if (resize->waiter == PLEAT_NONE) {
        site_at(core, site)->coming += count;
        return;
    }
    struct pleat_component *waiter = component_at(core, resize->waiter);
    waiter->coming += count;
    waiter->site = site;
    if (sign > 0 && waiter->state == PLEAT_QUEUED) /* the waiter will be on this node */
        waiter->lead_node = component_at(core, resize->component)->lead_node;
    if (waiter->coming == 0 && waiter->earmarked == 0 && waiter->state == PLEAT_QUEUED)
        waiter->site = PLEAT_NONE; /* nothing ties the waiter to that site any more */
}

void resize_retarget(struct pleat_core *core, uint32_t index, int32_t to)
{
    struct pleat_resize *resize = resize_at(core, index);
    tally_out(core, resize->component);
    announce(core, resize, -1);
    resize->to = to;
    component_at(core, resize->component)->target = to;
    announce(core, resize, 1);
    tally_in(core, resize->component);
}

void resize_accept_size(struct pleat_core *core, uint32_t index, int32_t to)
{
    struct pleat_resize *resize = resize_at(core, index);
    resize->accepted = to > resize->from ? to - resize->from : resize->from - to;
    resize_retarget(core, index, to);
}

bool resize_may_wait(const struct pleat_core *core, const struct pleat_resize *resize)
{
    const struct pleat_ask *ask =
        pleat_view_ask(&core->view, &core->view.components[resize->component]);
    bool asked = ask->state == PLEAT_ASK_PENDING && ask->from == resize->from &&
                 ask->more == (resize->to > resize->from);
    return !resize->mandatory && !resize->by_user && !asked;
}

void resize_grant(struct pleat_core *core, uint32_t index)
{
    struct pleat_resize *resize = resize_at(core, index);
    if (pleat_view_is_not_now(&core->view, component_at(core, resize->component)) &&
        resize_may_wait(core, resize)) {
        resize_end(core, index, PLEAT_OUTCOME_NOT_NOW);
        return;
    }
    if (resize->to < resize->from)
        shares_leave(core, resize->component, resize->from - resize->to);
    resize_step(core, index, PLEAT_RESIZE_GRANTED,
                resize->mandatory ? notice_of(core, component_at(core, resize->component))
                                  : core->parameters[PLEAT_PARAM_APPLY_US]);
    resize_effect(core, index, PLEAT_DO_RESIZE, PLEAT_OUTCOME_NONE);
}

void resize_accepted(struct pleat_core *core, uint32_t index)
{
    struct pleat_resize *resize = resize_at(core, index);
    if (resize->to < resize->from) {
        resize_grant(core, index);
        return;
    }
    step_to(core, index, PLEAT_RESIZE_ACCEPTED, PLEAT_PARAM_CLAIM_US);
    uint32_t component = resize->component;
    uint32_t claim = claim_request(core, component, component_at(core, component)->site,
                                   resize->to - resize->from, PLEAT_FOR_GROWTH);
    resize_at(core, index)->claim = claim;
    if (claim != PLEAT_NONE && claim_at(core, claim)->state == PLEAT_CLAIM_HELD)
        resize_claimed(core, index);
}

uint32_t resize_open(struct pleat_core *core, uint32_t component, int32_t target, int32_t offered,
                     bool mandatory, bool by_user, uint32_t waiter)
{
    uint32_t index = resize_new(core);
    if (index == PLEAT_NONE)
        return index;
    struct pleat_component *comp = component_at(core, component);
    int32_t change = target - comp->processors;
    *resize_at(core, index) = (struct pleat_resize){
        .id = core->next_id++,
        .begun_us = now_of(core),
        .component = component,
        .waiter = waiter,
        .claim = PLEAT_NONE,
        .deadline = PLEAT_HEAP_NONE,
        .from = comp->processors,
        .to = target,
        .offered = offered < 0 ? -offered : offered,
        .accepted = change < 0 ? -change : change,
        .mandatory = mandatory,
        .by_user = by_user,
    };
    ask_begun(core, component, target);
    tally_out(core, component);
    set_state(core, component, PLEAT_RESIZING);
    comp->resize = index;
    comp->target = target;
    comp->young = is_to_be_young(core, comp);
    tally_in(core, component);
    site_at(core, comp->site)->resizing_count += !comp->young;
    announce(core, resize_at(core, index), 1);
    if (comp->buffer != PLEAT_NONE)
        buffer_trim(core, component);
    return index;
}

/* The first step of a resize that is open. */
static void first_step(struct pleat_core *core, uint32_t index)
{
    const struct pleat_component *comp = component_at(core, resize_at(core, index)->component);
    /* an application that waits in its beginning answers no offers: it needs what it asked for */
    if (comp->flags & PLEAT_COMPONENT_ASKS && !pleat_view_is_unbegun(&core->view, comp)) {
        step_to(core, index, PLEAT_RESIZE_OFFERED, PLEAT_PARAM_ANSWER_US);
        resize_effect(core, index, PLEAT_DO_ASK, PLEAT_OUTCOME_NONE);
    } else {
        resize_accepted(core, index);
    }
}

void resize_begin(struct pleat_core *core, uint32_t component, int32_t target, int32_t offered,
                  bool mandatory, bool by_user, uint32_t waiter)
{
    uint32_t index = resize_open(core, component, target, offered, mandatory, by_user, waiter);
    if (index != PLEAT_NONE)
        first_step(core, index);
}

static bool ends_the_job(enum pleat_outcome outcome)
{
    return outcome == PLEAT_OUTCOME_STUCK || outcome == PLEAT_OUTCOME_NOT_HONOURED ||
           outcome == PLEAT_OUTCOME_JOB_ENDED || outcome == PLEAT_OUTCOME_LOST;
}

/* Processors of a growth that did not become the job's go back to the site. If processes may run on
 * them already, they go back with the rest when the job's processes are gone. */
static void drop_growth(struct pleat_core *core, struct pleat_resize *resize,
                        enum pleat_outcome outcome)
{
    uint32_t claim = resize->claim;
    if (claim == PLEAT_NONE)
        return;
    resize->claim = PLEAT_NONE;
    if (ends_the_job(outcome) && resize->step >= PLEAT_RESIZE_GRANTED) {
        claim_at(core, claim)->purpose = PLEAT_FOR_RUN;
        claim_link(core, claim);
    } else {
        claim_release(core, claim);
    }
}

/* How long after a failed resize no voluntary offer is made, in microseconds. After a relaunch the
 * time is 16 times as long for each relaunch of this run, up to three: an application that cannot
 * grow should not be relaunched again and again. */
static int64_t backoff(const struct pleat_core *core, const struct pleat_component *component,
                       enum pleat_outcome outcome)
{
    int64_t us = core->parameters[PLEAT_PARAM_BACKOFF_US];
    for (uint32_t i = 0; outcome == PLEAT_OUTCOME_RELAUNCHED && i < component->relaunches && i < 3;
         i++)
        us = us < PLEAT_NEVER / 64 ? 16 * us : us;
    return us;
}

void resize_end(struct pleat_core *core, uint32_t index, enum pleat_outcome outcome)
{
    struct pleat_resize *resize = resize_at(core, index);
    uint32_t component = resize->component;
    struct pleat_component *comp = component_at(core, component);
    disarm(core, &resize->deadline);
    resize->left_us = 0;
    drop_growth(core, resize, outcome);
    announce(core, resize, -1);
    site_at(core, comp->site)->resizing_count -= !comp->young;
    if (comp->processors != resize->from)
        comp->since_us = now_of(core);
    if (comp->target != comp->processors || core->view.lifetimes) {
        tally_out(core, component);
        comp->target = comp->processors;
        comp->young = is_young(core, comp);
        tally_in(core, component);
        running_arm(core, component);
    } else if (!site_at(core, comp->site)->instant) {
        running_arm(core, component); /* what it has now may have to go back earlier, or later */
    }
    comp->resize = PLEAT_NONE;
    if (outcome != PLEAT_OUTCOME_GROWN && outcome != PLEAT_OUTCOME_SHRUNK &&
        outcome != PLEAT_OUTCOME_NOT_NOW) { /* "not now" is over when the program says so */
        comp->quiet_until_us = now_of(core) + backoff(core, comp, outcome);
        if (pleat_resize_is_by_site(resize) && resize->to < resize->from &&
            outcome != PLEAT_OUTCOME_RELAUNCHED)
            left_in_vain(core, component);
    }
    resize_note(core, index, PLEAT_NOTE_RESIZE, outcome);
    set_state(core, component, PLEAT_RUNNING);
    resize->step = PLEAT_RESIZE_FREE;
    resize->waiter = core->free_resize;
    core->free_resize = index;
    core->wants_pass = true;
    if (!ends_the_job(outcome)) {
        resize_to_limits(core, component);
        resize_off_lent(core, component);
        resize_as_asked(core, component);
    }
}

void resize_to_limits(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->state != PLEAT_RUNNING || comp->kind != PLEAT_MALLEABLE)
        return;
    int32_t largest = pleat_accept_largest(&core->view, comp);
    if (pleat_view_declaration(&core->view, comp)->declared_sizes && comp->processors <= largest) {
        /* its application says that it cannot use the size that it has */
        const struct pleat_sizes sizes = pleat_view_sizes(&core->view, comp);
        largest = pleat_sizes_floor(&sizes, comp->processors);
    }
    const int32_t smallest = pleat_accept_smallest(&core->view, comp);
    if (largest < smallest && pleat_view_folding(&core->view, comp)->nearest)
        largest = smallest; /* the limit came before it was known on how many nodes it starts */
    if (comp->processors > largest && largest >= smallest)
        resize_begin(core, component, largest, comp->processors - largest, true, true, PLEAT_NONE);
}

void resize_off_lent(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    if (comp->state != PLEAT_RUNNING || comp->kind != PLEAT_MALLEABLE)
        return;
    enum pleat_reason why;
    taken_last(core, component);
    int32_t to = size_without_lent(core, comp, &why);
    if (to >= comp->processors || to < pleat_accept_smallest(&core->view, comp)) {
        to = size_to_replace(core, comp);
        why = PLEAT_REASON_SITE_TIME;
    }
    if (to == comp->processors)
        return;
    uint32_t index = resize_open(core, component, to, to - comp->processors, to < comp->processors,
                                 false, PLEAT_NONE);
    if (index == PLEAT_NONE)
        return;
    resize_at(core, index)->cause = (uint8_t)why;
    first_step(core, index);
}

void resize_as_asked(struct pleat_core *core, uint32_t component)
{
    int32_t to = ask_review(core, component);
    if (to == 0)
        return;
    int32_t count = component_at(core, component)->processors - to;
    uint32_t index = resize_open(core, component, to, count, false, false, PLEAT_NONE);
    if (index != PLEAT_NONE)
        resize_accepted(core, index); /* the application wants it */
}

uint32_t resize_of(struct pleat_core *core, const struct pleat_event *event)
{
    uint32_t index = component_at(core, event->component)->resize;
    return index != PLEAT_NONE && resize_at(core, index)->id == event->u.change.resize ? index
                                                                                       : PLEAT_NONE;
}

void resize_claimed(struct pleat_core *core, uint32_t index)
{
    struct pleat_resize *resize = resize_at(core, index);
    const struct pleat_component *component = component_at(core, resize->component);
    int32_t got = claim_at(core, resize->claim)->count;
    int32_t usable = resize->from + got == resize->to
                         ? got
                         : pleat_accept_grow(&core->view, component, resize->from, got);
    if (usable == 0 || !shares_fit(core, resize->component, resize->claim)) {
        resize_end(core, index, PLEAT_OUTCOME_CLAIM_FAILED);
        return;
    }
    if (usable < got) {
        uint32_t rest = claim_split(core, resize->claim, got - usable);
        if (rest == PLEAT_NONE)
            return;
        claim_release(core, rest);
    }
    if (resize->from + usable != resize->to)
        resize_accept_size(core, index, resize->from + usable);
    resize_grant(core, index);
}

void resize_claim_failed(struct pleat_core *core, uint32_t index)
{
    resize_end(core, index, PLEAT_OUTCOME_CLAIM_FAILED);
}

/* When a component that would end at `end_us` at its present size ends on `processors` processors:
 * the rest of its run gets faster, or slower, in proportion. */
static int64_t end_at(const struct pleat_core *core, const struct pleat_component *component,
                      int64_t end_us, int32_t processors)
{
    int64_t late = now_of(core) - end_us;
    double left = late < 0 ? -(double)late * component->processors / processors : 0;
    return now_of(core) + (left < (double)(PLEAT_NEVER / 4) ? (int64_t)left : PLEAT_NEVER / 4);
}

void component_sized(struct pleat_core *core, uint32_t component, int32_t processors)
{
    struct pleat_component *comp = component_at(core, component);
    struct pleat_declaration *said = side_find(core, SIDE_DECLARATION, component);
    bool scales = processors > 0 && comp->processors > 0;
    if (scales && said && said->expected_us > 0)
        said->expected_us = end_at(core, comp, said->expected_us, processors);
    if (scales && comp->expected_end_us != PLEAT_NEVER)
        running_expect(core, component, end_at(core, comp, comp->expected_end_us, processors));
    comp->processors = processors;
    if (!pleat_view_folds(comp))
        comp->processes = processors;
    comp->below = is_below(core, comp);
    struct pleat_effect *note = emit_note(core, PLEAT_NOTE_SIZE, component, comp->run);
    if (note) {
        note->u.run.processors = processors;
        note->u.run.processes = comp->processes;
    }
}

void resize_grown(struct pleat_core *core, uint32_t index, int32_t processors,
                  enum pleat_outcome outcome)
{
    struct pleat_resize *resize = resize_at(core, index);
    uint32_t component = resize->component, claim = resize->claim;
    int32_t unused = resize->to - processors;
    claim_at(core, claim)->purpose = PLEAT_FOR_RUN;
    claim_link(core, claim);
    claim_note(core, claim);
    resize->claim = PLEAT_NONE;
    if (unused > 0)
        component_release_tail(core, component, unused);
    ask_got(core, component, processors - resize->from);
    component_sized(core, component, processors);
    resize_end(core, index, outcome);
}

/* Processors for a running component that asks go back to the site: the next pass keeps them for
 * it, while it still asks. */
static void give_tail(struct pleat_core *core, uint32_t index, bool voluntary)
{
    const struct pleat_resize *resize = resize_at(core, index);
    int32_t count = resize->from - resize->to;
    uint32_t component = resize->component, waiter = resize->waiter;
    shares_leave(core, component, count); /* maybe another number than it was told */
    if (voluntary && !resize->mandatory && !resize->by_user)
        ask_gave_up(core, component, count);
    if (waiter != PLEAT_NONE && component_at(core, waiter)->state == PLEAT_QUEUED)
        component_earmark_tail(core, component, count, waiter);
    else
        component_release_tail(core, component, count);
}

void resize_vacated(struct pleat_core *core, uint32_t index, enum pleat_outcome outcome)
{
    /* earmark first: resize_end takes back the announcement, and unties a waiter that has no
     * earmarks from its site */
    give_tail(core, index, outcome == PLEAT_OUTCOME_SHRUNK);
    struct pleat_component *comp = component_at(core, resize_at(core, index)->component);
    if (core_leaves_lead(core, comp, comp->processors)) /* its runner needs no start for that */
        comp->lead_node = core_first_node(core, comp);
    resize_end(core, index, outcome);
}

void resize_moves(struct pleat_core *core, uint32_t index)
{
    give_tail(core, index, true);
    announce(core, resize_at(core, index), -1);
    struct pleat_resize *resize = resize_at(core, index);
    resize->waiter = PLEAT_NONE;
    component_sized(core, resize->component, resize->to);
    step_to(core, index, PLEAT_RESIZE_MOVING, PLEAT_PARAM_MOVE_US);
}
