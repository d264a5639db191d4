/* PWA that passes over rigid jobs: Pleat's own variant of Buisson et al. 2007, V-B.
 *
 * PWA makes room for one job, the first that cannot be placed. Where that is impossible no job is
 * shrunk, though a job behind the first may need less. Here, if room cannot be made for a rigid
 * job, the next job is tried, until room can be made for one (or is being made already). A job that
 * is not rigid is not passed over: it can start with fewer processors than it wants. These will
 * soon be there, and jobs that start before it would only make that take longer. What else PWA does
 * is the same (pwa.c).
 *
 * This needs a queue policy that lets any job start that fits. With other queue policies a job
 * behind the head could not use the room, since the head blocks it, or since it stands in the
 * head's shadow. With these pwa-next is PWA. */
#include "policy/policies.h"

/* Makes room for the first waiting job, from `waiter` on, for which that is possible; returns the
 * site. PLEAT_NONE: for none. */
static uint32_t make_room(struct pleat_pass *pass, uint32_t waiter)
{
    const struct pleat_view *view = pass->view;
    bool others = pass->policies[PLEAT_QUEUE]->overtakes;
    while (waiter != PLEAT_NONE) {
        uint32_t site = pleat_plan_starts(pass->plan, waiter)
                            ? PLEAT_NONE
                            : pleat_pass_make_room(pass, waiter, PLEAT_ROOM_BESIDE_IDLE);
        if (site != PLEAT_NONE || !others || view->components[waiter].kind != PLEAT_RIGID)
            return site;
        waiter = pleat_queue_next(view, waiter);
    }
    return PLEAT_NONE;
}

static void pwa_next_decide(struct pleat_pass *pass)
{
    uint32_t site = make_room(pass, pass->policies[PLEAT_QUEUE]->start(pass));
    if (site != PLEAT_NONE)
        pleat_plan_hold(pass->plan, site);
    for (uint32_t s = 0; s < pass->view->site_count; s++)
        pleat_pass_grow(pass, s);
}

const struct pleat_policy pleat_policy_pwa_next = {
    .number = 31,
    .version = 1,
    .question = PLEAT_APPROACH,
    .name = "pwa-next",
    .source = "our own; after Buisson et al. 2007, V-B",
    .summary = "as pwa; behind a rigid job for which no room can be made the next one gets it",
    .shrinks = true,
    .decide = pwa_next_decide,
};
