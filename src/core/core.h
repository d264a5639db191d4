/* core.h - the state machine: events in, changed state and effects out.
 *
 * No input or output, no clock, no logging; deterministic: the same events give the same state,
 * the same effects and the same decisions. Used by the daemon (real time) and by the simulator.
 *
 *     for each event of this instant: pleat_core_apply(core, &event, &effects, &err);
 *     if (pleat_core_wants_pass(core)) pleat_core_pass(core, now, &decisions, &effects, &err);
 *     write events and decisions to the log; then carry out the effects
 *     sleep until something happens, or until pleat_core_next_deadline(core): then apply TIME
 *
 * Not thread-safe. After PLEAT_E_NOMEM the core may be half changed: rebuild it from the log.
 */
#ifndef PLEAT_CORE_CORE_H
#define PLEAT_CORE_CORE_H

#include "model/effect.h"
#include "model/event.h"
#include "model/records.h"
#include "policy/policy.h"

struct pleat_core;

/* An input that came too late to matter (an answer to a resize that is over): nothing changed. */
enum { PLEAT_CORE_STALE = 1 };

/* A core without sites and jobs, with default policies and parameters. */
int pleat_core_create(struct pleat_core **core) PLEAT_MUST_CHECK;
void pleat_core_destroy(struct pleat_core *core);

/* Applies one event (input or logged decision); effects are appended to *effects.
 * 0: applied, belongs into the log. PLEAT_CORE_STALE: nothing changed, nothing to log. Negative:
 * refused, nothing changed; err says why in words for the user.
 * Event times must not go back (an earlier time counts as the latest seen). */
int pleat_core_apply(struct pleat_core *core, const struct pleat_event *event,
                     struct pleat_effects *effects, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Puts a policy in force that is in no list of Pleat's: a program of somebody else's tries one out.
 * No event says so, so there must be no log, and the state must not be saved. PLEAT_E_NOMEM. */
int pleat_core_try_policy(struct pleat_core *core,
                          const struct pleat_policy *policy) PLEAT_MUST_CHECK;

/* Would a pass find something new? Not while no component waits and no running one can be
 * resized. */
bool pleat_core_wants_pass(const struct pleat_core *core);

/* Asks the policies, checks their plan against the core's invariants, applies it. A PASS record and
 * the decisions are appended to *decisions, in the order applied; NULL: no log is kept.
 * PLEAT_E_STATE: a policy's plan broke an invariant (err names it); what was decided before that
 * stands. */
int pleat_core_pass(struct pleat_core *core, int64_t now_us, struct pleat_events *decisions,
                    struct pleat_effects *effects, struct pleat_error *err) PLEAT_MUST_CHECK;

/* A rehearsed pass: what the policies would decide now. For questions about why they decide so
 * (policy/why.h). */
struct pleat_rehearsal {
    struct pleat_view
        view; /* the core's, at that time; valid until the core's next apply or pass */
    struct pleat_plan plan;
    struct pleat_pass pass; /* points to both: the record must stay where it is */
};

/* Asks the policies and keeps their plan in *rehearsal; the core does not change. PLEAT_E_NOMEM.
 * Costs what a pass costs. Finish it also after a failure. */
int pleat_core_rehearse(const struct pleat_core *core, int64_t now_us,
                        struct pleat_rehearsal *rehearsal) PLEAT_MUST_CHECK;
void pleat_rehearsal_finish(struct pleat_rehearsal *rehearsal);

/* How many decisions the last pass took. */
size_t pleat_core_decided(const struct pleat_core *core);

/* When TIME must be applied next; PLEAT_NEVER. */
int64_t pleat_core_next_deadline(const struct pleat_core *core);

/* Effects not yet answered, again: claims requested or releasing, runs being started or killed,
 * resizes under way. After a recovery, before anything else. */
int pleat_core_outstanding(struct pleat_core *core, struct pleat_effects *effects) PLEAT_MUST_CHECK;

/* Which NOTE effects are given from now on: bit kind - PLEAT_NOTE_STATE; all at first. The DO ones
 * always are. */
void pleat_core_set_notes(struct pleat_core *core, uint64_t kinds);
static inline uint64_t pleat_note_bit(enum pleat_effect_kind kind)
{
    return UINT64_C(1) << (kind - PLEAT_NOTE_STATE);
}

/* ---- saving: a state from which the log can be applied on ---- */

/* Appends the state to *out as bytes with a checksum; the same state gives the same bytes. What a
 * pass left in order to save work is not among the bytes: decisions are the same without it. 0 or
 * PLEAT_E_NOMEM. */
int pleat_core_save(const struct pleat_core *core, struct pleat_string *out) PLEAT_MUST_CHECK;
/* A new core in that state; bytes: aligned as malloc aligns. PLEAT_E_CORRUPT: they are damaged.
 * PLEAT_E_UNSUPPORTED: written by a newer version. PLEAT_E_NOMEM. */
int pleat_core_load(const char *bytes, size_t size, struct pleat_core **core,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- looking (pointers are valid until the next apply or pass) ---- */

/* The index that the next SUBMIT must carry: that of a forgotten component, or a new one. */
uint32_t pleat_core_next_component(const struct pleat_core *core);
/* The group that the next GROUP may found. */
uint32_t pleat_core_next_group(const struct pleat_core *core);
/* A dependency of a component: its first is at first_need, the next at next_need. */
const struct pleat_dependency *pleat_core_dependency(const struct pleat_core *core, uint32_t index);
const struct pleat_view *pleat_core_view(const struct pleat_core *core);
/* How many starts a site could not do, as far as they count at that time: the count fades. */
uint32_t pleat_core_failed_starts(const struct pleat_core *core, uint32_t site, int64_t now_us);
/* When the run of a running component has to be over: at its time limit, or before, when a site
 * takes processors back. PLEAT_NEVER: it may run on. */
int64_t pleat_core_run_until(const struct pleat_core *core, uint32_t component);
/* Whether the shrink under way of a component leaves the node from which it is led: its processes
 * are to end, with its state saved on nodes that it keeps, and MOVED is the answer. */
bool pleat_core_moves(const struct pleat_core *core, uint32_t component);
/* Whether it is being started on another node, after MOVED: START is about the run that it has. */
bool pleat_core_is_moving(const struct pleat_core *core, uint32_t component);
const struct pleat_claim *pleat_core_claim(const struct pleat_core *core, uint32_t index);
uint32_t pleat_core_size_list_count(const struct pleat_core *core);
uint32_t pleat_core_claim_count(const struct pleat_core *core); /* indexes below; some FREE */
const struct pleat_piece *pleat_core_piece(const struct pleat_core *core, uint32_t index);
const struct pleat_resize *pleat_core_resize(const struct pleat_core *core, uint32_t index);
const struct pleat_policy *pleat_core_policy(const struct pleat_core *core,
                                             enum pleat_question question);
/* Merges what a MEASURED or REMEMBERED says into what is known of its size: mean_us, squares,
 * count, iteration_us. */
void pleat_timing_merge(struct pleat_timing *timing, const struct pleat_event *event);
/* What the policies in force need besides the records: PLEAT_NEEDS_*. TIMED need be fed only while
 * PLEAT_NEEDS_TIMES is in it. */
unsigned pleat_core_needs(const struct pleat_core *core);
int64_t pleat_core_parameter(const struct pleat_core *core, enum pleat_parameter parameter);
/* Name and default of a parameter; NULL for a number that is none. */
const char *pleat_parameter_name(uint32_t parameter);
/* The next parameter there is; 0: none. The first follows 0. */
uint32_t pleat_parameter_next(uint32_t parameter);
int64_t pleat_parameter_default(uint32_t parameter);
/* Numbers that only grow, for benchmarks and tests: steps taken in lists and heaps. */
uint64_t pleat_core_operations(const struct pleat_core *core);

/* Recounts everything from the records and compares with the indexes: 0, or PLEAT_E_CORRUPT with
 * what is wrong. For tests: costs time proportional to all that is known. */
int pleat_core_check(const struct pleat_core *core, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Is that step in the one table of transitions? */
bool pleat_transition_allowed(enum pleat_component_state from, enum pleat_component_state to);

#endif
