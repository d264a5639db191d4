/* resize.h - the steps of a resize */
#ifndef PLEAT_CORE_RESIZE_H
#define PLEAT_CORE_RESIZE_H

#include "core/state.h"

void resize_claimed(struct pleat_core *core, uint32_t resize);
void resize_claim_failed(struct pleat_core *core, uint32_t resize);
void resize_begin(struct pleat_core *core, uint32_t component, int32_t target, int32_t offered,
                  bool mandatory, bool by_user, uint32_t waiter);
/* Makes the record of a resize, which has no step yet. PLEAT_NONE: out of memory. */
uint32_t resize_open(struct pleat_core *core, uint32_t component, int32_t target, int32_t offered,
                     bool mandatory, bool by_user, uint32_t waiter);
/* The resize under way that an event of a runner is about, or PLEAT_NONE. */
uint32_t resize_of(struct pleat_core *core, const struct pleat_event *event);
/* The present step ends within `us` microseconds. That time stands still while the step waits for
 * the application and its agent is away. */
void resize_arm(struct pleat_core *core, uint32_t resize, int64_t us);
/* Goes on to the next step, which ends within `us` microseconds. */
void resize_step(struct pleat_core *core, uint32_t resize, enum pleat_resize_step step, int64_t us);
/* Changes the size at which the resize aims: the application accepted or applied another one, or
 * the site gave fewer processors. */
void resize_accept_size(struct pleat_core *core, uint32_t resize, int32_t to);
/* The application accepts the resize: a shrink is granted, for a growth processors are claimed. */
void resize_accepted(struct pleat_core *core, uint32_t resize);
/* The application is told of the size. */
/* Whether a policy alone wants the resize, and it may be refused. */
bool resize_may_wait(const struct pleat_core *core, const struct pleat_resize *resize);
void resize_grant(struct pleat_core *core, uint32_t resize);
/* Has the resize aim at another size from now on. */
void resize_retarget(struct pleat_core *core, uint32_t resize, int32_t to);
/* The processors of a growth are the component's, which runs on `processors` now. */
void resize_grown(struct pleat_core *core, uint32_t resize, int32_t processors,
                  enum pleat_outcome outcome);
/* The processors that a shrink freed go to the waiter, or back. */
void resize_vacated(struct pleat_core *core, uint32_t resize, enum pleat_outcome outcome);
/* No process of a shrink that leaves the node from which the component is led is left, and its
 * state is saved: as resize_vacated, but the resize goes on, MOVING. */
void resize_moves(struct pleat_core *core, uint32_t resize);
/* The component runs on `processors` now. */
void component_sized(struct pleat_core *core, uint32_t component, int32_t processors);
/* Ends the resize, whatever its step; the component's records are put right. */
void resize_end(struct pleat_core *core, uint32_t resize, enum pleat_outcome outcome);
/* Follows what the application asked for, if no resize is under way: fewer processors are taken
 * back; an ask that cannot be met is refused. */
void resize_as_asked(struct pleat_core *core, uint32_t component);
/* If its site takes processors of the component back soon: shrinks it, if it can do without; or has
 * it grow by others, which it keeps instead (lent.h). */
void resize_off_lent(struct pleat_core *core, uint32_t component);
/* If the component is larger than its maximum and free to change: shrink it. */
void resize_to_limits(struct pleat_core *core, uint32_t component);

#endif
