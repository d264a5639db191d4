/* virtual_jobs.c - programs, policies, workloads, and what a run of one came to. */
#include "virtual.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "machine.h"

#define SPAN_S 3.6
#define ESTIMATE_LEAST_S 1.0 /* a shorter estimate counts as this */

/* Long ones take about 0.8 s of one processor, short ones a fifth of that. bt takes squares, so
 * beside one process it can only have four. */
const struct virtual_program virtual_programs[VIRTUAL_APPS] = {
    [VIRTUAL_BT_LONG] = {"bt-long", "bt", "bt.A", "--size large", VIRTUAL_LONG, 52, 4},
    [VIRTUAL_CG_LONG] = {"cg-long", "cg", "cg.B", "--size large", VIRTUAL_LONG, 88, 2},
    [VIRTUAL_EP_LONG] = {"ep-long", "ep", "ep.C", "--work 1000", VIRTUAL_LONG, 1040, 2},
    [VIRTUAL_BT_SHORT] = {"bt-short", "bt", "bt.W", "--size small", VIRTUAL_SHORT, 128, 4},
    [VIRTUAL_SWEEP_SHORT] = {"sweep-short", "sweep", "sweep3D", "--size large", VIRTUAL_SHORT, 10,
                             2},
    [VIRTUAL_EP_SHORT] = {"ep-short", "ep", "ep.B", "--work 1000", VIRTUAL_SHORT, 208, 2},
};

void virtual_command(enum virtual_app app, enum trial_mpi mpi, double times, char *text,
                     size_t size)
{
    const struct virtual_program *program = &virtual_programs[app];
    snprintf(text, size, "%s/%s %s --iterations %d", trial_apps(mpi), program->program,
             program->options, (int)fmax(1, round(program->iterations * times)));
}

#define RIGID(the_queue)                                                                           \
    "approach=launcher queue=" the_queue " moldability=largest malleability=none"
#define LAUNCHER(the_queue, size, change)                                                          \
    "approach=launcher queue=" the_queue " moldability=" size " malleability=" change

const struct virtual_rule virtual_rules[VIRTUAL_POLICIES] = {
    [VIRTUAL_FCFS] = {"FCFS", RIGID("fcfs"), 1},
    [VIRTUAL_EASY] = {"EASY", RIGID("easy"), 1},
    [VIRTUAL_EGS] = {"EGS", "approach=pwa queue=fcfs moldability=available malleability=egs", 4},
    [VIRTUAL_PSA] = {"PSA", LAUNCHER("fcfs", "psa", "none"), 1},
    [VIRTUAL_PSA_IDLE] = {"PSA of idle ones", LAUNCHER("fcfs", "psa-idle", "none"), 1},
    [VIRTUAL_ASP60] = {"ASP60", LAUNCHER("fcfs", "asp-max", "none"), 1},
    [VIRTUAL_FOLDING] = {"FOLDING", LAUNCHER("fcfs", "folding", "halving"), 255},
    [VIRTUAL_FJT] = {"FJT(4)", LAUNCHER("fcfs", "fjt", "partition"), 4},
    [VIRTUAL_FJT1_ABORT] = {"FJT(1)+abort", LAUNCHER("backfill-abort", "fjt-1", "none"), 1},
    [VIRTUAL_FJT1_MALLEABILITY] = {"FJT(1)+malleability",
                                   LAUNCHER("backfill-malleability", "fjt-1", "partition"), 4},
    [VIRTUAL_FCFS_ABORT] = {"FCFS+abort", RIGID("backfill-abort"), 1},
    [VIRTUAL_FJT1_ABORT_DUE] = {"FJT(1)+abort (6.1)",
                                LAUNCHER("backfill-abort-due", "fjt-1", "none"), 1},
    [VIRTUAL_FJT1_MALLEABILITY_DUE] = {"FJT(1)+malleability (6.1)",
                                       LAUNCHER("backfill-malleability-due", "fjt-1", "partition"),
                                       4},
};

/* ---- workloads ---- */

#define HIGH                                                                                       \
    {{VIRTUAL_BT_LONG, VIRTUAL_CG_LONG}, {VIRTUAL_BT_SHORT, VIRTUAL_SWEEP_SHORT}},                 \
    {                                                                                              \
        2, 2                                                                                       \
    }
#define LOW                                                                                        \
    {{VIRTUAL_EP_LONG}, {VIRTUAL_EP_SHORT, VIRTUAL_SWEEP_SHORT}},                                  \
    {                                                                                              \
        1, 2                                                                                       \
    }

const struct virtual_load virtual_loads[VIRTUAL_MIXES] = {
    [VIRTUAL_W1] = {"w1", {0.4, 0.1}, HIGH, 5},
    [VIRTUAL_W2] = {"w2", {0.4, 0.2}, HIGH, 5},
    [VIRTUAL_W3] = {"w3", {0.4, 0.3}, HIGH, 5},
    [VIRTUAL_W4] = {"w4", {0.1, 0.4}, HIGH, 5},
    [VIRTUAL_W5] = {"w5", {0.2, 0.4}, HIGH, 5},
    [VIRTUAL_W6] = {"w6", {0.3, 0.4}, HIGH, 5},
    [VIRTUAL_HIGH_40] = {"high, 40 %", {0.2, 0.2}, HIGH, 6},
    [VIRTUAL_HIGH_60] = {"high, 60 %", {0.4, 0.2}, HIGH, 6},
    [VIRTUAL_HIGH_80] = {"high, 80 %", {0.6, 0.2}, HIGH, 6},
    [VIRTUAL_HIGH_100] = {"high, 100 %", {0.8, 0.2}, HIGH, 6},
    [VIRTUAL_LOW_40] = {"low, 40 %", {0.2, 0.2}, LOW, 6},
    [VIRTUAL_LOW_60] = {"low, 60 %", {0.4, 0.2}, LOW, 6},
    [VIRTUAL_LOW_80] = {"low, 80 %", {0.6, 0.2}, LOW, 6},
    [VIRTUAL_LOW_100] = {"low, 100 %", {0.8, 0.2}, LOW, 6},
};

bool virtual_has(enum virtual_mix mix, enum virtual_policy policy)
{
    bool full = mix == VIRTUAL_HIGH_100 || mix == VIRTUAL_LOW_100;
    if (virtual_loads[mix].chapter == 5)
        return policy <= VIRTUAL_FJT;
    if (policy == VIRTUAL_FJT1_ABORT_DUE || policy == VIRTUAL_FJT1_MALLEABILITY_DUE)
        return full;
    return policy >= VIRTUAL_FJT;
}

bool virtual_is_run(const struct virtual_results *results, enum virtual_mix mix,
                    enum virtual_policy policy)
{
    return results->mix_wanted[mix] && results->policy_wanted[policy] && virtual_has(mix, policy);
}

double virtual_span_s(double times)
{
    return SPAN_S * times;
}

static int by_arrival(const void *a, const void *b)
{
    const struct virtual_job *x = a, *y = b;
    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

static double mean_one_s(const struct virtual_load *load, int class_,
                         const struct virtual_feed *feed)
{
    double sum = 0;
    for (int i = 0; i < load->app_count[class_]; i++)
        sum += feed->alone_s[load->apps[class_][i]][VIRTUAL_ONE];
    return sum / load->app_count[class_];
}

void virtual_draw_jobs(struct virtual_draw *draw, enum virtual_mix mix,
                       const struct virtual_feed *feed, double times, uint64_t seed)
{
    const struct virtual_load *load = &virtual_loads[mix];
    struct pleat_random random;
    double span_s = virtual_span_s(times);
    pleat_random_init(&random, seed);
    draw->count = 0;
    for (int class_ = 0; class_ < VIRTUAL_CLASSES; class_++) {
        double wanted =
            load->share[class_] * VIRTUAL_PROCESSORS * span_s / mean_one_s(load, class_, feed);
        int most = LIVE_JOBS_MAX / VIRTUAL_CLASSES, count = (int)fmin(most, fmax(1, round(wanted)));
        /* the applications take turns; which one is first is drawn */
        uint64_t first = pleat_random_below(&random, (uint64_t)load->app_count[class_]);
        for (int i = 0; i < count; i++)
            draw->jobs[draw->count++] = (struct virtual_job){
                load->apps[class_][(first + (uint64_t)i) % (uint64_t)load->app_count[class_]],
                span_s * pleat_random_unit(&random)};
    }
    qsort(draw->jobs, (size_t)draw->count, sizeof(draw->jobs[0]), by_arrival);
}

double virtual_offered(const struct virtual_draw *draw, const struct virtual_feed *feed,
                       double times)
{
    double sum = 0;
    for (int i = 0; i < draw->count; i++)
        sum += feed->alone_s[draw->jobs[i].app][VIRTUAL_ONE];
    return sum / VIRTUAL_PROCESSORS / virtual_span_s(times);
}

/* As in the thesis the estimate is no more than the class: for long jobs a time that the longest of
 * them hardly ever exceeds. */
double virtual_estimate_s(int class_, const struct virtual_feed *feed)
{
    double most = 0;
    for (int app = 0; app < VIRTUAL_APPS; app++)
        if (virtual_programs[app].class_ == class_)
            most = fmax(most, feed->alone_s[app][VIRTUAL_ONE]);
    return fmax(ESTIMATE_LEAST_S, ceil(15 * most) / 10);
}

/* ---- a run ---- */

static void compose_job(struct live_job *job, const struct virtual_job *of,
                        enum virtual_policy policy, const struct virtual_feed *feed,
                        enum trial_mpi mpi, double times)
{
    const struct virtual_program *program = &virtual_programs[of->app];
    char command[LIVE_LINE / 2];
    virtual_command(of->app, mpi, times, command, sizeof(command));
    snprintf(job->name, sizeof(job->name), "%s", program->name);
    job->at_s = of->at_s;
    snprintf(job->line, sizeof(job->line),
             "--processes 1,%d --mpl %d --class %s --estimate %.1fs -- %s", program->parallel,
             virtual_rules[policy].mpl, program->class_ == VIRTUAL_LONG ? "long" : "short",
             virtual_estimate_s(program->class_, feed), command);
}

double virtual_run(enum virtual_mix mix, enum virtual_policy policy,
                   const struct virtual_draw *draw, const struct virtual_feed *feed,
                   enum trial_mpi mpi, double times, struct live_outcome *outcomes)
{
    static struct live_job jobs[LIVE_JOBS_MAX];
    char name[64], config[128];
    snprintf(name, sizeof(name), "%s under %s", virtual_loads[mix].name,
             virtual_rules[policy].name);
    /* the thesis has no limit of how often a job is aborted */
    snprintf(config, sizeof(config),
             "preemptions = 255\nsite \"local\" { cpus = \"%s\" background = ignore }\n",
             machine_cpus(VIRTUAL_PROCESSORS));
    for (int i = 0; i < draw->count; i++)
        compose_job(&jobs[i], &draw->jobs[i], policy, feed, mpi, times);
    const struct live_mix live = {name,
                                  mpi,
                                  virtual_rules[policy].policies,
                                  config,
                                  machine_cpus(VIRTUAL_PROCESSORS),
                                  true,
                                  draw->count,
                                  jobs};
    return live_run(&live, outcomes);
}

/* ---- what it came to ---- */

enum virtual_place virtual_place_of(int processes, int processors)
{
    return processes == 1 ? VIRTUAL_ONE : processors == 1 ? VIRTUAL_FOLDED : VIRTUAL_WIDE;
}

/* The time that a job takes if it has what it can use: more processors than one, if it can use them
 * with one process on each. */
static double best_s(enum virtual_app app, const struct virtual_feed *feed)
{
    return feed->alone_s[app][virtual_programs[app].parallel <= VIRTUAL_PROCESSORS ? VIRTUAL_WIDE
                                                                                   : VIRTUAL_ONE];
}

void virtual_measure_run(const struct virtual_draw *draw, const struct virtual_feed *feed,
                         const struct live_outcome *outcomes, double metrics[VIRTUAL_METRICS])
{
    int counts[VIRTUAL_CLASSES] = {0};
    memset(metrics, 0, VIRTUAL_METRICS * sizeof(*metrics));
    for (int i = 0; i < draw->count; i++) {
        const struct live_outcome *of = &outcomes[i];
        int class_ = virtual_programs[draw->jobs[i].app].class_;
        double *values = &metrics[virtual_metric(class_, 0)];
        double slowdown = live_response_s(of) / best_s(draw->jobs[i].app, feed);
        counts[class_]++;
        values[VIRTUAL_RESPONSE] += live_response_s(of);
        values[VIRTUAL_WAIT] += live_wait_s(of);
        values[VIRTUAL_EXECUTION] += live_run_s(of);
        values[VIRTUAL_SLOWDOWN] += slowdown;
        values[VIRTUAL_SIZE] += live_average(of);
        metrics[VIRTUAL_ALL_RESPONSE] += live_response_s(of) / draw->count;
        metrics[VIRTUAL_ALL_SLOWDOWN] += slowdown / draw->count;
        metrics[VIRTUAL_STARTS] += of->starts - 1;
        metrics[VIRTUAL_RESIZES] += of->grown + of->shrunk;
    }
    for (int class_ = 0; class_ < VIRTUAL_CLASSES; class_++)
        for (int m = 0; m < VIRTUAL_BY_CLASS; m++)
            metrics[virtual_metric(class_, m)] /= counts[class_];
    metrics[VIRTUAL_UTILIZATION] = live_utilization(outcomes, draw->count, VIRTUAL_PROCESSORS);
    metrics[VIRTUAL_MAKESPAN] = live_makespan_s(outcomes, draw->count);
}

struct bench_paired virtual_over(const struct virtual_results *results, int source,
                                 enum virtual_mix first, enum virtual_mix last,
                                 enum virtual_policy a, enum virtual_policy b, int metric)
{
    struct bench_series ratios = {.count = 0};
    for (enum virtual_mix mix = first; mix <= last; mix++) {
        const struct bench_series *above = &results->cells[mix][a].of[source][metric];
        const struct bench_series *below = &results->cells[mix][b].of[source][metric];
        for (int i = 0; i < above->count && i < below->count; i++)
            bench_add(&ratios, above->values[i] / below->values[i]);
    }
    return bench_paired_of(&ratios);
}
