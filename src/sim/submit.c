/* Submits jobs of the workload, with all of their components. */
#include <assert.h>
#include <string.h>

#include "base/lines.h"
#include "model/submission.h"
#include "sim/app_move.h"
#include "sim/internal.h"

static int64_t estimate_of(const struct sim *sim, const struct pleat_workload_job *job)
{
    int64_t estimate = sim->options->estimates == PLEAT_ESTIMATES_EXACT || job->estimate_us <= 0
                           ? job->run_us
                           : job->estimate_us;
    /* an estimate of 0 is none at all: the job would be expected to run for ever */
    return estimate > 0 ? estimate : 1;
}

/* Whether an application reads no files, and only computes until its end at the sizes that it is
 * given. */
static bool is_plain(const struct pleat_app *model)
{
    return (model->phase_count | (uint32_t)model->component | (uint32_t)model->objects |
            model->gives_back | model->ask_count | (uint32_t)model->sections |
            model->input_count) == 0;
}

static int make_app(struct sim *sim, uint32_t component, size_t job)
{
    if (component >= sim->apps.count) {
        if (pleat_lines_reserve(&sim->apps, 1))
            return nomem(sim);
        sim->apps.items[component] = (struct app){.stage = APP_GONE};
        sim->apps.count = (size_t)component + 1;
    }
    struct app *app = &sim->apps.items[component];
    assert(app->stage == APP_GONE);
    app->job = job;
    app->wish = &sim->workload->jobs.items[job];
    const struct pleat_app *model = &sim->workload->apps.items[app->wish->app];
    app->model = model;
    app->own_duration = (double)app->wish->run_us;
    app->own_size =
        app->wish->processes == 0 && app->wish->mpl_max == 0 ? app->wish->processors : 0;
    app->plain = is_plain(model);
    app->timer = app->adapt_timer = app->files_timer = PLEAT_HEAP_NONE;
    app->sibling = PLEAT_NONE;
    app->wave = PLEAT_NONE;
    app->stage = APP_WAITING;
    app->phase = 0;
    app->killed = app->started = false;
    if (!app->plain) /* plain applications set it before it is read */
        app->mandatory = false;
    return 0;
}

/* Gives the inputs that follow a submission. A job whose reservation is refused is cancelled. */
static int add_companions(struct sim *sim, const struct pleat_companions *companions,
                          uint32_t component)
{
    struct pleat_event submit = {.time_us = sim->now_us, .component = component}, event;
    uint32_t step = 0;
    int rc = 0;
    while (!rc && pleat_companions_next(companions, &submit, &step, &event))
        rc = event.kind == PLEAT_EV_RESERVE ? try_input(sim, &event) : input(sim, &event);
    if (rc == 0 || rc == PLEAT_E_NOMEM || event.kind != PLEAT_EV_RESERVE)
        return rc;
    event = submit;
    event.kind = PLEAT_EV_CANCEL;
    rc = input(sim, &event);
    return rc ? rc : conclude(sim, component);
}

/* Gives a job its deadline and its reservation. Both are put off by as much as the job was
 * submitted later than recorded. */
static int add_wishes(struct sim *sim, const struct pleat_workload_job *job, uint32_t component)
{
    struct pleat_companions companions = pleat_companions_none();
    int64_t later_us = sim->now_us - job->submit_us;
    companions.deadline_us = job->deadline_us > 0 ? job->deadline_us + later_us : 0;
    companions.begin_us = job->begin_us > 0 ? job->begin_us + later_us : 0;
    return add_companions(sim, &companions, component);
}

static int refused(struct sim *sim, const struct pleat_workload_job *job, size_t index, int rc,
                   const struct pleat_error *why)
{
    if (rc == PLEAT_E_TOOBIG) {
        sim->outcomes[index].fate = PLEAT_SIM_SKIPPED;
        sim->totals->fates[PLEAT_SIM_SKIPPED]++;
        return job_over(sim, index);
    }
    if (rc == PLEAT_E_NOMEM)
        return nomem(sim);
    return pleat_error_set(sim->err, PLEAT_E_INVALID, "job %lld: %.400s", (long long)job->number,
                           why->text);
}

/* What follows the submission of a job whose application is not plain: what earlier runs asked for,
 * and where its files are. */
static PLEAT_COLD int tell_of_application(struct sim *sim, uint32_t component)
{
    const struct pleat_app *model = sim->apps.items[component].model;
    struct pleat_companions companions = pleat_companions_none();
    if (model->input_count > 0)
        companions.inputs = &sim->workload->inputs.items[model->first_input];
    companions.input_count = model->input_count;
    int rc = sim->requests && model->objects > 0 ? objects_submitted(sim, component) : 0;
    return rc || model->input_count == 0 ? rc : add_companions(sim, &companions, component);
}

/* ---- jobs of several components ---- */

/* Takes back the components of a job that were submitted, since another one was refused. */
static PLEAT_COLD int take_back(struct sim *sim, size_t first, size_t count)
{
    struct pleat_event cancel = {
        .time_us = sim->now_us, .kind = PLEAT_EV_CANCEL, .component = sim->lead};
    uint32_t component = sim->lead;
    int rc = input(sim, &cancel);
    for (size_t i = 0; i < count; i++) {
        uint32_t next = sim->apps.items[component].sibling;
        stop_timer(sim, &sim->apps.items[component].files_timer);
        sim->apps.items[component] = (struct app){.stage = APP_GONE};
        sim->outcomes[first + i].fate = PLEAT_SIM_SKIPPED;
        component = next;
    }
    sim->totals->fates[PLEAT_SIM_SKIPPED] += count;
    for (size_t i = 0; !rc && i < count; i++)
        rc = job_over(sim, first + i);
    return rc;
}

/* Ties a component into the ring of its job. */
static PLEAT_COLD void tie(struct sim *sim, uint32_t component)
{
    struct app *app = &sim->apps.items[component];
    if (sim->lead == PLEAT_NONE) {
        sim->lead = app->sibling = component;
        return;
    }
    uint32_t last = sim->lead;
    while (sim->apps.items[last].sibling != sim->lead)
        last = sim->apps.items[last].sibling;
    sim->apps.items[last].sibling = component;
    app->sibling = sim->lead;
}

/* Tells what is known from earlier runs of a job's program. */
static PLEAT_COLD int remember(struct sim *sim, uint32_t component)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < sim->options->remembered_count; i++) {
        struct pleat_event event = sim->options->remembered[i];
        event.time_us = sim->now_us;
        event.component = component;
        rc = input(sim, &event);
    }
    return rc;
}

static int submit(struct sim *sim, size_t index, size_t first)
{
    const struct pleat_workload_job *job = &sim->workload->jobs.items[index];
    uint32_t component = pleat_core_next_component(sim->core);
    struct pleat_submission submission;
    struct pleat_event event;
    struct pleat_error why;
    sim->outcomes[index] = (struct pleat_sim_outcome){.submit_us = sim->now_us,
                                                      .start_us = PLEAT_NEVER,
                                                      .end_us = PLEAT_NEVER,
                                                      .fate = PLEAT_SIM_LEFT};
    pleat_submission_of_row(sim->workload, first, index, &submission);
    submission.estimate_us = estimate_of(sim, job);
    submission.flags |= PLEAT_COMPONENT_FORGET;
    if (sim->lends) /* as pleat_submission_of_spec has it of MPI programs */
        submission.flags |= PLEAT_COMPONENT_SPREADS;
    if (app_may_move(sim, job))
        submission.flags |= PLEAT_COMPONENT_RELAUNCHES;
    if (sim->requests && sim->workload->apps.items[job->app].objects > 0)
        submission.flags |= PLEAT_COMPONENT_EVOLVES;
    if (job->sizes_kind == PLEAT_SIZES_LIST)
        submission.sizes_parameter = sim->lists[job->app];
    pleat_submission_event(&submission, sim->now_us, component, &event);
    int rc = input_or_why(sim, &event, &why);
    if (rc)
        return refused(sim, job, index, rc, &why);
    rc = make_app(sim, component, index);
    if (rc)
        return rc;
    bool is_one_of_several = index > first || (job->part & PLEAT_PART_FOLLOWS);
    if (is_one_of_several)
        tie(sim, component);
    if (!sim->apps.items[component].plain)
        rc = tell_of_application(sim, component);
    if (!rc && sim->options->remembered_count > 0)
        rc = remember(sim, component);
    if (!rc && !is_one_of_several && (job->deadline_us > 0 || job->begin_us > 0))
        rc = add_wishes(sim, job, component);
    return rc;
}

size_t last_part(const struct sim *sim, size_t first)
{
    const struct pleat_workload_job *jobs = sim->workload->jobs.items;
    while (jobs[first].part & PLEAT_PART_FOLLOWS)
        first++;
    return first;
}

static PLEAT_COLD int submit_several(struct sim *sim, size_t first, size_t last)
{
    const struct pleat_workload_job *jobs = sim->workload->jobs.items;
    int rc = 0;
    sim->lead = PLEAT_NONE;
    for (size_t i = first; !rc && i <= last; i++) {
        rc = submit(sim, i, first);
        if (rc || sim->outcomes[i].fate != PLEAT_SIM_SKIPPED)
            continue;
        rc = i > first ? take_back(sim, first, i - first) : 0;
        while (!rc && ++i <= last) {
            sim->outcomes[i] = sim->outcomes[first];
            sim->totals->fates[PLEAT_SIM_SKIPPED]++;
            rc = job_over(sim, i);
        }
    }
    bool waits = !rc && sim->outcomes[first].fate != PLEAT_SIM_SKIPPED;
    if (waits && (jobs[first].deadline_us > 0 || jobs[first].begin_us > 0))
        rc = add_wishes(sim, &jobs[first], sim->lead);
    return rc;
}

int submit_job(struct sim *sim, size_t first, size_t last)
{
    return last == first ? submit(sim, first, first) : submit_several(sim, first, last);
}
