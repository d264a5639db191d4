/* pass.h - steps of a pass that policies share: starting a component, growing those that run. */
#ifndef PLEAT_POLICY_PASS_H
#define PLEAT_POLICY_PASS_H

#include "policy/asks.h"
#include "policy/expect.h"
#include "policy/room.h"

/* Starts a waiting component if a site has room: placement, then moldability. It does not start
 * where it would keep from others what they were promised by an advance reservation or by the
 * pass's shadow or profiles; these are brought up to date. Of a job of several components all that
 * are not placed yet start, the largest first (Lammers 2005, 3.3), or none; where the sizes that
 * moldability chooses leave no room for all, at their smallest. */
bool pleat_pass_start(struct pleat_pass *pass, uint32_t component);
/* The answer of the moldability policy for a component at a site, with nothing left open. */
struct pleat_start_size pleat_pass_size(struct pleat_pass *pass, uint32_t component, uint32_t site,
                                        int32_t available);
/* Reviews the buffers that are due: they get processors from what the plan leaves for growing. For
 * the core, at the end of a pass. */
void pleat_pass_review(struct pleat_pass *pass);
/* Lets the malleability policy balance a site that is not withheld, then offers what may be used
 * for growing there until no component accepts more, or once, if that is the policy's way. */
void pleat_pass_grow_running(struct pleat_pass *pass, uint32_t site);
static inline void pleat_pass_grow(struct pleat_pass *pass, uint32_t site)
{
    /* where none is malleable there is nothing to grow, or to balance */
    if (pass->view->sites[site].malleable_count > 0 || pass->view->ask_count > 0)
        pleat_pass_grow_running(pass, site);
}
/* Could a component of the site that is in a resize still be grown into what is free there, as soon
 * as the resize is over? Every other component has been offered what the policy has for it. */
bool pleat_pass_could_grow(const struct pleat_pass *pass, uint32_t site);

#endif
