/* policies.h - which policies are in force, and the view that they get */
#ifndef PLEAT_CORE_POLICIES_H
#define PLEAT_CORE_POLICIES_H

#include "core/state.h"

/* The view's pointers and counts are those of the arrays again. */
void core_sync_view(struct pleat_core *core);
int core_set_policy(struct pleat_core *core, const struct pleat_policy *policy);
/* Has something happened since the last pass, and is there a component that a pass could be about?
 */
static inline bool core_has_use_for_pass(const struct pleat_core *core)
{
    return core->wants_pass && (core->view.queue_count > 0 || core->view.malleable_count > 0 ||
                                core->view.reviews_first != PLEAT_NONE || core->view.prepares);
}
/* Sets when the pass that is wanted may be made, if that is not known yet; where policies decide as
 * soon as something happened: nothing. */
void core_set_pass_time(struct pleat_core *core);

#endif
