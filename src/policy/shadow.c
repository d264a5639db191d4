#include "policy/shadow.h"

#include "policy/policy.h"

/* The next expected end at a site, of components that run and of components that this plan
 * starts. */
struct next_end {
    const struct pleat_view *view;
    const struct pleat_plan_ends *started;
    size_t at;
    uint32_t running;
    uint32_t site;
    int64_t outpost_us; /* of outposts, those up to this end and record were taken */
    uint32_t outpost;
};

/* The next end of a component that runs at another site and has processes at this one, after those
 * that were taken. */
static bool next_outpost(const struct next_end *next, struct pleat_plan_end *end, uint32_t *which)
{
    const struct pleat_view *view = next->view;
    bool any = false;
    for (uint32_t o = 0; o < view->outpost_count; o++) {
        const struct pleat_outpost *outpost = &view->outposts[o];
        if (outpost->site != next->site || !pleat_view_outpost_runs(view, outpost))
            continue;
        int64_t at_us = pleat_view_expected_end(
            view, &view->components[view->buffers[outpost->buffer].component]);
        bool taken =
            at_us < next->outpost_us ||
            (at_us == next->outpost_us && next->outpost != PLEAT_NONE && o <= next->outpost);
        if (taken || (any && at_us >= end->at_us))
            continue;
        *end = (struct pleat_plan_end){at_us, pleat_outpost_processors(outpost)};
        *which = o;
        any = true;
    }
    return any;
}

/* Of components of the site itself. */
static bool take_own(struct next_end *next, struct pleat_plan_end *end)
{
    bool any = next->at < next->started->count;
    if (any)
        *end = next->started->items[next->at];
    if (next->running != PLEAT_NONE) {
        const struct pleat_component *component = &next->view->components[next->running];
        int64_t at_us = pleat_view_expected_end(next->view, component);
        if (!any || at_us <= end->at_us) {
            int32_t processors = component->target + pleat_view_buffered(next->view, component) -
                                 pleat_view_elsewhere(next->view, component, true);
            if (pleat_view_is_shut(next->view, component))
                processors = 0;
            *end = (struct pleat_plan_end){at_us, processors};
            next->running = pleat_ending_next(next->view, next->running);
            return true;
        }
    }
    next->at += any;
    return any;
}

static bool take_next(struct next_end *next, struct pleat_plan_end *end)
{
    struct next_end after = *next;
    struct pleat_plan_end other = {0};
    uint32_t which = PLEAT_NONE;
    bool own = take_own(&after, end);
    if (next->view->outpost_count > 0 && next_outpost(next, &other, &which) &&
        (!own || other.at_us < end->at_us)) {
        *end = other;
        next->outpost_us = other.at_us;
        next->outpost = which;
        return true;
    }
    *next = after;
    return own;
}

/* The processors of a site that a component can have now or soon, without waiting for an end. */
static int32_t free_soon(const struct pleat_pass *pass, const struct pleat_component *component,
                         uint32_t site)
{
    const struct pleat_site *place = &pass->view->sites[site];
    int32_t own = component->site == site ? component->earmarked + component->coming : 0;
    return pleat_plan_idle(pass->plan, site) + place->releasing + place->coming + own;
}

/* The shadow of the head at a site. Where all expected ends do not suffice, claims are under way:
 * until these are settled extra is negative, and no component overtakes there. */
static struct pleat_shadow shadow_at(struct pleat_pass *pass, uint32_t head, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *component = &view->components[head];
    struct next_end next = {.view = view,
                            .started = pleat_plan_started(pass->plan, site),
                            .running = pleat_ending_first(view, site),
                            .site = site,
                            .outpost_us = INT64_MIN,
                            .outpost = PLEAT_NONE};
    struct pleat_plan_end end = {0};
    struct pleat_shadow shadow = {
        site, view->now_us, free_soon(pass, component, site) - pleat_accept_start(view, component)};
    while (take_next(&next, &end) && !(shadow.extra >= 0 && end.at_us > shadow.at_us)) {
        if (end.at_us == PLEAT_NEVER)
            return (struct pleat_shadow){site, PLEAT_NEVER, 0};
        shadow.at_us = end.at_us;
        shadow.extra += end.processors;
    }
    if (shadow.extra < 0)
        shadow.at_us = view->now_us;
    return shadow;
}

bool pleat_shadow_cast(struct pleat_pass *pass, uint32_t head, struct pleat_shadow *earliest)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *component = &view->components[head];
    int32_t need = pleat_accept_start(view, component);
    bool any = false;
    for (uint32_t site = 0; site < view->site_count; site++) {
        if (!pleat_view_allows(view, component, site) ||
            need > view->sites[site].capacity - view->sites[site].background ||
            need > pleat_view_open_capacity(view, component, site))
            continue;
        struct pleat_shadow shadow = shadow_at(pass, head, site);
        /* enough processors are free, but on several nodes: nobody overtakes the head, or it might
         * wait for ever */
        if (shadow.extra >= 0 && shadow.at_us <= view->now_us &&
            pleat_view_keeps_to_a_node(view, component, site) &&
            pleat_plan_on_a_node(pass->plan, head, site) <
                need - (component->site == site ? component->earmarked : 0))
            shadow.extra = -1;
        bool sooner = shadow.extra >= 0 && shadow.at_us < earliest->at_us;
        if (!any || sooner || earliest->extra < 0)
            *earliest = shadow;
        any = true;
    }
    return any;
}
