/* A component's life, from submission to its final state. */
#include <stdio.h>
#include <string.h>

#include "core/internal.h"

/* The largest site on which it could run; err says what there is. */
static int check_fits(const struct pleat_core *core, const struct pleat_component *component,
                      struct pleat_error *err)
{
    int32_t need = pleat_accept_start(&core->view, component);
    if (need == 0 && pleat_view_folds(component) && component->partition_most > 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%d processors are too few for %d processes: at most %d may be on "
                               "one",
                               component->partition_most, component->minimum,
                               pleat_view_mpl(&core->view, component));
    if (need == 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "no accepted size lies between the minimum %d and the maximum %d",
                               component->minimum, component->maximum);
    int32_t largest = 0;
    for (uint32_t s = 0; s < core->sites.count; s++) {
        int32_t capacity = core->sites.items[s].capacity;
        if (component->wanted_site != PLEAT_NONE && component->wanted_site != s)
            continue;
        if (capacity >= need)
            return 0;
        largest = capacity > largest ? capacity : largest;
    }
    char why[80] = "";
    if (pleat_view_folds(component))
        snprintf(why, sizeof(why), " (for %d processes, at most %d on a processor)",
                 component->minimum, pleat_view_mpl(&core->view, component));
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
                        const struct pleat_component *component, struct pleat_error *err)
{
    bool is_part = false, alone = event->u.submit.ordinal == 0 &&
                                  !(event->flags & PLEAT_COMPONENT_FOLLOWS) &&
                                  core->open_lead == PLEAT_NONE;
    int rc = alone ? 0 : job_check_submit(core, event, component, &is_part, err);
    if (!rc && !is_part)
        rc = check_limits(component->minimum, component->maximum, err);
    if (rc)
        return rc;
    if (event->component != pleat_core_next_component(core) || event->component == PLEAT_NONE)
        return pleat_error_set(err, PLEAT_E_INVALID, "component %u is not the next index",
                               event->component);
    if (component->kind > PLEAT_MALLEABLE || component->sizes_kind >= PLEAT_SIZES_KIND_COUNT)
        return pleat_error_set(err, PLEAT_E_INVALID, "no such kind of job or of sizes");
    if (component->kind == PLEAT_RIGID && component->minimum != component->maximum)
        return pleat_error_set(err, PLEAT_E_INVALID, "a rigid job has one size, not from %d to %d",
                               component->minimum, component->maximum);
    if (component->minimum == 0 && !is_part && !(component->flags & PLEAT_COMPONENT_EMPTY))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a minimum of 0 needs a runner that can hold an application "
                               "without processes; this one cannot: use 1");
    if (component->initial &&
        (component->initial < component->minimum || component->initial > component->maximum))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the initial size %d is not between the minimum %d and the "
                               "maximum %d",
                               component->initial, component->minimum, component->maximum);
    if (pleat_view_folds(component) &&
        (component->kind != PLEAT_MALLEABLE || component->minimum == 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a job that folds is malleable and has at least one process");
    if (pleat_view_folds(component) && (component->flags & PLEAT_COMPONENT_EVOLVES))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a job that folds keeps its processes: it cannot ask for more");
    if (component->sizes_kind == PLEAT_SIZES_LIST
            ? component->sizes_parameter < 0 ||
                  (size_t)component->sizes_parameter >= core->size_lists.count
            : component->sizes_kind == PLEAT_SIZES_MULTIPLES && component->sizes_parameter < 1)
        return pleat_error_set(err, PLEAT_E_INVALID, "the accepted sizes are not known");
    if (component->wanted_site != PLEAT_NONE && component->wanted_site >= core->sites.count)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no such site");
    bool splits = (event->flags & PLEAT_COMPONENT_FLEXIBLE) != 0;
    return is_part || splits ? 0 : check_fits(core, component, err);
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
    struct pleat_component *component = next_record(core);
    if (!component)
        return PLEAT_E_NOMEM;
    uint32_t next_free = core->free_component != PLEAT_NONE ? component->next : PLEAT_NONE;
    *component = fresh;
    component->job = event->u.submit.job;
    component->submit_us = now_of(core);
    component->estimate_us = event->u.submit.estimate_us;
    component->minimum = event->u.submit.minimum;
    component->maximum = event->u.submit.maximum;
    component->initial = event->u.submit.initial;
    component->sizes_parameter = event->u.submit.sizes_parameter;
    component->reference = event->u.submit.reference;
    component->priority = event->u.submit.priority;
    component->job_class = event->u.submit.job_class;
    component->mpl_max = event->u.submit.mpl_max;
    component->wanted_site = event->u.submit.site;
    component->ordinal = event->u.submit.ordinal;
    component->flags = (uint16_t)(event->flags & ~PLEAT_COMPONENT_FOLLOWS);
    component->kind = event->u.submit.job_kind;
    component->sizes_kind = event->u.submit.sizes_kind;
    int rc = check_submit(core, event, component, err);
    if (rc) { /* a free record again: ended and forgotten */
        component->state = PLEAT_DONE;
        component->aside = PLEAT_FORGOTTEN;
        component->next = next_free;
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
    struct pleat_component *comp = component_at(core, component);
    bool queued = comp->state == PLEAT_QUEUED && !comp->aside;
    if (queued)
        queue_remove(core, component);
    comp->due_us = due_us;
    if (queued)
        queue_replace(core, component);
}

int on_deadline(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    if (pleat_state_is_final(component->state))
        return pleat_error_set(err, PLEAT_E_STATE, "the job is over");
    for (uint32_t c = job_first(core, event->component); c != PLEAT_NONE;
         c = component_at(core, c)->sibling)
        set_due(core, c, event->u.at.at_us);
    core->wants_pass = true;
    return 0;
}

int on_promise(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    if (component->state != PLEAT_QUEUED ||
        (event->u.promise.start_us != PLEAT_NEVER && event->u.promise.site >= core->sites.count))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "a job that does not wait can be promised nothing");
    component->promised_us = event->u.promise.start_us;
    component->promised_site = event->u.promise.site;
    return 0;
}

void limits_changed(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_effect *note = emit_note(core, PLEAT_NOTE_LIMITS, component, comp->job);
    if (note) {
        note->u.change.processors = comp->minimum;
        note->u.change.processes = comp->maximum;
    }
    resize_to_limits(core, component);
    if (comp->buffer != PLEAT_NONE)
        buffer_trim(core, component);
    core->wants_pass = true;
}

int on_limits(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    struct pleat_component wish = *component;
    wish.minimum = event->u.limits.minimum;
    wish.maximum = event->u.limits.maximum;
    int rc = check_limits(wish.minimum, wish.maximum, err);
    if (rc)
        return rc;
    if (pleat_state_is_final(component->state) || component->state == PLEAT_FINISHING)
        return pleat_error_set(err, PLEAT_E_STATE, "the job is over (%s)",
                               pleat_state_name(component->state));
    if (component->kind == PLEAT_RIGID)
        return pleat_error_set(err, PLEAT_E_STATE, "a rigid job has no limits to change");
    if (pleat_view_folds(component) && (component->mpl > 0 || wish.minimum == 0))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "its limits are about its processes: at least 1, and chosen when it "
                               "starts");
    if (wish.minimum == 0 && !(component->flags & PLEAT_COMPONENT_EMPTY))
        return pleat_error_set(err, PLEAT_E_INVALID, "its runner cannot run it on 0 processors");
    /* a resize under way may still end either way */
    int32_t certain =
        component->state == PLEAT_RESIZING && component->processors < component->target
            ? component->processors
            : component->target;
    if (component->state != PLEAT_QUEUED && wish.minimum > certain &&
        wish.minimum > component->minimum)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it has %d processors, fewer than a minimum of %d: grow it first",
                               certain, wish.minimum);
    if (component->state != PLEAT_QUEUED && component->kind == PLEAT_MOLDABLE &&
        wish.maximum < component->target)
        return pleat_error_set(err, PLEAT_E_STATE, "it runs on %d processors and is not malleable",
                               component->target);
    rc = check_fits(core, &wish, err);
    if (rc)
        return rc;
    tally_out(core, event->component);
    component->minimum = wish.minimum;
    declared_apply(core, component, wish.maximum);
    if (component->initial > wish.maximum)
        component->initial = wish.maximum;
    if (component->initial && component->initial < component->minimum)
        component->initial = component->minimum;
    component->below =
        component->below && component->processors < pleat_accept_smallest(&core->view, component);
    tally_in(core, event->component);
    limits_changed(core, event->component);
    return 0;
}

/* The limits of a partition that make sense, for one that waits or runs. */
static int check_partition(const struct pleat_component *component, const struct pleat_event *event,
                           struct pleat_error *err)
{
    int32_t minimum = event->u.partition.minimum, maximum = event->u.partition.maximum;
    if (pleat_state_is_final((enum pleat_state)component->state) ||
        component->state == PLEAT_FINISHING)
        return pleat_error_set(err, PLEAT_E_STATE, "the job is over (%s)",
                               pleat_state_name((enum pleat_state)component->state));
    if (!pleat_view_folds(component))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it does not fold: its processors are its processes");
    if (minimum < 0 || maximum < 0 || minimum > PLEAT_SIZE_MAX || maximum > PLEAT_SIZE_MAX ||
        event->u.partition.mpl > UINT8_MAX || (maximum && minimum > maximum))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a partition of %d to %d processors, %u processes on one of them: "
                               "that makes no sense",
                               minimum, maximum, event->u.partition.mpl);
    if (component->state == PLEAT_QUEUED)
        return 0;
    int32_t fewest = pleat_mpl(component->processes, component->mpl);
    if (maximum && maximum < fewest)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it has %d processes, at most %u on a processor: at least %d "
                               "processors",
                               component->processes, component->mpl, fewest);
    int32_t certain =
        component->state == PLEAT_RESIZING && component->processors < component->target
            ? component->processors
            : component->target;
    if (minimum > component->partition_least && certain < minimum && certain < component->processes)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it has %d processors, fewer than a minimum of %d: grow it first",
                               certain, minimum);
    return 0;
}

int on_partition(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    struct pleat_component wish = *component;
    int rc = check_partition(component, event, err);
    if (rc)
        return rc;
    wish.partition_least = event->u.partition.minimum;
    wish.partition_most = event->u.partition.maximum;
    rc = check_fits(core, &wish, err);
    if (rc)
        return rc;
    /* of a job just submitted it is no change */
    bool first = component->state == PLEAT_QUEUED && !component->partition_least &&
                 !component->partition_most;
    tally_out(core, event->component);
    component->partition_least = wish.partition_least;
    component->partition_most = wish.partition_most;
    component->mpl_first = (uint8_t)event->u.partition.mpl;
    tally_in(core, event->component);
    struct pleat_effect *note =
        first ? NULL : emit_note(core, PLEAT_NOTE_LIMITS, event->component, component->job);
    if (note) {
        note->u.change.processors = component->partition_least;
        note->u.change.processes = component->partition_most;
    }
    resize_to_limits(core, event->component);
    core->wants_pass = true;
    return 0;
}

/* START or KILL, whichever its state asks for. */
void start_effect(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    bool kill = comp->state == PLEAT_FINISHING;
    struct pleat_effect *effect =
        emit(core, kill ? PLEAT_DO_KILL : PLEAT_DO_START, component, comp->run);
    if (!effect)
        return;
    effect->u.run.processors = comp->target;
    effect->u.run.processes = pleat_view_folds(comp) ? comp->processes : comp->target;
    effect->u.run.reason = comp->reason;
}

/* Hands a queued component's earmarks over to its run; those beyond `size` go back. */
static int32_t use_earmarks(struct pleat_core *core, uint32_t component, int32_t size)
{
    struct pleat_component *comp = component_at(core, component);
    if (comp->earmarked > size)
        component_release_tail(core, component, comp->earmarked - size);
    int32_t used = comp->earmarked < size ? comp->earmarked : size;
    comp->earmarked = 0;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next) {
        claim_at(core, c)->purpose = PLEAT_FOR_RUN;
        claim_note(core, c);
    }
    return used;
}

/* May it start on so many processors, with the processes that the decision gives it? */
static bool start_is_accepted(const struct pleat_core *core,
                              const struct pleat_component *component,
                              const struct pleat_event *event)
{
    int32_t size = event->u.start.processors, processes = event->u.start.processes;
    if (size < 1)
        return false;
    if (is_several(core, component) && core->components.items[component->lead].total > 0)
        return size <= pleat_view_missing(&core->view, component->lead);
    if (!pleat_view_folds(component))
        return pleat_accept_start_floor(&core->view, component, size) == size;
    struct pleat_sizes sizes = pleat_view_sizes(&core->view, component);
    int64_t mpl = event->u.start.mpl;
    return size <= processes && mpl >= 1 && mpl <= pleat_view_mpl(&core->view, component) &&
           size <= pleat_view_partition_most(component) &&
           size >= pleat_view_partition_least(component, processes) &&
           pleat_mpl(processes, size) <= mpl && processes >= component->minimum &&
           processes <= component->maximum && pleat_sizes_floor(&sizes, processes) == processes;
}

/* In the queue, or in the tow of one that is. */
static bool may_start(const struct pleat_core *core, const struct pleat_component *component)
{
    if (!is_several(core, component) || component->state != PLEAT_QUEUED)
        return component->state == PLEAT_QUEUED && !component->aside;
    return component->aside != PLEAT_ASIDE_RESERVATION && job_waits(core, component->lead);
}

/* The processors of its start, but for those that it has. */
static inline void claim(struct pleat_core *core, uint32_t component, int32_t missing)
{
    struct pleat_component *comp = component_at(core, component);
    uint32_t asked = claim_request(core, component, comp->site, missing, PLEAT_FOR_RUN);
    if (asked != PLEAT_NONE && claim_at(core, asked)->state == PLEAT_CLAIM_HELD) {
        claim_link(core, asked);
        component_claimed(core, component);
        return;
    }
    comp->start_claim = asked;
    arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
        now_of(core) + core->parameters[PLEAT_PARAM_CLAIM_US]);
}

void component_claim(struct pleat_core *core, uint32_t component, int32_t missing)
{
    claim(core, component, missing);
}

/* Of several components, or with files to be brought: claimed when its time has come. */
static void place_apart(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    bool stood = !comp->aside;
    comp->aside = PLEAT_ASIDE_NOT;
    if (comp->lead != PLEAT_NONE) {
        if (component_at(core, comp->lead)->total > 0)
            comp->minimum = comp->maximum = comp->target;
        if (stood) /* the next one stands where it stood */
            job_stand(core, comp->lead, JOB_AT, comp->position);
        else
            job_stand_again(core, comp->lead);
    }
    component_placed(core, component);
}

int on_start(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    uint32_t component = event->component, place = event->u.start.site;
    struct pleat_component *comp = component_at(core, component);
    int32_t size = event->u.start.processors;
    if (!may_start(core, comp) || place >= core->sites.count)
        return pleat_error_set(err, PLEAT_E_STATE, "job %llu cannot start: it is %s",
                               (unsigned long long)comp->job, pleat_state_name(comp->state));
    const struct pleat_site *site = site_at(core, place);
    int32_t earmarked = comp->site == place ? comp->earmarked : 0;
    if (!start_is_accepted(core, comp, event) ||
        (size > earmarked &&
         size - earmarked > site->capacity - site->background - site->claimed) ||
        !pleat_view_allows(&core->view, comp, place))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "job %llu cannot start on %d processors of site %u: not free, or "
                               "not within its limits",
                               (unsigned long long)comp->job, size, place);
    if (comp->site != place && comp->site != PLEAT_NONE)
        earmarks_drop(core, component);
    coming_drop(core, component);
    disarm(core, &comp->deadline);
    if (!comp->aside)
        queue_remove(core, component);
    comp->promised_us = PLEAT_NEVER;
    comp->promised_site = PLEAT_NONE;
    set_state(core, component, PLEAT_PLACED);
    comp->site = place;
    comp->target = size;
    if (pleat_view_folds(comp)) {
        comp->processes = event->u.start.processes;
        comp->mpl = (uint8_t)event->u.start.mpl;
    }
    int32_t missing = size - use_earmarks(core, component, size);
    if (is_several(core, comp) || (core->view.stages && comp->first_input != PLEAT_NONE)) {
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
    struct pleat_component *comp = component_at(core, component);
    comp->starting = 0;
    start_works(core, component);
    comp->start_us = now_of(core);
    comp->since_us = comp->start_us;
    comp->relaunches = 0;
    comp->signalled = PLEAT_SIGNALLED_NOT;
    comp->young = is_to_be_young(core, comp);
    running_arm(core, component);
    comp->processors = comp->target;
    if (!pleat_view_folds(comp))
        comp->processes = comp->target;
    int64_t run_us = pleat_view_expected_run(comp, comp->processors);
    comp->expected_end_us =
        run_us < PLEAT_NEVER - comp->start_us ? comp->start_us + run_us : PLEAT_NEVER;
    set_state(core, component, PLEAT_RUNNING);
    if (comp->first_dependent != PLEAT_NONE)
        dependents_started(core, component);
    running_add(core, component);
    struct pleat_effect *note = emit_note(core, PLEAT_NOTE_SIZE, component, comp->run);
    if (note) {
        note->u.run.processors = comp->processors;
        note->u.run.processes = comp->processes;
    }
    resize_to_limits(core, component);
    /* where it runs at once, and nobody could be resized, the pass that started it expected it */
    if (!site_at(core, comp->site)->instant || !core->settles || core->malleable > 0 ||
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
    struct pleat_component *comp = component_at(core, component);
    comp->run = core->next_id++;
    comp->starting = 1;
    comp->exited = 0;
    if (!site_at(core, comp->site)->instant) {
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
    struct pleat_component *comp = component_at(core, component);
    int32_t got = 0;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next)
        got += claim_at(core, c)->count;
    if (got < comp->target) {
        int32_t size = pleat_view_folds(comp)
                           ? (got < pleat_accept_smallest(&core->view, comp) ? 0 : got)
                           : pleat_accept_start_floor(&core->view, comp, got);
        if (size == 0) {
            component_claim_failed(core, component, PLEAT_REASON_CLAIM_REFUSED);
            return;
        }
        component_release_tail(core, component, got - size);
        comp->target = size;
    }
    if (is_several(core, comp) || (core->view.stages && comp->staging))
        component_at_barrier(core, component);
    else
        start(core, component);
}

void component_claim_failed(struct pleat_core *core, uint32_t component, enum pleat_reason reason)
{
    struct pleat_component *comp = component_at(core, component);
    disarm(core, &comp->deadline);
    component_stop_waiting(core, component);
    if (comp->start_claim != PLEAT_NONE) {
        claim_release(core, comp->start_claim);
        comp->start_claim = PLEAT_NONE;
    }
    int64_t limit = core->parameters[PLEAT_PARAM_MAX_TRIES];
    comp->tries++;
    core->wants_pass = true;
    if (reason == PLEAT_REASON_CLAIM_CANNOT || (limit > 0 && comp->tries > limit)) {
        component_kill(core, component,
                       reason == PLEAT_REASON_CLAIM_CANNOT ? reason : PLEAT_REASON_TRIES);
        return;
    }
    comp->retries++;
    /* what it has already stays earmarked for it */
    comp->target = 0;
    comp->mpl = 0;
    if (pleat_view_folds(comp))
        comp->processes = 0;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next) {
        claim_at(core, c)->purpose = PLEAT_FOR_EARMARK;
        comp->earmarked += claim_at(core, c)->count;
        claim_note(core, c);
    }
    if (comp->earmarked > 0)
        arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
            now_of(core) + core->parameters[PLEAT_PARAM_EARMARK_US]);
    else
        comp->site = PLEAT_NONE;
    set_state(core, component, PLEAT_QUEUED);
    component_wait(core, component);
}

int on_tried(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    if (component->state != PLEAT_QUEUED || component->aside)
        return pleat_error_set(err, PLEAT_E_STATE, "a job that does not wait cannot be tried");
    component->tries++;
    component->last_try_us = now_of(core);
    if (component->tries <= core->parameters[PLEAT_PARAM_MAX_TRIES])
        return 0;
    component_give_up(core, event->component, PLEAT_REASON_TRIES);
    return 0;
}

int on_preempt(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    const struct pleat_component *component = component_at(core, event->component);
    if (component->state != PLEAT_RUNNING || component->begin_us > 0 ||
        component->lead != PLEAT_NONE || (component->flags & PLEAT_COMPONENT_ONCE) ||
        component->preempted == UINT8_MAX ||
        component->preempted >= core->parameters[PLEAT_PARAM_PREEMPTIONS])
        return pleat_error_set(err, PLEAT_E_STATE,
                               "job %llu cannot be preempted: it is %s, and was preempted %u times",
                               (unsigned long long)component->job,
                               pleat_state_name((enum pleat_state)component->state),
                               component->preempted);
    component_kill(core, event->component, PLEAT_REASON_PREEMPTED);
    return 0;
}

int on_started(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    if (component->state != PLEAT_CLAIMING || !component->starting ||
        event->u.exit.run != component->run)
        return PLEAT_CORE_STALE;
    begin_running(core, event->component);
    return 0;
}

int on_start_failed(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    bool again = component->state == PLEAT_RESIZING &&
                 resize_at(core, component->resize)->step == PLEAT_RESIZE_RELAUNCHING;
    /* it was being started again when it was to be ended: either way nothing runs any more */
    bool ending = component->state == PLEAT_FINISHING && !component->exited;
    if ((!component->starting && !again && !ending) || event->u.exit.run != component->run)
        return PLEAT_CORE_STALE;
    if (again) {
        resize_end(core, component->resize, PLEAT_OUTCOME_JOB_ENDED);
        running_remove(core, event->component);
    }
    if (!again)
        component->untold = 1; /* nothing has run */
    if (again || component->state == PLEAT_CLAIMING) {
        bool by_user = event->u.exit.reason == PLEAT_REASON_START_USER;
        component->reason =
            (uint8_t)(by_user ? PLEAT_REASON_START_USER : PLEAT_REASON_START_SYSTEM);
        if (by_user)
            component->code = event->u.exit.code;
        else if (again)
            site_error(core, component->site);
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
    struct pleat_component *component = component_at(core, event->component);
    if (component->exited || event->u.exit.run != component->run)
        return PLEAT_CORE_STALE;
    uint32_t reason = event->u.exit.reason;
    if (reason == PLEAT_REASON_BROKEN && relaunch_broken(core, event->component))
        return 0;
    component->code = event->u.exit.code;
    component->signal = (int16_t)event->u.exit.signal;
    if (component->state != PLEAT_FINISHING) {
        bool known = reason == PLEAT_REASON_LOST || reason == PLEAT_REASON_BROKEN ||
                     reason == PLEAT_REASON_MEMORY;
        component->reason = (uint8_t)(known ? reason : PLEAT_REASON_EXIT);
        if (component->resize != PLEAT_NONE)
            resize_end(core, component->resize, PLEAT_OUTCOME_JOB_ENDED);
        if (component->state == PLEAT_RUNNING)
            running_remove(core, event->component);
        set_state(core, event->component, PLEAT_FINISHING);
        if (is_several(core, component))
            job_end_others(core, event->component);
    }
    component_give_back(core, event->component);
    return 0;
}

void on_component_deadline(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    core->wants_pass = true;
    switch (comp->state) {
    case PLEAT_QUEUED:
        if (comp->aside == PLEAT_ASIDE_RESERVATION)
            on_reservation_comes(core, component);
        else if (comp->holds & PLEAT_HELD_BY_FAULT)
            on_pause_over(core, component);
        else
            earmarks_drop(core, component);
        break;
    case PLEAT_PLACED:
    case PLEAT_STAGING_IN:
        on_placed_deadline(core, component);
        break;
    case PLEAT_CLAIMING:
        if (comp->starting) {
            site_error(core, comp->site);
            if (comp->untold) /* nobody is there who could: it waits for its agent */
                await_start(core, component);
            else
                component_kill(core, component, PLEAT_REASON_START_SYSTEM);
            break;
        }
        if (comp->claimed_us != PLEAT_NEVER) {
            job_put_back(core, component);
            break;
        }
        site_error(core, comp->site);
        site_at(core, comp->site)->quiet_until_us =
            now_of(core) + core->parameters[PLEAT_PARAM_BACKOFF_US];
        component_claim_failed(core, component, PLEAT_REASON_CLAIM_TIMEOUT);
        break;
    case PLEAT_FINISHING: /* still not gone: say it again */
        start_effect(core, component);
        arm(core, &comp->deadline, DEADLINE_COMPONENT, component,
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
