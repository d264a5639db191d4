/* side.h - what only some components have, in records beside theirs (model/records.h).
 *
 * A component without such a record reads a constant one (the functions of policy/view.h), so a
 * record is made where a member first gets another value, and goes when the component's own record
 * is used again. Whether there is one decides nothing, and it is not part of a saved state: its
 * members are saved as if they stood in the component's record. */
#ifndef PLEAT_CORE_SIDE_H
#define PLEAT_CORE_SIDE_H

#include "core/state.h"

/* The component's record, made where it has none. NULL: out of memory, nothing changed. So whoever
 * changes more than this record makes it first. Pointers to records of that kind do not stay valid.
 */
void *side_make(struct pleat_core *core, enum side side, uint32_t component);
/* The component's record; NULL: it has none, and so the values of the constant one. */
void *side_find(struct pleat_core *core, enum side side, uint32_t component);
/* Is there any record beside a component? */
static inline bool side_any(const struct pleat_component *component)
{
    return (component->terms & component->folding & component->declaration &
            component->coallocation & component->ask) != PLEAT_NONE;
}
/* Frees all records beside that of a component. */
PLEAT_COLD void side_drop(struct pleat_core *core, uint32_t component);
/* For reading: the constant record where there is none. */
const void *side_read(const struct pleat_core *core, enum side side,
                      const struct pleat_component *component);

void sides_init(struct pleat_core *core);
void sides_finish(struct pleat_core *core);
void sides_sync_view(struct pleat_core *core);
/* PLEAT_E_CORRUPT unless each record is free, or that of one component. */
int sides_check(const struct pleat_core *core, struct pleat_error *err);

#endif
