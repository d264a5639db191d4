/* Shrinking others for a program that cannot go on without more processors: Buisson et al. 2007,
 * VIII ("how much effort the scheduler should do to accommodate mandatory grow operations, for
 * instance by shrinking (either mandatorily or voluntarily) concurrent malleable jobs").
 *
 *   voluntary others are asked; a component that refuses is asked again when its backoff is over
 *   mandatory      others have to, down to their minimum sizes
 *   waiting-first  as mandatory, but only while no job waits in the queue
 *
 * Taken where the paper is silent:
 * - who shrinks, and by how much, is for the malleability policy to say, as for a waiting job; what
 *   that one does not find is taken from those that started last;
 * - nobody is shrunk unless all of it comes together, with what is idle or on its way: the program
 *   needs all of it at one time;
 * - nothing is taken from a program that asked earlier and waits itself: of two that wait for one
 *   another the first goes on;
 * - before waiting jobs, which take nothing from it either, as a job that runs and cannot go on
 *   holds what it has in vain; with waiting-first it has to hold it, or to give it up; but where
 * all that is not idle is held by such programs, the first of them goes on. */
#include "policy/policies.h"

static void voluntary_take(struct pleat_pass *pass, uint32_t asker, int32_t processors)
{
    pleat_pass_take_for(pass, asker, processors, true);
}

static void mandatory_take(struct pleat_pass *pass, uint32_t asker, int32_t processors)
{
    pleat_pass_take_for(pass, asker, processors, false);
}

const struct pleat_policy pleat_policy_need_voluntary = {
    .number = 2,
    .version = 3,
    .question = PLEAT_NEED,
    .name = "voluntary",
    .source = "Buisson et al. 2007, VIII",
    .summary = "others are asked to shrink for it, and may refuse",
    .take = voluntary_take,
};

const struct pleat_policy pleat_policy_need_mandatory = {
    .number = 3,
    .version = 3,
    .question = PLEAT_NEED,
    .name = "mandatory",
    .source = "Buisson et al. 2007, VIII",
    .summary = "others have to shrink for it, down to their minimum",
    .take = mandatory_take,
};

const struct pleat_policy pleat_policy_need_waiting_first = {
    .number = 4,
    .version = 3,
    .question = PLEAT_NEED,
    .name = "waiting-first",
    .source = "Buisson et al. 2007, V-B and VIII",
    .summary = "as mandatory, but waiting jobs come before it",
    .yields = true,
    .take = mandatory_take,
};
