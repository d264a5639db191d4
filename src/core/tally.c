/* Lists of waiting and running components, and what they sum up to per site. */
#include "core/tally.h"
#include "core/claims.h"
#include "core/state.h"
#include "core/transition.h"

/* ---- waiting ---- */

static void unlink_from(struct pleat_core *core, uint32_t component, uint32_t *first,
                        uint32_t *last)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->previous != PLEAT_NONE)
        component_at(core, comp->previous)->next = comp->next;
    else
        *first = comp->next;
    if (comp->next != PLEAT_NONE)
        component_at(core, comp->next)->previous = comp->previous;
    else
        *last = comp->previous;
    comp->previous = comp->next = PLEAT_NONE;
}

/* Puts the component behind `before` in a list (PLEAT_NONE: in front). */
static void link_behind(struct pleat_core *core, uint32_t component, uint32_t before,
                        uint32_t *first, uint32_t *last)
{
    struct pleat_component *comp = component_at(core, component);
    comp->previous = before;
    comp->next = before != PLEAT_NONE ? component_at(core, before)->next : *first;
    if (comp->previous != PLEAT_NONE)
        component_at(core, comp->previous)->next = component;
    else
        *first = component;
    if (comp->next != PLEAT_NONE)
        component_at(core, comp->next)->previous = component;
    else
        *last = component;
}

/* A component whose reservation begins stands before all others. */
static int64_t queue_key(const struct pleat_core *core, const struct pleat_component *component)
{
    int64_t (*key)(const struct pleat_component *) = core->pass.policies[PLEAT_ORDER]->key;
    return component->begin_us > 0 ? INT64_MIN : key ? key(component) : 0;
}

static bool stands_before(const struct pleat_component *a, const struct pleat_component *b)
{
    return a->key != b->key ? a->key < b->key : a->position < b->position;
}

static void queue_insert(struct pleat_core *core, uint32_t component, bool with_tree)
{
    struct pleat_component *comp = component_at(core, component);
    uint32_t before = core->view.queue_last;
    comp->key = queue_key(core, comp);
    core->view.queue_count++;
    if (with_tree) {
        if (pleat_tree_insert(&core->places, &core->queue_root, component, comp->key,
                              comp->position, &before))
            core->failed = 1;
    } else if (before != PLEAT_NONE && stands_before(comp, component_at(core, before))) {
        /* requeued, or a reservation: its place is near the front */
        uint32_t at = core->view.queue_first;
        for (before = PLEAT_NONE; stands_before(component_at(core, at), comp);
             at = component_at(core, at)->next) {
            before = at;
            core->operations++;
        }
    }
    link_behind(core, component, before, &core->view.queue_first, &core->view.queue_last);
}

/* Has the order a key? By arrival it has none: the list is in that order by itself, and needs no
 * tree. */
static bool is_keyed(const struct pleat_core *core)
{
    return core->pass.policies[PLEAT_ORDER]->key != NULL;
}

void queue_replace(struct pleat_core *core, uint32_t component)
{
    queue_insert(core, component, is_keyed(core));
}

void queue_append(struct pleat_core *core, uint32_t component)
{
    component_at(core, component)->position = ++core->last_position;
    queue_insert(core, component, is_keyed(core));
}

void queue_prepend(struct pleat_core *core, uint32_t component)
{
    component_at(core, component)->position = --core->first_position;
    queue_insert(core, component, is_keyed(core));
}

void queue_remove(struct pleat_core *core, uint32_t component)
{
    core->view.queue_count--;
    if (core->queue_root != PLEAT_NONE)
        pleat_tree_remove(&core->places, &core->queue_root, component);
    unlink_from(core, component, &core->view.queue_first, &core->view.queue_last);
}

void queue_sort(struct pleat_core *core)
{
    uint32_t next, first = core->view.queue_first;
    core->view.queue_first = core->view.queue_last = core->queue_root = PLEAT_NONE;
    core->view.queue_count = 0;
    for (uint32_t c = first; c != PLEAT_NONE; c = next) {
        next = component_at(core, c)->next;
        queue_insert(core, c, true);
    }
    if (!is_keyed(core))
        core->queue_root = PLEAT_NONE;
}

void reserved_add(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    uint32_t before = PLEAT_NONE, at = core->view.reserved_first, last = PLEAT_NONE;
    for (; at != PLEAT_NONE && component_at(core, at)->begin_us <= comp->begin_us;
         at = component_at(core, at)->next) {
        before = at;
        core->operations++;
    }
    comp->aside = PLEAT_ASIDE_RESERVATION;
    link_behind(core, component, before, &core->view.reserved_first, &last);
}

void reserved_remove(struct pleat_core *core, uint32_t component)
{
    uint32_t last = PLEAT_NONE;
    component_at(core, component)->aside = PLEAT_ASIDE_NOT;
    unlink_from(core, component, &core->view.reserved_first, &last);
}

/* ---- running ---- */

static void ends_add(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    struct pleat_site *site = site_at(core, comp->site);
    uint32_t before;
    if (pleat_tree_insert(&core->places, &core->ends_roots.items[comp->site], component,
                          comp->expected_end_us, (int64_t)comp->run, &before)) {
        core->failed = 1;
        return;
    }
    comp->ends_previous = before;
    comp->ends_next =
        before != PLEAT_NONE ? component_at(core, before)->ends_next : site->ends_first;
    if (before != PLEAT_NONE)
        component_at(core, before)->ends_next = component;
    else
        site->ends_first = component;
    if (comp->ends_next != PLEAT_NONE)
        component_at(core, comp->ends_next)->ends_previous = component;
    else
        site->ends_last = component;
}

static void ends_remove(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    struct pleat_site *site = site_at(core, comp->site);
    pleat_tree_remove(&core->places, &core->ends_roots.items[comp->site], component);
    if (comp->ends_previous != PLEAT_NONE)
        component_at(core, comp->ends_previous)->ends_next = comp->ends_next;
    else
        site->ends_first = comp->ends_next;
    if (comp->ends_next != PLEAT_NONE)
        component_at(core, comp->ends_next)->ends_previous = comp->ends_previous;
    else
        site->ends_last = comp->ends_previous;
    comp->ends_previous = comp->ends_next = PLEAT_NONE;
}

void running_expect(struct pleat_core *core, uint32_t component, int64_t end_us)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->expected_end_us == end_us)
        return;
    if (core->keeps_ends)
        ends_remove(core, component);
    comp->expected_end_us = end_us;
    if (core->keeps_ends)
        ends_add(core, component);
}

void ends_keep(struct pleat_core *core, bool keep)
{
    if (keep == core->keeps_ends)
        return;
    core->keeps_ends = keep;
    for (uint32_t c = 0; c < core->components.count; c++) {
        if (!is_running(component_at(core, c)))
            continue;
        if (keep)
            ends_add(core, c);
        else
            ends_remove(core, c);
    }
}

/* Adds a running malleable component to the sums of its site, or takes it out of them (sign -1). */
static void tally(struct pleat_core *core, uint32_t component, int sign)
{
    const struct pleat_component *comp = component_at(core, component);
    if (!is_running(comp) || pleat_view_is_young(&core->view, comp))
        return;
    struct pleat_site *site = site_at(core, comp->site);
    int32_t above = comp->target - pleat_accept_smallest(&core->view, comp);
    if (above > 0)
        site->reclaimable += sign * above;
    if (comp->target < pleat_view_limit(&core->view, comp))
        site->growers += (uint32_t)sign;
}

void tally_out(struct pleat_core *core, uint32_t component)
{
    if (component_at(core, component)->kind == PLEAT_MALLEABLE)
        tally(core, component, -1);
}

void tally_in(struct pleat_core *core, uint32_t component)
{
    if (component_at(core, component)->kind == PLEAT_MALLEABLE)
        tally(core, component, 1);
}

/* Start times never go back, so appending keeps the list sorted by start. */
void running_add(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    struct pleat_site *site = site_at(core, comp->site);
    bool malleable = comp->kind == PLEAT_MALLEABLE;
    uint32_t *first = malleable ? &site->malleable_first : &site->rigid_first;
    uint32_t *last = malleable ? &site->malleable_last : &site->rigid_last;
    comp->next = PLEAT_NONE;
    comp->previous = *last;
    if (*last != PLEAT_NONE)
        component_at(core, *last)->next = component;
    else
        *first = component;
    *last = component;
    site->malleable_count += malleable;
    core->view.malleable_count += malleable;
    tally_in(core, component);
    if (core->keeps_ends)
        ends_add(core, component);
}

void running_remove(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    struct pleat_site *site = site_at(core, comp->site);
    tally_out(core, component);
    if (core->keeps_ends)
        ends_remove(core, component);
    if (comp->kind == PLEAT_MALLEABLE) {
        unlink_from(core, component, &site->malleable_first, &site->malleable_last);
        site->malleable_count--;
        core->view.malleable_count--;
        coming_drop(core, component); /* other components are being shrunk for what it asked for */
    } else {
        unlink_from(core, component, &site->rigid_first, &site->rigid_last);
    }
}

bool is_below(const struct pleat_core *core, const struct pleat_component *component)
{
    const struct pleat_declaration *said = pleat_view_declaration(&core->view, component);
    if (component->state == PLEAT_QUEUED)
        return false; /* what a queued component has are earmarks, not its size */
    return (component->below || said->declared_least || said->declared_sizes) &&
           component->processors < pleat_accept_smallest(&core->view, component);
}
