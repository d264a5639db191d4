#include "policy/why.h"

#include "policy/classes.h"
#include "policy/policies.h"
#include "policy/shares.h"

const char *pleat_waits_name(enum pleat_why_waits code)
{
    static const char *const names[] = {"next",   "begin",   "too large", "room",  "processors",
                                        "behind", "growing", "kept",      "quiet", "policy",
                                        "held",   "paused",  "drained",   "nodes"};
    return code < PLEAT_WAITS_COUNT ? names[code] : "?";
}

const char *pleat_size_name(enum pleat_why_size code)
{
    static const char *const names[] = {
        "next",    "fixed",     "resizing",  "at maximum", "capped",   "no size", "backoff",
        "quiet",   "none free", "threshold", "for waiter", "reserved", "policy",  "lifetime",
        "not now", "drained",   "total",     "allocation", "nodes"};
    return code < PLEAT_SIZE_COUNT ? names[code] : "?";
}

/* Does the pass start a component, or change its size? */
static bool is_decided(const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_plan *plan = pass->plan;
    if (plan->known[component].pass != plan->pass)
        return false;
    uint16_t kind = plan->decisions.items[plan->known[component].decision].kind;
    return kind == PLEAT_EV_START || kind == PLEAT_EV_RESIZE;
}

static bool may_run_at(const struct pleat_component *component, uint32_t site)
{
    return component->wanted_site == PLEAT_NONE || component->wanted_site == site;
}

/* The first component in the queue that the pass does not start. */
static uint32_t first_waiting(const struct pleat_pass *pass)
{
    uint32_t component = pass->view->queue_first;
    while (component != PLEAT_NONE && is_decided(pass, component))
        component = pleat_queue_next(pass->view, component);
    return component;
}

static bool is_promised_to_others(const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_view *view = pass->view;
    if (pleat_pass_reserved(pass))
        return true;
    for (uint32_t other = view->queue_first; other != PLEAT_NONE;
         other = pleat_queue_next(view, other))
        if (other != component && view->components[other].promised_us != PLEAT_NEVER)
            return true;
    return false;
}

static bool somebody_can_grow(const struct pleat_pass *pass)
{
    for (uint32_t site = 0; site < pass->view->site_count; site++)
        if (pleat_pass_could_grow(pass, site))
            return true;
    return false;
}

static bool nobody_overtakes(const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_policy *queue = pass->policies[PLEAT_QUEUE];
    return queue == &pleat_policy_fcfs || ((queue == &pleat_policy_backfill_abort ||
                                            queue == &pleat_policy_backfill_malleability ||
                                            queue == &pleat_policy_backfill_abort_due ||
                                            queue == &pleat_policy_backfill_malleability_due) &&
                                           !pleat_is_short(&pass->view->components[component]));
}

/* A component would fit into what is free: which others come first? */
static enum pleat_why_waits who_comes_first(const struct pleat_pass *pass, uint32_t component,
                                            uint32_t *behind)
{
    uint32_t front = first_waiting(pass);
    if (pass->policies[PLEAT_APPROACH] == &pleat_policy_pra && somebody_can_grow(pass))
        return PLEAT_WAITS_GROWING;
    if (front != component && nobody_overtakes(pass, component)) {
        *behind = front;
        return PLEAT_WAITS_BEHIND;
    }
    return is_promised_to_others(pass, component) ? PLEAT_WAITS_KEPT : PLEAT_WAITS_POLICY;
}

/* Of the sites where a component may be placed: the one with the most free processors, how many
 * these are, and the processors of the largest site, now and once all of its nodes take jobs. */
struct best_place {
    uint32_t site;
    int32_t free, largest, whole;
    int64_t quiet_until_us; /* when a site that has enough, but is quiet, is not quiet any more */
    bool paused;            /* ... whether it is quiet because starts failed there */
};

static struct best_place best_place(const struct pleat_pass *pass, uint32_t component, int32_t need)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    struct best_place best = {.site = PLEAT_NONE, .quiet_until_us = PLEAT_NEVER};
    for (uint32_t site = 0; site < view->site_count; site++) {
        if (!may_run_at(comp, site))
            continue;
        const struct pleat_site *place = &view->sites[site];
        int32_t own = comp->site == site ? comp->earmarked : 0;
        int32_t free = pleat_plan_idle(pass->plan, site) + own;
        int32_t capacity = pleat_view_capacity(view, comp, site);
        int32_t whole = pleat_view_whole_capacity(view, comp, site);
        if (pleat_view_keeps_to_a_node(view, comp, site)) {
            int32_t on_a_node = pleat_plan_on_a_node(pass->plan, component, site);
            free = free - own < on_a_node ? free : on_a_node + own;
        }
        if (capacity > best.largest)
            best.largest = capacity;
        if (whole > best.whole)
            best.whole = whole;
        if (free >= need && place->quiet_until_us > view->now_us &&
            place->quiet_until_us < best.quiet_until_us) {
            best.quiet_until_us = place->quiet_until_us;
            best.paused = place->pauses > 0;
        } else if (best.site == PLEAT_NONE || free > best.free) {
            best.site = site;
            best.free = free;
        }
    }
    return best;
}

struct pleat_wait_answer pleat_why_waits(const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_component *comp = &pass->view->components[component];
    int32_t need = pleat_accept_start(pass->view, comp);
    struct best_place best = best_place(pass, component, need);
    struct pleat_wait_answer answer = {.need = need,
                                       .free = best.free,
                                       .site = best.site,
                                       .behind = PLEAT_NONE,
                                       .until_us = PLEAT_NEVER};
    if (is_decided(pass, component)) {
        answer.code = PLEAT_WAITS_NEXT;
    } else if (comp->holds == PLEAT_HELD_BY_FAULT) {
        answer.code = PLEAT_WAITS_PAUSED;
        answer.until_us = comp->quiet_until_us;
    } else if (comp->aside == PLEAT_ASIDE_HELD) {
        answer.code = PLEAT_WAITS_HELD;
    } else if (comp->aside == PLEAT_ASIDE_RESERVATION) {
        answer.code = PLEAT_WAITS_BEGIN;
        answer.until_us = comp->begin_us;
    } else if (comp->coming + comp->earmarked > 0) {
        answer.code = PLEAT_WAITS_ROOM;
    } else if (need > best.largest) {
        answer.code = need > best.whole ? PLEAT_WAITS_TOO_LARGE : PLEAT_WAITS_NODES;
    } else if (pleat_view_needs_drained(pass->view, comp)) {
        answer.code = PLEAT_WAITS_DRAINED;
    } else if (best.free >= need) {
        answer.code = who_comes_first(pass, component, &answer.behind);
    } else if (best.quiet_until_us != PLEAT_NEVER) {
        answer.code = best.paused ? PLEAT_WAITS_PAUSED : PLEAT_WAITS_QUIET;
        answer.until_us = best.quiet_until_us;
    } else {
        answer.code = PLEAT_WAITS_PROCESSORS;
    }
    return answer;
}

/* ---- size ---- */

/* Nothing at a component's site may be used for growing: for whom are the free processors kept? */
static enum pleat_why_size nothing_growable(const struct pleat_pass *pass, uint32_t site)
{
    if (pleat_plan_idle(pass->plan, site) <= pass->view->sites[site].others)
        return PLEAT_SIZE_NONE_FREE;
    if (pass->plan->sites[site].withheld)
        return PLEAT_SIZE_FOR_WAITER;
    if (pleat_plan_idle(pass->plan, site) <= pleat_view_site_left(&pass->view->sites[site]))
        return PLEAT_SIZE_THRESHOLD;
    if (pass->view->grow_total > 0 && pleat_plan_left_of_total(pass->plan) == 0)
        return PLEAT_SIZE_TOTAL;
    return PLEAT_SIZE_RESERVED;
}

/* A component could be larger by its limits, and is not being resized: is there anything for it to
 * grow into? */
static void what_is_left(const struct pleat_pass *pass, uint32_t component,
                         struct pleat_size_answer *answer)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    const struct pleat_site *site = &view->sites[comp->site];
    answer->code = site->drained ? PLEAT_SIZE_DRAINED : PLEAT_SIZE_POLICY;
    if (site->drained || pass->policies[PLEAT_MALLEABILITY] == &pleat_policy_none)
        return;
    if (pleat_view_is_not_now(view, comp)) {
        answer->code = PLEAT_SIZE_NOT_NOW;
    } else if (pleat_view_is_young(view, comp)) {
        answer->code = PLEAT_SIZE_LIFETIME;
        answer->until_us = pleat_view_young_until(view, comp);
    } else if (comp->quiet_until_us > view->now_us) {
        answer->code = PLEAT_SIZE_BACKOFF;
        answer->until_us = comp->quiet_until_us;
    } else if (site->quiet_until_us > view->now_us) {
        answer->code = PLEAT_SIZE_QUIET;
        answer->until_us = site->quiet_until_us;
    } else if (pleat_view_lent_node(view, comp) &&
               pleat_plan_on_a_node(pass->plan, component, comp->site) == 0) {
        answer->code = PLEAT_SIZE_ALLOCATION;
    } else if (pleat_view_share_nodes(view, comp) > 0 && answer->growable > 0 &&
               pleat_plan_on_a_node(pass->plan, component, comp->site) == 0) {
        answer->code = PLEAT_SIZE_NODES;
    } else if (answer->growable == 0) {
        answer->code = nothing_growable(pass, comp->site);
        if (answer->code == PLEAT_SIZE_FOR_WAITER)
            answer->waiter = first_waiting(pass);
    } else if (pleat_accept_grow(view, comp, comp->processors, answer->growable) == 0) {
        answer->code = PLEAT_SIZE_NO_SIZE;
    }
}

/* A component's limit, without the size at which its user holds it. */
static int32_t uncapped(const struct pleat_view *view, const struct pleat_component *component)
{
    struct pleat_component free_one = *component;
    free_one.cap = PLEAT_SIZE_MAX;
    return pleat_view_limit(view, &free_one);
}

struct pleat_size_answer pleat_why_size(const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    struct pleat_sizes sizes = pleat_view_sizes(view, comp);
    int32_t next = pleat_view_folds(comp) ? comp->processors + 1
                                          : pleat_sizes_ceil(&sizes, comp->processors + 1);
    struct pleat_size_answer answer = {.largest = pleat_accept_largest(view, comp),
                                       .growable = pleat_plan_growable(pass->plan, comp->site),
                                       .waiter = PLEAT_NONE,
                                       .until_us = PLEAT_NEVER};
    answer.next = next <= answer.largest ? next : 0;
    if (comp->kind != PLEAT_MALLEABLE)
        answer.code = PLEAT_SIZE_FIXED;
    else if (comp->state != PLEAT_RUNNING)
        answer.code = PLEAT_SIZE_RESIZING;
    else if (is_decided(pass, component))
        answer.code = PLEAT_SIZE_NEXT;
    else if (answer.next == 0 && comp->cap < uncapped(view, comp))
        answer.code = PLEAT_SIZE_CAPPED;
    else if (answer.next == 0)
        answer.code = comp->processors >= pleat_view_limit(view, comp) ? PLEAT_SIZE_AT_MAXIMUM
                                                                       : PLEAT_SIZE_NO_SIZE;
    else
        what_is_left(pass, component, &answer);
    return answer;
}
