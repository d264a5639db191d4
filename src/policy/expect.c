#include "policy/expect.h"

#include <stdlib.h>
#include <string.h>

bool pleat_pass_shrinks(const struct pleat_pass *pass)
{
    /* where sizes have a lifetime nobody knows which components can be shrunk then */
    return pass->policies[PLEAT_APPROACH]->shrinks && pass->policies[PLEAT_MALLEABILITY]->shrinks &&
           !pass->view->lifetimes;
}

static bool has_profiles(struct pleat_plan *plan, uint32_t count)
{
    if (count <= plan->profile_room)
        return true;
    struct pleat_profile *profiles = realloc(plan->profiles, count * sizeof(*profiles));
    if (!profiles)
        return false;
    memset(profiles + plan->profile_room, 0, (count - plan->profile_room) * sizeof(*profiles));
    plan->profiles = profiles;
    plan->profile_room = count;
    return true;
}

static void take_from(struct pleat_pass *pass, uint32_t site, int64_t from_us, int64_t to_us,
                      int32_t processors)
{
    if (pleat_profile_take(&pass->profiles[site], from_us, to_us, processors))
        pass->plan->failed = 1;
}

/* Takes the processors of the components of a list, until their expected ends; returns how many
 * they have now. */
static int32_t take_running(struct pleat_pass *pass, uint32_t site, uint32_t first)
{
    const struct pleat_view *view = pass->view;
    int32_t sum = 0;
    for (uint32_t c = first; c != PLEAT_NONE; c = view->components[c].next) {
        const struct pleat_component *component = &view->components[c];
        if (pleat_view_is_shut(view, component))
            continue; /* its processors become nobody's when it ends */
        int32_t all = component->target + pleat_view_buffered(view, component) -
                      pleat_view_elsewhere(view, component, true);
        int32_t counted = all;
        if (pass->shrinkable && component->kind == PLEAT_MALLEABLE &&
            pleat_accept_smallest(view, component) < counted)
            counted = pleat_accept_smallest(view, component);
        take_from(pass, site, view->now_us, pleat_view_expected_end(view, component), counted);
        sum += all;
    }
    return sum;
}

/* The same of components that run at other sites, and have processes at this one. */
static int32_t take_outposts(struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    int32_t sum = 0;
    for (uint32_t o = 0; o < view->outpost_count; o++) {
        const struct pleat_outpost *outpost = &view->outposts[o];
        if (outpost->site != site || !pleat_view_outpost_runs(view, outpost))
            continue;
        uint32_t component = view->buffers[outpost->buffer].component;
        int32_t all = pleat_outpost_processors(outpost);
        take_from(pass, site, view->now_us,
                  pleat_view_expected_end(view, &view->components[component]), all);
        sum += all;
    }
    return sum;
}

/* Takes the processors of the components that this plan starts, until their expected ends. */
static int32_t take_started(struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_plan_ends *started = pleat_plan_started(pass->plan, site);
    int32_t sum = 0;
    for (size_t i = 0; i < started->count; i++) {
        take_from(pass, site, pass->view->now_us, started->items[i].at_us,
                  started->items[i].processors);
        sum += started->items[i].processors;
    }
    return sum;
}

/* Takes the processors of reservations: those that are aside, and those whose time has come. */
static void take_reserved(struct pleat_pass *pass)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *all = view->components;
    for (uint32_t c = view->reserved_first; c != PLEAT_NONE; c = all[c].next)
        take_from(pass, all[c].wanted_site, all[c].begin_us, all[c].begin_us + all[c].estimate_us,
                  pleat_accept_start(view, &all[c]));
    for (uint32_t c = view->queue_first; c != PLEAT_NONE && all[c].begin_us > 0; c = all[c].next)
        for (uint32_t part = c; part != PLEAT_NONE;
             part = view->several ? pleat_view_sibling(view, part) : PLEAT_NONE)
            if (pleat_view_unplaced(&all[part]))
                take_from(pass, all[part].wanted_site, view->now_us,
                          view->now_us + all[part].estimate_us,
                          pleat_accept_start(view, &all[part]));
}

/* The processors of a site that running and waiting components, and reservations, may share.
 * Processors that no running component holds (claims under way, jobs that are ending) are expected
 * to be free now. Where there are reservations, which must be kept, they are expected to be free
 * never. */
static int32_t whole(const struct pleat_pass *pass, uint32_t site, int32_t taken)
{
    const struct pleat_site *place = &pass->view->sites[site];
    if (!pleat_pass_reserved(pass))
        return pleat_view_open_processors(pass->view, site);
    return pass->plan->sites[site].free + place->releasing + place->coming + taken;
}

bool pleat_pass_expect(struct pleat_pass *pass, bool shrinkable)
{
    const struct pleat_view *view = pass->view;
    if (!has_profiles(pass->plan, view->site_count)) {
        pass->plan->failed = 1;
        return false;
    }
    pass->profiles = pass->plan->profiles;
    pass->shrinkable = shrinkable;
    for (uint32_t site = 0; site < view->site_count; site++) {
        if (pleat_profile_begin(&pass->profiles[site], view->now_us, 0)) {
            pass->plan->failed = 1;
            return false;
        }
        int32_t taken = take_running(pass, site, view->sites[site].malleable_first) +
                        take_running(pass, site, view->sites[site].rigid_first) +
                        take_outposts(pass, site) + take_started(pass, site);
        take_from(pass, site, view->now_us, PLEAT_NEVER, -whole(pass, site, taken));
    }
    take_reserved(pass);
    return !pass->plan->failed;
}

static int64_t find_place(const struct pleat_pass *pass, uint32_t component, bool placed,
                          int64_t before_us, uint32_t *site)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    int32_t size = pleat_accept_start(view, comp);
    int64_t run_us = pleat_view_expected_run(comp, size), best_us = PLEAT_NEVER;
    for (uint32_t s = 0; s < view->site_count; s++) {
        if (!pleat_view_allows(view, comp, s))
            continue;
        const struct pleat_profile *profile = &pass->profiles[s];
        int32_t need = size - (comp->site == s ? comp->earmarked + comp->coming : 0);
        int64_t at_us = placed && s == comp->promised_site
                            ? pleat_profile_earlier(profile, view->now_us, run_us, need,
                                                    comp->promised_us, before_us)
                            : pleat_profile_earliest(profile, view->now_us, run_us, need);
        if (at_us < best_us || (at_us == best_us && s == comp->promised_site)) {
            best_us = at_us;
            *site = s;
        }
    }
    return best_us;
}

int64_t pleat_pass_earliest(const struct pleat_pass *pass, uint32_t component, uint32_t *site)
{
    return find_place(pass, component, false, 0, site);
}

int64_t pleat_pass_earlier(const struct pleat_pass *pass, uint32_t component, int64_t before_us,
                           uint32_t *site)
{
    return find_place(pass, component, true, before_us, site);
}

void pleat_pass_take(struct pleat_pass *pass, uint32_t component, uint32_t site, int64_t from_us,
                     int32_t size, int32_t processors)
{
    int64_t run_us = pleat_view_expected_run(&pass->view->components[component], size);
    take_from(pass, site, from_us, run_us < PLEAT_NEVER - from_us ? from_us + run_us : PLEAT_NEVER,
              processors);
}
