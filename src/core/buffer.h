/* buffer.h - components that ask for processes themselves */
#ifndef PLEAT_CORE_BUFFER_H
#define PLEAT_CORE_BUFFER_H

#include "core/asks.h"
#include "core/deadlines.h"
#include "core/state.h"
#include "core/tally.h"

/* The record of a buffer before its component's submission. */
const struct pleat_buffer *buffer_fresh(void);
/* Gives a component a buffer: 0 or PLEAT_E_NOMEM. */
PLEAT_COLD int buffer_open(struct pleat_core *core, uint32_t component);
/* Takes the empty buffer away again. */
PLEAT_COLD void buffer_close(struct pleat_core *core, uint32_t component);
/* The component runs from now on; does not run any more. */
PLEAT_COLD void buffer_enter(struct pleat_core *core, uint32_t component);
PLEAT_COLD void buffer_leave(struct pleat_core *core, uint32_t component);
/* All processors in the buffer, and those on their way to it, go back. */
PLEAT_COLD void buffer_release_all(struct pleat_core *core, uint32_t component);
/* Processors that the component could never use, as its limit is lower or its size larger now, go
 * back. */
PLEAT_COLD void buffer_trim(struct pleat_core *core, uint32_t component);
/* All buffers are reviewed: the policy or its parameters have changed. */
PLEAT_COLD void buffers_review(struct pleat_core *core);
void on_buffer_deadline(struct pleat_core *core, uint32_t buffer);
/* A claim for the buffer came, and had `waited` in its site's queue (architecture: of the nodes on
 * which it was to be; 0: any); was refused, or taken away. */
PLEAT_COLD int buffer_claimed(struct pleat_core *core, uint32_t claim, bool waited,
                              uint32_t architecture);
PLEAT_COLD void buffer_lost(struct pleat_core *core, uint32_t claim);

static inline struct pleat_buffer *buffer_at(struct pleat_core *core, uint32_t index)
{
    return &core->buffers.items[index];
}

/* Do agents start the component's processes on the processors of its buffer? */
static inline bool prepares(const struct pleat_component *component)
{
    return component->flags & PLEAT_COMPONENT_PREPARES;
}

/* Can the run of a component go on without that claim, since its processes leave it in time
 * (process_leave.h)? */
static inline bool process_can_leave(const struct pleat_core *core, uint32_t claim)
{
    const struct pleat_component *component =
        &core->components.items[core->claims.items[claim].component];
    return core->parameters[PLEAT_PARAM_LEAVE_PROCESSES] > 0 && component->buffer != PLEAT_NONE &&
           prepares(component) && claim != component->first_claim;
}

/* The buffer of the component in the run that an event of its runner names. NULL: that run is over,
 * or the component does not ask for processes. */
PLEAT_COLD struct pleat_buffer *buffer_of_run(struct pleat_core *core, uint32_t component,
                                              uint64_t run);
/* The application has done so many iterations. */
PLEAT_COLD void buffer_advance(struct pleat_core *core, struct pleat_buffer *buffer,
                               int32_t iteration);
/* The application has made so many requests more, 1 at least: they are part of a row. */
PLEAT_COLD void buffer_asked(const struct pleat_core *core, struct pleat_buffer *buffer,
                             uint32_t requests);
/* The application has given back a process that it may have announced. */
PLEAT_COLD void buffer_returned(struct pleat_buffer *buffer);
/* The policy may want another buffer for the component, if that runs. */
PLEAT_COLD void buffer_review(struct pleat_core *core, uint32_t component);
/* The application has changed its size itself. This is no resize, and the expected end stays. */
PLEAT_COLD void component_sized_itself(struct pleat_core *core, uint32_t component, int32_t more);
/* The pause of a component at a site, in which no processor is asked for there: borrowed members of
 * the record that has it. */
struct pause {
    int64_t *quiet_until_us;
    uint32_t *failures, *deadline;
    enum deadline_kind kind;
    uint32_t index;
};
PLEAT_COLD struct pause buffer_pause_of(struct pleat_core *core, uint32_t component, uint32_t site);
/* A process could not be prepared at a site: for a while nothing is asked for there, longer for
 * each in a row. */
PLEAT_COLD void buffer_failed(struct pleat_core *core, uint32_t component, uint32_t site);
/* The buffer is reviewed in the next pass. */
PLEAT_COLD void buffer_due(struct pleat_core *core, uint32_t index);
/* ... has been reviewed, or is not to be. */
PLEAT_COLD void buffer_reviewed(struct pleat_core *core, uint32_t index);
/* Whether the policy in force reviews buffers. */
PLEAT_COLD bool buffers_are_reviewed(const struct pleat_core *core);
/* So many requests of its application wait now. */
PLEAT_COLD void buffer_waits(struct pleat_buffer *buffer, uint32_t requests);
/* So many processes more were asked for since requests wait. */
PLEAT_COLD void buffer_serve(struct pleat_buffer *buffer, int32_t processes);
/* Processors are asked of a site for a component's buffer, each with a claim of its own, on nodes
 * of that architecture; 0: on any. */
PLEAT_COLD void buffer_place(struct pleat_core *core, uint32_t component, uint32_t site,
                             int32_t count, uint32_t architecture);
/* A claim comes into the buffer's list, or leaves it. */
PLEAT_COLD void buffer_link(struct pleat_core *core, uint32_t claim);
PLEAT_COLD void buffer_unlink(struct pleat_core *core, uint32_t claim);
/* The process on a claim in the buffer's list is another, or none. */
PLEAT_COLD void buffer_set_process(struct pleat_core *core, uint32_t claim,
                                   enum pleat_kept_state state);
/* PREPARES: a process is started on a held claim in the buffer's list. */
PLEAT_COLD void buffer_prepare(struct pleat_core *core, uint32_t claim);
/* A claim in the buffer's list goes back; where there may be a process on it, after that is gone.
 */
PLEAT_COLD void buffer_give_back(struct pleat_core *core, uint32_t claim);
/* The processor of a claim can be used from now on: so long did it take. */
PLEAT_COLD void buffer_allocated(struct pleat_core *core, uint32_t claim);
/* Adds up the time up to now, before the component's processors, or those in its buffer, are
 * others. */
PLEAT_COLD void buffer_count_time(struct pleat_core *core, uint32_t component);

/* The component runs no more: it leaves the lists of running ones. */
static inline void stop_running(struct pleat_core *core, uint32_t component)
{
    if (core->components.items[component].buffer != PLEAT_NONE)
        buffer_leave(core, component);
    if (core->components.items[component].ask != PLEAT_NONE)
        ask_stop(core, component);
    running_remove(core, component);
}

#endif
