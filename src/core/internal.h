/* internal.h - the core's state and the steps that its files share. */
#ifndef PLEAT_CORE_INTERNAL_H
#define PLEAT_CORE_INTERNAL_H

#include <assert.h>

#include "base/heap.h"
#include "base/tree.h"
#include "core/core.h"

PLEAT_ARRAY(pleat_component_array, struct pleat_component);
PLEAT_ARRAY(pleat_site_array, struct pleat_site);
PLEAT_ARRAY(pleat_claim_array, struct pleat_claim);
PLEAT_ARRAY(pleat_piece_array, struct pleat_piece);
PLEAT_ARRAY(pleat_resize_array, struct pleat_resize);
PLEAT_ARRAY(pleat_size_list_array, struct pleat_size_list);
PLEAT_ARRAY(pleat_timing_array, struct pleat_timing);
PLEAT_ARRAY(pleat_buffer_array, struct pleat_buffer);
PLEAT_ARRAY(pleat_history_array, struct pleat_history);
PLEAT_ARRAY(pleat_input_array, struct pleat_input);
PLEAT_ARRAY(pleat_link_array, struct pleat_link);
PLEAT_ARRAY(pleat_dependency_array, struct pleat_dependency);
PLEAT_ARRAY(pleat_group_array, struct pleat_group);
PLEAT_ARRAY(pleat_roots, uint32_t);

enum deadline_kind {
    DEADLINE_COMPONENT,
    DEADLINE_RESIZE,
    DEADLINE_WAKE,
    DEADLINE_BUFFER,
    DEADLINE_SITE
};

/* What is added here must be saved, too: see save_columns.c. */
struct pleat_core {
    struct pleat_view view; /* its pointers follow the arrays below: see sync_view */
    struct pleat_component_array components;
    struct pleat_site_array sites;
    struct pleat_claim_array claims;
    struct pleat_piece_array pieces;
    struct pleat_resize_array resizes;
    struct pleat_size_list_array size_lists;
    struct pleat_timing_array timings;
    struct pleat_buffer_array buffers;
    struct pleat_history_array histories; /* by buffer */
    uint32_t reviews_last;                /* of the buffers whose review is due */
    struct pleat_input_array inputs;
    struct pleat_link_array links; /* sorted by (from, to) */
    struct pleat_dependency_array dependencies;
    struct pleat_group_array groups;
    uint32_t decided_first, decided_last; /* dependencies, settled before the call returns */
    /* free records, by their `next` (resize: `waiter`) */
    uint32_t free_component, free_claim, free_piece, free_resize, free_timing, free_buffer,
        free_input, free_dependency, free_group;
    uint32_t open_lead; /* of the job whose last component has not come yet; PLEAT_NONE */
    struct pleat_tree
        places;          /* of waiting components in the queue, of running ones by their ends */
    uint32_t queue_root; /* PLEAT_NONE: as they came, no tree is needed */
    struct pleat_roots ends_roots; /* per site */
    bool keeps_ends;
    int64_t first_position, last_position; /* in the queue, given out so far */
    uint64_t notes;                        /* NOTE effects that are wanted: bit kind - 64 */
    struct pleat_heap deadlines;
    uint32_t wake; /* handle of the policies' wake-up */
    uint64_t next_id;
    bool wants_pass;
    uint32_t idle_passes; /* in succession, with nothing between them but time and promises */
    uint32_t malleable;   /* running malleable components, at all sites */
    struct pleat_plan plan;
    struct pleat_pass pass; /* what policies get, and which they are; made once */
    void *states[PLEAT_QUESTION_COUNT];
    bool observed;  /* some policy in force observes */
    bool settles;   /* those in force that start components do: see pleat_policy */
    unsigned needs; /* PLEAT_NEEDS_* of the policies in force */
    int64_t parameters[PLEAT_PARAM_COUNT];
    uint64_t operations;
    struct pleat_effects *out; /* of the call under way */
    int failed;                /* out of memory in the call under way */
};

/* ---- handlers of events, each in the file of what it is about ----
 * 0, PLEAT_CORE_STALE or an error, as pleat_core_apply. Its subject exists (model/events.def). */
#define EVENT(number, kind, name, subject, handler, member, last)                                  \
    int handler(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err);
#define BARE_EVENT(number, kind, name, subject, handler)                                           \
    int handler(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err);
#include "model/events.def"
#undef EVENT
#undef BARE_EVENT

/* ---- policies.c ---- */
/* The view's pointers and counts are those of the arrays again. */
void core_sync_view(struct pleat_core *core);
int core_set_policy(struct pleat_core *core, const struct pleat_policy *policy);

/* ---- effects.c ---- */
struct pleat_effect *emit(struct pleat_core *core, uint16_t kind, uint32_t component, uint64_t id);
/* A note, if such ones are wanted; NULL: not, or out of memory. */
static inline struct pleat_effect *emit_note(struct pleat_core *core, enum pleat_effect_kind kind,
                                             uint32_t component, uint64_t id)
{
    return core->notes & pleat_note_bit(kind) ? emit(core, (uint16_t)kind, component, id) : NULL;
}

/* ---- deadlines.c ---- */
void arm(struct pleat_core *core, uint32_t *handle, enum deadline_kind kind, uint32_t index,
         int64_t at_us);
void disarm(struct pleat_core *core, uint32_t *handle);

/* ---- transition.c ---- */
void note_state(struct pleat_core *core, uint32_t component, enum pleat_state from);

/* ---- tally.c: lists of waiting and running components, sums per site ---- */
void queue_append(struct pleat_core *core, uint32_t component);
/* After its key may have changed: its position stays. It is in no list. */
void queue_replace(struct pleat_core *core, uint32_t component);
/* In front of its equals. */
void queue_prepend(struct pleat_core *core, uint32_t component);
void queue_remove(struct pleat_core *core, uint32_t component);
/* Sorts it again, by the order in force. */
void queue_sort(struct pleat_core *core);
/* Advance reservations whose time has not come. */
void reserved_add(struct pleat_core *core, uint32_t component);
void reserved_remove(struct pleat_core *core, uint32_t component);
void running_add(struct pleat_core *core, uint32_t component);
void running_remove(struct pleat_core *core, uint32_t component);
/* Its expected end has changed. */
void running_expect(struct pleat_core *core, uint32_t component, int64_t end_us);
/* Begins, or ceases, to keep running components by their expected ends. */
void ends_keep(struct pleat_core *core, bool keep);
/* Around every change of a running component's target or limits, and of whether it runs. */
void tally_out(struct pleat_core *core, uint32_t component);
void tally_in(struct pleat_core *core, uint32_t component);

/* ---- claims.c ---- */
uint32_t claim_request(struct pleat_core *core, uint32_t component, uint32_t site, int32_t count,
                       enum pleat_purpose purpose);
/* The claim with this id that the event names, or PLEAT_NONE. */
uint32_t claim_find(const struct pleat_core *core, const struct pleat_event *event);
/* Emits one effect (or note) about a claim. */
void claim_effect(struct pleat_core *core, uint32_t claim, uint16_t kind);
static inline void claim_note(struct pleat_core *core, uint32_t claim)
{
    if (core->notes & pleat_note_bit(PLEAT_NOTE_CLAIM))
        claim_effect(core, claim, PLEAT_NOTE_CLAIM);
}
void claim_link(struct pleat_core *core, uint32_t claim);
void claim_unlink(struct pleat_core *core, uint32_t claim);
/* Starts giving back a claim that is not linked. */
void claim_release(struct pleat_core *core, uint32_t claim);
/* Cuts a linked claim in two; the new one has the last `count` processors and is not linked. */
uint32_t claim_split(struct pleat_core *core, uint32_t claim, int32_t count);
void claim_free(struct pleat_core *core, uint32_t claim);
/* Gives back the last `count` processors of a component. */
void component_release_tail(struct pleat_core *core, uint32_t component, int32_t count);
/* Hands its last `count` processors to a waiting component, as earmarks. */
void component_earmark_tail(struct pleat_core *core, uint32_t component, int32_t count,
                            uint32_t waiter);
/* Shrinks under way for a waiting component go on, for nobody in particular. */
void coming_drop(struct pleat_core *core, uint32_t waiter);
void earmarks_drop(struct pleat_core *core, uint32_t waiter);

/* ---- limits.c ---- */
/* Do limits make sense? */
int limits_check(int32_t minimum, int32_t maximum, struct pleat_error *err);
/* Is there a site on which it could run? err says what there is. */
int limits_check_fits(const struct pleat_core *core, const struct pleat_component *component,
                      struct pleat_error *err);
/* Its limits are others: says so, and shrinks it into them where it runs. */
void limits_changed(struct pleat_core *core, uint32_t component);

/* ---- submit.c ---- */
/* A record before its submission. */
const struct pleat_component *component_fresh(void);

/* ---- start.c ---- */
/* START, which was not answered yet, is given (again), to whoever can carry it out. */
void start_await(struct pleat_core *core, uint32_t component);
/* The processors of its start have come (all, or what there was). */
void component_claimed(struct pleat_core *core, uint32_t component);
/* Its start cannot go on: back to the front of the queue, or failed. */
void component_claim_failed(struct pleat_core *core, uint32_t component, enum pleat_reason reason);
/* Claims its processors at its site: so many that it does not have yet. */
void component_claim(struct pleat_core *core, uint32_t component, int32_t missing);
/* It has all that it needs. */
void component_start(struct pleat_core *core, uint32_t component);
void start_effect(struct pleat_core *core, uint32_t component);

/* ---- component.c ---- */
void on_component_deadline(struct pleat_core *core, uint32_t component);
void component_kill(struct pleat_core *core, uint32_t component, enum pleat_reason reason);
/* The same, but that others of its job go on. */
void component_kill_one(struct pleat_core *core, uint32_t component, enum pleat_reason reason);
/* A job that waits, or of which a component does, ends: cancelled for that reason, else failed. */
void component_give_up(struct pleat_core *core, uint32_t component, enum pleat_reason reason);
/* Its processes are gone: what it holds goes back. Its state is FINISHING. */
void component_give_back(struct pleat_core *core, uint32_t component);
void component_release_all(struct pleat_core *core, uint32_t component);
/* FINISHING to QUEUED: as if it had not run. It is in no list. */
void component_reset(struct pleat_core *core, uint32_t component);
/* The final state of one of several. */
void component_end_part(struct pleat_core *core, uint32_t component, enum pleat_state state);
/* After its last claim went: the final state, or the queue again. */
void component_settle(struct pleat_core *core, uint32_t component);

/* ---- job.c: jobs of several components ---- */
/* Is it of such a job? Jobs of one component, of which there are millions in a simulation, pay for
 * none of this. */
static inline bool is_several(const struct pleat_core *core,
                              const struct pleat_component *component)
{
    return __builtin_expect(core->view.several, 0) && component->lead != PLEAT_NONE;
}
enum job_place { JOB_BEHIND, JOB_IN_FRONT, JOB_AT };
/* Does a component of it stand in the queue, for all that wait? */
bool job_waits(const struct pleat_core *core, uint32_t lead);
/* Sees to that. `position`: for JOB_AT. */
void job_stand(struct pleat_core *core, uint32_t lead, enum job_place place, int64_t position);
/* Who stands there was not placed itself, but others were. */
void job_stand_again(struct pleat_core *core, uint32_t lead);
void job_unstand(struct pleat_core *core, uint32_t lead);
/* A component that is in no list waits: in front of the queue, or in the tow of who stands there.
 */
void component_wait(struct pleat_core *core, uint32_t component);
/* Is it the one that is awaited, or the first of several? *is_part: it has no size of its own. */
int job_check_submit(const struct pleat_core *core, const struct pleat_event *event,
                     const struct pleat_component *component, bool *is_part,
                     struct pleat_error *err);
void job_submitted(struct pleat_core *core, uint32_t component, uint16_t flags);
/* It has its processors, and waits for the others and for files; or all are started. */
void component_at_barrier(struct pleat_core *core, uint32_t component);
void job_pass_barrier(struct pleat_core *core, uint32_t component);
/* It waits no more; what it had meanwhile is counted. */
void component_stop_waiting(struct pleat_core *core, uint32_t component);
/* All that its job has is given back, and it waits in front of the queue. */
void job_put_back(struct pleat_core *core, uint32_t component);
/* Would its failures, so far, send it back to the queue? */
bool job_requeues(const struct pleat_core *core, uint32_t lead);
/* After a component has come to its end: all ended, or the queue again, when it was the last. */
void job_settle(struct pleat_core *core, uint32_t lead);
/* A component is FINISHING: if it failed so do the others. */
void job_end_others(struct pleat_core *core, uint32_t component);
/* After component_kill_one of one of several. */
void job_killed(struct pleat_core *core, uint32_t component, enum pleat_reason reason);
/* Has none of its components been placed? */
bool job_is_waiting(const struct pleat_core *core, uint32_t lead);
void job_cancel_waiting(struct pleat_core *core, uint32_t lead, enum pleat_reason reason,
                        enum pleat_state state);
/* The next of its components, after the last the first. */
uint32_t job_next(const struct pleat_core *core, uint32_t component);
/* Of its job; itself where it is the only one. */
static inline uint32_t job_first(const struct pleat_core *core, uint32_t component)
{
    uint32_t lead = core->components.items[component].lead;
    return lead == PLEAT_NONE ? component : lead;
}

/* ---- check_jobs.c ---- */
int core_check_jobs(const struct pleat_core *core, struct pleat_error *err);

/* ---- check_holds.c ---- */
/* What holds one component; groups and dependencies, all of them. */
int core_check_holds(const struct pleat_core *core, uint32_t component, struct pleat_error *err);
int core_check_groups(const struct pleat_core *core, struct pleat_error *err);

/* ---- hold.c: what keeps a waiting component out of the queue ---- */
/* 0: it is the only component of its job, waits, and is no reservation, so it can be held. */
int hold_check(const struct pleat_core *core, uint32_t component, struct pleat_error *err);
/* It is held by that, too: it leaves the queue if it stands there. It is QUEUED. */
void hold_add(struct pleat_core *core, uint32_t component, enum pleat_hold by);
/* That does not hold it any more: it stands in the queue, behind all others, if nothing does. */
void hold_remove(struct pleat_core *core, uint32_t component, enum pleat_hold by);
/* QUEUED again and in no list: held, or behind all others in the queue. */
void hold_or_append(struct pleat_core *core, uint32_t component);
/* It has ended: nothing holds it, and it leaves its group. */
void hold_end(struct pleat_core *core, uint32_t component);

/* ---- depend.c: jobs that wait for other jobs ---- */
/* It waits for no job any more. */
void needs_drop(struct pleat_core *core, uint32_t component);
/* The first component of a job has started; the job has ended, well or not. */
void dependents_started(struct pleat_core *core, uint32_t component);
void dependents_ended(struct pleat_core *core, uint32_t component, bool well);
/* Those that were waited for are decided: what waits for them follows. */
void dependents_settle(struct pleat_core *core);

/* ---- reserve.c ---- */
void on_reservation_comes(struct pleat_core *core, uint32_t component);

/* ---- files.c ---- */
void inputs_free(struct pleat_core *core, uint32_t component);
/* It is PLACED: its files are brought, its processors claimed, each in its time. */
void component_placed(struct pleat_core *core, uint32_t component);
/* That time has come. */
void on_placed_deadline(struct pleat_core *core, uint32_t component);
void stage_effect(struct pleat_core *core, uint32_t component);
/* Files on their way are not wanted any more. */
void staging_drop(struct pleat_component *component);

/* ---- errors.c ---- */
void site_error(struct pleat_core *core, uint32_t site);
/* It is considered again, whatever it did. */
void site_pardon(struct pleat_core *core, uint32_t site);
/* The limit has changed. */
void sites_judge(struct pleat_core *core);
/* Its node could not start it; could. */
void start_has_failed(struct pleat_core *core, uint32_t component);
void start_works(struct pleat_core *core, uint32_t component);
/* It ended since its node could not start it, and waits for a while before it is tried again. */
bool start_is_paused(const struct pleat_core *core, const struct pleat_component *component);
void component_pause(struct pleat_core *core, uint32_t component);
void on_pause_over(struct pleat_core *core, uint32_t component);

/* ---- agents.c ---- */
/* Emits what of a component is not answered yet: START, KILL, what its resize waits for. Where its
 * agent is away, that one is wanted. */
/* That of the signal before its time limit, which was not answered yet. */
void outstanding_signal(struct pleat_core *core, uint32_t component);
void outstanding_effects(struct pleat_core *core, uint32_t component);
/* START, which that may have happened from now on; where the agent is away, it is wanted. */
void start_or_reach(struct pleat_core *core, uint32_t component);

/* ---- returned.c ---- */

/* ---- terms.c ---- */
/* Sets a running component's deadline: the end of its time limit, or of what holds its size. */
void running_arm(struct pleat_core *core, uint32_t component);
/* Will it be young once it has a new size? */
static inline bool is_to_be_young(const struct pleat_core *core,
                                  const struct pleat_component *component)
{
    return core->view.lifetimes && component->kind == PLEAT_MALLEABLE &&
           pleat_view_lifetime(&core->view, component) > 0;
}
/* Is its present size younger than it must get? */
bool is_young(const struct pleat_core *core, const struct pleat_component *component);
/* Its size, or how long one lasts, has changed: whether it is young, and its deadline, follow. */
void young_refresh(struct pleat_core *core, uint32_t component);
/* That deadline has come. */
void on_running_deadline(struct pleat_core *core, uint32_t component);
/* How long before a mandatory shrink is warned of. */
int64_t notice_of(const struct pleat_core *core, const struct pleat_component *component);

/* ---- timings.c ---- */
/* What is known about a component's iterations is forgotten. */
void timings_drop(struct pleat_core *core, uint32_t component);

/* ---- buffer.c: components that ask for processes themselves ---- */
/* A record before its component's submission. */
const struct pleat_buffer *buffer_fresh(void);
/* Gives a component a buffer: 0 or PLEAT_E_NOMEM. */
int buffer_open(struct pleat_core *core, uint32_t component);
/* Takes it away again; it is empty. */
void buffer_close(struct pleat_core *core, uint32_t component);
/* Its component runs from now on; does not run any more. */
void buffer_enter(struct pleat_core *core, uint32_t component);
void buffer_leave(struct pleat_core *core, uint32_t component);
/* All that is in it, or on its way, goes back. */
void buffer_release_all(struct pleat_core *core, uint32_t component);
/* What its component could never use, as its limit is lower or its size larger, goes back. */
void buffer_trim(struct pleat_core *core, uint32_t component);
/* All are reviewed, since the policy or its parameters are others. */
void buffers_review(struct pleat_core *core);
void on_buffer_deadline(struct pleat_core *core, uint32_t buffer);
/* A claim FOR_BUFFER came; was refused, or taken away. */
int buffer_claimed(struct pleat_core *core, uint32_t claim);
void buffer_lost(struct pleat_core *core, uint32_t claim);

/* It runs no more: it leaves the lists of those that do. */
static inline void stop_running(struct pleat_core *core, uint32_t component)
{
    if (core->components.items[component].buffer != PLEAT_NONE)
        buffer_leave(core, component);
    running_remove(core, component);
}

/* ---- relaunch.c ---- */
/* A resize cannot go on. All processes of the job are ended, and it is started again on
 * `processors`; where that is not possible, or not once more, the job is ended. */
void relaunch_or_kill(struct pleat_core *core, uint32_t resize, int32_t processors,
                      enum pleat_reason cause);
/* Its processes died in a resize, or before they went on after one. False: it stays ended. */
bool relaunch_broken(struct pleat_core *core, uint32_t component);

/* ---- declare.c ---- */

/* Its user asks for that maximum: it has so much of it as its application can use. Its minimum and
 * sizes are those of the user already. */
void declared_apply(struct pleat_core *core, struct pleat_component *component, int32_t asked);
/* Its run is over, and what the application said of itself. */
void declared_forget(struct pleat_component *component);

/* ---- resize.c ---- */
void on_resize_deadline(struct pleat_core *core, uint32_t resize);
void resize_claimed(struct pleat_core *core, uint32_t resize);
void resize_claim_failed(struct pleat_core *core, uint32_t resize);
void resize_begin(struct pleat_core *core, uint32_t component, int32_t target, int32_t offered,
                  bool mandatory, bool by_user, uint32_t waiter);
/* The same without doing anything yet: its record, which has no step. PLEAT_NONE: out of memory. */
uint32_t resize_open(struct pleat_core *core, uint32_t component, int32_t target, int32_t offered,
                     bool mandatory, bool by_user, uint32_t waiter);
/* The resize under way that an event of a runner is about, or PLEAT_NONE. */
uint32_t resize_of(struct pleat_core *core, const struct pleat_event *event);
/* The present step ends in us at the latest; that time stands still while the application is waited
 * for and its agent is away. */
void resize_arm(struct pleat_core *core, uint32_t resize, int64_t us);
/* The next step, which ends in us at the latest. */
void resize_step(struct pleat_core *core, uint32_t resize, enum pleat_resize_step step, int64_t us);
/* It aims at another size from now on. */
void resize_retarget(struct pleat_core *core, uint32_t resize, int32_t to);
/* A note that the application's answer was not followed. */
void resize_warn(struct pleat_core *core, uint32_t resize);
/* The growth's processors are the job's, which runs on so many now. */
void resize_grown(struct pleat_core *core, uint32_t resize, int32_t processors,
                  enum pleat_outcome outcome);
/* What the shrink freed goes to the waiter, or back. */
void resize_vacated(struct pleat_core *core, uint32_t resize, enum pleat_outcome outcome);
/* It runs on so many processors now. */
void component_sized(struct pleat_core *core, uint32_t component, int32_t processors);
/* Ends it, whatever its step; the component's records are put right. */
void resize_end(struct pleat_core *core, uint32_t resize, enum pleat_outcome outcome);
/* If the component is larger than its maximum and free to change: shrink it. */
void resize_to_limits(struct pleat_core *core, uint32_t component);
/* Emits one effect (or note) about a resize. */
void resize_effect(struct pleat_core *core, uint32_t resize, uint16_t kind,
                   enum pleat_outcome outcome);

static inline struct pleat_component *component_at(struct pleat_core *core, uint32_t index)
{
    return &core->components.items[index];
}

/* Only along the one table of transitions. */
static inline void set_state(struct pleat_core *core, uint32_t component, enum pleat_state to)
{
    struct pleat_component *comp = component_at(core, component);
    enum pleat_state from = (enum pleat_state)comp->state;
    assert(pleat_transition_allowed(from, to));
    comp->state = (uint8_t)to;
    if (core->notes & pleat_note_bit(PLEAT_NOTE_STATE))
        note_state(core, component, from);
}

/* Did it fail by no fault of its user's? */
static inline bool is_nobodys_fault(const struct pleat_component *component)
{
    return component->reason == PLEAT_REASON_LOST ||
           component->reason == PLEAT_REASON_START_SYSTEM ||
           component->reason == PLEAT_REASON_START_UNKNOWN;
}

/* One that is to be started once at most: not when that may have happened. It has been given a run.
 */
static inline bool may_start_again(const struct pleat_component *component)
{
    return !(component->flags & PLEAT_COMPONENT_ONCE) || component->untold;
}

static inline struct pleat_site *site_at(struct pleat_core *core, uint32_t index)
{
    return &core->sites.items[index];
}

/* Can nobody tell that component anything? */
static inline bool core_is_away(struct pleat_core *core, uint32_t component)
{
    uint32_t site = component_at(core, component)->site;
    return site != PLEAT_NONE && site_at(core, site)->away;
}

static inline struct pleat_claim *claim_at(struct pleat_core *core, uint32_t index)
{
    return &core->claims.items[index];
}

static inline struct pleat_resize *resize_at(struct pleat_core *core, uint32_t index)
{
    return &core->resizes.items[index];
}

static inline int64_t now_of(const struct pleat_core *core)
{
    return core->view.now_us;
}

#endif
