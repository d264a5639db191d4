#include "forecast/forecast.h"

#include "core/core.h"

struct looking {
    struct pleat_core *core;
    struct pleat_effects effects;
    int64_t now_us;
    uint32_t waiting; /* number of rows that have not started yet */
    struct pleat_forecast *forecast;
    struct pleat_error *err;
};

static int apply(struct looking *at, struct pleat_event event)
{
    event.time_us = at->now_us;
    int rc = pleat_core_apply(at->core, &event, &at->effects, at->err);
    return rc < 0 ? rc : 0;
}

static const struct pleat_component *component_of(const struct looking *at, uint32_t index)
{
    return &pleat_core_view(at->core)->components[index];
}

/* ---- answers in the place of sites, runners and agents ---- */

static int answer_claim(struct looking *at, const struct pleat_effect *effect)
{
    uint16_t kind = effect->kind == PLEAT_DO_CLAIM ? PLEAT_EV_CLAIMED : PLEAT_EV_RELEASED;
    return apply(
        at, (struct pleat_event){.kind = kind,
                                 .component = effect->u.claim.index,
                                 .u.claim = {.claim = effect->id, .count = effect->u.claim.count}});
}

static int answer_run(struct looking *at, const struct pleat_effect *effect, uint16_t kind)
{
    return apply(at,
                 (struct pleat_event){.kind = kind,
                                      .component = effect->component,
                                      .u.exit = {.run = effect->id, .reason = PLEAT_REASON_EXIT}});
}

/* The application does whatever it is offered or told. A folded one changes only its partition. */
static int answer_change(struct looking *at, const struct pleat_effect *effect)
{
    bool folds = component_of(at, effect->component)->flags & PLEAT_COMPONENT_FOLDS;
    bool asked = effect->kind == PLEAT_DO_ASK;
    int32_t size = folds || asked ? effect->u.change.processors : effect->u.change.processes;
    uint16_t kind = asked                               ? PLEAT_EV_ANSWER
                    : effect->kind == PLEAT_DO_RESIZE   ? PLEAT_EV_APPLIED
                    : effect->kind == PLEAT_DO_RELAUNCH ? PLEAT_EV_RELAUNCHED
                                                        : PLEAT_EV_WITHDRAWN;
    struct pleat_event event = {
        .kind = kind,
        .component = effect->component,
        .u.change = {.resize = effect->id, .processors = size, .processes = size}};
    int rc = apply(at, event);
    event.kind = PLEAT_EV_VACATED;
    return rc || kind != PLEAT_EV_APPLIED ? rc : apply(at, event);
}

/* Processes are prepared, and ended, at once. */
static int answer_process(struct looking *at, const struct pleat_effect *effect)
{
    bool ends = effect->kind != PLEAT_DO_PREPARE;
    uint32_t reason = effect->kind == PLEAT_DO_LEAVE ? PLEAT_GONE_STOPPED
                      : ends                         ? PLEAT_GONE_UNUSED
                                                     : 0;
    return apply(
        at, (struct pleat_event){
                .kind = ends ? PLEAT_EV_PROCESS_GONE : PLEAT_EV_PREPARED,
                .component = effect->u.claim.index,
                .u.kept = {.claim = effect->id, .run = effect->u.claim.run, .reason = reason}});
}

static int answer_reach(struct looking *at, uint32_t site, uint32_t node)
{
    const struct pleat_node *known = pleat_view_node(pleat_core_view(at->core), site, node);
    uint64_t number = known ? known->agent : 0;
    return apply(at,
                 (struct pleat_event){.kind = PLEAT_EV_AGENT_BACK,
                                      .component = site,
                                      .u.agent = {.number = number ? number : 1, .node = node}});
}

static void has_started(struct looking *at, uint32_t component)
{
    struct pleat_forecast_rows *rows = &at->forecast->rows;
    size_t low = 0, high = rows->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows->items[middle].component < component)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == rows->count || rows->items[low].component != component ||
        rows->items[low].start_us != PLEAT_NEVER)
        return;
    rows->items[low].start_us = at->now_us;
    rows->items[low].why = PLEAT_FORECAST_KNOWN;
    at->waiting--;
}

static int answer(struct looking *at, const struct pleat_effect *effect)
{
    switch (effect->kind) {
    case PLEAT_DO_CLAIM:
    case PLEAT_DO_RELEASE:
        return answer_claim(at, effect);
    case PLEAT_DO_START:
        return answer_run(at, effect, PLEAT_EV_STARTED);
    case PLEAT_DO_KILL:
        return answer_run(at, effect, PLEAT_EV_EXITED);
    case PLEAT_DO_STAGE:
        return apply(at, (struct pleat_event){.kind = PLEAT_EV_STAGED,
                                              .component = effect->component,
                                              .u.staged = {.number = effect->id}});
    case PLEAT_DO_PREPARE:
    case PLEAT_DO_UNPREPARE:
    case PLEAT_DO_LEAVE:
        return answer_process(at, effect);
    case PLEAT_DO_ANSWER:
        return 0;
    case PLEAT_DO_SIGNAL:
        return answer_run(at, effect, PLEAT_EV_SIGNALLED);
    case PLEAT_DO_ASK:
    case PLEAT_DO_RESIZE:
    case PLEAT_DO_WITHDRAW:
    case PLEAT_DO_RELAUNCH:
        return answer_change(at, effect);
    case PLEAT_DO_REACH:
        return answer_reach(at, effect->u.reach.site, effect->u.reach.node);
    case PLEAT_NOTE_STATE:
        if (effect->u.state.to == PLEAT_RUNNING)
            has_started(at, effect->component);
        return 0;
    default:
        return 0;
    }
}

/* Answers all effects. Answers have effects of their own, which are appended behind these. */
static int drain(struct looking *at)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < at->effects.count; i++) {
        struct pleat_effect effect = at->effects.items[i];
        rc = answer(at, &effect);
    }
    at->effects.count = 0;
    return rc;
}

/* Answers and decides until nothing happens any more at this instant. */
static int settle(struct looking *at)
{
    int rc = drain(at);
    while (!rc && pleat_core_wants_pass(at->core)) {
        size_t decided;
        rc = pleat_core_pass(at->core, at->now_us, NULL, &at->effects, at->err);
        decided = pleat_core_decided(at->core);
        if (!rc)
            rc = drain(at);
        if (decided == 0)
            break;
    }
    return rc;
}

/* ---- time ---- */

/* The end of a running component as its program or its estimate says. PLEAT_NEVER: nobody says, or
 * it is late, so it may end at any time. */
static int64_t end_of(const struct looking *at, const struct pleat_component *component)
{
    int64_t end_us = pleat_view_likely_end(pleat_core_view(at->core), component);
    return end_us >= at->now_us ? end_us : PLEAT_NEVER;
}

static void first_end_in(const struct looking *at, uint32_t first, uint32_t *component,
                         int64_t *end_us)
{
    for (uint32_t c = first; c != PLEAT_NONE; c = component_of(at, c)->next) {
        int64_t at_us = end_of(at, component_of(at, c));
        if (at_us < *end_us) {
            *end_us = at_us;
            *component = c;
        }
    }
}

static uint32_t first_end(const struct looking *at, int64_t *end_us)
{
    const struct pleat_view *view = pleat_core_view(at->core);
    uint32_t component = PLEAT_NONE;
    *end_us = PLEAT_NEVER;
    for (uint32_t s = 0; s < view->site_count; s++) {
        first_end_in(at, view->sites[s].rigid_first, &component, end_us);
        first_end_in(at, view->sites[s].malleable_first, &component, end_us);
    }
    return component;
}

/* Ends all components whose end is now, each once. */
static int end_all(struct looking *at, uint32_t component, int64_t end_us)
{
    uint32_t last = PLEAT_NONE;
    int rc = 0;
    for (; !rc && end_us == at->now_us && component != last; component = first_end(at, &end_us)) {
        last = component;
        rc = apply(at, (struct pleat_event){.kind = PLEAT_EV_EXITED,
                                            .component = component,
                                            .u.exit = {.run = component_of(at, component)->run,
                                                       .reason = PLEAT_REASON_EXIT}});
        if (!rc)
            rc = drain(at);
    }
    return rc;
}

/* Goes on to the next instant at which something happens: first ends, then deadlines, then the
 * policies decide. *over: nothing will happen. */
static int step(struct looking *at, bool *over)
{
    int64_t end_us, deadline_us = pleat_core_next_deadline(at->core);
    uint32_t component = first_end(at, &end_us);
    *over = end_us == PLEAT_NEVER && deadline_us == PLEAT_NEVER;
    if (*over)
        return 0;
    int64_t next_us = end_us <= deadline_us ? end_us : deadline_us;
    at->now_us = next_us > at->now_us ? next_us : at->now_us;
    int rc = end_all(at, component, end_us);
    if (!rc && pleat_core_next_deadline(at->core) <= at->now_us)
        rc = apply(at, (struct pleat_event){.kind = PLEAT_EV_TIME, .component = PLEAT_NONE});
    at->forecast->steps++;
    return rc ? rc : settle(at);
}

/* ---- the whole forecast ---- */

static bool waits(const struct pleat_component *component)
{
    return (component->state >= PLEAT_QUEUED && component->state < PLEAT_RUNNING) &&
           !pleat_component_is_forgotten(component);
}

static int list_waiting(struct looking *at)
{
    const struct pleat_view *view = pleat_core_view(at->core);
    for (uint32_t c = 0; c < view->component_count; c++) {
        struct pleat_forecast_row row = {
            .job = view->components[c].job, .component = c, .start_us = PLEAT_NEVER};
        if (!waits(&view->components[c]))
            continue;
        if (pleat_array_push(&at->forecast->rows, row))
            return pleat_error_set(at->err, PLEAT_E_NOMEM, "out of memory");
        at->waiting++;
    }
    return 0;
}

/* Answers what is outstanding, and has an agent connect to each node that has none: jobs that are
 * led from there wait for one. */
static int begin(struct looking *at)
{
    const struct pleat_view *view = pleat_core_view(at->core);
    int rc = pleat_core_outstanding(at->core, &at->effects);
    for (uint32_t n = 0; !rc && n < view->node_count; n++)
        if (view->nodes[n].away)
            rc = answer_reach(at, view->nodes[n].site, view->nodes[n].node);
    /* deadlines that have come already */
    if (!rc)
        rc = apply(at, (struct pleat_event){.kind = PLEAT_EV_TIME, .component = PLEAT_NONE});
    return rc ? rc : settle(at);
}

static bool somebody_never_ends(const struct looking *at)
{
    const struct pleat_view *view = pleat_core_view(at->core);
    for (uint32_t c = 0; c < view->component_count; c++) {
        const struct pleat_component *component = &view->components[c];
        if ((component->state == PLEAT_RUNNING || component->state == PLEAT_RESIZING) &&
            end_of(at, component) == PLEAT_NEVER && component->limit_us == 0)
            return true;
    }
    return false;
}

static void explain(struct looking *at)
{
    bool open = somebody_never_ends(at);
    for (size_t i = 0; i < at->forecast->rows.count; i++) {
        struct pleat_forecast_row *row = &at->forecast->rows.items[i];
        const struct pleat_component *component = component_of(at, row->component);
        unsigned holds = component->holds;
        bool drained = pleat_view_needs_drained(pleat_core_view(at->core), component);
        if (row->start_us != PLEAT_NEVER)
            continue;
        row->why = holds & PLEAT_HELD_BY_USER   ? PLEAT_FORECAST_HELD
                   : drained                    ? PLEAT_FORECAST_DRAINED
                   : !at->forecast->complete    ? PLEAT_FORECAST_TOO_FAR
                   : holds & PLEAT_HELD_BY_JOBS ? PLEAT_FORECAST_NEEDS
                   : open                       ? PLEAT_FORECAST_NO_ESTIMATE
                                                : PLEAT_FORECAST_NEVER;
    }
}

static int look(struct looking *at, bool (*go_on)(void *), void *arg)
{
    bool over = false;
    int rc = list_waiting(at);
    if (!rc)
        rc = begin(at);
    while (!rc && !over && at->waiting > 0) {
        if (!go_on(arg)) {
            at->forecast->complete = false;
            break;
        }
        rc = step(at, &over);
    }
    at->forecast->until_us = at->now_us;
    if (!rc)
        explain(at);
    return rc;
}

int pleat_forecast_make(const char *bytes, size_t size, int64_t now_us, bool (*go_on)(void *),
                        void *arg, struct pleat_forecast *forecast, struct pleat_error *err)
{
    struct looking at = {.now_us = now_us, .forecast = forecast, .err = err};
    *forecast = (struct pleat_forecast){.complete = true};
    int rc = pleat_core_load(bytes, size, &at.core, err);
    if (rc)
        return rc;
    pleat_core_set_notes(at.core, pleat_note_bit(PLEAT_NOTE_STATE));
    rc = look(&at, go_on, arg);
    pleat_core_destroy(at.core);
    pleat_array_finish(&at.effects);
    return rc;
}

void pleat_forecast_finish(struct pleat_forecast *forecast)
{
    pleat_array_finish(&forecast->rows);
}

const char *pleat_forecast_why_name(enum pleat_forecast_why why)
{
    static const char *const names[] = {
        [PLEAT_FORECAST_HELD] = "held by its user",
        [PLEAT_FORECAST_NEEDS] = "waits for jobs whose end is not known",
        [PLEAT_FORECAST_NO_ESTIMATE] = "jobs without an estimate run before it",
        [PLEAT_FORECAST_NEVER] = "does not start unless something changes",
        [PLEAT_FORECAST_TOO_FAR] = "starts later than the forecast goes",
        [PLEAT_FORECAST_DRAINED] = "waits for a site that is drained",
    };
    return why > PLEAT_FORECAST_KNOWN && why <= PLEAT_FORECAST_DRAINED ? names[why] : NULL;
}
