/* mixes_jobs.c - programs, mixes, runs, and what a run came to. */
#include "mixes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fold/machine.h"

const int mixes_sizes[MIXES_SIZES] = {2, 4, 6, 9, 12, 16, 20, 25};

const char *const mixes_commands[MIXES_PROGRAMS] = {
    [MIXES_PRODUCT] = "dense --n 128",  [MIXES_FACTORS] = "dense --lu --n 128",
    [MIXES_JACOBI] = "heat --n 256",    [MIXES_IMAGE] = "filter --n 64",
    [MIXES_SPARSE] = "sparse --n 4096", [MIXES_WORKERS] = "workers --n 64"};

#define REMAP                                                                                      \
    "approach=remap queue=fcfs placement=worst-fit moldability=available malleability=sweet-spot"
#define STATIC "approach=launcher queue=fcfs placement=worst-fit moldability=available"
#define EASY "approach=launcher queue=easy placement=worst-fit moldability=available"

/* Mix 1: alone_s and shared_s are those with which a job of 25 iterations takes what tables 3 and 4
 * say for 6 and 9 processors, a hundred times as fast; that 9 is the sweet spot of job 0 is put in.
 *
 * Mix 2, of which the thesis tells sizes and the order of events only: lengths and arrivals are
 * those of the simulated page (experiments/resizable/mix2.c), 250 times as fast. A job that needs t
 * on 2 processors needs 0.13 t + 1.74 t / n on n, as far as n is useful to it: the curve nearest
 * to table 1 through its ends. */
#define LIKE_TABLE_1(on_2) 0.13 * (on_2), 1.74 * (on_2)
const struct mixes_mix mixes_mixes[MIXES_MIXES] = {
    [MIXES_FIRST] = {"job mix 1",
                     100,
                     36,
                     4,
                     {{MIXES_PRODUCT, 25, 4, 9, 0.402, 6.264, 0},
                      {MIXES_PRODUCT, 25, 4, 25, 0.543, 5.508, 0},
                      {MIXES_PRODUCT, 25, 4, 25, 0.660, 4.730, 0},
                      {MIXES_FACTORS, 4, 12, 25, 0.400, 7.440, 13.93}},
                     4,
                     {{"remap", REMAP, true, false, {0}},
                      {"static 6", STATIC, false, false, {6, 6, 6, 12}},
                      {"static 9", STATIC, false, false, {9, 9, 9, 12}},
                      {"moldable", EASY, false, true, {0}}}},
    [MIXES_SECOND] =
        {"job mix 2",
         250,
         32,
         8,
         {{MIXES_PRODUCT, 48, 9, 16, LIKE_TABLE_1(2.4), 0},
          {MIXES_FACTORS, 16, 9, 12, LIKE_TABLE_1(2.0), 0},
          {MIXES_IMAGE, 2, 6, 6, LIKE_TABLE_1(1.2), 0},
          {MIXES_WORKERS, 2, 6, 6, LIKE_TABLE_1(1.2), 0},
          {MIXES_JACOBI, 30, 4, 12, LIKE_TABLE_1(1.2), 6},
          {MIXES_SPARSE, 60, 6, 12, LIKE_TABLE_1(0.8), 14},
          {MIXES_FACTORS, 60, 4, 12, LIKE_TABLE_1(0.8), 15},
          {MIXES_PRODUCT, 90, 4, 25, LIKE_TABLE_1(1.6), 28}},
         4,
         {{"remap", REMAP, true, false, {0}},
          {"static, first sizes", STATIC, false, false, {9, 9, 6, 6, 4, 6, 4, 4}},
          {"static, sweet spots", STATIC, false, false, {16, 12, 6, 6, 12, 12, 12, 25}},
          {"moldable", EASY, false, true, {0}}}},
};

static int index_of(int size)
{
    int i = 0;
    while (i + 1 < MIXES_SIZES && mixes_sizes[i] < size)
        i++;
    return i;
}

/* ---- running ---- */

static void compose_command(const struct mixes_job *job, double times, char *text, size_t size)
{
    snprintf(text, size, "%s/%s --iterations %d --pause %d --work %d --useful %d",
             trial_apps(TRIAL_OPENMPI), mixes_commands[job->program],
             (int)fmax(2, round(job->iterations * times)), (int)round(1000 * job->alone_s),
             (int)round(1000 * job->shared_s), job->useful);
}

static double run(const char *name, const char *policies, int processors, struct live_job *jobs,
                  int count, struct live_outcome *outcomes)
{
    char config[96];
    snprintf(config, sizeof(config), "site \"local\" { processors = %d background = ignore }\n",
             processors);
    const struct live_mix mix = {name,  TRIAL_OPENMPI, policies, config, machine_cpus(2),
                                 false, count,         jobs};
    return live_run(&mix, outcomes);
}

static void compose(struct live_job *job, const struct mixes_job *of, int number,
                    const struct mixes_way *way, double times)
{
    char command[LIVE_LINE / 2];
    compose_command(of, times, command, sizeof(command));
    snprintf(job->name, sizeof(job->name), "job%d", number);
    job->at_s = of->submit_s * times;
    if (way->malleable)
        snprintf(job->line, sizeof(job->line),
                 "--min %d --max 25 --initial %d --sizes 2,4,6,9,12,16,20,25 --on-resize merge "
                 "-- %s",
                 of->initial, of->initial, command);
    else if (way->moldable)
        snprintf(job->line, sizeof(job->line),
                 "--min %d --max %d --moldable --sizes 2,4,6,9,12,16,20,25 -- %s", of->initial,
                 of->useful > of->initial ? of->useful : of->initial, command);
    else
        snprintf(job->line, sizeof(job->line), "-n %d -- %s", way->sizes[number], command);
}

double mixes_run(const struct mixes_mix *mix, const struct mixes_way *way, double times,
                 struct live_outcome *outcomes)
{
    static struct live_job jobs[MIXES_JOBS];
    for (int i = 0; i < mix->count; i++)
        compose(&jobs[i], &mix->jobs[i], i, way, times);
    return run(way->name, way->policies, mix->processors, jobs, mix->count, outcomes);
}

/* ---- what the programs take ---- */

/* Two runs of different lengths at each size, one after another: what they differ by are
 * iterations, what is left is starting and ending. quick: at the first size alone, which then
 * stands for all. */
static void measure_program(struct mixes_feed *feed, enum mixes_program program, double times,
                            bool quick, struct bench_series *others)
{
    enum { SHORT = 5, LONG = 55 };
    int sizes = quick ? 1 : MIXES_SIZES;
    static struct live_job jobs[2 * MIXES_SIZES];
    static struct live_outcome outcomes[2 * MIXES_SIZES];
    int lengths[2] = {SHORT, (int)fmax(SHORT + 10, LONG * fmin(1, times))};
    for (int i = 0; i < 2 * sizes; i++) {
        snprintf(jobs[i].name, sizeof(jobs[i].name), "alone");
        jobs[i].at_s = 0;
        snprintf(jobs[i].line, sizeof(jobs[i].line),
                 "-n %d --dependency singleton -- %s/%s --iterations %d", mixes_sizes[i / 2],
                 trial_apps(TRIAL_OPENMPI), mixes_commands[program], lengths[i % 2]);
    }
    bench_add(others, run(mixes_commands[program], STATIC, mixes_mixes[0].processors, jobs,
                          2 * sizes, outcomes));
    for (int i = 0; i < MIXES_SIZES; i++) {
        const struct live_outcome *both = &outcomes[quick ? 0 : 2 * i];
        double less_s = live_run_s(&both[0]), more_s = live_run_s(&both[1]);
        double iteration_s = fmax(0, (more_s - less_s) / (lengths[1] - lengths[0]));
        feed->iteration_s[program][i] = iteration_s;
        feed->start_s[program][i] = fmax(0, less_s - lengths[0] * iteration_s);
    }
}

/* Three products that share the processors: what their changes take. */
static void measure_change(struct mixes_feed *feed, double times, struct bench_series *others)
{
    const struct mixes_job job = {MIXES_PRODUCT, 12, 4, 25, 0.05, 1.5, 0};
    const struct mixes_way *way = &mixes_mixes[0].ways[0];
    struct live_job jobs[3];
    struct live_outcome outcomes[3];
    const struct live_changes none = {0};
    for (int i = 0; i < 3; i++) {
        compose(&jobs[i], &job, i, way, fmax(times, 0.3));
        jobs[i].at_s = 1.0 * i * times;
    }
    bench_add(others, run("changes", way->policies, mixes_mixes[0].processors, jobs, 3, outcomes));
    feed->changes = live_changes(outcomes, 3, none);
}

void mixes_measure(struct mixes_feed *feed, double times, bool quick, struct bench_series *others)
{
    for (int program = 0; program < MIXES_PROGRAMS; program++)
        measure_program(feed, (enum mixes_program)program, times, quick, others);
    measure_change(feed, times, others);
}

double mixes_time_s(const struct mixes_feed *feed, const struct mixes_job *job, int size,
                    double times)
{
    int i = index_of(size), iterations = (int)fmax(2, round(job->iterations * times));
    /* of a master and its workers all but one rank compute */
    int sharing = job->program == MIXES_WORKERS && size > 1 ? size - 1 : size;
    if (sharing > job->useful)
        sharing = job->useful;
    double pretended_s = job->alone_s + job->shared_s / sharing;
    return feed->start_s[job->program][i] +
           iterations * (pretended_s + feed->iteration_s[job->program][i]);
}

/* ---- what came of a run ---- */

double mixes_response_s(const struct mixes_mix *mix, const struct live_outcome *outcomes)
{
    double sum = 0;
    for (int i = 0; i < mix->count; i++)
        sum += live_response_s(&outcomes[i]);
    return sum / mix->count;
}

/* The share of its work that a job would have done alone with the processors that it had, without
 * the time of its changes. */
static double would_have_done(const struct mixes_feed *feed, const struct mixes_job *job,
                              double times, const struct live_outcome *of)
{
    double done = 0;
    for (int i = 0; i < of->piece_count; i++) {
        double until_s = i + 1 < of->piece_count ? of->pieces[i + 1].at_s : of->end_s;
        double span_s = fmin(until_s, of->end_s) - fmax(of->pieces[i].at_s, of->start_s);
        if (span_s > 0 && of->pieces[i].processors > 0)
            done += span_s / mixes_time_s(feed, job, of->pieces[i].processors, times);
    }
    return done * (1 - fmin(1, of->resize_s / live_run_s(of)));
}

double mixes_stretch(const struct mixes_mix *mix, const struct mixes_feed *feed, double times,
                     const struct live_outcome *outcomes)
{
    double sum = 0;
    for (int i = 0; i < mix->count; i++)
        sum += would_have_done(feed, &mix->jobs[i], times, &outcomes[i]);
    return sum / mix->count;
}

int mixes_size_at(const struct live_outcome *outcome, double at_s)
{
    int size = 0;
    for (int i = 0; i < outcome->piece_count && outcome->pieces[i].at_s <= at_s; i++)
        size = outcome->pieces[i].processors;
    return at_s < outcome->end_s ? size : 0;
}

const char *mixes_sizes_text(const struct live_outcome *outcome, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < outcome->piece_count && length + 8 < size; i++)
        if (outcome->pieces[i].processors > 0)
            length += (size_t)snprintf(text + length, size - length, "%s%d", length ? ", " : "",
                                       outcome->pieces[i].processors);
    return text;
}
