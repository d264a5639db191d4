/* Lists of waiting and running components, and what they sum up to per site. */
#include "core/internal.h"

/* ---- waiting ---- */

static void unlink_from(struct pleat_core *core, uint32_t component, uint32_t *first,
                        uint32_t *last)
{
    struct pleat_component *job = component_at(core, component);
    if (job->previous != PLEAT_NONE)
        component_at(core, job->previous)->next = job->next;
    else
        *first = job->next;
    if (job->next != PLEAT_NONE)
        component_at(core, job->next)->previous = job->previous;
    else
        *last = job->previous;
    job->previous = job->next = PLEAT_NONE;
}

/* Puts it behind `before` (PLEAT_NONE: in front). */
static void link_behind(struct pleat_core *core, uint32_t component, uint32_t before,
                        uint32_t *first, uint32_t *last)
{
    struct pleat_component *job = component_at(core, component);
    job->previous = before;
    job->next = before != PLEAT_NONE ? component_at(core, before)->next : *first;
    if (job->previous != PLEAT_NONE)
        component_at(core, job->previous)->next = component;
    else
        *first = component;
    if (job->next != PLEAT_NONE)
        component_at(core, job->next)->previous = component;
    else
        *last = component;
}

/* A reservation whose time has come stands before everybody. */
static int64_t queue_key(const struct pleat_core *core, const struct pleat_component *job)
{
    int64_t (*key)(const struct pleat_component *) = core->pass.policies[PLEAT_ORDER]->key;
    return job->begin_us > 0 ? INT64_MIN : key ? key(job) : 0;
}

static bool stands_before(const struct pleat_component *a, const struct pleat_component *b)
{
    return a->key != b->key ? a->key < b->key : a->position < b->position;
}

static void queue_insert(struct pleat_core *core, uint32_t component, bool with_tree)
{
    struct pleat_component *job = component_at(core, component);
    uint32_t before = core->view.queue_last;
    job->key = queue_key(core, job);
    core->view.queue_count++;
    if (with_tree) {
        if (pleat_tree_insert(&core->places, &core->queue_root, component, job->key, job->position,
                              &before))
            core->failed = 1;
    } else if (before != PLEAT_NONE && stands_before(job, component_at(core, before))) {
        /* requeued, or a reservation: its place is near the front */
        uint32_t at = core->view.queue_first;
        for (before = PLEAT_NONE; stands_before(component_at(core, at), job);
             at = component_at(core, at)->next) {
            before = at;
            core->operations++;
        }
    }
    link_behind(core, component, before, &core->view.queue_first, &core->view.queue_last);
}

/* As they came is the order of the list itself; every other one needs the tree. */
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
    struct pleat_component *job = component_at(core, component);
    uint32_t before = PLEAT_NONE, at = core->view.reserved_first, last = PLEAT_NONE;
    for (; at != PLEAT_NONE && component_at(core, at)->begin_us <= job->begin_us;
         at = component_at(core, at)->next) {
        before = at;
        core->operations++;
    }
    job->aside = 1;
    link_behind(core, component, before, &core->view.reserved_first, &last);
}

void reserved_remove(struct pleat_core *core, uint32_t component)
{
    uint32_t last = PLEAT_NONE;
    component_at(core, component)->aside = 0;
    unlink_from(core, component, &core->view.reserved_first, &last);
}

/* ---- running ---- */

static void ends_add(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    struct pleat_site *site = site_at(core, job->site);
    uint32_t before;
    if (pleat_tree_insert(&core->places, &core->ends_roots.items[job->site], component,
                          job->expected_end_us, (int64_t)job->run, &before)) {
        core->failed = 1;
        return;
    }
    job->ends_previous = before;
    job->ends_next =
        before != PLEAT_NONE ? component_at(core, before)->ends_next : site->ends_first;
    if (before != PLEAT_NONE)
        component_at(core, before)->ends_next = component;
    else
        site->ends_first = component;
    if (job->ends_next != PLEAT_NONE)
        component_at(core, job->ends_next)->ends_previous = component;
    else
        site->ends_last = component;
}

static void ends_remove(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    struct pleat_site *site = site_at(core, job->site);
    pleat_tree_remove(&core->places, &core->ends_roots.items[job->site], component);
    if (job->ends_previous != PLEAT_NONE)
        component_at(core, job->ends_previous)->ends_next = job->ends_next;
    else
        site->ends_first = job->ends_next;
    if (job->ends_next != PLEAT_NONE)
        component_at(core, job->ends_next)->ends_previous = job->ends_previous;
    else
        site->ends_last = job->ends_previous;
    job->ends_previous = job->ends_next = PLEAT_NONE;
}

void running_expect(struct pleat_core *core, uint32_t component, int64_t end_us)
{
    struct pleat_component *job = component_at(core, component);
    if (job->expected_end_us == end_us)
        return;
    if (core->keeps_ends)
        ends_remove(core, component);
    job->expected_end_us = end_us;
    if (core->keeps_ends)
        ends_add(core, component);
}

static bool is_running(const struct pleat_component *job)
{
    return job->state == PLEAT_RUNNING || job->state == PLEAT_RESIZING;
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

/* What a running component adds to the sums of its site. */
static void tally(struct pleat_core *core, uint32_t component, int sign)
{
    const struct pleat_component *job = component_at(core, component);
    if (job->kind != PLEAT_MALLEABLE || !is_running(job) || pleat_view_is_held(&core->view, job))
        return;
    struct pleat_site *site = site_at(core, job->site);
    int32_t above = job->target - pleat_accept_smallest(&core->view, job);
    if (above > 0)
        site->reclaimable += sign * above;
    if (job->target < pleat_view_limit(job))
        site->growers += (uint32_t)sign;
}

void tally_out(struct pleat_core *core, uint32_t component)
{
    tally(core, component, -1);
}

void tally_in(struct pleat_core *core, uint32_t component)
{
    tally(core, component, 1);
}

/* Start times never go back, so appending keeps the list sorted by start. */
void running_add(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    struct pleat_site *site = site_at(core, job->site);
    bool malleable = job->kind == PLEAT_MALLEABLE;
    uint32_t *first = malleable ? &site->malleable_first : &site->rigid_first;
    uint32_t *last = malleable ? &site->malleable_last : &site->rigid_last;
    job->next = PLEAT_NONE;
    job->previous = *last;
    if (*last != PLEAT_NONE)
        component_at(core, *last)->next = component;
    else
        *first = component;
    *last = component;
    site->malleable_count += malleable;
    core->malleable += malleable;
    tally_in(core, component);
    if (core->keeps_ends)
        ends_add(core, component);
    if (job->buffer != PLEAT_NONE)
        buffer_enter(core, component);
}

void running_remove(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    struct pleat_site *site = site_at(core, job->site);
    tally_out(core, component);
    if (job->buffer != PLEAT_NONE)
        buffer_leave(core, component);
    if (core->keeps_ends)
        ends_remove(core, component);
    if (job->kind == PLEAT_MALLEABLE) {
        unlink_from(core, component, &site->malleable_first, &site->malleable_last);
        site->malleable_count--;
        core->malleable--;
    } else {
        unlink_from(core, component, &site->rigid_first, &site->rigid_last);
    }
}
