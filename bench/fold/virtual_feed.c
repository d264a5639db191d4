/* virtual_feed.c - what the programs take at each size, by themselves and beside another one, as
 * the scheduler runs them. */
#include "virtual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"

#define REPEATS_MAX 7
#define CHANGES 3 /* short jobs that a long one makes room for */

static struct live_job jobs[LIVE_JOBS_MAX];
static struct live_outcome outcomes[LIVE_JOBS_MAX];

/* A job that waits for all older ones of its name. */
static void compose(struct live_job *job, const char *chain, enum virtual_app app, int place,
                    enum trial_mpi mpi, double times)
{
    char command[LIVE_LINE / 2];
    int processes = place == VIRTUAL_ONE ? 1 : virtual_programs[app].parallel;
    int processors = place == VIRTUAL_WIDE ? VIRTUAL_PROCESSORS : 1;
    virtual_command(app, mpi, times, command, sizeof(command));
    snprintf(job->name, sizeof(job->name), "%s", chain);
    job->at_s = 0;
    snprintf(job->line, sizeof(job->line),
             "--processes %d --min %d --max %d --dependency singleton -- %s", processes, processors,
             processors, command);
}

static void run(const char *name, enum trial_mpi mpi, const char *policies, int count,
                struct bench_series *others)
{
    char config[96];
    snprintf(config, sizeof(config), "site \"local\" { cpus = \"%s\" background = ignore }\n",
             machine_cpus(VIRTUAL_PROCESSORS));
    const struct live_mix mix = {name,  mpi,   policies, config, machine_cpus(VIRTUAL_PROCESSORS),
                                 false, count, jobs};
    bench_add(others, live_run(&mix, outcomes));
}

static const char in_turn[] =
    "approach=launcher queue=fcfs moldability=available malleability=none";

/* One after another, at all places in turn. */
static void measure_alone(struct virtual_feed *feed, enum virtual_app app, enum trial_mpi mpi,
                          double times, int repeats, struct bench_series *others)
{
    struct bench_series seconds[VIRTUAL_PLACES] = {{.count = 0}};
    int count = repeats * VIRTUAL_PLACES;
    for (int i = 0; i < count; i++)
        compose(&jobs[i], "alone", app, i % VIRTUAL_PLACES, mpi, times);
    run(virtual_programs[app].name, mpi, in_turn, count, others);
    for (int i = 0; i < count; i++)
        bench_add(&seconds[i % VIRTUAL_PLACES], live_run_s(&outcomes[i]));
    for (int place = 0; place < VIRTUAL_PLACES; place++)
        feed->alone_s[app][place] = bench_median(&seconds[place]);
}

/* What starting and ending take. */
static void measure_start(struct virtual_feed *feed, enum trial_mpi mpi, int repeats,
                          struct bench_series *others)
{
    struct bench_series seconds[VIRTUAL_PLACES] = {{.count = 0}};
    int count = repeats * VIRTUAL_PLACES;
    for (int i = 0; i < count; i++)
        compose(&jobs[i], "alone", VIRTUAL_EP_SHORT, i % VIRTUAL_PLACES, mpi, 0);
    run("starting", mpi, in_turn, count, others);
    for (int i = 0; i < count; i++)
        bench_add(&seconds[i % VIRTUAL_PLACES], live_run_s(&outcomes[i]));
    for (int place = 0; place < VIRTUAL_PLACES; place++)
        feed->start_s[place] = bench_median(&seconds[place]);
}

/* Two at a time, each on a processor. */
static void measure_beside(struct virtual_feed *feed, enum virtual_app app, enum trial_mpi mpi,
                           double times, int repeats, struct bench_series *others)
{
    static const int places[] = {VIRTUAL_ONE, VIRTUAL_FOLDED};
    struct bench_series seconds[VIRTUAL_PLACES] = {{.count = 0}};
    int count = repeats * 4;
    for (int i = 0; i < count; i++)
        compose(&jobs[i], i % 2 ? "other" : "one", app, places[i / 2 % 2], mpi, times);
    run(virtual_programs[app].name, mpi, in_turn, count, others);
    for (int i = 0; i < count; i++)
        bench_add(&seconds[places[i / 2 % 2]], live_run_s(&outcomes[i]));
    feed->beside_s[app][VIRTUAL_ONE] = bench_median(&seconds[VIRTUAL_ONE]);
    feed->beside_s[app][VIRTUAL_FOLDED] = bench_median(&seconds[VIRTUAL_FOLDED]);
    feed->beside_s[app][VIRTUAL_WIDE] = feed->alone_s[app][VIRTUAL_WIDE];
}

/* A job that has both processors gives one to others that come, and gets it back. */
static void measure_change(struct virtual_feed *feed, enum virtual_app of_long,
                           enum virtual_app of_short, enum trial_mpi mpi, double times,
                           struct bench_series *others)
{
    char command[LIVE_LINE / 2];
    double gap_s = 2 * feed->alone_s[of_short][VIRTUAL_ONE], seconds = 0;
    int changes = 0;
    virtual_command(of_long, mpi, 2 * times, command, sizeof(command));
    snprintf(jobs[0].name, sizeof(jobs[0].name), "gives");
    jobs[0].at_s = 0;
    snprintf(jobs[0].line, sizeof(jobs[0].line), "--processes %d --min 1 --max 2 -- %s",
             virtual_programs[of_long].parallel, command);
    virtual_command(of_short, mpi, times, command, sizeof(command));
    for (int i = 1; i <= CHANGES; i++) {
        snprintf(jobs[i].name, sizeof(jobs[i].name), "takes");
        jobs[i].at_s = i * gap_s;
        snprintf(jobs[i].line, sizeof(jobs[i].line), "--processes 1 -- %s", command);
    }
    run("a change", mpi, "approach=pwa queue=fcfs moldability=available malleability=egs",
        CHANGES + 1, others);
    for (int i = 0; i <= CHANGES; i++) {
        changes += outcomes[i].grown + outcomes[i].shrunk;
        seconds += outcomes[i].resize_s;
    }
    feed->change_s = changes ? seconds / changes : 0;
}

void virtual_measure(struct virtual_feed *feed, enum trial_mpi mpi, const bool wanted[VIRTUAL_APPS],
                     double times, int repeats, struct bench_series *others)
{
    for (int app = 0; app < VIRTUAL_APPS; app++) {
        if (!wanted[app])
            continue;
        measure_alone(feed, (enum virtual_app)app, mpi, times, repeats, others);
        measure_beside(feed, (enum virtual_app)app, mpi, times, repeats, others);
    }
    measure_start(feed, mpi, repeats, others);
    measure_change(feed, VIRTUAL_CG_LONG, VIRTUAL_SWEEP_SHORT, mpi, times, others);
}

/* Two times, on two processors and on one, and two unknowns. As the simulator has it: where folding
 * costs more than the time of the others, each process more has an overhead; where it costs less,
 * the processes' imbalance is what sharing evens out. With more processes than processors the time
 * with a processor for each cannot be measured; it is what the same rules make of the one on two
 * processors. */
struct virtual_model virtual_fit(enum virtual_app app, const double seconds[VIRTUAL_PLACES])
{
    int mpl = virtual_programs[app].parallel;  /* on one processor */
    int half = (mpl + 1) / VIRTUAL_PROCESSORS; /* on both */
    double ratio = fmax(1, seconds[VIRTUAL_FOLDED] / seconds[VIRTUAL_WIDE]);
    struct virtual_model model = {.unfolded_s = seconds[VIRTUAL_WIDE]};
    if (ratio <= VIRTUAL_PROCESSORS) {
        /* spread on one processor: mpl / (1 + imbalance); on both it is cut off at 1 */
        model.imbalance = mpl / ratio - 1;
        return model;
    }
    /* ratio = 2 (1 + (mpl - 1) overhead) / (1 + (half - 1) overhead) */
    double part = ratio / VIRTUAL_PROCESSORS;
    double below = mpl - 1 - part * (half - 1);
    model.overhead = below > 0 ? (part - 1) / below : 1000;
    model.unfolded_s /= half * (1 + model.overhead * (half - 1));
    return model;
}
