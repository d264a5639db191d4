/* Precedence to Waiting Applications: Buisson et al. 2007, V-B.
 *
 * When the next job in the queue cannot be placed, running malleable jobs are shrunk (mandatory) to
 * make room for it; where that is impossible, taking their minimum sizes into account, the running
 * jobs are considered for growing. Taken where the paper is silent:
 * - jobs are shrunk only where this lets the waiting job start, and only by what its smallest size
 *   needs;
 * - the site: where the shortfall is smallest; once chosen, it stays while room is being made;
 * - processors on their way (earmarked, being released) are not asked for a second time, and what
 *   is free at that site is not used for growing meanwhile;
 * - what is idle at a site that refused a claim a moment ago counts: shrinking would not help;
 * - prepared processes in buffers compute nothing: their processors are taken first, and no job is
 *   shrunk for as many;
 * - a job in a resize cannot be shrunk now: if it could give the rest after the resize, that is
 *   waited for;
 * - for a job of several components no room is made: it starts when there is room for all.
 * All of this is in room.c. */
#include "policy/policies.h"

static void pwa_decide(struct pleat_pass *pass)
{
    uint32_t waiter = pass->policies[PLEAT_QUEUE]->start(pass);
    if (waiter != PLEAT_NONE) {
        uint32_t site = pleat_pass_make_room(pass, waiter, PLEAT_ROOM_BESIDE_IDLE);
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
