/* asks.h - what applications ask for while they run: more processors, or fewer */
#ifndef PLEAT_CORE_ASKS_H
#define PLEAT_CORE_ASKS_H

#include "core/state.h"

/* Looks at what the application of a component asked for, when its size, its limits or its state
 * have changed: answers the ask, where the answer is known. Returns the size to which the component
 * is to be shrunk, as its application wants; 0: it is not to be shrunk. */
int32_t ask_review(struct pleat_core *core, uint32_t component);
/* A resize to `to` processors begins. If the application asked for a change in that direction, the
 * resize counts as the answer. */
void ask_begun(struct pleat_core *core, uint32_t component, int32_t to);
/* The ask is refused, or, if the component has got a part of what it asked for, answered with that
 * part. */
void ask_refuse(struct pleat_core *core, uint32_t component, enum pleat_ask_reason reason);
/* The application asks for `processors` processors, more or fewer than it has; 0: it wants nothing
 * any more. unbegun: it waits in its beginning. limit_us: how long it waits if it cannot go on
 * without them; 0: for ever. False: out of memory, nothing has changed. */
bool ask_take(struct pleat_core *core, uint32_t component, uint32_t number, int32_t processors,
              bool mandatory, bool unbegun, int64_t limit_us);
/* The time within which the application wanted an answer is over. */
void on_ask_deadline(struct pleat_core *core, uint32_t component);
/* The component runs no more: a pending ask is dropped. */
void ask_stop(struct pleat_core *core, uint32_t component);
/* Count the credit of a component: it gave up processors though it could have refused, unless its
 * application asked for that; it got processors. */
void ask_gave_up(struct pleat_core *core, uint32_t component, int32_t processors);
void ask_got(struct pleat_core *core, uint32_t component, int32_t processors);
/* The user has set the component's size: the cap of its application does not hold any more. */
void ask_overruled(struct pleat_core *core, uint32_t component);
/* The run is over. */
void ask_forget(struct pleat_core *core, uint32_t component);

#endif
