/* Processors that a site lends for a time: which of them a component has to leave, and when; and
 * when it asks for others instead. */
#include "core/lent.h"
#include "core/buffer.h"
#include "core/claims.h"
#include "core/node.h"
#include "policy/shares.h"

int64_t notice_of(const struct pleat_core *core, const struct pleat_component *component)
{
    int64_t most_us = core->parameters[PLEAT_PARAM_NOTICE_MAX_US];
    int64_t notice_us = pleat_view_terms(&core->view, component)->notice_us;
    if (notice_us < 0)
        return core->parameters[PLEAT_PARAM_SHRINK_US];
    return notice_us < most_us ? notice_us : most_us;
}

static bool is_lent(const struct pleat_claim *claim)
{
    return claim->state == PLEAT_CLAIM_HELD && claim->until_us > 0;
}

static bool is_taken(const struct pleat_claim *claim)
{
    return claim->lent & PLEAT_LENT_TAKEN;
}

/* Claims of a component are given back in the order opposite to that in which it got them. It
 * cannot do without the first ones, up to this number of processors. PLEAT_SIZE_MAX: without none,
 * as one whose processes stay on each of several nodes. */
static int32_t needed(const struct pleat_core *core, const struct pleat_component *component)
{
    if (core->parameters[PLEAT_PARAM_SHRINK_OFF_US] == 0 || component->kind != PLEAT_MALLEABLE ||
        pleat_view_share_nodes(&core->view, component) > 1)
        return PLEAT_SIZE_MAX;
    return pleat_accept_smallest(&core->view, component);
}

/* May the component leave the node from which it is led, if it can do with what it keeps? It is
 * started again elsewhere, with its state. */
static bool may_move(const struct pleat_core *core, const struct pleat_component *component)
{
    if (core->parameters[PLEAT_PARAM_MOVE_US] == 0 || component->kind != PLEAT_MALLEABLE ||
        !(component->flags & PLEAT_COMPONENT_RELAUNCHES) ||
        !(component->flags & PLEAT_COMPONENT_SPREADS) ||
        (component->flags & PLEAT_COMPONENT_ONCE) || component->lead != PLEAT_NONE ||
        component->buffer != PLEAT_NONE || pleat_view_folds(component))
        return false;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next)
        if (core->claims.items[c].first_piece == PLEAT_NONE)
            return false; /* its site does not say where its processors are */
    return true;
}

/* Does the component keep the claims that last longest, whichever it got first? */
static bool keeps_what_lasts(const struct pleat_core *core, const struct pleat_component *component)
{
    return core->parameters[PLEAT_PARAM_REPLACE_US] > 0 &&
           core->parameters[PLEAT_PARAM_SHRINK_OFF_US] > 0 && may_move(core, component);
}

/* ---- when ---- */

int64_t lent_leaves_at(const struct pleat_core *core, const struct pleat_component *component,
                       const struct pleat_claim *claim)
{
    if (is_taken(claim))
        return claim->asked_us;
    int64_t lead_us = core->parameters[PLEAT_PARAM_SHRINK_OFF_US] + notice_of(core, component) +
                      core->parameters[PLEAT_PARAM_GRACE_US];
    int64_t half_us = (claim->until_us - claim->asked_us) / 2;
    return claim->until_us - (lead_us < half_us ? lead_us : half_us);
}

/* When a component begins to ask for others instead of a claim: of the time until it leaves that
 * it has at least half. */
static int64_t replaces_at(const struct pleat_core *core, const struct pleat_component *component,
                           const struct pleat_claim *claim)
{
    int64_t leaves_us = lent_leaves_at(core, component, claim);
    int64_t half_us = (leaves_us - claim->asked_us) / 2;
    int64_t lead_us = core->parameters[PLEAT_PARAM_REPLACE_US];
    return leaves_us - (lead_us < half_us ? lead_us : half_us);
}

/* When it asks next, later than now: it asks in vain a few times at most. PLEAT_NEVER: not again.
 */
static int64_t asks_next(const struct pleat_core *core, const struct pleat_component *component,
                         const struct pleat_claim *claim)
{
    enum { TIMES = 8 };
    int64_t first_us = replaces_at(core, component, claim);
    int64_t leaves_us = lent_leaves_at(core, component, claim);
    int64_t step_us = (leaves_us - first_us) / TIMES + 1;
    if (first_us > now_of(core))
        return first_us;
    int64_t next_us = first_us + ((now_of(core) - first_us) / step_us + 1) * step_us;
    return next_us < leaves_us ? next_us : PLEAT_NEVER;
}

static enum pleat_reason why_of(const struct pleat_claim *claim)
{
    return is_taken(claim) ? PLEAT_REASON_TAKEN : PLEAT_REASON_SITE_TIME;
}

/* ---- which ---- */

/* Until when another claim may have to be left at the latest, if it is to count as no longer than
 * this one. With PLEAT_PARAM_REPLACE_SHORT what was asked for instead of a claim, and has the same
 * time, is longer, however short that time is; but claims that have to be left at nearly the same
 * time are not, since nothing is won by going from one to the other. */
static int64_t lasts_until(const struct pleat_core *core, const struct pleat_component *component,
                           const struct pleat_claim *claim)
{
    int64_t leaves_us = lent_leaves_at(core, component, claim);
    int64_t soon_us = leaves_us + (leaves_us - replaces_at(core, component, claim)) / 2;
    return core->parameters[PLEAT_PARAM_REPLACE_SHORT] > 0 && soon_us < claim->until_us
               ? soon_us
               : claim->until_us;
}

static bool lasts_longer(const struct pleat_core *core, const struct pleat_component *component,
                         const struct pleat_claim *one, const struct pleat_claim *than)
{
    if (is_taken(one) || is_taken(than))
        return !is_taken(one);
    return is_lent(than) && (!is_lent(one) || lent_leaves_at(core, component, one) >
                                                  lasts_until(core, component, than));
}

/* How many processors a component keeps rather than those of a claim: of claims that last longer,
 * or that it got before, if the claim does not last longer than these. */
static int32_t rather_than(const struct pleat_core *core, const struct pleat_component *component,
                           const struct pleat_claim *claim)
{
    int32_t count = 0;
    bool earlier = true;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next) {
        const struct pleat_claim *other = &core->claims.items[c];
        bool same = other == claim;
        bool rather = lasts_longer(core, component, other, claim) ||
                      (earlier && !lasts_longer(core, component, claim, other));
        if (!same && rather && other->purpose == PLEAT_FOR_RUN)
            count += other->count;
        earlier = earlier && !same;
    }
    return count;
}

/* A component that has tried in vain to leave the node from which it is led, for
 * the claims before this one, cannot do without that node: it is told in time that it ends. */
static bool could_not_move(const struct pleat_core *core, const struct pleat_component *component,
                           const struct pleat_claim *claim, int32_t before)
{
    return claim->lent & PLEAT_LENT_TRIED &&
           (is_taken(claim) || keeps_what_lasts(core, component)) &&
           core_leaves_lead(core, component, before);
}

/* Are the component's processes on several nodes, each of which they cannot leave? */
static bool is_on_nodes(const struct pleat_core *core, const struct pleat_component *component)
{
    return pleat_view_share_nodes(&core->view, component) > 1;
}

/* Can a component do without a claim, keeping `rather` processors instead, of which it got `before`
 * earlier? On several nodes it can leave just what later allocations brought there. */
static bool is_optional(const struct pleat_core *core, const struct pleat_component *component,
                        uint32_t claim, int32_t rather, int32_t before)
{
    const struct pleat_claim *c = &core->claims.items[claim];
    if (c->purpose != PLEAT_FOR_RUN)
        return false;
    if (is_on_nodes(core, component))
        return core->parameters[PLEAT_PARAM_SHRINK_OFF_US] > 0 &&
               component->kind == PLEAT_MALLEABLE && pleat_view_is_guest(&core->view, claim);
    return rather >= needed(core, component) && !could_not_move(core, component, c, before);
}

struct lent lent_to(const struct pleat_core *core, const struct pleat_component *component)
{
    struct lent lent = {PLEAT_NEVER, PLEAT_NEVER, component->processors, PLEAT_REASON_SITE_TIME,
                        PLEAT_REASON_SITE_TIME};
    if (component->site == PLEAT_NONE || core->sites.items[component->site].instant)
        return lent;
    int32_t before = 0;
    bool leaves = false, tried = false, lasts = keeps_what_lasts(core, component);
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next) {
        const struct pleat_claim *claim = &core->claims.items[c];
        if (claim->site != component->site || process_can_leave(core, c))
            continue; /* one that the application has added: the run goes on without it */
        int32_t rather = lasts ? rather_than(core, component, claim) : before;
        bool optional = is_optional(core, component, c, rather, before);
        if (is_lent(claim) && !optional && claim->until_us < lent.until_us) {
            lent.until_us = claim->until_us;
            lent.ends_why = why_of(claim);
        }
        /* nobody leaves one when the component ends no later */
        bool in_vain = is_taken(claim) && claim->until_us >= lent.until_us;
        if (is_lent(claim) && optional && !leaves && !in_vain) {
            int64_t at_us = lent_leaves_at(core, component, claim);
            leaves = at_us <= now_of(core);
            if (leaves) {
                lent.stays = is_on_nodes(core, component)
                                 ? component->processors - pleat_view_guests_from(&core->view, c)
                                 : before;
                lent.leaves_why = why_of(claim);
            } else if (at_us < lent.next_us) {
                lent.next_us = at_us;
            }
        }
        if (lasts && is_lent(claim) && !is_taken(claim) &&
            asks_next(core, component, claim) < lent.next_us)
            lent.next_us = asks_next(core, component, claim);
        tried = tried || claim->lent & PLEAT_LENT_TRIED;
        before += claim->purpose == PLEAT_FOR_RUN ? claim->count : 0;
    }
    if (leaves && tried && component->quiet_until_us > now_of(core)) {
        lent.stays = component->processors;
        if (component->quiet_until_us < lent.next_us)
            lent.next_us = component->quiet_until_us;
    }
    return lent;
}

int32_t size_without_lent(const struct pleat_core *core, const struct pleat_component *component,
                          enum pleat_reason *why)
{
    const struct lent lent = lent_to(core, component);
    int32_t stays = lent.stays;
    *why = lent.leaves_why;
    if (stays == component->processors || pleat_view_folds(component))
        return stays;
    const struct pleat_sizes sizes = pleat_view_sizes(&core->view, component);
    return pleat_sizes_floor(&sizes, stays);
}

/* ---- others instead ---- */

bool is_taken_from(const struct pleat_core *core, const struct pleat_component *component)
{
    uint32_t growth =
        component->resize == PLEAT_NONE ? PLEAT_NONE : core->resizes.items[component->resize].claim;
    bool taken = growth != PLEAT_NONE && is_taken(&core->claims.items[growth]);
    for (uint32_t c = component->first_claim; !taken && c != PLEAT_NONE;
         c = core->claims.items[c].next)
        taken = is_taken(&core->claims.items[c]);
    return taken;
}

/* How many processors it has of which nothing is known that ends soon. */
static int32_t lasting(const struct pleat_core *core, const struct pleat_component *component)
{
    int32_t count = 0;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next) {
        const struct pleat_claim *claim = &core->claims.items[c];
        bool soon = is_taken(claim) ||
                    (is_lent(claim) && replaces_at(core, component, claim) <= now_of(core));
        count += soon || claim->purpose != PLEAT_FOR_RUN ? 0 : claim->count;
    }
    return count;
}

/* Does the component end by itself before its site takes back what it needs? */
static bool ends_before(const struct pleat_core *core, const struct pleat_component *component)
{
    return component->limit_us > 0 &&
           component->start_us + component->limit_us <= lent_to(core, component).until_us;
}

/* Does it have others instead of a claim already, onto which it goes when it leaves that? */
static bool has_others(const struct pleat_core *core, const struct pleat_component *component,
                       int32_t least)
{
    bool found = false;
    for (uint32_t c = component->first_claim; !found && c != PLEAT_NONE;
         c = core->claims.items[c].next) {
        const struct pleat_claim *claim = &core->claims.items[c];
        int32_t longer = 0;
        for (uint32_t o = component->first_claim; o != PLEAT_NONE; o = core->claims.items[o].next)
            if (core->claims.items[o].purpose == PLEAT_FOR_RUN &&
                lasts_longer(core, component, &core->claims.items[o], claim))
                longer += core->claims.items[o].count;
        found = longer >= least;
    }
    return found;
}

int32_t size_to_replace(const struct pleat_core *core, const struct pleat_component *component)
{
    const int32_t size = component->processors;
    if (core->sites.items[component->site].instant || !keeps_what_lasts(core, component) ||
        is_taken_from(core, component) || component->quiet_until_us > now_of(core))
        return size;
    const int32_t lasts = lasting(core, component), least = needed(core, component);
    const int32_t missing = least - lasts;
    const int32_t unused = pleat_view_unused(&core->view, component);
    if (missing <= 0 || unused < missing || ends_before(core, component))
        return size;
    const int32_t leaving = size - lasts;
    const int32_t more =
        pleat_accept_grow(&core->view, component, size, leaving < unused ? leaving : unused);
    if (more >= missing)
        return size + more;
    /* these would be given back to make room for further ones, that is: what it has to leave first
     */
    if (core->parameters[PLEAT_PARAM_REPLACE_SHORT] > 0 && has_others(core, component, least))
        return size;
    const struct pleat_sizes sizes = pleat_view_sizes(&core->view, component);
    const int32_t room =
        pleat_sizes_floor(&sizes, pleat_accept_largest(&core->view, component) - missing);
    return room >= least && room < size ? room : size;
}

/* ---- their order ---- */

/* Is the component to leave that claim now, whenever it got it? */
static bool is_to_leave(const struct pleat_core *core, const struct pleat_component *component,
                        const struct pleat_claim *claim)
{
    bool any = keeps_what_lasts(core, component) ||
               (is_on_nodes(core, component) &&
                pleat_view_is_guest(&core->view, (uint32_t)(claim - core->claims.items)));
    return is_taken(claim) ||
           (is_lent(claim) && any && lent_leaves_at(core, component, claim) <= now_of(core));
}

/* Can the component leave the node from which it is led? */
static bool can_move(const struct pleat_core *core, const struct pleat_component *component)
{
    const struct pleat_claim *first = &core->claims.items[component->first_claim];
    return may_move(core, component) &&
           rather_than(core, component, first) >= needed(core, component);
}

static void put_last(struct pleat_core *core, uint32_t claim)
{
    claim_unlink(core, claim);
    claim_link(core, claim);
}

/* Those that last longer come before those that do not. */
static void sort_by_end(struct pleat_core *core, const struct pleat_component *component)
{
    uint32_t count = 0;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next)
        count++;
    for (; count > 0; count--) {
        uint32_t best = component->first_claim, c = best;
        for (uint32_t i = 1; i < count; i++) {
            c = claim_at(core, c)->next;
            if (lasts_longer(core, component, claim_at(core, c), claim_at(core, best)))
                best = c;
        }
        put_last(core, best);
    }
}

bool lent_last(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    uint32_t first = comp->first_claim, last = comp->last_claim;
    if (first == last)
        return false;
    bool moved = false, also_first = can_move(core, comp);
    if (also_first && keeps_what_lasts(core, comp) &&
        is_to_leave(core, comp, claim_at(core, first))) {
        sort_by_end(core, comp);
        return true;
    }
    for (uint32_t next, c = first; c != PLEAT_NONE && c != last; c = next) {
        const struct pleat_claim *claim = claim_at(core, c);
        next = claim->next;
        if (is_to_leave(core, comp, claim) && (c != first || also_first)) {
            put_last(core, c);
            moved = true;
        }
    }
    return moved;
}
