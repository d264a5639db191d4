/* An application asks for another size at its own initiative (Lammers 2005, 5.3.2), voluntarily or
 * since it cannot go on without it (5.3.3).
 *
 * One ask at a time: the next one takes its place. It is pending until it is answered, granted or
 * refused. Fewer processors are taken back as soon as no other resize is under way. More processors
 * are for a pass to give. It grants a voluntary ask in full or in part, or refuses it; a mandatory
 * one it may leave pending.
 *
 * An application that gave some back is not grown by policies beyond what it kept (its cap), until
 * it asks for more: then what it asks for is its cap. */
#include "core/asks.h"
#include "core/claims.h"
#include "core/deadlines.h"
#include "core/effects.h"
#include "core/side.h"
#include "core/tally.h"
#include "core/tell.h"

static void set_cap(struct pleat_core *core, uint32_t component, int32_t cap)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->cap == cap)
        return;
    tally_out(core, component);
    comp->cap = cap;
    tally_in(core, component);
}

static void note(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_effect *effect = emit_note(core, PLEAT_NOTE_ASKED, component, comp->run);
    if (effect)
        ask_describe(core, component, effect);
}

void ask_gave_up(struct pleat_core *core, uint32_t component, int32_t processors)
{
    struct pleat_ask *ask = side_make(core, SIDE_ASK, component);
    if (!ask)
        core->failed = 1;
    else if (ask->state != PLEAT_ASK_PENDING || ask->more || ask->from == 0)
        ask->credit += processors;
}

void ask_got(struct pleat_core *core, uint32_t component, int32_t processors)
{
    struct pleat_ask *ask = side_find(core, SIDE_ASK, component);
    if (ask)
        ask->credit = ask->credit > processors ? ask->credit - processors : 0;
}

static void settle(struct pleat_core *core, uint32_t component, enum pleat_ask_state state,
                   enum pleat_ask_reason reason)
{
    struct pleat_ask *ask = side_find(core, SIDE_ASK, component);
    ask->state = (uint8_t)state;
    ask->reason = (uint8_t)reason;
    disarm(core, &ask->deadline);
    ask->until_us = 0;
    if (ask->caps && reason != PLEAT_ASK_FULLY) {
        ask->caps = ask->more || state == PLEAT_ASK_GRANTED;
        set_cap(core, component,
                ask->caps ? component_at(core, component)->processors : PLEAT_SIZE_MAX);
    }
    coming_drop(core, component); /* no component need be shrunk for it any more */
    note(core, component);
    answer_effect(core, component);
    core->wants_pass = true;
}

void ask_refuse(struct pleat_core *core, uint32_t component, enum pleat_ask_reason reason)
{
    const struct pleat_component *comp = component_at(core, component);
    const struct pleat_ask *ask = pleat_view_ask(&core->view, comp);
    bool some =
        ask->from > 0 && (ask->more ? comp->processors > ask->from : comp->processors < ask->from);
    settle(core, component, some ? PLEAT_ASK_GRANTED : PLEAT_ASK_REFUSED,
           some ? PLEAT_ASK_PARTLY : reason);
}

/* The smallest size of at least what is asked for, whatever its cap; 0: there is none. */
static int32_t size_for(const struct pleat_core *core, const struct pleat_component *component,
                        int32_t wanted, bool own_cap)
{
    struct pleat_component free = *component;
    if (own_cap)
        free.cap = PLEAT_SIZE_MAX;
    int32_t least = pleat_accept_smallest(&core->view, &free);
    if (wanted <= least)
        return least <= pleat_accept_largest(&core->view, &free) ? least : 0;
    return pleat_accept_next(&core->view, &free, wanted - 1);
}

/* One that has not begun may be started on another node. */
static void review_more(struct pleat_core *core, uint32_t component, int32_t size)
{
    const struct pleat_component *comp = component_at(core, component);
    const struct pleat_site *site = site_at(core, comp->site);
    int32_t most = pleat_view_may_wait_again(&core->view, comp)
                       ? pleat_view_capacity(&core->view, comp, comp->site)
                       : pleat_view_own_capacity(&core->view, comp);
    if (size <= comp->processors)
        ask_refuse(core, component, PLEAT_ASK_LIMITS);
    else if (size > site->capacity - site->threshold || size > most)
        ask_refuse(core, component, PLEAT_ASK_CAPACITY);
    else
        core->wants_pass = true;
}

int32_t ask_review(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_ask *ask = side_find(core, SIDE_ASK, component);
    if (!ask || ask->state != PLEAT_ASK_PENDING || comp->state != PLEAT_RUNNING)
        return 0;
    int32_t size = size_for(core, comp, ask->wanted, ask->caps);
    if (ask->more ? comp->processors >= ask->wanted : comp->processors <= ask->wanted) {
        settle(core, component, PLEAT_ASK_GRANTED, PLEAT_ASK_FULLY);
    } else if (ask->until_us > 0 && ask->deadline == PLEAT_HEAP_NONE) {
        ask_refuse(core, component, PLEAT_ASK_TIME); /* its growth has failed meanwhile */
    } else if (ask->unbegun && comp->flags & PLEAT_COMPONENT_ONCE) {
        ask_refuse(core, component, PLEAT_ASK_ONCE);
    } else if (ask->from && (!ask->mandatory || !ask->more)) {
        ask_refuse(core, component, PLEAT_ASK_FAILED);
    } else if (ask->more) {
        review_more(core, component, size);
    } else if (size == 0 || size >= comp->processors) {
        ask_refuse(core, component, PLEAT_ASK_LIMITS);
    } else {
        if (comp->cap > size) {
            set_cap(core, component, size);
            ask->caps = 1;
        }
        return size;
    }
    return 0;
}

void ask_begun(struct pleat_core *core, uint32_t component, int32_t to)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_ask *ask = side_find(core, SIDE_ASK, component);
    if (ask && ask->state == PLEAT_ASK_PENDING && (to > comp->processors) == ask->more)
        ask->from = comp->processors;
}

/* A growth that is under way for it is waited for: it has steps with times of their own. */
void on_ask_deadline(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_ask *ask = side_find(core, SIDE_ASK, component);
    ask->deadline = PLEAT_HEAP_NONE;
    if (comp->state == PLEAT_RUNNING || comp->target <= comp->processors)
        ask_refuse(core, component, PLEAT_ASK_TIME);
}

void ask_stop(struct pleat_core *core, uint32_t component)
{
    struct pleat_ask *ask = side_find(core, SIDE_ASK, component);
    if (ask)
        disarm(core, &ask->deadline);
}

static void wait_until(struct pleat_core *core, uint32_t component, struct pleat_ask *ask,
                       int64_t limit_us)
{
    disarm(core, &ask->deadline);
    ask->until_us = 0;
    if (limit_us <= 0 || limit_us > PLEAT_NEVER / 4 || ask->state != PLEAT_ASK_PENDING ||
        !ask->mandatory || !ask->more)
        return;
    ask->until_us = now_of(core) + limit_us;
    arm(core, &ask->deadline, DEADLINE_ASK, component, ask->until_us);
}

bool ask_take(struct pleat_core *core, uint32_t component, uint32_t number, int32_t processors,
              bool mandatory, bool unbegun, int64_t limit_us)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_ask *ask = side_make(core, SIDE_ASK, component);
    if (!ask)
        return false;
    /* a pending ask is withdrawn; resizes that began for it, of this component or of others, go
     * on */
    coming_drop(core, component);
    ask->number = number;
    ask->turn = core->next_id++;
    ask->wanted = processors;
    ask->from = 0;
    ask->state = processors > 0 ? PLEAT_ASK_PENDING : PLEAT_ASK_NOTHING;
    ask->reason = PLEAT_ASK_FULLY;
    ask->more = processors > comp->target;
    ask->mandatory = mandatory;
    ask->unbegun = unbegun && mandatory && ask->more;
    wait_until(core, component, ask, limit_us);
    if (ask->caps && ask->more) {
        int32_t size = size_for(core, comp, processors, true);
        set_cap(core, component, size ? size : comp->cap);
    } else if (ask->caps && processors == 0) {
        ask->caps = 0;
        set_cap(core, component, PLEAT_SIZE_MAX);
    }
    note(core, component);
    core->wants_pass = true;
    return true;
}

void ask_overruled(struct pleat_core *core, uint32_t component)
{
    struct pleat_ask *ask = side_find(core, SIDE_ASK, component);
    if (ask)
        ask->caps = 0;
}

void ask_forget(struct pleat_core *core, uint32_t component)
{
    struct pleat_ask *ask = side_find(core, SIDE_ASK, component);
    if (!ask)
        return;
    disarm(core, &ask->deadline);
    *ask = (struct pleat_ask){.component = component, .deadline = PLEAT_HEAP_NONE};
}
