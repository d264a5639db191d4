/* A component's life, from submission to its final state. */
#include <stdio.h>
#include <string.h>

#include "core/internal.h"

/* The largest site on which it could run; err says what there is. */
static int check_fits(const struct pleat_core *core, const struct pleat_component *job,
                      struct pleat_error *err)
{
    int32_t need = pleat_accept_start(&core->view, job);
    if (need == 0 && pleat_view_folds(job) && job->partition_most > 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%d processors are too few for %d processes: at most %d may be on "
                               "one",
                               job->partition_most, job->minimum, pleat_view_mpl(&core->view, job));
    if (need == 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "no accepted size lies between the minimum %d and the maximum %d",
                               job->minimum, job->maximum);
    int32_t largest = 0;
    for (uint32_t s = 0; s < core->sites.count; s++) {
        int32_t capacity = core->sites.items[s].capacity;
        if (job->wanted_site != PLEAT_NONE && job->wanted_site != s)
            continue;
        if (capacity >= need)
            return 0;
        largest = capacity > largest ? capacity : largest;
    }
    char why[80] = "";
    if (pleat_view_folds(job))
        snprintf(why, sizeof(why), " (for %d processes, at most %d on a processor)", job->minimum,
                 pleat_view_mpl(&core->view, job));
    return pleat_error_set(err, PLEAT_E_TOOBIG, "it needs at least %d processors%s, and %s has %d",
                           need, why, core->sites.count == 1 ? "this machine" : "the largest site",
                           largest);
}

static int check_limits(int32_t minimum, int32_t maximum, struct pleat_error *err)
{
    if (minimum < 0 || maximum < 1 || maximum > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "limits %d to %d: the minimum is at least 0, the maximum from 1 "
                               "to %d",
                               minimum, maximum, PLEAT_SIZE_MAX);
    if (minimum > maximum)
        return pleat_error_set(err, PLEAT_E_INVALID, "the minimum %d is above the maximum %d",
                               minimum, maximum);
    return 0;
}

static int check_submit(const struct pleat_core *core, const struct pleat_event *event,
                        const struct pleat_component *job, struct pleat_error *err)
{
    bool is_part = false, alone = event->u.submit.ordinal == 0 &&
                                  !(event->flags & PLEAT_COMPONENT_FOLLOWS) &&
                                  core->open_lead == PLEAT_NONE;
    int rc = alone ? 0 : job_check_submit(core, event, job, &is_part, err);
    if (!rc && !is_part)
        rc = check_limits(job->minimum, job->maximum, err);
    if (rc)
        return rc;
    if (event->component != pleat_core_next_component(core) || event->component == PLEAT_NONE)
        return pleat_error_set(err, PLEAT_E_INVALID, "component %u is not the next index",
                               event->component);
    if (job->kind > PLEAT_MALLEABLE || job->sizes_kind >= PLEAT_SIZES_KIND_COUNT)
        return pleat_error_set(err, PLEAT_E_INVALID, "no such kind of job or of sizes");
    if (job->kind == PLEAT_RIGID && job->minimum != job->maximum)
        return pleat_error_set(err, PLEAT_E_INVALID, "a rigid job has one size, not from %d to %d",
                               job->minimum, job->maximum);
    if (job->minimum == 0 && !is_part && !(job->flags & PLEAT_COMPONENT_EMPTY))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a minimum of 0 needs a runner that can hold an application "
                               "without processes; this one cannot: use 1");
    if (job->initial && (job->initial < job->minimum || job->initial > job->maximum))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the initial size %d is not between the minimum %d and the "
                               "maximum %d",
                               job->initial, job->minimum, job->maximum);
    if (pleat_view_folds(job) && (job->kind != PLEAT_MALLEABLE || job->minimum == 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a job that folds is malleable and has at least one process");
    if (pleat_view_folds(job) && (job->flags & PLEAT_COMPONENT_EVOLVES))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a job that folds keeps its processes: it cannot ask for more");
    if (job->sizes_kind == PLEAT_SIZES_LIST
            ? job->sizes_parameter < 0 || (size_t)job->sizes_parameter >= core->size_lists.count
            : job->sizes_kind == PLEAT_SIZES_MULTIPLES && job->sizes_parameter < 1)
        return pleat_error_set(err, PLEAT_E_INVALID, "the accepted sizes are not known");
    if (job->wanted_site != PLEAT_NONE && job->wanted_site >= core->sites.count)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no such site");
    bool splits = (event->flags & PLEAT_COMPONENT_FLEXIBLE) != 0;
    return is_part || splits ? 0 : check_fits(core, job, err);
}

static const struct pleat_component fresh = {
    .start_us = PLEAT_NEVER,
    .end_us = PLEAT_NEVER,
    .due_us = PLEAT_NEVER,
    .expected_end_us = PLEAT_NEVER,
    .promised_us = PLEAT_NEVER,
    .state = PLEAT_NEW,
    .cap = PLEAT_SIZE_MAX,
    .site = PLEAT_NONE,
    .promised_site = PLEAT_NONE,
    .resize = PLEAT_NONE,
    .first_claim = PLEAT_NONE,
    .last_claim = PLEAT_NONE,
    .start_claim = PLEAT_NONE,
    .previous = PLEAT_NONE,
    .next = PLEAT_NONE,
    .ends_previous = PLEAT_NONE,
    .ends_next = PLEAT_NONE,
    .deadline = PLEAT_HEAP_NONE,
    .first_timing = PLEAT_NONE,
    .buffer = PLEAT_NONE,
    .exited = 1,
    .notice_us = -1,
    .lifetime_us = -1,
    .lead = PLEAT_NONE,
    .sibling = PLEAT_NONE,
    .first_input = PLEAT_NONE,
    .files_site = PLEAT_NONE,
    .claimed_us = PLEAT_NEVER,
    .first_need = PLEAT_NONE,
    .first_dependent = PLEAT_NONE,
    .group = PLEAT_NONE,
};

const struct pleat_component *component_fresh(void)
{
    return &fresh;
}

/* The record that pleat_core_next_component says, not yet taken; NULL when out of memory. */
static struct pleat_component *next_record(struct pleat_core *core)
{
    if (core->free_component != PLEAT_NONE)
        return component_at(core, core->free_component);
    if (pleat_array_reserve(&core->components, 1))
        return NULL;
    core->view.components = core->components.items; /* they may have moved */
    return &core->components.items[core->components.count];
}

static void take_record(struct pleat_core *core, uint32_t next_free)
{
    if (core->free_component != PLEAT_NONE)
        core->free_component = next_free;
    else
        core->view.component_count = (uint32_t)++core->components.count;
}

int on_submit(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    /* built where it will stay: it is made for every job of a simulation */
    struct pleat_component *job = next_record(core);
    if (!job)
        return PLEAT_E_NOMEM;
    uint32_t next_free = core->free_component != PLEAT_NONE ? job->next : PLEAT_NONE;
    *job = fresh;
    job->job = event->u.submit.job;
    job->submit_us = now_of(core);
    job->estimate_us = event->u.submit.estimate_us;
    job->minimum = event->u.submit.minimum;
    job->maximum = event->u.submit.maximum;
    job->initial = event->u.submit.initial;
    job->sizes_parameter = event->u.submit.sizes_parameter;
    job->reference = event->u.submit.reference;
    job->priority = event->u.submit.priority;
    job->job_class = event->u.submit.job_class;
    job->mpl_max = event->u.submit.mpl_max;
    job->wanted_site = event->u.submit.site;
    job->ordinal = event->u.submit.ordinal;
    job->flags = (uint16_t)(event->flags & ~PLEAT_COMPONENT_FOLLOWS);
    job->kind = event->u.submit.job_kind;
    job->sizes_kind = event->u.submit.sizes_kind;
    int rc = check_submit(core, event, job, err);
    if (rc) { /* a free record again: ended and forgotten */
        job->state = PLEAT_DONE;
        job->aside = 1;
        job->next = next_free;
        return rc;
    }
    take_record(core, next_free);
    if ((event->flags & PLEAT_COMPONENT_EVOLVES) && buffer_open(core, event->component))
        core->failed = 1;
    set_state(core, event->component, PLEAT_QUEUED);
    if (event->u.submit.ordinal > 0 || (event->flags & PLEAT_COMPONENT_FOLLOWS))
        job_submitted(core, event->component, event->flags);
    else
        queue_append(core, event->component);
    core->wants_pass = true;
    return 0;
}

/* Of one component. */
static void set_due(struct pleat_core *core, uint32_t component, int64_t due_us)
{
    struct pleat_component *job = component_at(core, component);
    bool queued = job->state == PLEAT_QUEUED && !job->aside;
    if (queued)
        queue_remove(core, component);
    job->due_us = due_us;
    if (queued)
        queue_replace(core, component);
}

int on_deadline(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *job = component_at(core, event->component);
    if (pleat_state_is_final(job->state))
        return pleat_error_set(err, PLEAT_E_STATE, "the job is over");
    for (uint32_t c = job_first(core, event->component); c != PLEAT_NONE;
         c = component_at(core, c)->sibling)
        set_due(core, c, event->u.at.at_us);
    core->wants_pass = true;
    return 0;
}

int on_promise(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *job = component_at(core, event->component);
    if (job->state != PLEAT_QUEUED ||
        (event->u.promise.start_us != PLEAT_NEVER && event->u.promise.site >= core->sites.count))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "a job that does not wait can be promised nothing");
    job->promised_us = event->u.promise.start_us;
    job->promised_site = event->u.promise.site;
    return 0;
}

void limits_changed(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *job = component_at(core, component);
    struct pleat_effect *note = emit_note(core, PLEAT_NOTE_LIMITS, component, job->job);
    if (note) {
        note->u.change.processors = job->minimum;
        note->u.change.processes = job->maximum;
    }
    resize_to_limits(core, component);
    if (job->buffer != PLEAT_NONE)
        buffer_trim(core, component);
    core->wants_pass = true;
}

int on_limits(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *job = component_at(core, event->component);
    struct pleat_component wish = *job;
    wish.minimum = event->u.limits.minimum;
    wish.maximum = event->u.limits.maximum;
    int rc = check_limits(wish.minimum, wish.maximum, err);
    if (rc)
        return rc;
    if (pleat_state_is_final(job->state) || job->state == PLEAT_FINISHING)
        return pleat_error_set(err, PLEAT_E_STATE, "the job is over (%s)",
                               pleat_state_name(job->state));
    if (job->kind == PLEAT_RIGID)
        return pleat_error_set(err, PLEAT_E_STATE, "a rigid job has no limits to change");
    if (pleat_view_folds(job) && (job->mpl > 0 || wish.minimum == 0))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "its limits are about its processes: at least 1, and chosen when it "
                               "starts");
    if (wish.minimum == 0 && !(job->flags & PLEAT_COMPONENT_EMPTY))
        return pleat_error_set(err, PLEAT_E_INVALID, "its runner cannot run it on 0 processors");
    /* a resize under way may still end either way */
    int32_t certain = job->state == PLEAT_RESIZING && job->processors < job->target
                          ? job->processors
                          : job->target;
    if (job->state != PLEAT_QUEUED && wish.minimum > certain && wish.minimum > job->minimum)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it has %d processors, fewer than a minimum of %d: grow it first",
                               certain, wish.minimum);
    if (job->state != PLEAT_QUEUED && job->kind == PLEAT_MOLDABLE && wish.maximum < job->target)
        return pleat_error_set(err, PLEAT_E_STATE, "it runs on %d processors and is not malleable",
                               job->target);
    rc = check_fits(core, &wish, err);
    if (rc)
        return rc;
    tally_out(core, event->component);
    job->minimum = wish.minimum;
    declared_apply(core, job, wish.maximum);
    if (job->initial > wish.maximum)
        job->initial = wish.maximum;
    if (job->initial && job->initial < job->minimum)
        job->initial = job->minimum;
    job->below = job->below && job->processors < pleat_accept_smallest(&core->view, job);
    tally_in(core, event->component);
    limits_changed(core, event->component);
    return 0;
}

/* The limits of a partition that make sense, for one that waits or runs. */
static int check_partition(const struct pleat_component *job, const struct pleat_event *event,
                           struct pleat_error *err)
{
    int32_t minimum = event->u.partition.minimum, maximum = event->u.partition.maximum;
    if (pleat_state_is_final((enum pleat_state)job->state) || job->state == PLEAT_FINISHING)
        return pleat_error_set(err, PLEAT_E_STATE, "the job is over (%s)",
                               pleat_state_name((enum pleat_state)job->state));
    if (!pleat_view_folds(job))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it does not fold: its processors are its processes");
    if (minimum < 0 || maximum < 0 || minimum > PLEAT_SIZE_MAX || maximum > PLEAT_SIZE_MAX ||
        event->u.partition.mpl > UINT8_MAX || (maximum && minimum > maximum))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a partition of %d to %d processors, %u processes on one of them: "
                               "that makes no sense",
                               minimum, maximum, event->u.partition.mpl);
    if (job->state == PLEAT_QUEUED)
        return 0;
    int32_t fewest = pleat_mpl(job->processes, job->mpl);
    if (maximum && maximum < fewest)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it has %d processes, at most %u on a processor: at least %d "
                               "processors",
                               job->processes, job->mpl, fewest);
    int32_t certain = job->state == PLEAT_RESIZING && job->processors < job->target
                          ? job->processors
                          : job->target;
    if (minimum > job->partition_least && certain < minimum && certain < job->processes)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it has %d processors, fewer than a minimum of %d: grow it first",
                               certain, minimum);
    return 0;
}

int on_partition(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *job = component_at(core, event->component);
    struct pleat_component wish = *job;
    int rc = check_partition(job, event, err);
    if (rc)
        return rc;
    wish.partition_least = event->u.partition.minimum;
    wish.partition_most = event->u.partition.maximum;
    rc = check_fits(core, &wish, err);
    if (rc)
        return rc;
    /* of a job just submitted it is no change */
    bool first = job->state == PLEAT_QUEUED && !job->partition_least && !job->partition_most;
    tally_out(core, event->component);
    job->partition_least = wish.partition_least;
    job->partition_most = wish.partition_most;
    job->mpl_first = (uint8_t)event->u.partition.mpl;
    tally_in(core, event->component);
    struct pleat_effect *note =
        first ? NULL : emit_note(core, PLEAT_NOTE_LIMITS, event->component, job->job);
    if (note) {
        note->u.change.processors = job->partition_least;
        note->u.change.processes = job->partition_most;
    }
    resize_to_limits(core, event->component);
    core->wants_pass = true;
    return 0;
}

/* START or KILL, whichever its state asks for. */
void start_effect(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *job = component_at(core, component);
    bool kill = job->state == PLEAT_FINISHING;
    struct pleat_effect *effect =
        emit(core, kill ? PLEAT_DO_KILL : PLEAT_DO_START, component, job->run);
    if (!effect)
        return;
    effect->u.run.processors = job->target;
    effect->u.run.processes = pleat_view_folds(job) ? job->processes : job->target;
    effect->u.run.reason = job->reason;
}

/* Hands a queued component's earmarks over to its run; those beyond `size` go back. */
static int32_t use_earmarks(struct pleat_core *core, uint32_t component, int32_t size)
{
    struct pleat_component *job = component_at(core, component);
    if (job->earmarked > size)
        component_release_tail(core, component, job->earmarked - size);
    int32_t used = job->earmarked < size ? job->earmarked : size;
    job->earmarked = 0;
    for (uint32_t c = job->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next) {
        claim_at(core, c)->purpose = PLEAT_FOR_RUN;
        claim_note(core, c);
    }
    return used;
}

/* May it start on so many processors, with the processes that the decision gives it? */
static bool start_is_accepted(const struct pleat_core *core, const struct pleat_component *job,
                              const struct pleat_event *event)
{
    int32_t size = event->u.start.processors, processes = event->u.start.processes;
    if (size < 1)
        return false;
    if (is_several(core, job) && core->components.items[job->lead].total > 0)
        return size <= pleat_view_missing(&core->view, job->lead);
    if (!pleat_view_folds(job))
        return pleat_accept_start_floor(&core->view, job, size) == size;
    struct pleat_sizes sizes = pleat_view_sizes(&core->view, job);
    int64_t mpl = event->u.start.mpl;
    return size <= processes && mpl >= 1 && mpl <= pleat_view_mpl(&core->view, job) &&
           size <= pleat_view_partition_most(job) &&
           size >= pleat_view_partition_least(job, processes) &&
           pleat_mpl(processes, size) <= mpl && processes >= job->minimum &&
           processes <= job->maximum && pleat_sizes_floor(&sizes, processes) == processes;
}

/* In the queue, or in the tow of one that is. */
static bool may_start(const struct pleat_core *core, const struct pleat_component *job)
{
    if (!is_several(core, job) || job->state != PLEAT_QUEUED)
        return job->state == PLEAT_QUEUED && !job->aside;
    return job->aside != PLEAT_ASIDE_RESERVATION && job_waits(core, job->lead);
}

/* The processors of its start, but for those that it has. */
static inline void claim(struct pleat_core *core, uint32_t component, int32_t missing)
{
    struct pleat_component *job = component_at(core, component);
    uint32_t asked = claim_request(core, component, job->site, missing, PLEAT_FOR_RUN);
    if (asked != PLEAT_NONE && claim_at(core, asked)->state == PLEAT_CLAIM_HELD) {
        claim_link(core, asked);
        component_claimed(core, component);
        return;
    }
    job->start_claim = asked;
    arm(core, &job->deadline, DEADLINE_COMPONENT, component,
        now_of(core) + core->parameters[PLEAT_PARAM_CLAIM_US]);
}

void component_claim(struct pleat_core *core, uint32_t component, int32_t missing)
{
    claim(core, component, missing);
}

/* Of several components, or with files to be brought: claimed when its time has come. */
static void place_apart(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    bool stood = !job->aside;
    job->aside = PLEAT_ASIDE_NOT;
    if (job->lead != PLEAT_NONE) {
        if (component_at(core, job->lead)->total > 0)
            job->minimum = job->maximum = job->target;
        if (stood) /* the next one stands where it stood */
            job_stand(core, job->lead, JOB_AT, job->position);
        else
            job_stand_again(core, job->lead);
    }
    component_placed(core, component);
}

int on_start(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t component = event->component, place = event->u.start.site;
    struct pleat_component *job = component_at(core, component);
    int32_t size = event->u.start.processors;
    if (!may_start(core, job) || place >= core->sites.count)
        return pleat_error_set(err, PLEAT_E_STATE, "job %llu cannot start: it is %s",
                               (unsigned long long)job->job, pleat_state_name(job->state));
    const struct pleat_site *site = site_at(core, place);
    int32_t earmarked = job->site == place ? job->earmarked : 0;
    if (!start_is_accepted(core, job, event) ||
        (size > earmarked && size - earmarked > site->capacity - site->background - site->held) ||
        !pleat_view_allows(&core->view, job, place))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "job %llu cannot start on %d processors of site %u: not free, or "
                               "not within its limits",
                               (unsigned long long)job->job, size, place);
    if (job->site != place && job->site != PLEAT_NONE)
        earmarks_drop(core, component);
    coming_drop(core, component);
    disarm(core, &job->deadline);
    if (!job->aside)
        queue_remove(core, component);
    job->promised_us = PLEAT_NEVER;
    job->promised_site = PLEAT_NONE;
    set_state(core, component, PLEAT_PLACED);
    job->site = place;
    job->target = size;
    if (pleat_view_folds(job)) {
        job->processes = event->u.start.processes;
        job->mpl = (uint8_t)event->u.start.mpl;
    }
    int32_t missing = size - use_earmarks(core, component, size);
    if (is_several(core, job) || (core->view.stages && job->first_input != PLEAT_NONE)) {
        place_apart(core, component);
        return 0;
    }
    set_state(core, component, PLEAT_CLAIMING);
    if (missing == 0)
        component_claimed(core, component);
    else
        claim(core, component, missing);
    return 0;
}

static void begin_running(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    job->starting = 0;
    start_works(core, component);
    job->start_us = now_of(core);
    job->since_us = job->start_us;
    job->relaunches = 0;
    job->signalled = PLEAT_SIGNALLED_NOT;
    job->held = is_to_be_held(core, job);
    running_arm(core, component);
    job->processors = job->target;
    if (!pleat_view_folds(job))
        job->processes = job->target;
    int64_t run_us = pleat_view_expected_run(job, job->processors);
    job->expected_end_us =
        run_us < PLEAT_NEVER - job->start_us ? job->start_us + run_us : PLEAT_NEVER;
    set_state(core, component, PLEAT_RUNNING);
    if (job->first_dependent != PLEAT_NONE)
        dependents_started(core, component);
    running_add(core, component);
    struct pleat_effect *note = emit_note(core, PLEAT_NOTE_SIZE, component, job->run);
    if (note) {
        note->u.run.processors = job->processors;
        note->u.run.processes = job->processes;
    }
    resize_to_limits(core, component);
    /* where it runs at once, and nobody could be resized, the pass that started it expected it */
    if (!site_at(core, job->site)->instant || !core->settles || core->malleable > 0 ||
        core->view.several)
        core->wants_pass = true;
}

static inline void await_start(struct pleat_core *core, uint32_t component)
{
    start_or_reach(core, component);
    arm(core, &component_at(core, component)->deadline, DEADLINE_COMPONENT, component,
        now_of(core) + core->parameters[PLEAT_PARAM_START_US]);
}

static inline void start(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    job->run = core->next_id++;
    job->starting = 1;
    job->exited = 0;
    if (!site_at(core, job->site)->instant) {
        await_start(core, component);
        return;
    }
    start_effect(core, component);
    begin_running(core, component);
}

void component_start(struct pleat_core *core, uint32_t component)
{
    start(core, component);
}

void component_claimed(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    int32_t got = 0;
    for (uint32_t c = job->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next)
        got += claim_at(core, c)->count;
    if (got < job->target) {
        int32_t size = pleat_view_folds(job)
                           ? (got < pleat_accept_smallest(&core->view, job) ? 0 : got)
                           : pleat_accept_start_floor(&core->view, job, got);
        if (size == 0) {
            component_claim_failed(core, component, PLEAT_REASON_CLAIM_REFUSED);
            return;
        }
        component_release_tail(core, component, got - size);
        job->target = size;
    }
    if (is_several(core, job) || (core->view.stages && job->staging))
        component_at_barrier(core, component);
    else
        start(core, component);
}

void component_claim_failed(struct pleat_core *core, uint32_t component, enum pleat_reason reason)
{
    struct pleat_component *job = component_at(core, component);
    disarm(core, &job->deadline);
    component_stop_waiting(core, component);
    if (job->start_claim != PLEAT_NONE) {
        claim_release(core, job->start_claim);
        job->start_claim = PLEAT_NONE;
    }
    int64_t limit = core->parameters[PLEAT_PARAM_MAX_TRIES];
    job->tries++;
    core->wants_pass = true;
    if (reason == PLEAT_REASON_CLAIM_CANNOT || (limit > 0 && job->tries > limit)) {
        component_kill(core, component,
                       reason == PLEAT_REASON_CLAIM_CANNOT ? reason : PLEAT_REASON_TRIES);
        return;
    }
    job->retries++;
    /* what it has already stays earmarked for it */
    job->target = 0;
    job->mpl = 0;
    if (pleat_view_folds(job))
        job->processes = 0;
    for (uint32_t c = job->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next) {
        claim_at(core, c)->purpose = PLEAT_FOR_EARMARK;
        job->earmarked += claim_at(core, c)->count;
        claim_note(core, c);
    }
    if (job->earmarked > 0)
        arm(core, &job->deadline, DEADLINE_COMPONENT, component,
            now_of(core) + core->parameters[PLEAT_PARAM_EARMARK_US]);
    else
        job->site = PLEAT_NONE;
    set_state(core, component, PLEAT_QUEUED);
    component_wait(core, component);
}

int on_tried(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *job = component_at(core, event->component);
    if (job->state != PLEAT_QUEUED || job->aside)
        return pleat_error_set(err, PLEAT_E_STATE, "a job that does not wait cannot be tried");
    job->tries++;
    job->last_try_us = now_of(core);
    if (job->tries <= core->parameters[PLEAT_PARAM_MAX_TRIES])
        return 0;
    component_give_up(core, event->component, PLEAT_REASON_TRIES);
    return 0;
}

int on_preempt(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    const struct pleat_component *job = component_at(core, event->component);
    if (job->state != PLEAT_RUNNING || job->begin_us > 0 || job->lead != PLEAT_NONE ||
        (job->flags & PLEAT_COMPONENT_ONCE) || job->preempted == UINT8_MAX ||
        job->preempted >= core->parameters[PLEAT_PARAM_PREEMPTIONS])
        return pleat_error_set(err, PLEAT_E_STATE,
                               "job %llu cannot be preempted: it is %s, and was preempted %u times",
                               (unsigned long long)job->job,
                               pleat_state_name((enum pleat_state)job->state), job->preempted);
    component_kill(core, event->component, PLEAT_REASON_PREEMPTED);
    return 0;
}

int on_started(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_component *job = component_at(core, event->component);
    if (job->state != PLEAT_CLAIMING || !job->starting || event->u.exit.run != job->run)
        return PLEAT_CORE_STALE;
    begin_running(core, event->component);
    return 0;
}

int on_start_failed(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    (void)err;
    struct pleat_component *job = component_at(core, event->component);
    bool again = job->state == PLEAT_RESIZING &&
                 resize_at(core, job->resize)->step == PLEAT_RESIZE_RELAUNCHING;
    /* it was being started again when it was to be ended: either way nothing runs any more */
    bool ending = job->state == PLEAT_FINISHING && !job->exited;
    if ((!job->starting && !again && !ending) || event->u.exit.run != job->run)
        return PLEAT_CORE_STALE;
    if (again) {
        resize_end(core, job->resize, PLEAT_OUTCOME_JOB_ENDED);
        running_remove(core, event->component);
    }
    if (!again)
        job->untold = 1; /* nothing has run */
    if (again || job->state == PLEAT_CLAIMING) {
        bool by_user = event->u.exit.reason == PLEAT_REASON_START_USER;
        job->reason = (uint8_t)(by_user ? PLEAT_REASON_START_USER : PLEAT_REASON_START_SYSTEM);
        if (by_user)
            job->code = event->u.exit.code;
        else if (again)
            site_error(core, job->site);
        else
            start_has_failed(core, event->component);
        set_state(core, event->component, PLEAT_FINISHING);
        job_end_others(core, event->component);
    }
    component_give_back(core, event->component);
    return 0;
}

int on_exited(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_component *job = component_at(core, event->component);
    if (job->exited || event->u.exit.run != job->run)
        return PLEAT_CORE_STALE;
    uint32_t reason = event->u.exit.reason;
    if (reason == PLEAT_REASON_BROKEN && relaunch_broken(core, event->component))
        return 0;
    job->code = event->u.exit.code;
    job->signal = (int16_t)event->u.exit.signal;
    if (job->state != PLEAT_FINISHING) {
        bool known = reason == PLEAT_REASON_LOST || reason == PLEAT_REASON_BROKEN ||
                     reason == PLEAT_REASON_MEMORY;
        job->reason = (uint8_t)(known ? reason : PLEAT_REASON_EXIT);
        if (job->resize != PLEAT_NONE)
            resize_end(core, job->resize, PLEAT_OUTCOME_JOB_ENDED);
        if (job->state == PLEAT_RUNNING)
            running_remove(core, event->component);
        set_state(core, event->component, PLEAT_FINISHING);
        if (is_several(core, job))
            job_end_others(core, event->component);
    }
    component_give_back(core, event->component);
    return 0;
}

void on_component_deadline(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *job = component_at(core, component);
    core->wants_pass = true;
    switch (job->state) {
    case PLEAT_QUEUED:
        if (job->aside == PLEAT_ASIDE_RESERVATION)
            on_reservation_comes(core, component);
        else if (job->holds & PLEAT_HELD_BY_FAULT)
            on_pause_over(core, component);
        else
            earmarks_drop(core, component);
        break;
    case PLEAT_PLACED:
    case PLEAT_STAGING_IN:
        on_placed_deadline(core, component);
        break;
    case PLEAT_CLAIMING:
        if (job->starting) {
            site_error(core, job->site);
            if (job->untold) /* nobody is there who could: it waits for its agent */
                await_start(core, component);
            else
                component_kill(core, component, PLEAT_REASON_START_SYSTEM);
            break;
        }
        if (job->claimed_us != PLEAT_NEVER) {
            job_put_back(core, component);
            break;
        }
        site_error(core, job->site);
        site_at(core, job->site)->quiet_until_us =
            now_of(core) + core->parameters[PLEAT_PARAM_BACKOFF_US];
        component_claim_failed(core, component, PLEAT_REASON_CLAIM_TIMEOUT);
        break;
    case PLEAT_FINISHING: /* still not gone: say it again */
        start_effect(core, component);
        arm(core, &job->deadline, DEADLINE_COMPONENT, component,
            now_of(core) + core->parameters[PLEAT_PARAM_KILL_US]);
        break;
    case PLEAT_RUNNING:
    case PLEAT_RESIZING:
        on_running_deadline(core, component);
        break;
    default:
        break;
    }
}
