/* terms.h - lifetimes of sizes, time limits */
#ifndef PLEAT_CORE_TERMS_H
#define PLEAT_CORE_TERMS_H

#include "core/state.h"

/* Sets a running component's deadline: the end of its time limit, or of what holds its size. */
void running_arm(struct pleat_core *core, uint32_t component);
/* Will the component be young once it has a new size? */
static inline bool is_to_be_young(const struct pleat_core *core,
                                  const struct pleat_component *component)
{
    return core->view.lifetimes && component->kind == PLEAT_MALLEABLE &&
           pleat_view_lifetime(&core->view, component) > 0;
}
/* Is the component's present size younger than its lifetime? */
bool is_young(const struct pleat_core *core, const struct pleat_component *component);
/* The component's size, or its lifetime of sizes, has changed: whether it is young, and its
 * deadline, follow. */
void young_refresh(struct pleat_core *core, uint32_t component);
/* Has the component, which runs, used up its time limit? */
bool limit_is_over(const struct pleat_core *core, const struct pleat_component *component);
/* When the component's run has to be over: at its time limit, or before, when a site takes
 * processors back that it cannot shrink off. PLEAT_NEVER: it may run on. */
int64_t run_until(const struct pleat_core *core, const struct pleat_component *component);
/* Why the component has to end now: its site takes processors back without which it cannot go on.
 * NONE: it need not. */
enum pleat_reason site_time_over(const struct pleat_core *core,
                                 const struct pleat_component *component);
/* Puts the claims that a component, which is in no resize, leaves first behind all others
 * (lent.h). */
void taken_last(struct pleat_core *core, uint32_t component);
/* A shrink off claims that the site takes back has failed, and the component's backoff has begun:
 * the next one is tried after that. */
void left_in_vain(struct pleat_core *core, uint32_t component);
/* The deadline of a component has come that runs within its time limit: it is due to get its
 * signal, or its size is not young any more. */
void terms_follow(struct pleat_core *core, uint32_t component);

#endif
