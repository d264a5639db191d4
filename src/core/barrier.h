/* barrier.h - components with processors that wait for the rest of their job */
#ifndef PLEAT_CORE_BARRIER_H
#define PLEAT_CORE_BARRIER_H

#include "core/state.h"

/* The component has its processors. It waits for the other components and for files, or all of the
 * job are started. */
PLEAT_COLD void component_at_barrier(struct pleat_core *core, uint32_t component);
/* Starts all components of the job if they have what they need; else they wait on. */
PLEAT_COLD void job_pass_barrier(struct pleat_core *core, uint32_t component);
/* All processors of the component's job are given back, and the job waits in front of the queue. */
PLEAT_COLD void job_put_back(struct pleat_core *core, uint32_t component);

/* Has the component all its processors, and waits? */
static inline bool waits_at_barrier(const struct pleat_core *core,
                                    const struct pleat_component *component)
{
    return pleat_view_coallocation(&core->view, component)->claimed_us != PLEAT_NEVER;
}

#endif
