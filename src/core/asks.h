/* asks.h - what applications ask for while they run: more processors, or fewer */
#ifndef PLEAT_CORE_ASKS_H
#define PLEAT_CORE_ASKS_H

#include "core/state.h"

/* Looks at what the application of a component asked for, when its size, its limits or its state
 * have changed: answers that, where the answer is known. Returns the size to which the component is
 * to be shrunk, as its application wants it; 0: to none. */
int32_t ask_review(struct pleat_core *core, uint32_t component);
/* A resize begins: of `to` processors. If the application asked for a change in that direction, it
 * is for that. */
void ask_begun(struct pleat_core *core, uint32_t component, int32_t to);
/* The answer is no, or, if the component has got some of it, not all of it. */
void ask_refuse(struct pleat_core *core, uint32_t component, enum pleat_ask_reason reason);
/* Its application wants `processors` from now on: more, fewer, or, where that is 0, nothing any
 * more. unbegun: it waits in its beginning. limit_us: how long it waits, where it cannot go on
 * without; 0: for ever. False: out of memory, nothing has changed. */
bool ask_take(struct pleat_core *core, uint32_t component, uint32_t number, int32_t processors,
              bool mandatory, bool unbegun, int64_t limit_us);
/* The time that it gave is over. */
void on_ask_deadline(struct pleat_core *core, uint32_t component);
/* It runs no more: nothing is waited for. */
void ask_stop(struct pleat_core *core, uint32_t component);
/* It gave up so many processors though it could have refused, unless its application asked for
 * that; it got so many. */
void ask_gave_up(struct pleat_core *core, uint32_t component, int32_t processors);
void ask_got(struct pleat_core *core, uint32_t component, int32_t processors);
/* The user says how large it is: its application's cap holds no longer. */
void ask_overruled(struct pleat_core *core, uint32_t component);
/* The run is over. */
void ask_forget(struct pleat_core *core, uint32_t component);

#endif
