/* tell.h - what is told to whoever runs a component */
#ifndef PLEAT_CORE_TELL_H
#define PLEAT_CORE_TELL_H

#include "core/state.h"

/* Emits KILL for a component in FINISHING, START for any other. */
void run_effect(struct pleat_core *core, uint32_t component);
/* Emits START: from now on the start may have happened. If the agent is away, REACH is emitted
 * instead. */
void start_or_reach(struct pleat_core *core, uint32_t component);
/* Emits one effect (or note that is wanted) about a resize. */
void resize_effect(struct pleat_core *core, uint32_t resize, uint16_t kind,
                   enum pleat_outcome outcome);
static inline void resize_note(struct pleat_core *core, uint32_t resize,
                               enum pleat_effect_kind kind, enum pleat_outcome outcome)
{
    if (core->notes & pleat_note_bit(kind))
        resize_effect(core, resize, (uint16_t)kind, outcome);
}
/* A note that the application's answer was not followed. */
void resize_warn(struct pleat_core *core, uint32_t resize);
/* Fills in the state of an ask. */
void ask_describe(struct pleat_core *core, uint32_t component, struct pleat_effect *effect);
/* Emits the answer to an ask, if there is one and the agent is there. */
void answer_effect(struct pleat_core *core, uint32_t component);
/* Emits the signal before the component's time limit, if it was not answered yet. */
void outstanding_signal(struct pleat_core *core, uint32_t component);
/* Emits the effects of a component that are not answered yet: START, KILL, what its resize waits
 * for. If its agent is away, REACH is emitted instead. */
void outstanding_effects(struct pleat_core *core, uint32_t component);
/* The node on which the process of a claim is, or is to be started. */
uint32_t process_node(const struct pleat_core *core, uint32_t claim);
/* Emits what is asked for the process on a held claim of a buffer and not answered yet: PREPARE,
 * UNPREPARE. If an agent that has to know is away, REACH is emitted instead: the one that leads the
 * run, until that is over; the one of the claim's node. */
void process_effect(struct pleat_core *core, uint32_t claim);
/* Emits LEAVE for the process of the application's on a claim, if it is to leave; or REACH. */
void process_leave_effect(struct pleat_core *core, uint32_t claim);
/* Emits these effects for all processes that the agent of a node has to know of. */
void processes_outstanding(struct pleat_core *core, uint32_t site, uint32_t node);

#endif
