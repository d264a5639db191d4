/* experiment.c - runs simulations in threads. Each thread does whole runs, from the workload to the
 * files. */
#include "cli/sim/experiment.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/common/interrupt.h"
#include "cli/common/progress.h"
#include "experiment/pool.h"
#include "workload/convert.h"

/* What the runs share. */
struct pool {
    struct pleat_pool runs;
    struct pleat_sim_experiment *experiment;
    _Atomic size_t *ended; /* ended jobs of each run */
    struct pleat_progress_bar bar;
};

/* The present run of a thread. */
struct work {
    struct pool *pool;
    struct pleat_sim_run *run;
    size_t index;
    bool keep_changes; /* for the chart */
    struct pleat_sim_changes changes;
    struct pleat_edges used;        /* where there is a chart */
    struct pleat_sim_csv_run files; /* where there are files */
    int64_t stood_us;
    int64_t held, since_us; /* processors in use, and since when; where only a part is measured */
    double used_us;         /* processor-microseconds in that part */
};

/* ---- one run ---- */

/* Adds to the area under the processors in use, between warm-up and cool-down. Changes come in the
 * order of time. */
static void add_used(struct work *work, int64_t now_us, int64_t by)
{
    const struct pleat_sim_run *run = work->run;
    int64_t from = work->since_us > run->from_us ? work->since_us : run->from_us;
    int64_t to = now_us < run->to_us ? now_us : run->to_us;
    if (to > from)
        work->used_us += (double)work->held * (double)(to - from);
    work->held += by;
    work->since_us = now_us;
}

static int on_change(void *context, const struct pleat_sim_change *change)
{
    struct work *work = context;
    const struct pleat_sim_experiment *experiment = work->pool->experiment;
    struct pleat_edge edge = {change->time_us, change->to - change->from};
    work->stood_us += change->stood_us;
    add_used(work, change->time_us, edge.by);
    if (work->files.resizes)
        pleat_sim_csv_change(&work->files, change);
    if ((experiment->request->chart || experiment->csv) && pleat_array_push(&work->used, edge))
        return PLEAT_E_NOMEM;
    if (work->keep_changes && pleat_array_push(&work->changes, *change))
        return PLEAT_E_NOMEM;
    return 0;
}

static int on_progress(void *context, const struct pleat_sim_progress *progress)
{
    struct work *work = context;
    atomic_store_explicit(&work->pool->ended[work->index], progress->ended, memory_order_relaxed);
    return pleat_pool_stops(&work->pool->runs) ? PLEAT_E_CLOSED : 0;
}

/* Simulates a run. A trial keeps only its totals. */
static int simulate(struct work *work, const struct pleat_workload *workload, bool trial,
                    struct pleat_sim_outcome *outcomes, struct pleat_error *err)
{
    const struct pleat_sim_request *request = work->pool->experiment->request;
    struct pleat_sim_run *run = work->run;
    struct pleat_sim_options options = {.platform = &request->platform,
                                        .seed = run->seed,
                                        .estimates = request->estimates,
                                        .kill_at_estimate = request->kill_at_estimate,
                                        .feedback = request->feedback,
                                        .time_noise = request->noise,
                                        .context = work,
                                        .on_change = trial ? NULL : on_change,
                                        .on_progress = on_progress};
    memcpy(options.policies, run->combination->policies, sizeof(options.policies));
    memcpy(options.parameters, request->parameters, sizeof(options.parameters));
    int64_t began_us = pleat_clock_monotonic_us();
    int rc = pleat_sim_run(workload, &options, outcomes, &run->totals, err);
    run->elapsed_s = (double)(pleat_clock_monotonic_us() - began_us) / 1e6;
    run->stood_s = (double)work->stood_us / 1e6;
    if (rc == PLEAT_E_NOMEM)
        return pleat_error_set(err, rc, "out of memory while simulating");
    return rc;
}

static void measure_totals(struct pleat_sim_run *run)
{
    const struct pleat_sim_totals *totals = &run->totals;
    double available = totals->capacity_us - totals->background_us;
    run->makespan_s =
        totals->end_us > totals->begin_us ? (double)(totals->end_us - totals->begin_us) / 1e6 : 0;
    run->utilization = available > 0 ? totals->busy_us / available : 0;
}

/* Whether no site changes its number of processors. Of sites that do, only the total over the whole
 * time is known. */
static bool steady(const struct pleat_platform *platform)
{
    for (size_t i = 0; i < platform->sites.count; i++) {
        const struct pleat_sim_site *site = &platform->sites.items[i];
        if (site->failure.kind || site->trace.count || site->load_gap_us || site->joins_us ||
            site->leaves_us != PLEAT_NEVER)
            return false;
    }
    return true;
}

/* Computes utilization between warm-up and cool-down. It is unknown where sites change their
 * numbers of processors. */
static void measure_part(struct work *work)
{
    const struct pleat_platform *platform = &work->pool->experiment->request->platform;
    struct pleat_sim_run *run = work->run;
    double processors = 0, span_us = (double)(run->to_us - run->from_us);
    for (size_t i = 0; i < platform->sites.count; i++)
        processors +=
            (double)platform->sites.items[i].nodes * (double)platform->sites.items[i].slots;
    run->utilization =
        steady(platform) && span_us > 0 ? work->used_us / (processors * span_us) : (double)NAN;
}

static bool ended(const struct pleat_sim_outcome *outcome)
{
    return outcome->fate == PLEAT_SIM_DONE || outcome->fate == PLEAT_SIM_KILLED;
}

static bool measured(const struct pleat_sim_run *run, int64_t submit_us)
{
    return submit_us >= run->from_us && submit_us <= run->to_us;
}

/* Processor-seconds of the jobs that have ended, at their recorded sizes. */
static double work_of(const struct pleat_workload *workload,
                      const struct pleat_sim_outcome *outcomes)
{
    double work_s = 0;
    for (size_t i = 0; i < workload->jobs.count; i++) {
        const struct pleat_workload_job *job = &workload->jobs.items[i];
        if (ended(&outcomes[i]))
            work_s += (double)job->run_us / 1e6 * (double)job->processors;
    }
    return work_s;
}

/* Summarizes the jobs that have ended. Makes their curves where there is a chart. */
static int measure_jobs(struct pleat_sim_run *run, const struct pleat_workload *workload,
                        const struct pleat_sim_outcome *outcomes, bool curves)
{
    size_t jobs = workload->jobs.count, count = 0;
    double *values = calloc(jobs * 3 + 1, sizeof(*values));
    if (!values)
        return PLEAT_E_NOMEM;
    double *waits = values, *responses = values + jobs, *slowdowns = values + 2 * jobs;
    run->work_s = work_of(workload, outcomes);
    for (size_t i = 0; i < jobs; i++) {
        const struct pleat_sim_outcome *outcome = &outcomes[i];
        int64_t submit_us = outcome->submit_us;
        if (!ended(outcome))
            continue;
        if (!measured(run, submit_us)) {
            run->outside++;
            continue;
        }
        double run_s = (double)(outcome->end_us - outcome->start_us) / 1e6;
        waits[count] = (double)(outcome->start_us - submit_us) / 1e6;
        responses[count] = (double)(outcome->end_us - submit_us) / 1e6;
        slowdowns[count] = pleat_bounded_slowdown(waits[count], run_s, PLEAT_SIM_TAU_S);
        count++;
    }
    pleat_summarize(waits, count, &run->wait_s); /* this sorts the waits */
    pleat_summarize(responses, count, &run->response_s);
    pleat_summarize(slowdowns, count, &run->slowdown);
    int rc = 0;
    if (curves && (pleat_curve_shares(&run->curves[PLEAT_SIM_CURVE_WAIT], waits, count) ||
                   pleat_curve_shares(&run->curves[PLEAT_SIM_CURVE_RESPONSE], responses, count) ||
                   pleat_curve_shares(&run->curves[PLEAT_SIM_CURVE_SLOWDOWN], slowdowns, count)))
        rc = PLEAT_E_NOMEM;
    free(values);
    return rc;
}

static int measure(struct work *work, const struct pleat_workload *workload,
                   const struct pleat_sim_outcome *outcomes, struct pleat_error *err)
{
    struct pleat_sim_run *run = work->run;
    bool curves = work->pool->experiment->request->chart;
    measure_totals(run);
    if (pleat_sim_cuts(work->pool->experiment->request))
        measure_part(work);
    if (measure_jobs(run, workload, outcomes, curves) ||
        (curves && (pleat_curve_levels(&run->curves[PLEAT_SIM_CURVE_USED], &work->used) ||
                    pleat_curve_queued(&run->curves[PLEAT_SIM_CURVE_QUEUED], workload, outcomes))))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the results");
    return 0;
}

static int run_on(struct work *work, const struct pleat_workload *workload, struct pleat_error *err)
{
    struct pleat_sim_experiment *experiment = work->pool->experiment;
    struct pleat_sim_outcome *outcomes = calloc(workload->jobs.count, sizeof(*outcomes));
    if (!outcomes)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the results");
    work->keep_changes = pleat_sim_chart_wants_jobs(experiment);
    int rc = 0;
    if (experiment->csv)
        rc = pleat_sim_csv_begin(experiment->csv, work->run, workload, &work->files, err);
    if (!rc)
        rc = simulate(work, workload, false, outcomes, err);
    if (!rc)
        rc = measure(work, workload, outcomes, err);
    if (!rc && experiment->csv)
        rc = pleat_sim_csv_end(&work->files, outcomes, &work->used, err);
    pleat_sim_csv_drop(&work->files);
    pleat_array_finish(&work->used);
    work->run->changes = work->changes;
    if (!rc && work->keep_changes)
        work->run->outcomes = outcomes;
    else
        free(outcomes);
    return rc;
}

/* ---- the load, held ---- */

enum { HOLD_ROUNDS = 10, HOLD_DIRECT = 4 };

/* The processor time that jobs take on their sizes, divided by that at their recorded sizes. 0: no
 * job ended. */
static int try_load(const struct work *work, const struct pleat_workload *workload, double *ratio,
                    struct pleat_error *err)
{
    struct pleat_sim_run run = *work->run;
    struct work trial = {.pool = work->pool, .run = &run, .index = work->index};
    struct pleat_sim_outcome *outcomes = calloc(workload->jobs.count, sizeof(*outcomes));
    if (!outcomes)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the results");
    int rc = simulate(&trial, workload, true, outcomes, err);
    double work_s = rc ? 0 : work_of(workload, outcomes);
    *ratio = work_s > 0 ? run.totals.busy_us / 1e6 / work_s : 0;
    free(outcomes);
    return rc;
}

static void arrive(struct pleat_workload *workload, const struct pleat_workload_job *jobs,
                   double factor)
{
    memcpy(workload->jobs.items, jobs, workload->jobs.count * sizeof(*jobs));
    pleat_workload_scale_load(workload, factor);
}

/* Finds the arrivals at which the load is held. Where jobs take the share r of their recorded
 * processor time, arrivals must be 1 / r times as dense. But r depends on the sizes that jobs get,
 * and so on the arrivals. So it simulates until both agree to a quarter of a percent. After some
 * rounds only half of each correction is made (as a geometric mean), since the two may chase each
 * other. */
static int hold_load(struct work *work, struct pleat_workload *workload, struct pleat_error *err)
{
    size_t size = workload->jobs.count * sizeof(*workload->jobs.items);
    struct pleat_workload_job *jobs = malloc(size);
    double factor = 1, ratio = 0;
    int rc = 0;
    if (!jobs)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the arrivals");
    memcpy(jobs, workload->jobs.items, size);
    for (int round = 0; !rc && round < HOLD_ROUNDS; round++) {
        rc = try_load(work, workload, &ratio, err);
        if (rc || !(ratio > 0) || fabs(factor * ratio - 1) < 0.0025)
            break;
        factor = round < HOLD_DIRECT ? 1 / ratio : sqrt(factor / ratio);
        arrive(workload, jobs, factor);
    }
    free(jobs);
    work->run->arrivals = factor;
    return rc ? rc
              : pleat_sim_workload_cut(work->pool->experiment->request, workload, work->run, err);
}

static int run_one(void *context, size_t index, struct pleat_error *err)
{
    struct pool *pool = context;
    struct pleat_sim_run *run = &pool->experiment->runs[index];
    struct work work = {.pool = pool, .run = run, .index = index};
    struct pleat_sim_own own;
    const struct pleat_workload *workload;
    int rc = pleat_sim_workload_for(pool->experiment, run, &own, &workload, err);
    run->arrivals = 1;
    if (!rc && pool->experiment->request->hold_load)
        rc = hold_load(&work, &own.workload, err);
    if (!rc)
        rc = run_on(&work, workload, err);
    pleat_sim_workload_drop(&own);
    return rc;
}

/* ---- all of them ---- */

static double share_done(const struct pool *pool)
{
    double ended = 0;
    const struct pleat_sim_experiment *experiment = pool->experiment;
    double all = 0;
    for (size_t i = 0; i < experiment->run_count; i++) {
        ended += (double)atomic_load_explicit(&pool->ended[i], memory_order_relaxed);
        all += (double)experiment->sources[i % experiment->source_count].workload.jobs.count;
    }
    return fmin(ended / all, 1);
}

static void draw_progress(void *context, size_t done)
{
    struct pool *pool = context;
    pleat_progress_draw(&pool->bar, share_done(pool), done, pool->experiment->run_count);
}

int pleat_sim_experiment_run(struct pleat_sim_experiment *experiment, struct pleat_error *err)
{
    struct pool pool = {.runs = {.count = experiment->run_count,
                                 .threads = experiment->request->threads,
                                 .run = run_one,
                                 .attend = draw_progress,
                                 .context = &pool,
                                 .interrupt = pleat_interrupt_flag()},
                        .experiment = experiment,
                        .ended = calloc(experiment->run_count, sizeof(*pool.ended))};
    if (!pool.ended)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    pleat_progress_init(&pool.bar);
    int rc = pleat_pool_run(&pool.runs, err);
    pleat_progress_clear(&pool.bar);
    free(pool.ended);
    return rc;
}

/* ---- what is to be run ---- */

static int make_runs(struct pleat_sim_experiment *experiment, struct pleat_error *err)
{
    const struct pleat_sim_request *request = experiment->request;
    experiment->run_count = request->combinations.count * request->seeds;
    experiment->runs = calloc(experiment->run_count, sizeof(*experiment->runs));
    if (!experiment->runs)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < experiment->run_count; i++) {
        experiment->runs[i].combination = &request->combinations.items[i / request->seeds];
        experiment->runs[i].seed = request->seed + i % request->seeds;
        experiment->runs[i].workload =
            experiment->sources[i % request->seeds % experiment->source_count].name;
    }
    return 0;
}

int pleat_sim_experiment_init(struct pleat_sim_experiment *experiment,
                              struct pleat_sim_request *request, struct pleat_error *err)
{
    *experiment = (struct pleat_sim_experiment){.request = request};
    int rc = pleat_sim_workload_read(experiment, request, err);
    return rc ? rc : make_runs(experiment, err);
}

void pleat_sim_experiment_finish(struct pleat_sim_experiment *experiment)
{
    for (size_t i = 0; experiment->runs && i < experiment->run_count; i++) {
        struct pleat_sim_run *run = &experiment->runs[i];
        for (int kind = 0; kind < PLEAT_SIM_CURVE_COUNT; kind++)
            pleat_curve_finish(&run->curves[kind]);
        pleat_array_finish(&run->changes);
        free(run->outcomes);
    }
    free(experiment->runs);
    for (size_t i = 0; i < experiment->source_count; i++)
        pleat_workload_finish(&experiment->sources[i].workload);
    free(experiment->sources);
}
