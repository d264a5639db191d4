/* koala_jobs.c - programs, workloads, runs, and what a run came to. */
#include "koala.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "machine.h"

/* The times on two processors and at best are the paper's, divided by the scale; between them goes
 * t = a + b / n, as the simulated page assumes. Iterations of the one n that computes little. */
const struct koala_program koala_programs[KOALA_APPS] = {
    [KOALA_FT] = {"ft",
                  "fourier",
                  "FT",
                  "powers of 2 from 2 to 8",
                  true,
                  32,
                  25,
                  20,
                  80,
                  {2, 4, 8},
                  120,
                  60},
    [KOALA_GADGET] = {"gadget",
                      "nbody",
                      "GADGET 2",
                      "2 to 10",
                      false,
                      400,
                      50,
                      38,
                      225,
                      {2, 3, 5, 8, 10},
                      600,
                      240},
};

int koala_largest(enum koala_app app)
{
    int largest = 0;
    for (int i = 0; i < KOALA_SIZES; i++)
        if (koala_programs[app].sizes[i] > largest)
            largest = koala_programs[app].sizes[i];
    return largest;
}

const char *koala_run_name(int approach, int run)
{
    static const char *const names[KOALA_APPROACHES][KOALA_RUNS] = {
        {"EGS/Wm", "EGS/Wmr", "FPSMA/Wm", "FPSMA/Wmr"},
        {"EGS/W'm", "EGS/W'mr", "FPSMA/W'm", "FPSMA/W'mr"}};
    return names[approach][run];
}

bool koala_is_mixed(int run)
{
    return run == KOALA_EGS_WMR || run == KOALA_FPSMA_WMR;
}

double koala_gap_s(int approach, double times)
{
    return (approach == KOALA_PRA ? 2.0 : 0.5) * times;
}

/* ---- running ---- */

static void compose_command(enum koala_app app, double times, char *text, size_t size)
{
    const struct koala_program *program = &koala_programs[app];
    snprintf(text, size, "%s/%s --n %d --iterations %d --pause %d --work %d",
             trial_apps(TRIAL_OPENMPI), program->program, program->n,
             (int)fmax(2, round(program->iterations * times)), program->pause_ms, program->work_ms);
}

static double run(const char *name, const char *policies, struct live_job *jobs, int count,
                  struct live_outcome *outcomes)
{
    char config[96];
    snprintf(config, sizeof(config), "site \"local\" { processors = %d background = ignore }\n",
             KOALA_PROCESSORS);
    const struct live_mix mix = {name,  TRIAL_OPENMPI, policies, config, machine_cpus(2),
                                 false, count,         jobs};
    return live_run(&mix, outcomes);
}

const char *koala_policies(int approach, int run)
{
    static const char *const all[KOALA_APPROACHES][2] = {
        {"approach=pra queue=scan placement=worst-fit moldability=minimum malleability=egs",
         "approach=pra queue=scan placement=worst-fit moldability=minimum malleability=fpsma"},
        {"approach=pwa queue=scan placement=worst-fit moldability=minimum malleability=egs",
         "approach=pwa queue=scan placement=worst-fit moldability=minimum malleability=fpsma"}};
    return all[approach][run == KOALA_FPSMA_WM || run == KOALA_FPSMA_WMR];
}

static void compose(struct live_job *job, enum koala_app app, bool is_rigid, double at_s,
                    double times)
{
    char command[LIVE_LINE / 2];
    compose_command(app, times, command, sizeof(command));
    snprintf(job->name, sizeof(job->name), "%s", koala_programs[app].name);
    job->at_s = at_s;
    if (is_rigid)
        snprintf(job->line, sizeof(job->line), "-n %d -- %s", KOALA_LEAST, command);
    else
        /* a program says which sizes it takes only once it runs; it is offered others before. It
         * stands still for all of a change, as in the simulation. */
        snprintf(job->line, sizeof(job->line),
                 "--min %d --max %d --initial %d --sizes %s --on-resize merge -- %s", KOALA_LEAST,
                 koala_largest(app), KOALA_LEAST, koala_programs[app].powers ? "powers" : "any",
                 command);
}

double koala_run(int approach, int which, const struct koala_job jobs[KOALA_JOBS], double times,
                 struct live_outcome outcomes[KOALA_JOBS])
{
    static struct live_job composed[KOALA_JOBS];
    for (int i = 0; i < KOALA_JOBS; i++)
        compose(&composed[i], jobs[i].app, koala_is_mixed(which) && jobs[i].is_rigid,
                i * koala_gap_s(approach, times), times);
    return run(koala_run_name(approach, which), koala_policies(approach, which), composed,
               KOALA_JOBS, outcomes);
}

/* ---- what the programs take ---- */

static void measure_sizes(struct koala_feed *feed, enum koala_app app, double times, int repeats,
                          struct bench_series *others)
{
    static struct live_job jobs[LIVE_JOBS_MAX];
    static struct live_outcome outcomes[LIVE_JOBS_MAX];
    struct bench_series seconds[KOALA_SIZES] = {{.count = 0}};
    int sizes = 0;
    char command[LIVE_LINE / 2];
    compose_command(app, times, command, sizeof(command));
    while (sizes < KOALA_SIZES && koala_programs[app].sizes[sizes])
        sizes++;
    for (int i = 0; i < sizes * repeats; i++) {
        snprintf(jobs[i].name, sizeof(jobs[i].name), "alone");
        jobs[i].at_s = 0;
        snprintf(jobs[i].line, sizeof(jobs[i].line), "-n %d --dependency singleton -- %s",
                 koala_programs[app].sizes[i % sizes], command);
    }
    bench_add(others, run(koala_programs[app].name, koala_policies(KOALA_PRA, KOALA_EGS_WM), jobs,
                          sizes * repeats, outcomes));
    for (int i = 0; i < sizes * repeats; i++)
        bench_add(&seconds[i % sizes], live_run_s(&outcomes[i]));
    for (int i = 0; i < sizes; i++)
        feed->seconds[app][i] = bench_median(&seconds[i]);
}

/* Two jobs that grow until nothing is free, and then three that are made room for: what changes
 * take. */
static void measure_change(struct koala_feed *feed, double times, int repeats,
                           struct bench_series *others)
{
    enum { JOBS = 5 };
    static const double at_s[JOBS] = {0, 0.3, 3.5, 4.5, 5.5};
    static const enum koala_app apps[JOBS] = {KOALA_GADGET, KOALA_GADGET, KOALA_FT, KOALA_GADGET,
                                              KOALA_FT};
    struct live_job jobs[JOBS];
    static struct live_outcome all[JOBS * LIVE_JOBS_MAX];
    struct bench_series starts = {.count = 0};
    struct live_changes none = {0};
    for (int i = 0; i < JOBS; i++)
        compose(&jobs[i], apps[i], false, at_s[i] * times, times);
    for (int r = 0; r < repeats; r++) {
        struct live_outcome *outcomes = all + JOBS * r;
        bench_add(others,
                  run("a change", koala_policies(KOALA_PWA, KOALA_EGS_WM), jobs, JOBS, outcomes));
        bench_add(&starts, live_wait_s(&outcomes[0]));
    }
    feed->start_s = bench_median(&starts);
    feed->changes = live_changes(all, JOBS * repeats, none);
}

void koala_measure(struct koala_feed *feed, double times, int repeats, struct bench_series *others)
{
    for (int app = 0; app < KOALA_APPS; app++)
        measure_sizes(feed, (enum koala_app)app, times, repeats, others);
    measure_change(feed, times, repeats, others);
}

double koala_time_s(const struct koala_feed *feed, enum koala_app app, int processors)
{
    const int *sizes = koala_programs[app].sizes;
    int high = 0;
    while (high + 1 < KOALA_SIZES && sizes[high + 1] && sizes[high] < processors)
        high++;
    if (high == 0 || processors >= sizes[high])
        return feed->seconds[app][high] * (high == 0 ? (double)sizes[0] / processors : 1);
    double here = 1.0 / sizes[high - 1], there = 1.0 / sizes[high];
    double share = (here - 1.0 / processors) / (here - there);
    return feed->seconds[app][high - 1] +
           share * (feed->seconds[app][high] - feed->seconds[app][high - 1]);
}

/* The share of its work that a job would have done alone with the processors that it had, without
 * the time of its changes. */
static double would_have_done(enum koala_app app, const struct koala_feed *feed,
                              const struct live_outcome *of)
{
    double done = 0;
    for (int i = 0; i < of->piece_count; i++) {
        double until_s = i + 1 < of->piece_count ? of->pieces[i + 1].at_s : of->end_s;
        double span_s = fmin(until_s, of->end_s) - fmax(of->pieces[i].at_s, of->start_s);
        if (span_s > 0 && of->pieces[i].processors > 0)
            done += span_s / koala_time_s(feed, app, of->pieces[i].processors);
    }
    return done * (1 - fmin(1, of->resize_s / live_run_s(of)));
}

void koala_measure_stretch(const struct koala_job jobs[KOALA_JOBS], const struct koala_feed *feed,
                           const struct live_outcome outcomes[KOALA_JOBS],
                           struct koala_stretch *stretch)
{
    int counts[KOALA_APPS] = {0};
    *stretch = (struct koala_stretch){.app = {0}};
    for (int i = 0; i < KOALA_JOBS; i++) {
        /* a job that only stood still says nothing about times, and none may be 0 */
        double slower = would_have_done(jobs[i].app, feed, &outcomes[i]);
        stretch->job[i] = slower > 0 ? slower : 1;
        stretch->app[jobs[i].app] += stretch->job[i];
        counts[jobs[i].app]++;
    }
    for (int app = 0; app < KOALA_APPS; app++)
        stretch->app[app] = counts[app] ? stretch->app[app] / counts[app] : 1;
}

/* ---- a draw ---- */

void koala_draw(struct koala_job jobs[KOALA_JOBS], uint64_t seed)
{
    struct pleat_random random;
    pleat_random_init(&random, seed);
    for (int i = 0; i < KOALA_JOBS; i++)
        jobs[i] = (struct koala_job){i % 2 ? KOALA_GADGET : KOALA_FT, i / 2 % 2 == 1};
    for (int i = KOALA_JOBS - 1; i > 0; i--) {
        int other = (int)pleat_random_below(&random, (uint64_t)i + 1);
        struct koala_job job = jobs[i];
        jobs[i] = jobs[other];
        jobs[other] = job;
    }
}

/* ---- what it came to ---- */

const char *const koala_metric_names[KOALA_METRICS] = {
    [KOALA_AVERAGE] = "average size of a malleable job (a)",
    [KOALA_MAXIMUM] = "largest size (b)",
    [KOALA_AT_LEAST] = "share that never grows (b)",
    [KOALA_EXECUTION] = "execution, s (c)",
    [KOALA_EXECUTION_FT] = "execution of FT, s (c)",
    [KOALA_EXECUTION_GADGET] = "execution of GADGET 2, s (c)",
    [KOALA_RESPONSE] = "response, s (d)",
    [KOALA_WAIT] = "wait, s",
    [KOALA_BELOW] = "share of short executions (c)",
    [KOALA_ABOVE] = "share of long ones (c)",
    [KOALA_UTILIZATION] = "utilization (e)",
    [KOALA_GROWS] = "grow operations (f)",
    [KOALA_SHRINKS] = "shrink operations (f)",
};

static void add_malleable(const struct live_outcome *of, double *metrics)
{
    metrics[KOALA_AVERAGE] += live_average(of);
    metrics[KOALA_MAXIMUM] += live_largest(of);
    metrics[KOALA_AT_LEAST] += live_largest(of) <= KOALA_LEAST;
}

void koala_measure_run(int run, const struct koala_job jobs[KOALA_JOBS], double times,
                       const struct live_outcome outcomes[KOALA_JOBS],
                       double metrics[KOALA_METRICS])
{
    int malleable = 0, of_app[KOALA_APPS] = {0};
    memset(metrics, 0, KOALA_METRICS * sizeof(*metrics));
    for (int i = 0; i < KOALA_JOBS; i++) {
        const struct live_outcome *of = &outcomes[i];
        double run_s = live_run_s(of);
        of_app[jobs[i].app]++;
        metrics[KOALA_EXECUTION] += run_s / KOALA_JOBS;
        metrics[jobs[i].app == KOALA_FT ? KOALA_EXECUTION_FT : KOALA_EXECUTION_GADGET] += run_s;
        metrics[KOALA_RESPONSE] += live_response_s(of) / KOALA_JOBS;
        metrics[KOALA_WAIT] += live_wait_s(of) / KOALA_JOBS;
        metrics[KOALA_BELOW] += (run_s < 200.0 / KOALA_SCALE * times) / (double)KOALA_JOBS;
        metrics[KOALA_ABOVE] += (run_s > 400.0 / KOALA_SCALE * times) / (double)KOALA_JOBS;
        metrics[KOALA_GROWS] += of->grown;
        metrics[KOALA_SHRINKS] += of->shrunk;
        if (koala_is_mixed(run) && jobs[i].is_rigid)
            continue;
        malleable++;
        add_malleable(of, metrics);
    }
    for (int m = KOALA_AVERAGE; m <= KOALA_AT_LEAST; m++)
        metrics[m] /= malleable;
    metrics[KOALA_EXECUTION_FT] /= of_app[KOALA_FT];
    metrics[KOALA_EXECUTION_GADGET] /= of_app[KOALA_GADGET];
    metrics[KOALA_UTILIZATION] = live_utilization(outcomes, KOALA_JOBS, KOALA_PROCESSORS);
}
