/* The remap scheduler: Swaminathan 2004, 3.4.4.
 *
 * While a job waits no running job is expanded. Running jobs are shrunk, by the malleability
 * policy's list of shrink points, so that the next job in the queue can start. While no job waits
 * running jobs expand. Meant for the malleability policy sweet-spot. Deviations, and what is taken
 * where the thesis is silent:
 * - there an application is told what to do when it contacts the scheduler at the end of an
 *   iteration; here a pass decides for all as soon as something happened, and each application
 *   changes at its next adaptation point;
 * - a list of shrink points that does not suffice lets nobody shrink;
 * - jobs start by the queue policy in force (first come, first served there);
 * - all picked shrink points are taken, also when what the first ones gave is enough
 *   with what was idle (there: until enough processors are available).
 *
 * As printed the shrink points satisfy the requirement of the next job, whatever is idle beside
 * that: more is freed than it lacks, and a job that could start with less waits where there are no
 * points for all of it. remap-idle picks points for what the job lacks beyond the idle processors.
 */
#include "policy/policies.h"

static void schedule(struct pleat_pass *pass, enum pleat_room room)
{
    uint32_t waiter = pass->policies[PLEAT_QUEUE]->start(pass);
    if (waiter != PLEAT_NONE)
        (void)pleat_pass_make_room(pass, waiter, room);
    for (uint32_t site = 0; site < pass->view->site_count; site++) {
        if (waiter != PLEAT_NONE)
            pleat_plan_hold(pass->plan, site);
        else
            pleat_pass_grow(pass, site);
    }
}

static void remap_decide(struct pleat_pass *pass)
{
    schedule(pass, PLEAT_ROOM_WHOLE);
}

static void remap_idle_decide(struct pleat_pass *pass)
{
    schedule(pass, PLEAT_ROOM_BESIDE_IDLE);
}

const struct pleat_policy pleat_policy_remap = {
    .number = 12,
    .version = 2,
    .question = PLEAT_APPROACH,
    .name = "remap",
    .source = "Swaminathan 2004, 3.4.4",
    .summary = "shrink running ones to start the next; expand only while nobody waits",
    .shrinks = true,
    .decide = remap_decide,
};

const struct pleat_policy pleat_policy_remap_idle = {
    .number = 13,
    .version = 1,
    .question = PLEAT_APPROACH,
    .name = "remap-idle",
    .source = "Swaminathan 2004, 3.4.4",
    .summary = "as remap, but what is idle counts: less is taken from running ones",
    .shrinks = true,
    .decide = remap_idle_decide,
};
