/* job.h - jobs of several components */
#ifndef PLEAT_CORE_JOB_H
#define PLEAT_CORE_JOB_H

#include "core/side.h"

/* Is the component one of several of a job? Jobs of one component, of which there are millions in a
 * simulation, pay for none of this file. */
static inline bool is_several(const struct pleat_core *core,
                              const struct pleat_component *component)
{
    return __builtin_expect(core->view.several, 0) && component->lead != PLEAT_NONE;
}
/* The next component of the job, by ordinal; PLEAT_NONE: it is the last. */
static inline uint32_t sibling_of(const struct pleat_core *core, uint32_t component)
{
    return pleat_view_sibling(&core->view, component);
}
/* What stands beside a component of a job of several, or with files. */
static inline struct pleat_coallocation *coallocation_of(struct pleat_core *core,
                                                         uint32_t component)
{
    return side_find(core, SIDE_COALLOCATION, component);
}
/* Where a job stands in the queue: behind all, in front of all, at a position. */
enum job_place { JOB_BEHIND, JOB_IN_FRONT, JOB_AT };
/* Does one component of the job stand in the queue for all of them that wait? `lead`, here and
 * below: the first component of the job. */
PLEAT_COLD bool job_waits(const struct pleat_core *core, uint32_t lead);
/* One component of the job stands in the queue for all that wait, the others are in its tow.
 * `position`: for JOB_AT. */
PLEAT_COLD void job_stand(struct pleat_core *core, uint32_t lead, enum job_place place,
                          int64_t position);
/* Some components of the job were placed. The one that stands in the queue stands there again, for
 * those that still wait. */
PLEAT_COLD void job_stand_again(struct pleat_core *core, uint32_t lead);
/* No component of the job stands in the queue any more. */
PLEAT_COLD void job_unstand(struct pleat_core *core, uint32_t lead);
/* A component that is in no list waits: in front of the queue, or in the tow of the component that
 * stands in the queue for its job. */
PLEAT_COLD void component_wait(struct pleat_core *core, uint32_t component);
/* Is the submitted component the next one that its job awaits, or the first of several? *is_part:
 * it has no size of its own (a part of a flexible job). */
PLEAT_COLD int job_check_submit(const struct pleat_core *core, const struct pleat_event *event,
                                const struct pleat_component *component, bool *is_part,
                                struct pleat_error *err);
PLEAT_COLD void job_submitted(struct pleat_core *core, uint32_t component, uint16_t flags);
/* The component waits no more at the barrier; the processor time that it held there is counted. */
PLEAT_COLD void component_stop_waiting(struct pleat_core *core, uint32_t component);
/* Has no component of the job been placed? */
PLEAT_COLD bool job_is_waiting(const struct pleat_core *core, uint32_t lead);
/* The next component of the same job; after the last one the first. */
PLEAT_COLD uint32_t job_next(const struct pleat_core *core, uint32_t component);
/* The first component of the job; the component itself where it is the only one. */
static inline uint32_t job_first(const struct pleat_core *core, uint32_t component)
{
    uint32_t lead = core->components.items[component].lead;
    return lead == PLEAT_NONE ? component : lead;
}

#endif
