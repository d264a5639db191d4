/* tally.h - lists of waiting and running components, sums for each site */
#ifndef PLEAT_CORE_TALLY_H
#define PLEAT_CORE_TALLY_H

#include "core/state.h"

void queue_append(struct pleat_core *core, uint32_t component);
/* The component, which is in no list, stands at its old position; its key may have changed. */
void queue_replace(struct pleat_core *core, uint32_t component);
/* The component stands in front of all others with the same key. */
void queue_prepend(struct pleat_core *core, uint32_t component);
void queue_remove(struct pleat_core *core, uint32_t component);
/* Sorts the queue again, by the order in force. */
void queue_sort(struct pleat_core *core);
/* Advance reservations whose time has not come. */
void reserved_add(struct pleat_core *core, uint32_t component);
void reserved_remove(struct pleat_core *core, uint32_t component);
void running_add(struct pleat_core *core, uint32_t component);
void running_remove(struct pleat_core *core, uint32_t component);
/* The expected end of the component has changed. */
void running_expect(struct pleat_core *core, uint32_t component, int64_t end_us);
/* Begins, or ceases, to keep running components sorted by their expected ends. */
void ends_keep(struct pleat_core *core, bool keep);
/* Around every change of a running component's target or limits, and of whether it runs. */
void tally_out(struct pleat_core *core, uint32_t component);
void tally_in(struct pleat_core *core, uint32_t component);
/* Has the component fewer processors than it may have, as it gave some back or its application
 * needs more? */
bool is_below(const struct pleat_core *core, const struct pleat_component *component);

#endif
