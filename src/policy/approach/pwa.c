/* Precedence to Waiting Applications: Buisson et al. 2007, V-B.
 *
 * When the next job in the queue cannot be placed, running malleable jobs are shrunk (mandatory) to
 * make room for it; where that is impossible, taking their minimum sizes into account, they are
 * considered for growing. Taken where the paper is silent:
 * - shrink only where it lets the job start, and only by what its smallest size needs;
 * - the site: where the shortfall is smallest; once chosen, it stays while room is being made;
 * - processors on their way (earmarked, being released) are not asked for a second time, and what
 *   is free at that site is not used for growing meanwhile;
 * - what is idle at a site that refused a claim a moment ago counts: shrinking would not help;
 * - a job in a resize cannot be shrunk now: if it could give the rest when that is over, wait. */
#include "policy/policies.h"

/* What is still to be had at a site for a component to start at its smallest size, beyond what is
 * free there or on its way. */
static int32_t shortfall(const struct pleat_pass *pass, uint32_t waiter, uint32_t site)
{
    const struct pleat_component *job = &pass->view->components[waiter];
    const struct pleat_site *place = &pass->view->sites[site];
    int32_t coming = place->releasing + place->coming;
    if (job->site == site)
        coming += job->coming + job->earmarked;
    return pleat_accept_start(pass->view, job) - coming - pleat_plan_idle(pass->plan, site);
}

/* Shrinks at a site until the shortfall is met; false, and nothing changed, if it cannot be. */
static bool make_room_at(struct pleat_pass *pass, uint32_t waiter, uint32_t site)
{
    int32_t need = shortfall(pass, waiter, site);
    const struct pleat_site *place = &pass->view->sites[site];
    if (need <= 0)
        return true; /* it is on its way */
    if (place->reclaimable < need)
        return false;
    pleat_plan_mark mark = pleat_plan_remember(pass->plan);
    while (need > 0) {
        int32_t left = pass->policies[PLEAT_MALLEABILITY]->shrink(pass, site, need, waiter);
        if (left == need)
            break;
        need = left;
    }
    if (need <= 0 || place->resizing_count > 0)
        return true;
    pleat_plan_rollback(pass->plan, mark);
    return false;
}

static bool can_ever_hold(const struct pleat_pass *pass, uint32_t waiter, uint32_t site)
{
    const struct pleat_component *job = &pass->view->components[waiter];
    return (job->wanted_site == PLEAT_NONE || job->wanted_site == site) &&
           pass->view->sites[site].capacity >= pleat_accept_start(pass->view, job);
}

/* The site where room was made (or is being made), or PLEAT_NONE. */
static uint32_t make_room(struct pleat_pass *pass, uint32_t waiter)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *job = &view->components[waiter];
    if (job->site != PLEAT_NONE && job->earmarked + job->coming > 0)
        return make_room_at(pass, waiter, job->site) ? job->site : PLEAT_NONE;
    uint32_t best = PLEAT_NONE;
    int32_t best_need = 0;
    for (uint32_t site = 0; site < view->site_count; site++) {
        int32_t need = shortfall(pass, waiter, site);
        if (can_ever_hold(pass, waiter, site) && need <= view->sites[site].reclaimable &&
            (best == PLEAT_NONE || need < best_need)) {
            best = site;
            best_need = need;
        }
    }
    return best != PLEAT_NONE && make_room_at(pass, waiter, best) ? best : PLEAT_NONE;
}

static void pwa_decide(struct pleat_pass *pass)
{
    uint32_t waiter = pass->policies[PLEAT_QUEUE]->start(pass);
    if (waiter != PLEAT_NONE) {
        uint32_t site = make_room(pass, waiter);
        if (site != PLEAT_NONE)
            pleat_plan_hold(pass->plan, site);
    }
    for (uint32_t site = 0; site < pass->view->site_count; site++)
        pleat_pass_grow(pass, site);
}

const struct pleat_policy pleat_policy_pwa = {
    .number = 2,
    .version = 1,
    .question = PLEAT_APPROACH,
    .name = "pwa",
    .source = "Buisson et al. 2007, V-B",
    .summary = "precedence to waiting applications: shrink running ones to start the next",
    .shrinks = true,
    .decide = pwa_decide,
};
