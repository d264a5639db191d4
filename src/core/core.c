#include "core/core.h"

#include <string.h>

#include "core/internal.h"

static const struct {
    const char *name;
    int64_t value;
} parameters[PLEAT_PARAM_COUNT] = {
    [PLEAT_PARAM_ANSWER_US] = {"answer_us", 10000000},
    [PLEAT_PARAM_CLAIM_US] = {"claim_us", 60000000},
    [PLEAT_PARAM_APPLY_US] = {"apply_us", 60000000},
    [PLEAT_PARAM_SHRINK_US] = {"shrink_us", 60000000},
    [PLEAT_PARAM_STUCK_US] = {"stuck_us", 30000000},
    [PLEAT_PARAM_VACATE_US] = {"vacate_us", 30000000},
    [PLEAT_PARAM_START_US] = {"start_us", 60000000},
    [PLEAT_PARAM_EARMARK_US] = {"earmark_us", 120000000},
    [PLEAT_PARAM_BACKOFF_US] = {"backoff_us", 5000000},
    [PLEAT_PARAM_KILL_US] = {"kill_us", 10000000},
    [PLEAT_PARAM_MAX_TRIES] = {"tries", 0},
    [PLEAT_PARAM_TRY_US] = {"try_us", 1000000},
    [PLEAT_PARAM_ATTEMPTS] = {"attempts", 3},
    [PLEAT_PARAM_GRACE_US] = {"grace_us", 10000000},
    [PLEAT_PARAM_NOTICE_MAX_US] = {"notice_max_us", 3600000000},
    [PLEAT_PARAM_LIFETIME_US] = {"lifetime_us", 0},
    [PLEAT_PARAM_LIFETIME_MAX_US] = {"lifetime_max_us", 3600000000},
    [PLEAT_PARAM_RELAUNCHES] = {"relaunches", 3},
    [PLEAT_PARAM_RELAUNCH_US] = {"relaunch_us", 60000000},
    [PLEAT_PARAM_BARRIER_US] = {"barrier_us", 600000000},
    [PLEAT_PARAM_SITE_ERRORS] = {"site_errors", 0},
    [PLEAT_PARAM_SITE_AGAIN_US] = {"site_again_us", 0},
    [PLEAT_PARAM_CLAIM_EARLIER_US] = {"claim_earlier_us", 60000000},
    [PLEAT_PARAM_MPL_MAX] = {"mpl_max", 4},
    [PLEAT_PARAM_PREEMPTIONS] = {"preemptions", 3},
    [PLEAT_PARAM_BUFFER_LEVEL] = {"buffer_level", 1},
    [PLEAT_PARAM_BUFFER_REVIEW_US] = {"buffer_review_us", 600000000},
    [PLEAT_PARAM_BUFFER_RANGE] = {"buffer_range", 5},
    [PLEAT_PARAM_BUFFER_PENDING] = {"buffer_pending", 0},
    [PLEAT_PARAM_PAUSE_US] = {"pause_us", 0},
    [PLEAT_PARAM_PAUSE_MAX_US] = {"pause_max_us", 60000000},
    [PLEAT_PARAM_START_TRIES] = {"start_tries", 1000},
};

const char *pleat_parameter_name(uint32_t parameter)
{
    return parameter < PLEAT_PARAM_COUNT ? parameters[parameter].name : NULL;
}

uint32_t pleat_parameter_next(uint32_t parameter)
{
    while (++parameter < PLEAT_PARAM_COUNT)
        if (parameters[parameter].name)
            return parameter;
    return 0;
}

int64_t pleat_parameter_default(uint32_t parameter)
{
    return parameter < PLEAT_PARAM_COUNT ? parameters[parameter].value : 0;
}

/* ---- effects and deadlines ---- */

struct pleat_effect *emit(struct pleat_core *core, uint16_t kind, uint32_t component, uint64_t id)
{
    struct pleat_effects *out = core->out;
    if (pleat_array_reserve(out, 1)) {
        core->failed = 1;
        return NULL;
    }
    struct pleat_effect *effect = &out->items[out->count++];
    memset(effect, 0, sizeof(*effect)); /* in place: a record built elsewhere stalls the copy */
    effect->time_us = now_of(core);
    effect->id = id;
    effect->kind = kind;
    effect->component = component;
    return effect;
}

void disarm(struct pleat_core *core, uint32_t *handle)
{
    if (*handle != PLEAT_HEAP_NONE)
        pleat_heap_remove(&core->deadlines, *handle);
    *handle = PLEAT_HEAP_NONE;
}

void arm(struct pleat_core *core, uint32_t *handle, enum deadline_kind kind, uint32_t index,
         int64_t at_us)
{
    if (*handle != PLEAT_HEAP_NONE) {
        pleat_heap_move(&core->deadlines, *handle, at_us);
        return;
    }
    if (pleat_heap_push(&core->deadlines, at_us, (uint64_t)kind << 32 | index, handle)) {
        *handle = PLEAT_HEAP_NONE;
        core->failed = 1;
    }
}

static int on_time(struct pleat_core *core)
{
    const struct pleat_heap_entry *first;
    bool any = false;
    while ((first = pleat_heap_first(&core->deadlines)) && first->time_us <= now_of(core)) {
        struct pleat_heap_entry entry = pleat_heap_pop(&core->deadlines);
        uint32_t index = (uint32_t)entry.payload;
        any = true;
        core->operations++;
        switch ((enum deadline_kind)(entry.payload >> 32)) {
        case DEADLINE_COMPONENT:
            component_at(core, index)->deadline = PLEAT_HEAP_NONE;
            on_component_deadline(core, index);
            break;
        case DEADLINE_RESIZE:
            resize_at(core, index)->deadline = PLEAT_HEAP_NONE;
            on_resize_deadline(core, index);
            break;
        case DEADLINE_BUFFER:
            core->buffers.items[index].deadline = PLEAT_HEAP_NONE;
            on_buffer_deadline(core, index);
            break;
        case DEADLINE_WAKE:
            core->wake = PLEAT_HEAP_NONE;
            core->wants_pass = true;
            break;
        case DEADLINE_SITE:
            site_at(core, index)->again = PLEAT_HEAP_NONE;
            site_pardon(core, index);
            break;
        }
    }
    return any ? 0 : PLEAT_CORE_STALE;
}

/* ---- life ---- */

/* A parameter that counts processes or iterations: no more of them make sense. */
static int32_t buffer_count(const struct pleat_core *core, enum pleat_parameter which)
{
    int64_t value = core->parameters[which];
    return value < PLEAT_SIZE_MAX ? (int32_t)value : PLEAT_SIZE_MAX;
}

void core_sync_view(struct pleat_core *core)
{
    core->view.components = core->components.items;
    core->view.component_count = (uint32_t)core->components.count;
    core->view.sites = core->sites.items;
    core->view.site_count = (uint32_t)core->sites.count;
    core->view.size_lists = core->size_lists.items;
    core->view.timings = core->timings.items;
    core->view.buffers = core->buffers.items;
    core->view.histories = core->histories.items;
    core->view.inputs = core->inputs.items;
    core->view.links = core->links.items;
    core->view.link_count = (uint32_t)core->links.count;
    core->view.max_tries = (int32_t)core->parameters[PLEAT_PARAM_MAX_TRIES];
    core->view.try_us = core->parameters[PLEAT_PARAM_TRY_US];
    core->view.lifetime_us = core->parameters[PLEAT_PARAM_LIFETIME_US];
    core->view.lifetime_max_us = core->parameters[PLEAT_PARAM_LIFETIME_MAX_US];
    core->view.holds |= core->view.lifetime_us > 0;
    core->view.mpl_max = (int32_t)core->parameters[PLEAT_PARAM_MPL_MAX];
    core->view.preemptions = (int32_t)core->parameters[PLEAT_PARAM_PREEMPTIONS];
    core->view.buffer_level = buffer_count(core, PLEAT_PARAM_BUFFER_LEVEL);
    core->view.buffer_range = buffer_count(core, PLEAT_PARAM_BUFFER_RANGE);
    core->view.buffer_review_us = core->parameters[PLEAT_PARAM_BUFFER_REVIEW_US];
    core->view.buffer_pending = core->parameters[PLEAT_PARAM_BUFFER_PENDING] > 0;
}

/* What one queue policy promised binds no other. */
static void promises_drop(struct pleat_core *core)
{
    for (uint32_t c = core->view.queue_first; c != PLEAT_NONE; c = core->components.items[c].next) {
        struct pleat_component *job = &core->components.items[c];
        if (job->begin_us == 0) {
            job->promised_us = PLEAT_NEVER;
            job->promised_site = PLEAT_NONE;
        }
    }
}

int core_set_policy(struct pleat_core *core, const struct pleat_policy *policy)
{
    void *state = policy->state_size ? calloc(1, policy->state_size) : NULL;
    if (policy->state_size && !state)
        return PLEAT_E_NOMEM;
    if (policy->question == PLEAT_QUEUE && policy != core->pass.policies[PLEAT_QUEUE])
        promises_drop(core);
    free(core->states[policy->question]);
    core->states[policy->question] = state;
    core->pass.policies[policy->question] = policy;
    core->pass.states[policy->question] = state;
    core->plan.memo.pass = 0;
    core->observed = false;
    unsigned needs = 0;
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        if (core->pass.policies[q] && core->pass.policies[q]->observe)
            core->observed = true;
        needs |= core->pass.policies[q] ? core->pass.policies[q]->needs : 0;
    }
    core->needs = needs;
    ends_keep(core, needs & PLEAT_NEEDS_ENDS);
    if (policy->question == PLEAT_ORDER)
        queue_sort(core);
    if (policy->question == PLEAT_BUFFER)
        buffers_review(core);
    return 0;
}

int pleat_core_create(struct pleat_core **out)
{
    struct pleat_core *core = calloc(1, sizeof(*core));
    if (!core)
        return PLEAT_E_NOMEM;
    pleat_heap_init(&core->deadlines);
    core->free_component = core->free_claim = core->free_piece = core->free_resize = PLEAT_NONE;
    core->free_timing = core->free_buffer = core->free_input = core->open_lead = PLEAT_NONE;
    core->free_dependency = core->free_group = PLEAT_NONE;
    core->decided_first = core->decided_last = PLEAT_NONE;
    core->view.reviews_first = core->reviews_last = PLEAT_NONE;
    core->view.queue_first = core->view.queue_last = core->view.reserved_first = PLEAT_NONE;
    core->queue_root = PLEAT_NONE;
    core->notes = UINT64_MAX;
    core->wake = PLEAT_HEAP_NONE;
    core->next_id = 1;
    core->pass.view = &core->view;
    core->pass.plan = &core->plan;
    for (uint32_t p = 0; p < PLEAT_PARAM_COUNT; p++)
        core->parameters[p] = parameters[p].value;
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        if (core_set_policy(core, pleat_policy_default((enum pleat_question)q))) {
            pleat_core_destroy(core);
            return PLEAT_E_NOMEM;
        }
    }
    core_sync_view(core);
    *out = core;
    return 0;
}

void pleat_core_destroy(struct pleat_core *core)
{
    if (!core)
        return;
    pleat_array_finish(&core->components);
    pleat_array_finish(&core->sites);
    pleat_array_finish(&core->claims);
    pleat_array_finish(&core->pieces);
    pleat_array_finish(&core->resizes);
    for (size_t i = 0; i < core->size_lists.count; i++)
        pleat_array_finish(&core->size_lists.items[i]);
    pleat_array_finish(&core->size_lists);
    pleat_array_finish(&core->timings);
    pleat_array_finish(&core->buffers);
    for (size_t i = 0; i < core->histories.count; i++)
        pleat_array_finish(&core->histories.items[i]);
    pleat_array_finish(&core->histories);
    pleat_array_finish(&core->inputs);
    pleat_array_finish(&core->links);
    pleat_array_finish(&core->dependencies);
    pleat_array_finish(&core->groups);
    pleat_array_finish(&core->ends_roots);
    pleat_tree_finish(&core->places);
    pleat_heap_finish(&core->deadlines);
    pleat_plan_finish(&core->plan);
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        free(core->states[q]);
    free(core);
}

/* ---- configuration and sites ---- */

static int on_policy(struct pleat_core *core, const struct pleat_event *event,
                     struct pleat_error *err)
{
    uint32_t question = event->u.policy.question;
    const struct pleat_policy *policy =
        question < PLEAT_QUESTION_COUNT
            ? pleat_policy_get((enum pleat_question)question, event->u.policy.policy)
            : NULL;
    if (!policy)
        return pleat_error_set(err, PLEAT_E_NOTFOUND,
                               "no policy has the number %u for question %u: was the log written "
                               "by a newer Pleat?",
                               event->u.policy.policy, question);
    core->wants_pass = true;
    return core_set_policy(core, policy);
}

static int on_parameter(struct pleat_core *core, const struct pleat_event *event,
                        struct pleat_error *err)
{
    uint32_t which = event->u.parameter.which;
    int64_t value = event->u.parameter.value;
    if (!pleat_parameter_name(which) || value < 0 || value > INT64_MAX / 4 ||
        (which == PLEAT_PARAM_MPL_MAX && (value < 1 || value > UINT8_MAX)))
        return pleat_error_set(err, PLEAT_E_INVALID, "parameter %u cannot be %lld", which,
                               (long long)value);
    core->parameters[which] = value;
    core_sync_view(core);
    if (which == PLEAT_PARAM_SITE_ERRORS)
        sites_judge(core);
    if (which == PLEAT_PARAM_LIFETIME_US || which == PLEAT_PARAM_LIFETIME_MAX_US)
        for (uint32_t c = 0; c < core->components.count; c++)
            held_refresh(core, c);
    if ((which >= PLEAT_PARAM_BUFFER_LEVEL && which <= PLEAT_PARAM_BUFFER_RANGE) ||
        which == PLEAT_PARAM_BUFFER_PENDING)
        buffers_review(core);
    core->wants_pass = true;
    return 0;
}

static int on_site(struct pleat_core *core, const struct pleat_event *event,
                   struct pleat_error *err)
{
    if (event->component > core->sites.count || event->component >= PLEAT_SITES_MAX ||
        event->u.site.capacity < 0 || event->u.site.capacity > PLEAT_SIZE_MAX ||
        event->u.site.threshold < 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "site %u with %d processors", event->component,
                               event->u.site.capacity);
    if (event->component == core->sites.count) {
        struct pleat_site fresh = {.malleable_first = PLEAT_NONE,
                                   .malleable_last = PLEAT_NONE,
                                   .rigid_first = PLEAT_NONE,
                                   .rigid_last = PLEAT_NONE,
                                   .ends_first = PLEAT_NONE,
                                   .ends_last = PLEAT_NONE,
                                   .buffers_first = PLEAT_NONE,
                                   .again = PLEAT_HEAP_NONE,
                                   .instant = (event->flags & PLEAT_SITE_INSTANT) != 0};
        uint32_t none = PLEAT_NONE;
        if (pleat_array_push(&core->ends_roots, none))
            return PLEAT_E_NOMEM;
        if (pleat_array_push(&core->sites, fresh)) {
            core->ends_roots.count--;
            return PLEAT_E_NOMEM;
        }
        core_sync_view(core);
    }
    struct pleat_site *site = site_at(core, event->component);
    site->capacity = event->u.site.capacity;
    site->threshold = event->u.site.threshold;
    site->background = event->u.site.background;
    site_pardon(core, event->component);
    core->wants_pass = true;
    return 0;
}

static int on_background(struct pleat_core *core, const struct pleat_event *event,
                         struct pleat_error *err)
{
    if (event->component >= core->sites.count || event->u.site.background < 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "no site %u", event->component);
    struct pleat_site *site = site_at(core, event->component);
    if (site->background == event->u.site.background)
        return PLEAT_CORE_STALE;
    site->background = event->u.site.background;
    core->wants_pass = true;
    return 0;
}

static int on_sizes(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    uint32_t list = event->u.sizes.list, count = event->u.sizes.count;
    if (list > core->size_lists.count || count > 10)
        return pleat_error_set(err, PLEAT_E_INVALID, "list %u of sizes", list);
    if (list == core->size_lists.count) {
        struct pleat_size_list fresh = {0};
        if (pleat_array_push(&core->size_lists, fresh))
            return PLEAT_E_NOMEM;
        core_sync_view(core);
    }
    struct pleat_size_list *sizes = &core->size_lists.items[list];
    for (uint32_t i = 0; i < count; i++) {
        int32_t before = i              ? event->u.sizes.values[i - 1]
                         : sizes->count ? sizes->items[sizes->count - 1]
                                        : 0;
        if (event->u.sizes.values[i] <= before)
            return pleat_error_set(err, PLEAT_E_INVALID, "a list of sizes must increase");
    }
    if (pleat_array_reserve(sizes, count))
        return PLEAT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++)
        sizes->items[sizes->count++] = event->u.sizes.values[i];
    return 0;
}

/* Nobody gave so many numbers since the last one that is known. */
static int on_salvaged(struct pleat_core *core)
{
    core->next_id = ((core->next_id >> 32) + 1) << 32;
    return 0;
}

/* ---- the two calls ---- */

/* Events about a component that must exist. */
static const bool needs_component[] = {
    [PLEAT_EV_LIMITS] = true,        [PLEAT_EV_CANCEL] = true,       [PLEAT_EV_DEMAND] = true,
    [PLEAT_EV_DEADLINE] = true,      [PLEAT_EV_RESERVE] = true,      [PLEAT_EV_FORGET] = true,
    [PLEAT_EV_STARTED] = true,       [PLEAT_EV_START_FAILED] = true, [PLEAT_EV_EXITED] = true,
    [PLEAT_EV_ANSWER] = true,        [PLEAT_EV_APPLIED] = true,      [PLEAT_EV_VACATED] = true,
    [PLEAT_EV_RESIZE_FAILED] = true, [PLEAT_EV_WITHDRAWN] = true,    [PLEAT_EV_START] = true,
    [PLEAT_EV_RESIZE] = true,        [PLEAT_EV_TRIED] = true,        [PLEAT_EV_PROMISE] = true,
    [PLEAT_EV_TERMS] = true,         [PLEAT_EV_RELAUNCHED] = true,   [PLEAT_EV_TIMED] = true,
    [PLEAT_EV_PREEMPT] = true,       [PLEAT_EV_HISTORY] = true,      [PLEAT_EV_PROGRESS] = true,
    [PLEAT_EV_ADD_PROCESS] = true,   [PLEAT_EV_STOP_PROCESS] = true, [PLEAT_EV_BUFFER] = true,
    [PLEAT_EV_INPUT] = true,         [PLEAT_EV_RETURNED] = true,     [PLEAT_EV_STAGED] = true,
    [PLEAT_EV_STAGE_FAILED] = true,  [PLEAT_EV_PARTITION] = true,    [PLEAT_EV_HOLD] = true,
    [PLEAT_EV_RELEASE] = true,       [PLEAT_EV_REQUEUE] = true,      [PLEAT_EV_DEPEND] = true,
    [PLEAT_EV_REVISE] = true,        [PLEAT_EV_GROUP] = true,
};

static int dispatch(struct pleat_core *core, const struct pleat_event *event,
                    struct pleat_error *err)
{
    switch (event->kind) {
    case PLEAT_EV_POLICY:
        return on_policy(core, event, err);
    case PLEAT_EV_PARAMETER:
        return on_parameter(core, event, err);
    case PLEAT_EV_SITE:
        return on_site(core, event, err);
    case PLEAT_EV_BACKGROUND:
        return on_background(core, event, err);
    case PLEAT_EV_SIZES:
        return on_sizes(core, event, err);
    case PLEAT_EV_SALVAGED:
        return on_salvaged(core);
    case PLEAT_EV_SUBMIT:
        return on_submit(core, event, err);
    case PLEAT_EV_LIMITS:
        return on_limits(core, event, err);
    case PLEAT_EV_PARTITION:
        return on_partition(core, event, err);
    case PLEAT_EV_CANCEL:
        return on_cancel(core, event, err);
    case PLEAT_EV_DEMAND:
        return on_demand(core, event, err);
    case PLEAT_EV_DEADLINE:
        return on_deadline(core, event, err);
    case PLEAT_EV_RESERVE:
        return on_reserve(core, event, err);
    case PLEAT_EV_FORGET:
        return on_forget(core, event, err);
    case PLEAT_EV_TERMS:
        return on_terms(core, event, err);
    case PLEAT_EV_INPUT:
        return on_input(core, event, err);
    case PLEAT_EV_LINK:
        return on_link(core, event, err);
    case PLEAT_EV_PIECE:
        return on_piece(core, event);
    case PLEAT_EV_CLAIMED:
        return on_claimed(core, event);
    case PLEAT_EV_CLAIM_FAILED:
        return on_claim_failed(core, event);
    case PLEAT_EV_RELEASED:
        return on_released(core, event);
    case PLEAT_EV_LOST:
        return on_lost(core, event);
    case PLEAT_EV_AGENT_AWAY:
        return on_agent_away(core, event, err);
    case PLEAT_EV_AGENT_BACK:
        return on_agent_back(core, event, err);
    case PLEAT_EV_STARTED:
        return on_started(core, event);
    case PLEAT_EV_START_FAILED:
        return on_start_failed(core, event);
    case PLEAT_EV_EXITED:
        return on_exited(core, event);
    case PLEAT_EV_ANSWER:
        return on_answer(core, event);
    case PLEAT_EV_APPLIED:
        return on_applied(core, event);
    case PLEAT_EV_VACATED:
        return on_vacated(core, event);
    case PLEAT_EV_RESIZE_FAILED:
        return on_resize_failed(core, event);
    case PLEAT_EV_WITHDRAWN:
        return on_withdrawn(core, event);
    case PLEAT_EV_RELAUNCHED:
        return on_relaunched(core, event);
    case PLEAT_EV_TIMED:
        return on_timed(core, event);
    case PLEAT_EV_HISTORY:
        return on_history(core, event, err);
    case PLEAT_EV_PROGRESS:
        return on_progress(core, event);
    case PLEAT_EV_ADD_PROCESS:
        return on_add_process(core, event);
    case PLEAT_EV_STOP_PROCESS:
        return on_stop_process(core, event, err);
    case PLEAT_EV_BUFFER:
        return on_buffer(core, event, err);
    case PLEAT_EV_RETURNED:
        return on_returned(core, event);
    case PLEAT_EV_STAGED:
        return on_staged(core, event);
    case PLEAT_EV_STAGE_FAILED:
        return on_stage_failed(core, event);
    case PLEAT_EV_HOLD:
        return on_hold(core, event, err);
    case PLEAT_EV_RELEASE:
        return on_release(core, event, err);
    case PLEAT_EV_REQUEUE:
        return on_requeue(core, event, err);
    case PLEAT_EV_DEPEND:
        return on_depend(core, event, err);
    case PLEAT_EV_REVISE:
        return on_revise(core, event, err);
    case PLEAT_EV_GROUP:
        return on_group(core, event, err);
    case PLEAT_EV_TIME:
        return on_time(core);
    case PLEAT_EV_PASS:
        core->wants_pass = false;
        return 0;
    case PLEAT_EV_START:
        return on_start(core, event, err);
    case PLEAT_EV_RESIZE:
        return on_resize(core, event, err);
    case PLEAT_EV_TRIED:
        return on_tried(core, event, err);
    case PLEAT_EV_PROMISE:
        return on_promise(core, event, err);
    case PLEAT_EV_PREEMPT:
        return on_preempt(core, event, err);
    case PLEAT_EV_WAKE:
        arm(core, &core->wake, DEADLINE_WAKE, 0, event->u.at.at_us);
        return 0;
    default:
        return pleat_error_set(err, PLEAT_E_INVALID, "events of kind %u are not known",
                               event->kind);
    }
}

int pleat_core_apply(struct pleat_core *core, const struct pleat_event *event,
                     struct pleat_effects *effects, struct pleat_error *err)
{
    if (event->time_us > core->view.now_us)
        core->view.now_us = event->time_us;
    if (event->component >= core->components.count && event->kind < sizeof(needs_component) &&
        needs_component[event->kind])
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no component %u", event->component);
    core->out = effects;
    core->failed = 0;
    core->operations++;
    int rc = dispatch(core, event, err);
    if (core->decided_first != PLEAT_NONE)
        dependents_settle(core);
    if (core->failed || rc == PLEAT_E_NOMEM)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (rc == 0 && core->observed) {
        for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
            if (core->pass.policies[q]->observe)
                core->pass.policies[q]->observe(core->states[q], &core->view, event);
    }
    return rc;
}

bool pleat_core_wants_pass(const struct pleat_core *core)
{
    return core->wants_pass && (core->view.queue_count > 0 || core->malleable > 0 ||
                                core->view.reviews_first != PLEAT_NONE);
}

/* Applies one of the pass's own records, all bytes set since decisions are compared byte by byte.
 * Made where it stays, because one is made at every pass. */
static int own_record(struct pleat_core *core, uint16_t kind, int64_t at_us,
                      struct pleat_events *decisions, struct pleat_effects *effects,
                      struct pleat_error *err)
{
    struct pleat_event unlogged, *event = &unlogged;
    if (decisions) {
        if (pleat_array_reserve(decisions, 1))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        event = &decisions->items[decisions->count++];
    }
    memset(event, 0, sizeof(*event));
    event->time_us = now_of(core);
    event->kind = kind;
    event->component = PLEAT_NONE;
    event->u.at.at_us = at_us;
    int rc = pleat_core_apply(core, event, effects, err);
    return rc < 0 ? rc : 0;
}

static int apply_plan(struct pleat_core *core, struct pleat_events *decisions,
                      struct pleat_effects *effects, struct pleat_error *err)
{
    const struct pleat_events *plan = &core->plan.decisions;
    if (decisions && plan->count && pleat_array_reserve(decisions, plan->count))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < plan->count; i++) {
        int rc = pleat_core_apply(core, &plan->items[i], effects, err);
        if (rc < 0) {
            if (err && rc != PLEAT_E_NOMEM)
                pleat_error_prefix(err, "a decision of %s was refused",
                                   core->pass.policies[PLEAT_APPROACH]->name);
            return rc;
        }
        if (decisions)
            decisions->items[decisions->count++] = plan->items[i];
    }
    return 0;
}

/* Whoever waits or runs goes first; what is left may be prepared for those that may ask. */
static void decide(struct pleat_pass *pass)
{
    pass->policies[PLEAT_APPROACH]->decide(pass);
    if (pass->view->reviews_first != PLEAT_NONE)
        pleat_pass_review(pass);
}

int pleat_core_pass(struct pleat_core *core, int64_t now_us, struct pleat_events *decisions,
                    struct pleat_effects *effects, struct pleat_error *err)
{
    if (now_us > core->view.now_us)
        core->view.now_us = now_us;
    core->wants_pass = false;
    int rc = decisions || core->observed
                 ? own_record(core, PLEAT_EV_PASS, 0, decisions, effects, err)
                 : 0;
    if (rc)
        return rc;
    if (pleat_plan_begin(&core->plan, &core->view))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    core->pass.shadow = NULL;
    core->pass.profiles = NULL;
    core->pass.backfilling = false;
    decide(&core->pass);
    if (core->plan.failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    rc = apply_plan(core, decisions, effects, err);
    return rc || core->plan.wake_us == PLEAT_NEVER
               ? rc
               : own_record(core, PLEAT_EV_WAKE, core->plan.wake_us, decisions, effects, err);
}

int pleat_core_rehearse(const struct pleat_core *core, int64_t now_us,
                        struct pleat_rehearsal *rehearsal)
{
    *rehearsal = (struct pleat_rehearsal){.view = core->view, .pass = core->pass};
    if (now_us > rehearsal->view.now_us)
        rehearsal->view.now_us = now_us;
    rehearsal->pass.view = &rehearsal->view;
    rehearsal->pass.plan = &rehearsal->plan;
    rehearsal->pass.shadow = NULL;
    rehearsal->pass.profiles = NULL;
    rehearsal->pass.backfilling = false;
    if (pleat_plan_begin(&rehearsal->plan, &rehearsal->view))
        return PLEAT_E_NOMEM;
    decide(&rehearsal->pass);
    return rehearsal->plan.failed ? PLEAT_E_NOMEM : 0;
}

void pleat_rehearsal_finish(struct pleat_rehearsal *rehearsal)
{
    pleat_plan_finish(&rehearsal->plan);
}

size_t pleat_core_decided(const struct pleat_core *core)
{
    return core->plan.decisions.count + (core->plan.wake_us != PLEAT_NEVER);
}

int64_t pleat_core_next_deadline(const struct pleat_core *core)
{
    const struct pleat_heap_entry *first = pleat_heap_first(&core->deadlines);
    return first ? first->time_us : PLEAT_NEVER;
}

int pleat_core_outstanding(struct pleat_core *core, struct pleat_effects *effects)
{
    core->out = effects;
    core->failed = 0;
    for (uint32_t i = 0; i < core->claims.count; i++) {
        const struct pleat_claim *claim = claim_at(core, i);
        if (claim->state != PLEAT_CLAIM_REQUESTED && claim->state != PLEAT_CLAIM_RELEASING)
            continue;
        claim_effect(core, i,
                     claim->state == PLEAT_CLAIM_REQUESTED ? PLEAT_DO_CLAIM : PLEAT_DO_RELEASE);
    }
    for (uint32_t i = 0; i < core->components.count; i++) {
        outstanding_effects(core, i);
        if (component_at(core, i)->staging)
            stage_effect(core, i);
    }
    return core->failed ? PLEAT_E_NOMEM : 0;
}

void pleat_core_set_notes(struct pleat_core *core, uint64_t kinds)
{
    core->notes = kinds;
}

/* ---- looking ---- */

uint32_t pleat_core_next_component(const struct pleat_core *core)
{
    return core->free_component != PLEAT_NONE ? core->free_component
                                              : (uint32_t)core->components.count;
}

uint32_t pleat_core_next_group(const struct pleat_core *core)
{
    return core->free_group != PLEAT_NONE ? core->free_group : (uint32_t)core->groups.count;
}

const struct pleat_dependency *pleat_core_dependency(const struct pleat_core *core, uint32_t index)
{
    return &core->dependencies.items[index];
}

const struct pleat_view *pleat_core_view(const struct pleat_core *core)
{
    return &core->view;
}

const struct pleat_claim *pleat_core_claim(const struct pleat_core *core, uint32_t index)
{
    return &core->claims.items[index];
}

uint32_t pleat_core_size_list_count(const struct pleat_core *core)
{
    return (uint32_t)core->size_lists.count;
}

uint32_t pleat_core_claim_count(const struct pleat_core *core)
{
    return (uint32_t)core->claims.count;
}

const struct pleat_piece *pleat_core_piece(const struct pleat_core *core, uint32_t index)
{
    return &core->pieces.items[index];
}

const struct pleat_resize *pleat_core_resize(const struct pleat_core *core, uint32_t index)
{
    return &core->resizes.items[index];
}

const struct pleat_policy *pleat_core_policy(const struct pleat_core *core,
                                             enum pleat_question question)
{
    return core->pass.policies[question];
}

unsigned pleat_core_needs(const struct pleat_core *core)
{
    return core->needs;
}

int64_t pleat_core_parameter(const struct pleat_core *core, enum pleat_parameter parameter)
{
    return core->parameters[parameter];
}

uint64_t pleat_core_operations(const struct pleat_core *core)
{
    return core->operations + core->deadlines.steps + core->places.steps;
}
