/* Precedence to Waiting Applications: Buisson et al. 2007, V-B.
 *
 * When the next job in the queue cannot be placed, running malleable jobs are shrunk (mandatory) to
 * make room for it; where that is impossible, taking their minimum sizes into account, the running
 * jobs are considered for growing. Taken where the paper is silent: - jobs are shrunk only where
 * this lets the waiting job start, and only by what its smallest size
 *   needs;
 * - the site: where the shortfall is smallest; once chosen, it stays while room is being made;
 * - processors on their way (earmarked, being released) are not asked for a second time, and what
 *   is free at that site is not used for growing meanwhile;
 * - what is idle at a site that refused a claim a moment ago counts: shrinking would not help;
 * - prepared processes in buffers compute nothing: their processors are taken first, and no job is
 *   shrunk for as many;
 * - a job in a resize cannot be shrunk now: if it could give what is lacking after the resize, its
 * end is waited for;
 * - for a job of several components no room is made: it starts when there is room for all.
 * All of this is in room.c.
 *
 * Of several sites: running jobs are considered for growing "if it is however impossible" to place
 * the next job (V-B), so nowhere while room is made for it. But malleability policies "are applied
 * for each cluster separately" (V-C), and growing elsewhere takes nothing from a job that will
 * start here. So pwa grows at all sites but the one where room is made; pwa-printed follows V-B to
 * the letter, and while room is made nobody grows anywhere. With one site they are the same. */
#include "policy/policies.h"

/* Starts what can start. Returns the site where room is made for the next job; PLEAT_NONE: there is
 * none, or room cannot be made for it. */
static uint32_t start_or_make_room(struct pleat_pass *pass)
{
    uint32_t waiter = pass->policies[PLEAT_QUEUE]->start(pass);
    return waiter != PLEAT_NONE ? pleat_pass_make_room(pass, waiter, PLEAT_ROOM_BESIDE_IDLE)
                                : PLEAT_NONE;
}

static void grow_everywhere(struct pleat_pass *pass)
{
    if (!pleat_pass_grows(pass))
        return;
    for (uint32_t site = 0; site < pass->view->site_count; site++)
        pleat_pass_grow(pass, site);
}

static void pwa_decide(struct pleat_pass *pass)
{
    uint32_t room = start_or_make_room(pass);
    if (room != PLEAT_NONE)
        pleat_plan_hold(pass->plan, room);
    grow_everywhere(pass);
}

static void pwa_printed_decide(struct pleat_pass *pass)
{
    uint32_t room = start_or_make_room(pass);
    for (uint32_t site = 0; room != PLEAT_NONE && site < pass->view->site_count; site++)
        pleat_plan_hold(pass->plan, site);
    grow_everywhere(pass); /* where sites are held: what applications ask for is still decided */
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

const struct pleat_policy pleat_policy_pwa_printed = {
    .number = 3,
    .version = 1,
    .question = PLEAT_APPROACH,
    .name = "pwa-printed",
    .source = "Buisson et al. 2007, V-B",
    .summary = "as pwa, but while room is made at one site nobody grows at any other",
    .shrinks = true,
    .decide = pwa_printed_decide,
};
