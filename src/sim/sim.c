/* The loop: instants and effects. */
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "sim/internal.h"

/* After this number of instants progress is reported, even if no job has ended. */
enum { INSTANTS = 65536 };

/* MANY: with fewer components known their records are in a cache anyway. AHEAD: for how many starts
 * records are fetched ahead; one pass may make all of them. */
enum { MANY = 1024, AHEAD = 32 };

static PLEAT_COLD int bring_files(struct sim *sim, const struct pleat_effect *effect)
{
    struct app *app = &sim->apps.items[effect->component];
    app->staging_number = effect->id;
    return set_timer(sim, TIMER_FILES, effect->component, 0, effect->u.stage.expected_us,
                     &app->files_timer);
}

static PLEAT_COLD int files_are_there(struct sim *sim, uint32_t component)
{
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_STAGED,
                                .component = component,
                                .u.staged.number = sim->apps.items[component].staging_number};
    return input(sim, &event);
}

static int on_timer(struct sim *sim, uint64_t payload)
{
    enum timer_kind kind = (enum timer_kind)(payload >> 56);
    uint32_t index = (uint32_t)payload;
    switch (kind) {
    case TIMER_APP:
        sim->apps.items[index].timer = PLEAT_HEAP_NONE;
        return app_milestone(sim, index);
    case TIMER_ADAPT:
        sim->apps.items[index].adapt_timer = PLEAT_HEAP_NONE;
        return app_adapt(sim, index);
    case TIMER_FILES:
        sim->apps.items[index].files_timer = PLEAT_HEAP_NONE;
        return files_are_there(sim, index);
    case TIMER_SUBMIT:
        return feedback_due(sim, index);
    default:
        return site_timer(sim, kind, index, (uint32_t)(payload >> 32) & 0xffffff);
    }
}

/* ---- effects ---- */

/* The effect is read before anything is answered: an answer may move the array that it is in. */
static int carry_out(struct sim *sim, const struct pleat_effect *effect)
{
    switch (effect->kind) {
    case PLEAT_DO_CLAIM:
        return site_claim(sim, effect->u.claim.index, effect->id, effect->u.claim.site);
    case PLEAT_DO_RELEASE:
        return site_release(sim, effect->u.claim.index, effect->id, effect->u.claim.site);
    case PLEAT_DO_START:
        return app_start(sim, effect->component, effect->id, effect->u.run.processors,
                         effect->u.run.processes);
    case PLEAT_DO_RESIZE:
        return app_resize(sim, effect);
    case PLEAT_DO_WITHDRAW:
        return app_withdraw(sim, effect->component, effect->id);
    case PLEAT_DO_PROCESSES:
        return app_added(sim, effect->component);
    case PLEAT_DO_KILL:
        return app_kill(sim, effect->component, effect->id);
    case PLEAT_DO_STAGE:
        return bring_files(sim, effect);
    case PLEAT_DO_ANSWER:
        return app_answered(sim, effect);
    case PLEAT_DO_SPLIT: /* simulated processors have no places, but may be of an allocation */
        return allocation_split(sim, effect->id, effect->u.claim.index, effect->u.claim.into,
                                effect->u.claim.site);
    case PLEAT_DO_SIGNAL: /* no simulated application listens to signals */
        return 0;
    default:
        return pleat_effect_unsupported(effect, "the simulator", sim->err);
    }
}

/* Moves the effects from `first` on in front of those from `at` on. */
static PLEAT_COLD void bring_forward(struct sim *sim, size_t at, size_t first)
{
    for (; first < sim->effects.count; at++, first++) {
        struct pleat_effect effect = sim->effects.items[first];
        for (size_t i = first; i > at; i--)
            sim->effects.items[i] = sim->effects.items[i - 1];
        sim->effects.items[at] = effect;
    }
}

/* Carries out all effects. An answer that comes at once may have effects of its own, which are
 * carried out last. With asks_all_sites they are carried out next: this is the order in which the
 * core handles sites without delays if it need not ask them. */
static int drain(struct sim *sim)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < sim->effects.count; i++) {
        size_t known = sim->effects.count;
        rc = carry_out(sim, &sim->effects.items[i]);
        if (sim->effects.count > known && sim->options->asks_all_sites)
            bring_forward(sim, i + 1, known);
    }
    sim->effects.count = 0;
    return rc;
}

/* ---- passes ---- */

static int look_at_decisions(struct sim *sim)
{
    int rc = sim->is_watched ? record(sim, sim->decisions.items, sim->decisions.count) : 0;
    for (size_t i = 0; !rc && i < sim->decisions.count; i++) {
        const struct pleat_event *decision = &sim->decisions.items[i];
        if (decision->kind == PLEAT_EV_START)
            sim->apps.items[decision->component].decided_us = sim->now_us;
        else if (decision->kind == PLEAT_EV_BUFFER)
            rc = app_reschedule(sim, decision->component);
        else if (decision->kind == PLEAT_EV_TRIED)
            rc = conclude(sim, decision->component);
    }
    sim->decisions.count = 0;
    return rc;
}

static inline void foresee_lines(const void *record, size_t count)
{
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch((const char *)record + i * PLEAT_LINE);
}

/* Has the records fetched that coming starts will need: those of the first AHEAD components of the
 * queue. Where thousands wait they are in no cache, and often many start at once. At each pass the
 * queue is followed one step, from the component that was asked for at the pass before: so this
 * does not wait for memory either. */
static void foresee(struct sim *sim)
{
    const struct pleat_component *components = sim->view->components;
    uint32_t first = sim->view->queue_first;
    size_t started = first != sim->queue_first ? pleat_core_decided(sim->core) : 0;
    bool follows = started < sim->ahead && components[sim->foreseen].state == PLEAT_QUEUED;
    uint32_t next = follows ? components[sim->foreseen].next : first;
    sim->ahead = follows ? sim->ahead - started : 0;
    sim->queue_first = first;
    if (sim->ahead >= AHEAD || next == PLEAT_NONE)
        return;
    sim->ahead++;
    sim->foreseen = next;
    foresee_lines(&components[next], 4);
    foresee_lines(&sim->apps.items[next], 3);
}

static int pass(struct sim *sim)
{
    int rc = pleat_core_pass(sim->core, sim->now_us, sim->reads_decisions ? &sim->decisions : NULL,
                             &sim->effects, sim->err);
    if (rc)
        return rc;
    sim->totals->passes++;
    sim->totals->decisions += pleat_core_decided(sim->core);
    if (sim->reads_decisions)
        rc = look_at_decisions(sim);
    if (!rc && sim->effects.count > 0)
        rc = drain(sim);
    if (sim->apps.count >= MANY)
        foresee(sim);
    if (!rc && sim->options->on_pass)
        rc = sim->options->on_pass(sim->options->context);
    return rc;
}

static PLEAT_COLD int unsettled(struct sim *sim)
{
    return pleat_error_set(
        sim->err, PLEAT_E_STATE,
        "at %.6f s the policies change their minds again and again (approach %s, queue %s, "
        "moldability %s, malleability %s): one of them takes back what another decides",
        (double)sim->now_us / 1e6, pleat_core_policy(sim->core, PLEAT_APPROACH)->name,
        pleat_core_policy(sim->core, PLEAT_QUEUE)->name,
        pleat_core_policy(sim->core, PLEAT_MOLDABILITY)->name,
        pleat_core_policy(sim->core, PLEAT_MALLEABILITY)->name);
}

/* Local users take what is free, and batch systems start the jobs that may start. */
static int serve_others(struct sim *sim)
{
    int rc;
    do {
        rc = load_serve(sim);
        if (!rc && sim->effects.count > 0)
            rc = drain(sim);
    } while (!rc && batch_is_asked(sim));
    return rc;
}

/* Makes passes until none is wanted any more; at least one. */
static int settle(struct sim *sim)
{
    int rc;
    do {
        rc = sim->passes_left-- > 0 ? pass(sim) : unsettled(sim);
        if (!rc && sim->crowded)
            rc = serve_others(sim);
    } while (!rc && pleat_core_wants_pass(sim->core));
    return rc;
}

/* ---- the loop ---- */

static int pass_time(struct sim *sim)
{
    struct pleat_event time = {
        .time_us = sim->now_us, .kind = PLEAT_EV_TIME, .component = PLEAT_NONE};
    int rc = input(sim, &time);
    return rc ? rc : drain(sim);
}

/* Finds the next job that is submitted at its recorded time. */
static void look_ahead(struct sim *sim)
{
    const struct pleat_workload_jobs *jobs = &sim->workload->jobs;
    while (sim->followers && sim->next_job < jobs->count && sim->followers[sim->next_job].follows)
        sim->next_job = last_part(sim, sim->next_job) + 1;
    sim->next_submit_us =
        sim->next_job < jobs->count ? jobs->items[sim->next_job].submit_us : PLEAT_NEVER;
}

/* Submits the next job that is submitted at its recorded time. */
static inline int submit_next(struct sim *sim)
{
    size_t first = sim->next_job, last = last_part(sim, first);
    sim->next_job = last + 1;
    int rc = submit_job(sim, first, last);
    look_ahead(sim);
    return rc;
}

/* Submits the first of the jobs that are due since others have ended, unless a recorded one comes
 * before it. */
static PLEAT_COLD int submit_due(struct sim *sim)
{
    size_t first = sim->due.items[sim->due.count - 1];
    if (sim->next_submit_us <= sim->now_us && sim->next_job < first)
        return submit_next(sim);
    sim->due.count--;
    return submit_job(sim, first, last_part(sim, first));
}

/* Submits the jobs whose time has come, in the order of the workload: those that follow others are
 * due, too. */
static int submit_all(struct sim *sim)
{
    int rc = 0;
    while (!rc && sim->next_submit_us <= sim->now_us && sim->due.count == 0)
        rc = submit_next(sim);
    while (!rc && (sim->due.count > 0 || sim->next_submit_us <= sim->now_us))
        rc = sim->due.count > 0 ? submit_due(sim) : submit_next(sim);
    return rc || sim->effects.count == 0 ? rc : drain(sim);
}

static int instant(struct sim *sim)
{
    int rc = 0;
    while (!rc && pleat_heap_first_us(&sim->timers) <= sim->now_us) {
        rc = on_timer(sim, pleat_heap_pop(&sim->timers).payload);
        if (!rc && sim->effects.count > 0)
            rc = drain(sim);
    }
    if (!rc && pleat_core_next_deadline(sim->core) <= sim->now_us)
        rc = pass_time(sim);
    if (!rc)
        rc = submit_all(sim);
    if (!rc && sim->crowded)
        rc = serve_others(sim);
    return rc || !pleat_core_wants_pass(sim->core) ? rc : settle(sim);
}

static int64_t next_instant(const struct sim *sim)
{
    int64_t next = pleat_core_next_deadline(sim->core), timer = pleat_heap_first_us(&sim->timers);
    if (timer < next)
        next = timer;
    return sim->next_submit_us < next ? sim->next_submit_us : next;
}

/* Where nothing comes any more, `next` is PLEAT_NEVER: longer than anybody waits. */
static bool is_over(const struct sim *sim, int64_t next)
{
    _Static_assert(PLEAT_NEVER - LATEST_US > PATIENCE_US, "nothing happens later than LATEST_US");
    return sim->ended == sim->workload->jobs.count ||
           (sim->next_submit_us == PLEAT_NEVER && sim->thinking == 0 &&
            next - sim->last_us > PATIENCE_US);
}

static int report(struct sim *sim)
{
    size_t step = sim->workload->jobs.count / 1000;
    step = step < 1 ? 1 : step > 4096 ? 4096 : step;
    sim->report_at = sim->ended + step;
    sim->instants = 0;
    struct pleat_sim_progress progress = {sim->now_us, sim->next_job, sim->ended};
    return sim->options->on_progress(sim->options->context, &progress);
}

static int loop(struct sim *sim)
{
    int rc = 0;
    int64_t next;
    bool reports = sim->options->on_progress;
    uint64_t most = sim->options->most_passes ? sim->options->most_passes
                                              : 1000000 + 64 * sim->workload->jobs.count;
    sim->passes_left = most;
    while (!rc && !is_over(sim, next = next_instant(sim))) {
        if (next > sim->now_us) {
            sim->now_us = next;
            sim->passes_left = most;
        }
        rc = instant(sim);
        if (reports && !rc && (sim->ended >= sim->report_at || ++sim->instants == INSTANTS))
            rc = report(sim);
    }
    return rc;
}

/* ---- from beginning to end ---- */

static int create(struct sim *sim)
{
    pleat_heap_init(&sim->timers);
    sim->free_wave = PLEAT_NONE;
    sim->is_watched = sim->options->log || sim->options->check;
    sim->now_us = sim->workload->jobs.count ? sim->workload->jobs.items[0].submit_us : 0;
    sim->last_us = sim->now_us;
    int rc = feedback_create(sim);
    if (rc)
        return rc;
    look_ahead(sim);
    sim->totals->begin_us = sim->totals->end_us = sim->now_us;
    rc = sites_create(sim);
    if (rc)
        return rc;
    if (pleat_core_create(&sim->core))
        return nomem(sim);
    sim->reads_decisions |= sim->is_watched || sim->options->parameters[PLEAT_PARAM_MAX_TRIES] > 0;
    sim->view = pleat_core_view(sim->core);
    pleat_core_set_notes(sim->core, 0);
    rc = objects_create(sim);
    return rc ? rc : configure(sim);
}

static void finish(struct sim *sim)
{
    size_t count = sim->workload->jobs.count;
    sites_count(sim);
    sim->totals->wasted_us = (double)sim->view->wasted_us;
    sim->totals->fates[PLEAT_SIM_LEFT] = count - sim->ended;
    for (size_t i = 0; count > sim->ended && i < count; i++)
        if (sim->outcomes[i].fate == PLEAT_SIM_LEFT)
            sim->outcomes[i].end_us = PLEAT_NEVER; /* an earlier run with these outcomes may have
                                                    * failed */
}

static void destroy(struct sim *sim)
{
    pleat_core_destroy(sim->core);
    pleat_heap_finish(&sim->timers);
    pleat_array_finish(&sim->effects);
    pleat_array_finish(&sim->decisions);
    pleat_array_finish(&sim->apps);
    pleat_array_finish(&sim->waves);
    objects_destroy(sim);
    feedback_destroy(sim);
    sites_destroy(sim);
    free(sim->lists);
}

int pleat_sim_run(const struct pleat_workload *workload, const struct pleat_sim_options *options,
                  struct pleat_sim_outcome *outcomes, struct pleat_sim_totals *totals,
                  struct pleat_error *err)
{
    struct sim sim = {.workload = workload,
                      .options = options,
                      .outcomes = outcomes,
                      .totals = totals,
                      .err = err};
    memset(totals, 0, sizeof(*totals));
    int rc = pleat_workload_check(workload, err);
    if (!rc)
        rc = create(&sim);
    if (!rc)
        rc = loop(&sim);
    if (!rc)
        finish(&sim);
    destroy(&sim);
    return rc;
}
